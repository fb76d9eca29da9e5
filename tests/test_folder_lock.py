"""Locks on output folders."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.files import locked, rank
from specdec_cli.work.training import writing_alone
from tests.command_line import run

# Locks a folder and prints a word; after a line on stdin, creates a file in the folder and unlocks it.
HOLD = """
import sys
from pathlib import Path
from specdec_cli.files import locked
folder = Path(sys.argv[1])
with locked(folder):
    print("locked", flush=True)
    sys.stdin.readline()
    (folder / "first").touch()
"""
# Waits for a folder and prints its contents.
WAIT = """
import sys
from pathlib import Path
from specdec_cli.files import locked
print("waiting", flush=True)
with locked(Path(sys.argv[1]), wait=True):
    print(*(path.name for path in Path(sys.argv[1]).iterdir()))
"""


@contextmanager
def program(code: str, folder: Path, word: str) -> Iterator["subprocess.Popen[str]"]:
    """Start a process that runs `code` on `folder`, and wait until it has printed `word`."""
    with subprocess.Popen([sys.executable, "-c", code, folder], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"{word}\n"
        yield process


def test_a_folder_is_locked_until_its_process_is_killed(tmp_path: Path) -> None:
    with program(HOLD, tmp_path / "out", "locked") as process:
        with pytest.raises(UsageError, match=r"out: another process is writing into this folder"), locked(tmp_path / "out"):
            raise AssertionError("two processes hold one lock")
        process.kill()
        process.wait()
        with locked(tmp_path / "out"):
            (tmp_path / "out" / "second").touch()


def test_a_waiting_process_continues_after_the_first(tmp_path: Path) -> None:
    with program(HOLD, tmp_path / "out", "locked") as first, program(WAIT, tmp_path / "out", "waiting") as second:
        first.communicate("go on\n")
        assert second.communicate()[0] == "first\n"


def test_a_new_folder_is_removed_if_it_is_empty(tmp_path: Path) -> None:
    for name in ("new", "filled", "old"):
        if name == "old":
            (tmp_path / name).mkdir()
        with locked(tmp_path / name):
            if name == "filled":
                (tmp_path / name / "file").touch()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["filled", "old"]


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "out").touch()
    with pytest.raises(UsageError, match=r"out: "), locked(tmp_path / "out"):
        raise AssertionError("a file was locked")


@pytest.mark.parametrize("command", ["train-verifier", "train-drafter", "distill"])
def test_a_second_run_is_refused(command: str, bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    text, output = tmp_path / "text.tsv", tmp_path / "out"
    text.write_text("".join(f"{line}\t{line}\n" for line in lines), encoding="utf-8")
    arguments: dict[str, list[object]] = {
        "train-verifier": [output, "--data", text, "--dev", text, "--init", bundle_folder, "--set", "run.max_updates=1"],
        "train-drafter": [output, "--data", text, "--dev", text, "-m", bundle_folder, "--set", "run.max_updates=1"],
        "distill": [bundle_folder, output, text],
    }
    output.mkdir()
    with locked(output):
        result = run(command, *arguments[command])
    assert (result.exit_code, result.stdout) == (2, "")
    assert f"{output}: another process is writing into this folder" in result.stderr
    assert list(output.iterdir()) == []


@pytest.mark.parametrize(("variables", "expected"), [({}, None), ({"LOCAL_RANK": "0"}, 0), ({"RANK": "5", "LOCAL_RANK": "1"}, 5)])
def test_only_rank_0_locks_the_folder(
    variables: dict[str, str], expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("RANK", "LOCAL_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert rank() == expected
    with locked(tmp_path):
        if expected:
            with writing_alone(tmp_path):
                return
        with pytest.raises(UsageError), writing_alone(tmp_path):
            raise AssertionError("two runs write into one folder")
