"""Recipes: the shipped ones, changes, and errors."""

from pathlib import Path

import pytest

from specdec_cli.corruption.corrupter import CorruptionRecipe
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.config import preset
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.recipe import load_recipe
from specdec_cli.training.recipe import DrafterRecipe, VerifierRecipe, order_fields, update_settings
from tests.tables import tables

CASES = tables(__file__)

SHIPPED = sorted((Path(__file__).parents[2] / "specdec_cli" / "recipes").glob("*.toml"))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "recipe.toml"
    path.write_text('preset = "base"\n[model]\nnorm = "post"\n[run]\nseed = 7\n[optimizer]\nbetas = [0.8, 0.9]\n')
    return path


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_recipes_can_be_loaded(path: Path) -> None:
    if "drafter" in path.stem or path.stem == "blockwise":
        assert load_recipe(DrafterRecipe, path).cuts >= 1
    elif "corrupt" in path.stem:
        assert load_recipe(CorruptionRecipe, path).rates
    else:
        recipe = load_recipe(VerifierRecipe, path)
        model = {**recipe.model, **order_fields(recipe.model.get("order"))}
        assert preset(recipe.preset or "small", 8000, **model).vocabulary_size == 8000


def test_a_file_overrides_the_defaults(file: Path) -> None:
    recipe = load_recipe(VerifierRecipe, file)
    assert (recipe.preset, recipe.model, recipe.run.seed, recipe.optimizer.betas) == ("base", {"norm": "post"}, 7, (0.8, 0.9))
    assert recipe.run.smoothing == VerifierRecipe().run.smoothing


def test_a_change_overrides_the_file(file: Path) -> None:
    changes = ["run.seed=8", "preset=deep-shallow", "model.width=64", "optimizer.betas=[0.1, 0.2]", "optimizer.clip = 2.5"]
    recipe = load_recipe(VerifierRecipe, file, changes)
    assert (recipe.run.seed, recipe.preset, recipe.optimizer.betas, recipe.optimizer.clip) == (8, "deep-shallow", (0.1, 0.2), 2.5)
    assert recipe.model == {"norm": "post", "width": 64}


def test_changes_apply_to_defaults_without_a_file() -> None:
    recipe = load_recipe(DrafterRecipe, None, ["drafter.prefix=own", "glancing=[0.5, 0.3]", "run.dropout=0.2"])
    assert (recipe.drafter, recipe.glancing, recipe.run.dropout) == (DrafterConfig(prefix="own"), (0.5, 0.3), 0.2)
    assert load_recipe(DrafterRecipe, None) == DrafterRecipe()


@pytest.mark.parametrize(("text", "words"), CASES.errors_in_a_file_are_named_with_the_file)
def test_errors_in_a_file_are_named_with_the_file(file: Path, text: str, words: str) -> None:
    file.write_text(text)
    for changes in ((), ("run.seed=3",)):
        with pytest.raises(ModelError, match=words) as caught:
            load_recipe(VerifierRecipe, file, changes)
        assert str(caught.value).startswith(str(file))


def test_sizes_are_checked_together_only_with_a_preset() -> None:
    assert load_recipe(VerifierRecipe, None, ["model.width=64"]).model == {"width": 64}
    with pytest.raises(UsageError, match="multiple of 6 heads"):
        load_recipe(VerifierRecipe, None, ["model.width=64", "preset=small"])


def test_settings_of_updates_have_names_and_no_length() -> None:
    named = update_settings(load_recipe(DrafterRecipe, None, ["run.seed=2", "drafter.max_block=3", "glancing=[0.5, 0.3]"]))
    assert (named["run.seed"], named["drafter.max_block"], named["glancing"]) == (2, 3, (0.5, 0.3))
    assert not {"run.max_updates", "run.max_epochs", "run.evaluate_every", "run"} & named.keys()


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"none\.toml: not a readable recipe"):
        load_recipe(VerifierRecipe, tmp_path / "none.toml")


@pytest.mark.parametrize(("change", "words"), CASES.a_wrong_change_is_wrong_use_that_is_named)
def test_a_wrong_change_is_wrong_use_that_is_named(file: Path, change: str, words: str) -> None:
    kind: type[DrafterRecipe | VerifierRecipe] = DrafterRecipe if change.startswith(("drafter", "cuts", "glancing")) else VerifierRecipe
    with pytest.raises(UsageError, match=words):
        load_recipe(kind, None if kind is DrafterRecipe else file, [change])
