"""Checks of the values of configuration dataclasses: each value has the type of its field, and is within the field's
range.

The annotation of a field declares its range: `heads: Annotated[int, Between(1, 1024)]`. Without a range, any finite
number is valid.
"""

import reprlib
import sys
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, asdict, dataclass, fields
from math import inf
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Self, TypeVar, Union, get_args, get_origin, get_type_hints

from specdec_cli.errors import ModelError

T = TypeVar("T")
_WORDS: Mapping[Any, str] = {int: "an integer", float: "a number", bool: "true or false", str: "text", NoneType: "null"}
_UNIONS: tuple[Any, ...] = (Union, UnionType)
_OBJECTS: tuple[Any, ...] = (dict, Mapping)


@dataclass(frozen=True)
class Between:
    """The range of valid numbers of a field, from `low` to `high`, both included."""

    low: float
    high: float


@dataclass(frozen=True)
class StoredConfig:
    """A configuration dataclass that is stored as JSON."""

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Make a configuration from the output of `to_dict`. Raises ModelError for an unknown or missing key, or an invalid value."""
        return config_from_dict(cls, values)


def config_from_dict(kind: type[T], values: Mapping[str, Any]) -> T:
    """Build a configuration dataclass of type `kind` from values read from JSON or TOML; lists become tuples where fields are tuples.

    Raises ModelError naming an unknown or missing key, or a key whose value has another type or is out of its range.
    """
    checked = checked_values(kind, values)
    for f in fields(kind):  # type: ignore[arg-type]
        if f.name not in values and f.default is MISSING and f.default_factory is MISSING:
            raise ModelError(f"{f.name} is missing")
    return kind(**checked)


def unknown_key(key: str, known: Iterable[str]) -> str:
    """The message about an unknown key: the known ones, and the one that is written nearly so."""
    from difflib import get_close_matches

    listed = list(known)
    close = get_close_matches(key, listed, 1, 0.65)
    return f"unknown key {key!r}; known are {', '.join(listed)}" + (f"; did you mean {close[0]}?" if close else "")


def checked_values(kind: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """Check values of some fields of a configuration dataclass of type `kind`, each alone, and return them; lists become tuples where
    fields are tuples.

    Raises ModelError naming an unknown key, or a key whose value has another type or is out of its range.
    """
    known = {f.name for f in fields(kind)}
    unknown = sorted(set(values) - known)
    if unknown:
        raise ModelError(unknown_key(unknown[0], sorted(known)))
    hints = get_type_hints(kind, include_extras=True)
    checked = {name: _plain(value, hints[name]) for name, value in values.items()}
    _check(checked, hints)
    return checked


def check_fields(configuration: Any) -> None:
    """Check all values of a configuration dataclass; call it in `__post_init__`.

    Raises ModelError naming a field whose value has another type or is out of its range.
    """
    _check(vars(configuration), get_type_hints(type(configuration), include_extras=True))


def _check(values: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    for name, value in values.items():
        inner = get_args(hints[name])
        if get_origin(hints[name]) in _OBJECTS and isinstance(value, Mapping):
            # The error for a wrong value in an object names its key, such as rates.tense.
            each = {f"{name}.{key}": one for key, one in value.items()}
            _check(each, dict.fromkeys(each, inner[1]))
        elif not _fits(value, hints[name]):
            raise ModelError(f"{name} must be {in_words(hints[name])}, not {reprlib.repr(value)}")


def _plain(value: Any, hint: Any) -> Any:
    """`value` with tuples in place of lists where `hint` has tuples."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin in _UNIONS:
        return next((plain for one in inner if (plain := _plain(value, one)) is not value), value)
    if inner == (str, ...) and isinstance(value, list):
        return tuple(value)  # a vocabulary may have 256,000 pieces
    if origin is tuple and isinstance(value, list):
        hints = _elements(inner, len(value))
        return tuple(map(_plain, value, hints)) if len(hints) == len(value) else value
    if origin in _OBJECTS and isinstance(value, dict):
        return {key: _plain(each, inner[1]) for key, each in value.items()}
    return value


def _fits(value: Any, hint: Any) -> bool:
    """Whether `value` has the type `hint` and is within its ranges. Types that JSON does not have are not checked."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        ranges = [each for each in inner[1:] if isinstance(each, Between)]
        return _fits(value, inner[0]) and all(each.low <= value <= each.high for each in ranges)
    if origin in _UNIONS:
        return any(_fits(value, one) for one in inner)
    if origin is Literal:
        return isinstance(value, str) and value in inner
    if inner == (str, ...):
        return isinstance(value, tuple) and all(isinstance(each, str) for each in value)
    if origin is tuple:
        hints = _elements(inner, len(value)) if isinstance(value, tuple) else ()
        return isinstance(value, tuple) and len(value) == len(hints) and all(map(_fits, value, hints))
    if origin in _OBJECTS:
        return isinstance(value, Mapping) and all(_fits(key, inner[0]) and _fits(each, inner[1]) for key, each in value.items())
    if hint is float:
        return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= sys.float_info.max
    if hint is int:
        return isinstance(value, int) and not isinstance(value, bool)
    return hint not in _WORDS or isinstance(value, hint)


def _elements(inner: tuple[Any, ...], count: int) -> tuple[Any, ...]:
    """The types of the elements of a tuple of `count` elements, from the arguments of its annotation."""
    return inner[:1] * count if inner[-1:] == (...,) else inner


def in_words(hint: Any) -> str:
    """Describe the values of the type `hint` for an error message, such as "an integer from 1 to 8"."""
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        ranges = [each for each in inner[1:] if isinstance(each, Between)]
        return in_words(inner[0]) + "".join(f" from {each.low}" + f" to {each.high}" * (each.high < inf) for each in ranges)
    if origin in _UNIONS:
        return " or ".join(map(in_words, inner))
    if origin is Literal:
        return " or ".join(inner)
    if origin is tuple:
        return f"a list of {' and '.join(in_words(one) for one in inner if one is not ...)}"
    if origin in _OBJECTS:
        return f"an object whose values are {in_words(inner[1])}"
    return _WORDS.get(hint, str(hint))
