"""Output of lines to stdout, to a file, or to a file for each input."""

import gzip
import lzma
import os
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.io.writing import FolderWriter, LineWriter
from tests.conftest import largest_file


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    return path


def test_each_line_is_flushed(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "out")
    writer.write("one\ntwo")
    assert (tmp_path / "out").read_bytes() == b"one two\n"
    writer.close()


@pytest.mark.parametrize(("name", "decompress"), [("a.gz", gzip.decompress), ("a.xz", lzma.decompress)])
def test_a_compressed_file_has_the_lines_before_an_error(tmp_path: Path, name: str, decompress: Callable[[bytes], bytes]) -> None:
    with pytest.raises(InputError, match="bad"), LineWriter(tmp_path / name) as writer:
        writer.write("one")
        writer.write("two", "\r\n")
        raise InputError("line 3: bad")
    assert decompress((tmp_path / name).read_bytes()) == b"one\ntwo\r\n"


def test_overwriting_the_input_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path, "a", b"1\n")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(UsageError, match="both input and output"):
        LineWriter(tmp_path / "link", [Path("-"), path])
    assert path.read_bytes() == b"1\n"


def test_an_output_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no/such"):
        LineWriter(tmp_path / "no" / "such")
    with pytest.raises(InputError, match="/dev/full"), LineWriter(Path("/dev/full")) as writer:
        writer.write("text")


@pytest.mark.parametrize("arguments", ["-o F < F", "-o F - G < F", "< F >> F", "F >> F", "G F >> F", "< F 1<> F", "-o link < F"])
def test_overwriting_the_input_by_links_and_redirections_is_refused(tmp_path: Path, arguments: str) -> None:
    for name in "FG":
        written(tmp_path, name, b"kept\n")
    (tmp_path / "link").symlink_to(tmp_path / "F")
    script = """
import sys
from pathlib import Path
from specdec_cli.errors import UsageError
from specdec_cli.text.io.writing import LineWriter
arguments = [Path(each) for each in sys.argv[1:]]
output = arguments.pop(1) if arguments[:1] == [Path("-o")] else None
try:
    LineWriter(output, arguments[output is not None:])
except UsageError as error:
    sys.exit(str(error))
"""
    command = f"exec {sys.executable} -c '{script}' {arguments}"
    result = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, "both input and output" in result.stderr) == (1, True)
    assert (tmp_path / "F").read_bytes() == b"kept\n"


def test_a_file_that_another_run_writes_is_left_to_it(tmp_path: Path) -> None:
    target = tmp_path / "out"
    with LineWriter(target) as writer:
        writer.write("one")
        with pytest.raises(UsageError, match="out: another process is writing to this file"):
            LineWriter(target)
        writer.write("two")
    assert target.read_bytes() == b"one\ntwo\n"
    with LineWriter(target) as writer:
        writer.write("three")
    assert target.read_bytes() == b"three\n"


def test_a_device_may_be_input_and_output() -> None:
    with LineWriter(Path("/dev/null"), [Path("/dev/null")]) as writer:
        writer.write("gone")


def test_a_folder_has_a_file_for_each_input(tmp_path: Path) -> None:
    inputs = [written(tmp_path, name, b"x") for name in ("none", "a.txt", "b.txt.gz", "nothing", "last")]
    with FolderWriter(tmp_path / "new" / "out", inputs) as writer:
        for text, source in (("one", inputs[1]), ("two", inputs[1]), ("three", inputs[2])):
            writer.write(text, source=source)
        assert not (tmp_path / "new" / "out" / "last").exists()
    contents = {path.name: path.read_bytes() for path in (tmp_path / "new" / "out").iterdir()}
    assert contents == {"none": b"", "a.txt": b"one\ntwo\n", "b.txt": b"three\n", "nothing": b"", "last": b""}


def test_files_after_a_failure_have_no_output(tmp_path: Path) -> None:
    inputs = [written(tmp_path, name, b"x") for name in "abc"]
    with pytest.raises(InputError), FolderWriter(tmp_path / "out", inputs) as writer:
        writer.write("one", source=inputs[0])
        raise InputError("b, line 1: bad")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("folder", "inputs", "words"),
    [
        ("out", [], "stdin has none"),
        ("out", ["a", "-"], "stdin has none"),
        ("out", ["a", "x/a"], "output of two inputs"),
        ("out", ["a", "b", "a"], "output of two inputs"),
        (".", ["x/b", "a"], "both input and output"),
        ("x", ["a"], "both input and output"),
        ("a", ["b"], "not a folder"),
    ],
)
def test_output_folders_that_would_lose_data_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, inputs: list[str], words: str
) -> None:
    for name in ("a", "b", "x/b"):
        written(tmp_path, name, b"kept")
    os.link(tmp_path / "a", tmp_path / "x" / "a")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words):
        FolderWriter(Path(folder), [Path(name) for name in inputs])
    assert (tmp_path / "a").read_bytes() == b"kept"


def test_a_new_file_replaces_one_with_content_at_the_end(tmp_path: Path) -> None:
    target, link = tmp_path / "out", tmp_path / "link"
    target.write_text("old\n")
    target.chmod(0o640)
    link.symlink_to(target)
    with LineWriter(link) as writer:
        writer.write("new")
        assert target.read_text() == "old\n"
        with pytest.raises(UsageError, match="another process is writing to this file"):
            LineWriter(target)
    assert (target.read_text(), link.is_symlink(), target.stat().st_mode & 0o777) == ("new\n", True, 0o640)
    assert {path.name for path in tmp_path.iterdir()} == {"out", "link"}


@pytest.mark.parametrize("name", ["out", "out.gz", "out.xz"])
def test_a_full_disk_keeps_the_old_file(tmp_path: Path, name: str) -> None:
    target, generator = tmp_path / name, random.Random(1)
    target.write_bytes(b"old\n")
    with largest_file(4096), pytest.raises(InputError, match=f"{name}: File too large"), LineWriter(target) as writer:
        for _ in range(1000):
            writer.write(f"{generator.getrandbits(4000):x}")
    assert target.read_bytes() == b"old\n"
    assert list(tmp_path.iterdir()) == [target]


def test_other_errors_keep_the_finished_lines(tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.write_text("old\n")
    with pytest.raises(InputError, match="bad"), LineWriter(target) as writer:
        writer.write("new")
        raise InputError("bad")
    assert target.read_text() == "new\n"


def test_a_file_with_two_names_is_written_in_place(tmp_path: Path) -> None:
    target, other = tmp_path / "out", tmp_path / "other"
    target.write_text("old\n")
    other.hardlink_to(target)
    with LineWriter(target) as writer:
        writer.write("new")
    assert other.read_text() == "new\n"


def test_pipes_and_open_files_are_written_as_they_are(tmp_path: Path) -> None:
    target, pipe = tmp_path / "out", tmp_path / "pipe"
    target.write_text("old\n")
    with target.open("r+b") as stream, LineWriter(Path(f"/dev/fd/{stream.fileno()}")) as writer:
        writer.write("new")
        assert target.read_text() == "new\n"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with LineWriter(pipe) as writer:
        writer.write("new")
        assert os.read(reader, 99) == b"new\n"
    os.close(reader)
