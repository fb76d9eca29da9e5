"""New folders are written completely or not at all, and temporary folders of killed programs are removed."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.files import new_folder

FILL = """
import sys, time
from pathlib import Path
from specdec_cli.files import new_folder
with new_folder(Path(sys.argv[1]), "marker", True) as partial:
    (partial / "marker").write_text("half")
    print("filling", flush=True)
    time.sleep(60)
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def filling(output: Path) -> "subprocess.Popen[str]":
    """A program that is filling a new folder."""
    program = subprocess.Popen([sys.executable, "-c", FILL, output], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "filling\n"
    return program


def fill(output: Path, text: str, force: bool = False) -> None:
    with new_folder(output, "marker", force) as partial:
        (partial / "marker").write_text(text)


def test_a_folder_is_replaced_completely(tmp_path: Path) -> None:
    fill(tmp_path / "output", "first")
    with pytest.raises(UsageError, match="exists already"):
        fill(tmp_path / "output", "second")
    fill(tmp_path / "output", "second", force=True)
    assert (tmp_path / "output" / "marker").read_text() == "second"
    assert names(tmp_path) == ["output"]


def test_files_of_killed_programs_are_removed(tmp_path: Path) -> None:
    fill(tmp_path / "output", "first")
    (tmp_path / ".output.notes.partial").mkdir()
    (tmp_path / ".output.2.123.partial").mkdir()
    with filling(tmp_path / "output") as program:
        program.send_signal(signal.SIGKILL)
    assert len(names(tmp_path)) == 4
    with pytest.raises(UsageError):
        fill(tmp_path / "output", "second")
    assert names(tmp_path) == [".output.2.123.partial", ".output.notes.partial", "output"]


def test_folders_of_running_programs_are_kept(tmp_path: Path) -> None:
    with filling(tmp_path / "output") as program:
        fill(tmp_path / "output", "ours")
        assert f".output.{program.pid}.partial" in names(tmp_path)
        program.send_signal(signal.SIGTERM)
    assert (tmp_path / "output" / "marker").read_text() == "ours"


def test_a_folder_that_was_being_replaced_is_restored(tmp_path: Path) -> None:
    fill(tmp_path / "output", "first")
    (tmp_path / "output").rename(tmp_path / ".output.123.old")
    with pytest.raises(OSError, match="fails"), new_folder(tmp_path / "output", "marker", force=True):
        raise OSError("fails")
    assert names(tmp_path) == ["output"]
    assert (tmp_path / "output" / "marker").read_text() == "first"


def test_an_error_names_the_file_in_the_final_folder(tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught, new_folder(tmp_path / "output", "marker", force=False) as partial:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(partial / "marker"))
    assert caught.value.filename == str(tmp_path / "output" / "marker")
    with pytest.raises(OSError) as caught, new_folder(tmp_path / "output", "marker", force=False):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert caught.value.filename == str(tmp_path / "output")
    assert names(tmp_path) == []
