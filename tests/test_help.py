"""The help texts as files: what a change does to them is seen in review. `make golden` writes them anew."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import typer

from specdec_cli.app import COMMANDS

# Other versions of typer draw other boxes.
pytestmark = pytest.mark.skipif(not typer.__version__.startswith("0.29."), reason="the texts are drawn by typer 0.29")
FOLDER = Path(__file__).parent / "golden" / "help"


@pytest.mark.parametrize("name", ["specdec", *(name for name, _ in COMMANDS)])
def test_help_is_as_agreed(name: str) -> None:
    arguments = [] if name == "specdec" else [name]
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1", "PYTHONUTF8": "1"}
    command = [sys.executable, "-m", "specdec_cli", *arguments, "--help"]
    text = subprocess.run(command, capture_output=True, check=True, env=environment, cwd=Path(__file__).parents[1]).stdout.decode()
    lines = "".join(line.rstrip() + "\n" for line in text.strip().splitlines())
    path = FOLDER / f"{name}.txt"
    if "UPDATE_GOLDEN" in os.environ:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(lines, encoding="utf-8")
    assert path.exists() and lines == path.read_text(encoding="utf-8"), "run `make golden`"


def test_no_help_text_is_left_over() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == {"specdec", *(name for name, _ in COMMANDS)}
