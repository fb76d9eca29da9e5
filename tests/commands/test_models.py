"""`specdec models`: the table of bundles."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_cli.opening.models import TRAINING_FILES
from tests.command_line import run


def test_files_of_a_training_run_do_not_count_as_the_bundle(bundle_folder: Path, tmp_path: Path) -> None:
    trained = shutil.copytree(bundle_folder, tmp_path / "bundle")
    alone = run("models", trained, env={"COLUMNS": "1000"}).output
    for name in TRAINING_FILES:
        (trained / name).write_bytes(bytes(10**6))
    assert alone == run("models", trained, env={"COLUMNS": "1000"}).output
    assert str(trained) in alone


def test_a_terminal_of_unknown_size_has_the_default_size() -> None:
    command = [sys.executable, "-m", "specdec_cli", "models"]
    without = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    outputs = [
        subprocess.run(command, env=without | sizes, capture_output=True, text=True, check=True).stdout
        for sizes in ({}, {"COLUMNS": "0", "LINES": "0"})
    ]
    assert outputs[0] == outputs[1]
    assert "en-de" in outputs[0]


def test_a_pipe_gets_whole_words(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "40")
    result = run("models")
    assert "CC-BY-SA-4.0" in result.stdout and "input-guided" in result.stdout and "\u2026" not in result.stdout


def test_a_narrow_terminal_gets_all_letters(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr("specdec_cli.commands.models._WIDEST", None)
    lines = run("models", "en-gec").stdout.splitlines()
    assert len(lines) > 2 and all(len(line) <= 40 for line in lines)
    assert "\u2026" not in "".join(lines) and "inpu" in "".join(lines) and "4.0" in "".join(lines)
