"""The progress that is shown while lines are decoded to a file."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specdec_cli.commands.lines import shown_progress
from specdec_cli.commands.options import TextOptions


class Terminal(io.StringIO):
    """Text that is written to a terminal."""

    def isatty(self) -> bool:
        return True


def shown(text: TextOptions, total: int | None, monkeypatch: pytest.MonkeyPatch, stderr: io.StringIO) -> str | None:
    """What is shown after 12 lines; None if nothing is to be called after a line."""
    stream: Any = SimpleNamespace(on_line=None)
    monkeypatch.setattr(sys, "stderr", stderr)
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress(stream, text):
        if stream.on_line is None:
            return None
        stream.on_line(12, total)
    return stderr.getvalue()


FILE = Path("out.txt")


@pytest.mark.parametrize(("total", "words"), [(None, "12 lines"), (1300, "12 of 1,300 texts")])
def test_the_number_of_lines_is_shown_on_a_terminal(total: int | None, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = shown(TextOptions(output=FILE), total, monkeypatch, Terminal())
    assert found is not None and words in found
    assert words in (shown(TextOptions(output_dir=FILE), total, monkeypatch, Terminal()) or "")


@pytest.mark.parametrize(
    "text",
    [TextOptions(), TextOptions(output=Path("-")), TextOptions(output=FILE, quiet=True), TextOptions(output=FILE, trace=True)],
)
def test_nothing_is_shown_beside_other_output(text: TextOptions, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(text, None, monkeypatch, Terminal()) is None


def test_nothing_is_shown_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(TextOptions(output=FILE), None, monkeypatch, io.StringIO()) is None
