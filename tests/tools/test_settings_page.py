"""The tables of settings: every key has values, a default and a description."""

from dataclasses import dataclass, fields

import pytest

from specdec_cli.training.recipe import SET_BY_TOKENIZER
from tools import docs
from tools.docs import GROUPS, RECIPES, descriptions, keys, recipes


@dataclass(frozen=True)
class Example:
    """An example.

    - `one`: the first,
      which goes on.
    - `two`, `three`: the others (see `Other`; 0: none), and so on (see
      `Example`).

    Raises nothing.
    """

    one: int = 1
    two: bool = True
    three: str = ""
    four: float = 0.5


def test_descriptions_are_read_from_docstrings() -> None:
    others = "the others (0: none), and so on."
    assert descriptions(Example) == {"one": "the first, which goes on.", "two": others, "three": others}


def test_a_key_without_a_description_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "GROUPS", {"example": (Example, "a.")})
    with pytest.raises(ValueError, match="Example says nothing of `four`"):
        keys("example")


@pytest.mark.parametrize("group", GROUPS)
def test_every_key_that_can_be_set_is_in_its_table(group: str) -> None:
    kind, prefix = GROUPS[group]
    table = keys(group)
    names = [each.name for each in fields(kind)]
    shown = [name for name in names if f"| `{prefix}{name}` |" in table]
    assert shown == [name for name in names if group not in ("model", "block") or name not in SET_BY_TOKENIZER]


def test_ranges_are_those_that_are_checked() -> None:
    share = "| a number from 0 to 1 |"
    assert f"| `clean` {share}" in keys("corruption")
    assert all(f"| `errors.{name}` {share}" in keys("errors") for name in ("mean", "variance", "limit"))
    assert all("layers, a multiple of 16" in keys(group) for group in ("model", "block"))


def test_every_recipe_has_a_line() -> None:
    lines = recipes().splitlines()
    assert sum("/gad-big-drafter.toml) | The big NAT drafter of GAD's Tables 4 and 5 (" in line for line in lines) == 1
    assert "| [en-de.sh](../specdec_cli/recipes/en-de.sh) | Make the en-de bundle from parallel text. |" in lines
    assert len(lines) == 2 + len([path for path in RECIPES.iterdir() if path.suffix in (".toml", ".sh")])
