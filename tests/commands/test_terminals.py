"""What commands show in a terminal: colours unless NO_COLOR or TERM=dumb forbids them, progress, and that they wait for the keyboard."""

import io
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from specdec_cli.console.options import TextOptions
from specdec_cli.work.lines import shown_progress

COLOUR = re.compile(r"\x1b\[[\d;]*m")
TEXT = "He have no tea.\n"
COMMANDS = {
    "diff": ("correct", "--threads", "1", "--diff", "text"),
    "trace": ("correct", "--threads", "1", "--trace", "--decoding", "input-guided", "text"),
    "statistics": ("correct", "--threads", "1", "--stats", "text"),
    "picture": ("visualize", "--threads", "1", "Good morning!"),
    "models": ("models",),
    "help": ("translate", "--help"),
    "error": ("translate", "--beam-size", "x"),
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text").write_text(TEXT, encoding="utf-8")
    monkeypatch.chdir(tmp_path)


def in_terminal(arguments: Sequence[str], *, typed: str = "", **environment: str) -> str:
    """What specdec with `arguments` writes to a terminal of 100 columns, in which `typed` and then Ctrl-D are typed."""
    terminal, side = pty.openpty()
    known = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "TERM")}
    environment = known | {"COLUMNS": "100", "LINES": "40", "TERM": "xterm-256color"} | environment
    command = [sys.executable, "-m", "specdec_cli", *arguments]
    with subprocess.Popen(command, stdin=side, stdout=side, stderr=side, env=environment, start_new_session=True) as process:
        os.close(side)
        os.write(terminal, f"{typed}\x04".encode())
        written = bytearray()
        try:
            while chunk := os.read(terminal, 2**16):
                written += chunk
        except OSError:  # Linux reports the end so
            pass
        process.wait(60)
    os.close(terminal)
    return written.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("name", COMMANDS)
def test_a_terminal_gets_colours_unless_they_are_forbidden(name: str) -> None:
    coloured = in_terminal(COMMANDS[name])
    assert COLOUR.search(coloured) or name == "statistics"
    for forbidden in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain = in_terminal(COMMANDS[name], **forbidden)
        assert plain.strip()
        # Bold and dim text has no colour.
        codes = {code for found in COLOUR.findall(plain) for code in found[2:-1].split(";")}
        assert codes <= ({"", "0", "1", "2", "3", "9"} if "NO_COLOR" in forbidden else set()), plain


def test_diff_has_the_same_marks_with_and_without_colours() -> None:
    assert in_terminal(COMMANDS["diff"]) == "He \x1b[31m[-have-]\x1b[0m\x1b[32;1m{+has+}\x1b[0m no tea.\n"
    assert in_terminal(COMMANDS["diff"], NO_COLOR="1") == "He [-have-]{+has+} no tea.\n"


@pytest.mark.parametrize("command", ["translate", "correct"])
def test_a_command_says_that_it_reads_from_the_keyboard(command: str) -> None:
    message = "specdec: reading from the keyboard; Ctrl-D on an empty line ends the text"
    output = in_terminal([command, "--threads", "1"], typed="All is well.\n")
    assert message in output.splitlines() and len(output.splitlines()) == 3
    assert message not in in_terminal([command, "--threads", "1", "--quiet"], typed="All is well.\n")
    assert message not in in_terminal([command, "--threads", "1", "text"])


def test_a_conversion_shows_the_bytes_that_are_written_in_a_terminal_alone(tmp_path: Path) -> None:
    command = ("convert", "en-de", "copy", "--force")
    assert "MB" in in_terminal(command) and (tmp_path / "copy" / "bundle.json").exists()
    assert "MB" not in in_terminal((*command, "--quiet"))


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
