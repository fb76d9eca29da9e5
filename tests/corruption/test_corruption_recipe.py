"""Recipes for corruption: the shipped one, and errors in recipes."""

import re
from pathlib import Path

import pytest

from specdec_cli.corruption.corrupter import KINDS, CorruptionRecipe, ErrorCounts
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.recipe import RECIPES, load_recipe


def test_the_shipped_recipes_have_every_kind_of_error() -> None:
    english, chinese = (load_recipe(CorruptionRecipe, RECIPES / f"{name}-corrupt.toml").rates for name in ("en-gec", "zh-gec"))
    assert [*english, *chinese] == list(KINDS)
    assert all(rate > 0 for rate in [*english.values(), *chinese.values()])


def test_changes_apply_to_nested_keys() -> None:
    changes = ["clean=0.5", "errors.mean=0.02", "rates.tense=7"]
    recipe = load_recipe(CorruptionRecipe, RECIPES / "en-gec-corrupt.toml", changes)
    assert (recipe.clean, recipe.errors.mean, recipe.rates["tense"]) == (0.5, 0.02, 7)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ("rates.comma_drpo=1", "comma_drpo"),
        ("claen=0.5", "claen"),
        ("errors.men=1", "men"),
        ("clean=1.5", "clean must be a number from 0 to 1"),
        ("rates.tense=-1", "rates.tense"),
        ("rates.tense=nan", "rates.tense"),
        ("rates.tense=true", "rates.tense"),
        ("rates.tense=often", "rates.tense"),
        ("errors.variance=-0.1", "errors: variance must be a number from 0 to 1"),
        ("rates=3", "rates"),
    ],
)
def test_invalid_keys_and_values_are_named(tmp_path: Path, change: str, named: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("clean = 0.1\n")
    with pytest.raises(UsageError, match=f"--set: .*{re.escape(named)}"):
        load_recipe(CorruptionRecipe, path, [change])


def test_counts_are_checked() -> None:
    with pytest.raises(ModelError, match="mean must be a number from 0 to 1"):
        ErrorCounts(mean=-0.1)
