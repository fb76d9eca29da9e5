"""The native engine behind translate and correct."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specdec_cli.app import app

LINES = "Tom is at home.\nIs this the number 42?\n\nThe dog sleeps, and the cat is in the garden.\n"
LEARNER = "He go to school.\nI has seen it.\nAll is well.\n"
WATCH = """
import sys
from specdec_cli.app import app
try:
    app(prog_name="specdec")
finally:
    print(sorted({"torch", "ctranslate2", "numpy"} & set(sys.modules)), file=sys.stderr)
"""


def run(command: str, *arguments: str, text: str) -> Result:
    return CliRunner().invoke(app, [command, "--threads", "1", "--precision", "int8", *arguments], input=text)


@pytest.mark.slow
@pytest.mark.parametrize(("command", "text"), [("translate", LINES), ("correct", LEARNER)])
def test_neither_torch_nor_numpy_is_imported(command: str, text: str) -> None:
    arguments = [sys.executable, "-c", WATCH, command, "--engine", "native"]
    done = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True)
    assert done.stderr.splitlines()[-1] == "[]"
    assert done.stdout.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("command", "text", "options"),
    [
        ("translate", LINES, ["--decoding", "greedy"]),
        ("translate", LINES, ["--decoding", "lookup", "--block-size", "4", "--batch-size", "2"]),
        ("correct", LEARNER, ["--decoding", "input-guided"]),
        ("correct", LEARNER, ["--decoding", "input-guided", "--match", "unique", "--batch-size", "1"]),
    ],
)
def test_both_engines_say_the_same(command: str, text: str, options: list[str]) -> None:
    results = [run(command, "--json", "--engine", engine, *options, text=text) for engine in ("native", "reference")]
    assert [result.exit_code for result in results] == [0, 0]
    native, reference = ([json.loads(line) for line in result.stdout.splitlines()] for result in results)
    assert native == reference


def test_drafts_that_may_be_left_out_are() -> None:
    (line,) = run("translate", "--json", "--engine", "native", text="Tom is at home.\n").stdout.splitlines()
    assert json.loads(line)["decoding"] == "greedy"
    result = run("translate", "--stats", "--engine", "native", text="Tom is at home.\n")
    assert "greedy (specdec would be slower here)" in result.stderr
    assert "native engine (" in result.stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--decoding", "beam"], "the native engine does not do decoding beam"),
        (["--decoding", "specdec"], "the native engine does not do decoding specdec"),
        (["--preset", "high-quality"], "the native engine does not do decoding specdec++"),
        (["--precision", "float32"], "it computes in int8 on a CPU, not on auto in float32"),
        (["--device", "cuda"], "it computes in int8 on a CPU, not on cuda"),
        (["--trace"], "--engine reference does"),
    ],
)
def test_what_it_cannot_do_is_refused_with_a_sentence(options: list[str], message: str) -> None:
    result = run("translate", "--engine", "native", *options, text="Tom is at home.\n")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def test_a_missing_library_is_named(tmp_path: Path) -> None:
    environment = os.environ | {"SPECDEC_NATIVE": str(tmp_path / "none.so")}
    arguments = [sys.executable, "-m", "specdec_cli", "translate", "--engine", "native"]
    done = subprocess.run(arguments, input="Tom.\n", capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 2
    assert "the native engine is not there" in done.stderr
