"""Documents are written to files, devices and pipes."""

import errno
import gzip
import lzma
import os
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest

from specdec_cli.console import input_output
from specdec_cli.console.input_output import InPlace, write_document
from specdec_cli.errors import InputError, SpecdecError, UsageError
from specdec_cli.failures import ReaderGone


def test_a_document_is_written_to_a_pipe() -> None:
    read, write = os.pipe()
    write_document(b"text", Path(f"/dev/fd/{write}"))
    os.close(write)
    assert os.read(read, 9) == b"text"
    os.close(read)


def test_a_pipe_may_lose_its_reader() -> None:
    read, write = os.pipe()

    def read_a_byte() -> None:
        os.read(read, 1)
        os.close(read)

    reader = Thread(target=read_a_byte)
    reader.start()
    with pytest.raises(ReaderGone):
        write_document(b"a" * 2**20, Path(f"/dev/fd/{write}"))
    reader.join()
    os.close(write)


def test_a_full_device_is_named() -> None:
    with pytest.raises(InputError, match="/dev/full: No space left"):
        write_document(b"text", Path("/dev/full"))


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOSPC, InputError), (errno.EACCES, UsageError)])
def test_a_file_that_cannot_be_replaced_is_kept(number: int, kind: type[SpecdecError], tmp_path: Path) -> None:
    def fail(*_: object) -> NoReturn:
        raise OSError(number, os.strerror(number))

    (tmp_path / "a.md").write_text("old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(input_output, "compressed", fail)
        with pytest.raises(kind, match=f"a.md: {os.strerror(number)}"):
            write_document(b"new", tmp_path / "a.md")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.md", "old")]


@pytest.mark.parametrize("replaced", [False, True])
def test_a_file_that_was_changed_meanwhile_is_not_replaced(replaced: bool, tmp_path: Path) -> None:
    path, other = tmp_path / "a.txt", tmp_path / "b.txt"
    path.write_text("He have\n")
    with pytest.raises(InputError, match=r"a\.txt: has been changed by another program"), InPlace([path]) as writer:
        writer.write("He has", "\n", path)
        other.write_text("My own\n")
        if replaced:
            other.replace(path)
        else:
            path.write_text("My own\n")
    assert path.read_text() == "My own\n"


def test_a_document_is_compressed_by_its_name(tmp_path: Path) -> None:
    for name, decompress in (("a.md.gz", gzip.decompress), ("a.md.xz", lzma.decompress), ("a.md", bytes)):
        write_document(b"text", tmp_path / name)
        assert decompress((tmp_path / name).read_bytes()) == b"text"
    assert len(list(tmp_path.iterdir())) == 3
