"""Checks of the types of arguments of the Python API; an error names the argument."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from specdec_cli.errors import InputError

T = TypeVar("T")
_HALF = re.compile("[\ud800-\udfff]")


def wrong_type(name: str, expected: str, value: object) -> TypeError:
    """The error for a `value` of the argument `name` that is not what is `expected`, such as "a text"."""
    return TypeError(f"{name}: {expected} is expected, not {type(value).__name__}")


def checked(name: str, value: T, kind: type | tuple[type, ...], expected: str) -> T:
    """Return `value`, the argument `name`. Raises TypeError unless it is an instance of `kind`; True and False are no numbers."""
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise wrong_type(name, expected, value)
    return value


def checked_text(name: str, value: str) -> str:
    """Return `value`, the argument `name`. Raises TypeError unless it is a text, and InputError for half of a surrogate pair in it."""
    checked(name, value, str, "a text")
    if (half := _HALF.search(value)) is not None:
        raise InputError(f"{name}: half of a surrogate pair at offset {half.start()}, which is no character")
    return value


def checked_words(name: str, values: Iterable[str]) -> Sequence[str]:
    """Return `values`, the argument `name`. Raises TypeError unless they are several texts, also for a single one, whose letters would be
    taken for words.
    """
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise wrong_type(name, "a sequence of words", values)
    return [checked_text(f"{name}, item {number}", value) for number, value in enumerate(values, start=1)]


def checked_terms(name: str, values: Mapping[str, str]) -> Mapping[str, str]:
    """Return `values`, the argument `name`. Raises TypeError unless terms and translations are texts."""
    for source, target in values.items():
        checked_text(f"{name}, term {source!r}", source)
        checked_text(f"{name}, translation of {source!r}", target)
    return values
