"""The tables of settings: every key has values, a default and a description."""

from dataclasses import dataclass, fields

import pytest

from documentation import settings
from documentation.settings import GROUPS, descriptions, keys, recipes


@dataclass(frozen=True)
class Example:
    """An example.

    - `one`: the first,
      which goes on.
    - `two`, `three`: the others.

    Raises nothing.
    """

    one: int = 1
    two: bool = True
    three: str = ""
    four: float = 0.5


def test_descriptions_are_read_from_docstrings() -> None:
    assert descriptions(Example) == {"one": "the first, which goes on.", "two": "the others.", "three": "the others."}


def test_a_key_without_a_description_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "GROUPS", {"example": (Example, "a.")})
    with pytest.raises(ValueError, match="Example says nothing of `four`"):
        keys("example")


@pytest.mark.parametrize("group", GROUPS)
def test_every_key_is_in_its_table(group: str) -> None:
    kind, prefix = GROUPS[group]
    table = keys(group)
    assert [f"| `{prefix}{each.name}` |" in table for each in fields(kind)] == [True] * len(fields(kind))


def test_recipes_are_shown_in_the_form_of_set() -> None:
    text = recipes()
    assert "### [gad-drafter](../specdec_cli/recipes/gad-drafter.toml)" in text
    assert "drafter.model.norm=post" in text and "glancing=[0.5, 0.3]" in text and "vary_block=false" in text
    assert "### [en-de.sh](../specdec_cli/recipes/en-de.sh)" in text
