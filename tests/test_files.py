"""Files that are written completely or not at all, also if the program is killed."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.files import check_target, new_folder, write_atomically, write_json

FILL = """
import sys, time
from pathlib import Path
from specdec_cli.files import write_atomically
def write(partial):
    partial.write_text("half")
    print("writing", flush=True)
    time.sleep(60)
write_atomically(Path(sys.argv[1]), write)
"""


def writing(path: Path) -> "subprocess.Popen[str]":
    """A program that is writing a file."""
    program = subprocess.Popen([sys.executable, "-c", FILL, path], stdout=subprocess.PIPE, text=True)
    assert program.stdout is not None
    assert program.stdout.readline() == "writing\n"
    return program


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("name", ["file", "a[b]*.tsv"])
def test_files_of_killed_programs_are_removed(name: str, tmp_path: Path) -> None:
    for other in (f".{name}.notes.partial", f".{name}.²", f".other{name}.99999999.partial"):
        (tmp_path / other).touch()
    with writing(tmp_path / name) as program:
        program.send_signal(signal.SIGKILL)
    assert f".{name}.{program.pid}.partial" in names(tmp_path)
    write_atomically(tmp_path / name, lambda partial: partial.write_text("whole"))
    assert names(tmp_path) == sorted([name, f".{name}.notes.partial", f".{name}.²", f".other{name}.99999999.partial"])
    assert (tmp_path / name).read_text() == "whole"


def test_files_of_running_programs_are_kept(tmp_path: Path) -> None:
    with writing(tmp_path / "file") as program:
        write_atomically(tmp_path / "file", lambda partial: partial.write_text("ours"))
        assert names(tmp_path) == [f".file.{program.pid}.partial", "file"]
        program.send_signal(signal.SIGKILL)


def test_files_of_programs_on_other_machines_are_kept(tmp_path: Path) -> None:
    with writing(tmp_path / "file") as program:
        # No local process has this number, but the file is locked.
        theirs = (tmp_path / f".file.{program.pid}.partial").rename(tmp_path / ".file.99999999.partial")
        write_atomically(tmp_path / "file", lambda partial: partial.write_text("ours"))
        assert names(tmp_path) == [theirs.name, "file"]
        program.send_signal(signal.SIGKILL)


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    write_json(path, {"a": 1})
    assert os.read(read, 99) == b'{\n  "a": 1\n}\n'
    os.close(read)
    assert path.is_fifo() and names(tmp_path) == ["pipe"]


def test_a_link_remains_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    for value in (1, 2):
        write_json(tmp_path / "link", value)
        assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_text() == f"{value}\n"


def test_a_read_only_file_system_is_reported_with_the_name_of_the_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(path))

    monkeypatch.setattr(Path, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OSError, match="Read-only") as error:
        write_atomically(tmp_path / "a", print)
    assert error.value.filename == str(tmp_path / "a")
    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(UsageError, match=rf"^{tmp_path}/b: Read-only file system$"), new_folder(tmp_path / "b", "x", force=False):
        pass
    monkeypatch.setattr(os, "access", lambda path, _: path == tmp_path / "c")
    check_target(tmp_path / "c")
    with pytest.raises(UsageError, match="d: its folder cannot be written to"):
        check_target(tmp_path / "d")
