"""Messages and warnings to the user on stderr."""

import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import typer

from specdec_cli.opening.models import Tell, shipped_directions, silent
from specdec_cli.text.io.lines import Line
from specdec_cli.text.locale.languages import foreign_language


def say(message: str) -> None:
    """Print `message` on stderr, after the name of the program."""
    typer.echo(f"specdec: {message}", err=True)


def teller(quiet: bool) -> Tell:
    """The function that prints a message on stderr; with `quiet`, it prints nothing."""
    return silent if quiet else say


def print_table(rows: Iterable[tuple[str, str]]) -> None:
    """Print names and their values as a table on stderr."""
    from rich.console import Console
    from rich.table import Column, Table

    table = Table(Column(), Column(justify="right"), show_header=False)
    for row in rows:
        table.add_row(*row)
    Console(stderr=True).print(table)


class Warner:
    """Prints warnings about the lines of `window`, those that are decoded together, on stderr; with `quiet`, it prints nothing."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self.window: Sequence[Line] = ()

    def warn(self, index: int, message: str) -> None:
        """Print a warning about line `index` (from 0) of the window."""
        self.warn_of(self.window[index], message)

    def warn_of(self, line: Line, message: str) -> None:
        """Print a warning about `line`."""
        if not self._quiet:
            print(f"specdec: warning: {line.location}: {message}", file=sys.stderr)


SAMPLE = 200
"""The number of characters of a file from which on its language is checked."""


class LanguageCheck:
    """Calls `warn` with the last of the lines from which the beginning of a file is seen to be in another language than `source`.

    A file of fewer characters than SAMPLE is not checked.
    """

    def __init__(self, source: str, warn: Callable[[Line, str], None]) -> None:
        self._source, self._warn = source, warn
        self._file: Path | None = None
        self._begun = ""
        self._done = not source

    def read(self, line: Line) -> None:
        """Look at the next line of the input."""
        if line.file != self._file:
            self._file, self._begun, self._done = line.file, "", not self._source
        if self._done or line.is_code:
            return
        self._begun += f"{line.text}\n"
        if len(self._begun) < SAMPLE:
            return
        self._done = True
        found = foreign_language(self._begun, self._source)
        if not found:
            return
        fits = next((f"; --source-language {found} chooses {name}" for name, pair in shipped_directions().items() if pair[0] == found), "")
        self._warn(line, f"the text looks like {found}, and the model translates from {self._source}{fits}")
