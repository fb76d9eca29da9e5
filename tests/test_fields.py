"""Settings from files: types, ranges, and the message for each field."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import pytest

from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, check_fields, config_from_dict


@dataclass(frozen=True)
class Settings:
    needed: Annotated[int, Between(1, 10)]
    share: Annotated[float, Between(0, 1)] = 0.5
    bound: Annotated[float, Between(-5, 0)] | None = None
    plain: float = 0.0
    switch: bool = False
    kind: Literal["one", "two"] = "one"
    names: tuple[str, ...] = ()
    more: tuple[str, ...] | None = None
    pairs: dict[str, tuple[int, float]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)


def test_valid_values_are_accepted() -> None:
    values = {"needed": 10, "share": 1, "bound": -5, "names": ["a"], "more": ["b"], "pairs": {"x": [1, 2.5]}, "words": {"a": "b"}}
    made = config_from_dict(Settings, values)
    assert made == Settings(10, 1, -5, names=("a",), more=("b",), pairs={"x": (1, 2.5)}, words={"a": "b"})
    assert config_from_dict(Settings, {"needed": 1, "more": None}).more is None


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"needed": 0}, "needed must be an integer from 1 to 10, not 0"),
        ({"needed": 2.0}, r"needed must be an integer from 1 to 10, not 2\.0"),
        ({"needed": True}, "needed must be an integer from 1 to 10, not True"),
        ({"needed": "2"}, "not '2'"),
        ({"share": float("nan")}, "share must be a number from 0 to 1, not nan"),
        ({"share": 10**400}, "share must be a number from 0 to 1"),
        ({"bound": 1}, "bound must be a number from -5 to 0 or null, not 1"),
        ({"plain": float("inf")}, "plain must be a number, not inf"),
        ({"plain": 10**400}, "plain must be a number"),
        ({"switch": 1}, "switch must be true or false, not 1"),
        ({"kind": "three"}, "kind must be one or two, not 'three'"),
        ({"kind": ["one"]}, "kind must be one or two"),
        ({"names": "a"}, "names must be a list of text, not 'a'"),
        ({"names": ["a", None]}, "names must be a list of text"),
        ({"more": [1]}, "more must be a list of text or null"),
        ({"pairs": {"x": [1]}}, r"pairs\.x must be a list of an integer and a number"),
        ({"pairs": None}, "pairs must be an object"),
        ({"words": {"a": 1}}, r"words\.a must be text, not 1"),
        ({"other": 1}, "unknown key 'other'; known are bound"),
        ({"nedeed": 1}, r"unknown key 'nedeed'; known are bound, .*; did you mean needed\?"),
    ],
)
def test_an_invalid_value_is_named(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ModelError, match=words):
        config_from_dict(Settings, {"needed": 1} | changes)


def test_a_missing_key_is_named() -> None:
    with pytest.raises(ModelError, match="needed is missing"):
        config_from_dict(Settings, {})


def test_values_given_by_code_are_checked_too() -> None:
    with pytest.raises(ModelError, match="share must be"):
        Settings(1, 2.0)
