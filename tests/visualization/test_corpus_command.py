"""`specdec visualize --file`, from the command line to tables."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from specdec_cli.app import app
from tests.command_line import done


def run(*arguments: object, **settings: Any) -> Result:
    return CliRunner().invoke(app, ["visualize", "--threads", "1", *map(str, arguments)], **settings)


def test_visualize_reads_the_source_column(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    file, output = tmp_path / "dev.tsv", tmp_path / "corpus.json"
    file.write_text("".join(f"{line}\tziel\n" for line in [" ", *lines[:4]]), encoding="utf-8")
    result = done(run("--file", file, "-m", bundle_folder, "--limit", 3, "-o", output))
    assert result.stderr == "specdec: skipped lines: 1 blank\n"
    corpus = json.loads(output.read_text())
    assert (corpus["format"], corpus["name"], corpus["sentences"], corpus["skipped"]) == (1, "dev.tsv", 2, {"blank": 1})
    assert corpus["tokens"] == sum(step["tokens"] for step in corpus["by_iteration"])
    assert corpus["tokens_per_iteration"] == round(corpus["tokens"] / corpus["iterations"], 3)
    shown = done(run("--file", "-", "-m", bundle_folder, input="".join(f"{line}\n" for line in lines[:2])))
    numbers = f"{corpus['tokens']} tokens of 2 sentences in {corpus['iterations']} iterations"
    assert (shown.stdout.startswith(f"stdin, jacobi: {numbers}"), shown.stderr) == (True, "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "either a SENTENCE or --file"),
        (["kalo", "--file", "a"], "either a SENTENCE or --file"),
        (["kalo", "--limit", "2"], "--limit is for --file"),
        (["--file", "a", "--decoding", "specdec"], "not for specdec"),
        (["--file", "a", "--block-size", "3"], "--block-size is not for jacobi"),
        (["--file", "a", "-o", "a.pdf"], "must end with one of"),
    ],
)
def test_contradicting_options_are_refused(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, words in result.stderr) == (2, True), result.output


def test_files_without_a_sentence_are_refused(bundle_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.txt").write_text("\n")
    for name, words in (("empty.txt", "empty.txt: no sentence to decode (1 blank)"), ("none.txt", "none.txt: no such file")):
        result = run("--file", tmp_path / name, "-m", bundle_folder)
        assert (result.exit_code, words in result.stderr) == (3, True), result.output
