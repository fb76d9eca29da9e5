"""The help texts are golden files, so that a review shows their changes. `make golden` writes them."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from specdec_cli.app import COMMANDS, app

DRAWN_BY = "0.29."
"""The version of typer that drew the texts; other versions draw other boxes around the same words."""
FOLDER = Path(__file__).parent / "golden" / "help"


# Prints the help texts of the program and of all commands as JSON.
PROGRAM = """
import io, json
from contextlib import redirect_stdout, suppress
from specdec_cli.app import COMMANDS, app
texts = {}
for name in ("specdec", *COMMANDS):
    with redirect_stdout(io.StringIO()) as text, suppress(SystemExit):
        app([name, "--help"] if name != "specdec" else ["--help"], prog_name="specdec")
    texts[name] = text.getvalue()
print(json.dumps(texts))
"""


@cache
def help_texts() -> dict[str, str]:
    """The help texts by command, for a terminal of 100 columns without colours."""
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", PROGRAM]
    text = subprocess.run(command, capture_output=True, check=True, env=environment, cwd=Path(__file__).parents[1]).stdout
    texts: dict[str, str] = json.loads(text)
    return texts


@pytest.mark.parametrize("name", ["specdec", *COMMANDS])
def test_help_equals_the_golden_files(name: str) -> None:
    lines = "".join(line.rstrip() + "\n" for line in help_texts()[name].strip().splitlines())
    path = FOLDER / f"{name}.txt"
    if "UPDATE_GOLDEN" in os.environ:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
    agreed = path.read_text(encoding="utf-8") if path.exists() else ""
    if typer.__version__.startswith(DRAWN_BY):
        assert lines == agreed, "run `make golden`"
    else:
        assert set(words(lines)) == set(words(agreed)), "run `make golden` with typer 0.29"


def words(text: str) -> list[str]:
    """The words of a help text, without boxes."""
    return re.findall(r"[\w<>|.,:;-]+", text)


def test_words_are_compared_without_boxes() -> None:
    text = (FOLDER / "translate.txt").read_text(encoding="utf-8")
    drawn = re.sub(r"[\u2500-\u257f]", "+", text)
    assert drawn != text and words(drawn) == words(text)
    assert set(words(text.replace("--decoding", "--decode"))) != set(words(text))


def test_every_golden_file_belongs_to_a_command() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {"specdec", *COMMANDS}


def test_the_command_help_shows_help() -> None:
    for arguments, same in ((["help"], ["--help"]), (["help", "convert"], ["convert", "--help"])):
        shown = CliRunner().invoke(app, arguments)
        assert (shown.exit_code, shown.stdout) == (0, CliRunner().invoke(app, same).stdout)
    assert CliRunner().invoke(app, ["help", "nix"]).exit_code == 2
