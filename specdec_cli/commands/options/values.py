"""Makers of options for the panels of the help that several commands share, and parsers of option values."""

from collections.abc import Callable
from functools import partial
from typing import Literal

import typer

decoding_option = partial(typer.Option, rich_help_panel="Model and decoding")
machine_option = partial(typer.Option, rich_help_panel="Machine")
output_option = partial(typer.Option, rich_help_panel="Input and output")


def number_or(value: str | None, *words: str) -> int | str | None:
    """Parse the value of an option that takes a whole number from 1 or one of `words`; None stays None.

    Raises typer.BadParameter (exit code 2) for anything else.
    """
    if value is None or value in words:
        return value
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        wrong = "is not a number from 1" if not words else f"is neither a number from 1 nor {' nor '.join(map(repr, words))}"
        raise typer.BadParameter(f"{value!r} {wrong}")
    return int(value)


def number_or_auto(value: str | None) -> int | Literal["auto"] | None:
    """Parse the value of an option that takes a whole number from 1 or `auto`; None stays None.

    Raises typer.BadParameter (exit code 2) for anything else.
    """
    found = number_or(value, "auto")
    return "auto" if isinstance(found, str) else found


def checks_number_or(*words: str) -> Callable[[str | None], str | None]:
    """Make the callback that checks the value of an option which takes a whole number from 1 or one of `words`, and returns it as text."""

    def check(value: str | None) -> str | None:
        number_or(value, *words)
        return value

    return check


def not_nan(value: float | None) -> float | None:
    """Return `value`, the value of an option. Raises typer.BadParameter (exit code 2) for NaN, which no range of typer excludes."""
    if value != value:
        raise typer.BadParameter("nan is not a number")
    return value
