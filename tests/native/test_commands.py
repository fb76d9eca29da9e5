"""The native engine behind translate and correct."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.model.bundle import Bundle, save_bundle
from tests import command_line
from tests.command_line import Result, done
from tests.tables import tables

CASES = tables(__file__)

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
    precision = [] if "--precision" in arguments else ["--precision", "int8"]
    return command_line.run(command, "--threads", "1", *precision, *arguments, text=text)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "options", [[], ["--json", "--stats"], ["--batch-size", "1", "--device", "cpu", "--precision", "int8"], ["--decoding", "jacobi"]]
)
@pytest.mark.parametrize(("command", "text"), [("translate", LINES), ("correct", LEARNER)])
def test_defaults_import_neither_torch_nor_ctranslate2_nor_numpy(command: str, text: str, options: list[str]) -> None:
    done = subprocess.run([sys.executable, "-c", WATCH, command, *options], input=text, capture_output=True, text=True, check=True)
    # The types of errors need lemminflect, which imports numpy.
    names_types = command == "correct" and "--json" in options
    assert done.stderr.splitlines()[-1] == ("['numpy']" if names_types else "[]")
    assert done.stdout.count("\n") == text.count("\n")


@pytest.mark.parametrize(
    ("command", "text", "options"),
    [
        ("translate", LINES, ["--decoding", "greedy"]),
        ("translate", LINES, ["--decoding", "lookup", "--block-size", "4", "--batch-size", "2"]),
        ("translate", LINES, ["--decoding", "specdec", "--block-size", "3"]),
        ("translate", LINES, ["--preset", "high-quality", "--batch-size", "2"]),
        ("translate", LINES, ["--decoding", "beam", "--n-best", "4", "--length-penalty", "0.6"]),
        ("translate", LINES, ["--decoding", "beam", "--beam-size", "3", "--max-length", "9", "--batch-size", "1"]),
        ("correct", LEARNER, ["--decoding", "beam"]),
        ("correct", LEARNER, ["--decoding", "input-guided"]),
        ("correct", LEARNER, ["--decoding", "input-guided", "--preset", "high-quality"]),
        ("correct", LEARNER, ["--decoding", "input-guided", "--match", "unique", "--batch-size", "1"]),
    ],
)
def test_both_engines_say_the_same(command: str, text: str, options: list[str]) -> None:
    results = [run(command, "--json", "--engine", engine, *options, text=text) for engine in ("native", "reference")]
    assert [result.exit_code for result in results] == [0, 0], results[0].stderr
    native, reference = ([json.loads(line) for line in result.stdout.splitlines()] for result in results)
    assert native == reference


def test_drafts_that_may_be_left_out_are() -> None:
    (line,) = run("translate", "--json", "--engine", "native", text="Tom is at home.\n").stdout.splitlines()
    assert json.loads(line)["decoding"] == "greedy"
    result = run("translate", "--stats", text="Tom is at home.\n")
    assert "greedy, batch size" in result.stderr
    assert "specdec" not in result.stderr
    assert "native engine (" in result.stderr


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("options", "machine"), CASES.what_it_cannot_do_pytorch_does_over_its_passes)
def test_what_it_cannot_do_pytorch_does_over_its_passes(options: list[str], machine: list[str]) -> None:
    done = run("translate", "--stats", *options, text="Tom is at home.\n")
    assert (done.exit_code, done.stdout) == (0, "Tom ist zu Hause.\n")
    assert all(part in " ".join(done.stderr.split()) for part in machine)


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("translate", ["--decoding", "greedy"]),
        ("translate", ["--decoding", "lookup"]),
        ("translate", ["--decoding", "jacobi"]),
        ("translate", ["--decoding", "hybrid-jacobi", "--stop", "fixed-point"]),
        pytest.param("translate", ["--decoding", "specdec", "--block-size", "6"], marks=pytest.mark.long),
        pytest.param("correct", ["--mode", "thorough"], marks=pytest.mark.long),
    ],
)
def test_both_engines_show_the_same_rounds(command: str, options: list[str]) -> None:
    text = "Tom have two dogs. They is small.\n"
    native = run(command, "--trace", *options, text=text)
    reference = run(command, "--trace", *options, "--engine", "reference", "--precision", "int8", text=text)
    assert native.stderr.count(" V ") >= 2
    assert native.stderr == reference.stderr


def test_a_model_of_another_order_is_computed_by_its_passes(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle(order="bidirectional", positions="learned")
    bundle.info = replace(bundle.info, decoding="auto")
    save_bundle(bundle, tmp_path / "model")
    command = ("translate", "--model", str(tmp_path / "model"), "--stats", "--precision", "int8")
    done, expected = (run(*command, "--engine", engine, text="a b\n") for engine in ("auto", "reference"))
    assert "PyTorch over passes of the native engine" in " ".join(done.stderr.split())
    assert (done.exit_code, done.stdout) == (0, expected.stdout)


@pytest.mark.parametrize(("options", "message"), CASES.what_it_cannot_do_is_refused_with_a_sentence)
def test_what_it_cannot_do_is_refused_with_a_sentence(options: list[str], message: str) -> None:
    result = run("translate", "--engine", "native", *options, text="Tom is at home.\n")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())


def without_library(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Translate a sentence where the engine was not built."""
    environment = os.environ | {"SPECDEC_NATIVE": str(folder / "none.so")}
    command = [sys.executable, "-m", "specdec_cli", "translate", "--precision", "int8", *arguments]
    return subprocess.run(command, input="Tom is at home.\n", capture_output=True, text=True, check=False, env=environment)


@pytest.mark.long
def test_without_the_library_the_reference_translates_and_one_line_says_so(tmp_path: Path) -> None:
    done = without_library(tmp_path)
    assert (done.returncode, done.stdout) == (0, "Tom ist zu Hause.\n")
    (line,) = done.stderr.splitlines()
    assert line.startswith("specdec: the native engine is missing: ")
    assert line.endswith("; PyTorch computes in int8")
    assert without_library(tmp_path, "--quiet").stderr == ""


@pytest.mark.parametrize("decoding", ["greedy", "jacobi"])
def test_a_missing_library_that_was_asked_for_is_an_error(decoding: str, tmp_path: Path) -> None:
    done = without_library(tmp_path, "--engine", "native", "--decoding", decoding)
    assert done.returncode == 2
    assert "the native engine is not there" in done.stderr


@pytest.mark.parametrize(("options", "words"), [(["--block-size", "11"], "this bundle's drafter works for 1 to 10")])
def test_options_beyond_what_the_bundle_supports_are_refused(options: list[str], words: str) -> None:
    result = run("translate", "--engine", "native", "--decoding", "specdec", *options, text=LINES)
    assert (result.exit_code, words in result.stderr) == (2, True)


@pytest.mark.parametrize(
    "options",
    [
        ["--decoding", "greedy", "--max-length", str(2**32 + 1)],
        ["--decoding", "specdec", "--block-size", "auto", "--batch-size", "100000"],
        ["--decoding", "specdec++", "--top-beta", "1000", "--tolerance", "0"],
    ],
)
def test_large_numbers_mean_no_limit(options: list[str]) -> None:
    result = done(run("translate", "--engine", "native", *options, text=LINES))
    assert result.stdout == run("translate", "--engine", "native", "--decoding", "greedy", text=LINES).stdout
