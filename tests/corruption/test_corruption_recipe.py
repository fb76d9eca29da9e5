"""Recipes for corruption: errors in them, and the errors that they make, which are always the same."""

import os
import re
from pathlib import Path

import pytest

from specdec_cli.corruption.corrupter import KINDS, Corrupter, CorruptionRecipe, ErrorCounts
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.recipe import RECIPES, load_recipe
from tests.tables import tables

CASES = tables(__file__)


def test_the_shipped_recipes_have_every_kind_of_error() -> None:
    english, chinese = (load_recipe(CorruptionRecipe, RECIPES / f"{name}-corrupt.toml").rates for name in ("en-gec", "zh-gec"))
    assert [*english, *chinese] == list(KINDS)
    assert all(rate > 0 for rate in [*english.values(), *chinese.values()])


def test_changes_apply_to_nested_keys() -> None:
    changes = ["clean=0.5", "errors.mean=0.02", "rates.tense=7"]
    recipe = load_recipe(CorruptionRecipe, RECIPES / "en-gec-corrupt.toml", changes)
    assert (recipe.clean, recipe.errors.mean, recipe.rates["tense"]) == (0.5, 0.02, 7)


@pytest.mark.parametrize(("change", "named"), CASES.invalid_keys_and_values_are_named)
def test_invalid_keys_and_values_are_named(tmp_path: Path, change: str, named: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("clean = 0.1\n")
    with pytest.raises(UsageError, match=f"--set: .*{re.escape(named)}"):
        load_recipe(CorruptionRecipe, path, [change])


def test_counts_are_checked() -> None:
    with pytest.raises(ModelError, match="mean must be a number from 0 to 1"):
        ErrorCounts(mean=-0.1)


TESTS = Path(__file__).parent.parent
GOLDEN = TESTS / "golden" / "corruption.txt"
SEEDS = (1, 2, 3)
LINES = (
    "Everyone in the classroom wrote something into a notebook, without the bookshop's help.",
    "Somebody cannot live without another sunflower, however hard it becomes.",
    "Tom's well-known brother has lived in the boys' house since 2010.",
    "The teacher's half-hour lessons are good, but the students' notebooks are old-fashioned, without exception.",
    "我在北京的大学里学习中文\uff0c已经学了两年了。",
    "他们昨天去看了一个很有意思的电影。",
    "因为天气不好\uff0c所以我们没有去公园。",
    "这本书是我的朋友给我的\uff0c我想再看一次。",
    "老师说的话我都能听懂\uff0c但是我还不会写。",
    "如果你有时间\uff0c请到我家来吃饭。",
)


def made() -> str:
    """The texts with errors of all recipes and seeds, a line each, with the kinds of their errors."""
    english = [line.split("\t")[2] for line in (TESTS / "data" / "learners.tsv").read_text(encoding="utf-8").splitlines()]
    all_kinds = CorruptionRecipe(0.0, ErrorCounts(0.3, 0.01), dict.fromkeys(KINDS, 1.0))
    recipes = {"every kind": all_kinds} | {
        name: load_recipe(CorruptionRecipe, RECIPES / f"{name}.toml")
        for name in ("en-gec-corrupt", "en-gec-corrupt-learners", "zh-gec-corrupt")
    }
    written: list[str] = []
    for name, recipe in recipes.items():
        for seed in SEEDS:
            corrupter = Corrupter(recipe, seed)
            written.append(f"# {name}, seed {seed}")
            for number, text in enumerate([*LINES, *english], start=1):
                corruption = corrupter.corrupt(text, number)
                if corruption.errors:
                    written.append(f"{number}\t{corruption.text}\t{' '.join(corruption.errors)}")
    return "\n".join(written) + "\n"


def test_recipes_and_seeds_give_the_stored_errors() -> None:
    text = made()
    if "UPDATE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_all_kinds_of_errors_are_in_the_stored_text() -> None:
    lines = [line for line in GOLDEN.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert {kind for line in lines for kind in line.split("\t")[2].split()} == set(KINDS)
