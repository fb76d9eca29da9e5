"""Lines in and out."""

import gzip
import io
import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.lines import Line, LineWriter, read_lines, read_text_lines


class Stdin:
    """Stands in for sys.stdin: only `buffer` is used."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_splits_on_lf_only(tmp_path: Path) -> None:
    path = written(tmp_path, "a", "one\u2028still\u0085one\x0b\x0c\x1c\ntwo\n".encode())
    assert [line.text for line in read_lines([path])] == ["one\u2028still\u0085one\x0b\x0c\x1c", "two"]


def test_keeps_crlf_apart_and_a_lone_cr_inside(tmp_path: Path) -> None:
    path = written(tmp_path, "a", b"one\r\nt\rwo\nthree\r\r\nfour\r")
    lines = list(read_lines([path]))
    assert [(line.text, line.ending) for line in lines] == [("one", "\r\n"), ("t\rwo", "\n"), ("three\r", "\r\n"), ("four", "\r\n")]


@pytest.mark.parametrize(("content", "count"), [(b"", 0), (b"\n", 1), (b"\n\n", 2), (b"a", 1), (b"a\n", 1), (b"a\nb", 2)])
def test_counts_lines(tmp_path: Path, content: bytes, count: int) -> None:
    assert len(list(read_lines([written(tmp_path, "a", content)]))) == count


def test_concatenates_files_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b"s\n"))
    a, b = written(tmp_path, "a", b"1\n2"), written(tmp_path, "b", b"3\n")
    lines = list(read_lines([a, Path("-"), b]))
    assert [line.text for line in lines] == ["1", "2", "s", "3"]
    assert [line.number for line in lines] == [1, 2, 3, 4]
    assert [line.place for line in lines] == [f"{a}, line 1", f"{a}, line 2", "stdin, line 1", f"{b}, line 1"]


def test_reads_stdin_without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin("Grüße\n".encode()))
    assert list(read_lines()) == [Line(1, "Grüße", "\n", "stdin, line 1")]


def test_reads_compressed_files(tmp_path: Path) -> None:
    path = written(tmp_path, "a.gz", gzip.compress(b"one\ntwo\n"))
    assert [line.text for line in read_lines([path])] == ["one", "two"]


def test_a_damaged_file_fails_after_its_good_lines(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d\n" % number for number in range(100000)))
    lines = read_lines([written(tmp_path, "a.gz", whole[: len(whole) // 2])])
    assert next(lines).text == "0"
    with pytest.raises(InputError, match=r"a\.gz, after line \d+"):
        list(lines)


@pytest.mark.parametrize(("bad", "cause"), [(b"\xff", "not valid UTF-8"), (b"a\0b", "NUL byte"), (b"\xed\xa0\x80", "not valid UTF-8")])
def test_a_bad_line_fails_after_the_lines_before(tmp_path: Path, bad: bytes, cause: str) -> None:
    good, mixed = written(tmp_path, "good", b"1\n"), written(tmp_path, "mixed", b"2\n" + bad + b"\n4\n")
    lines = read_lines([good, mixed])
    assert [next(lines).text, next(lines).text] == ["1", "2"]
    with pytest.raises(InputError, match=rf"mixed, line 2: .*{cause}"):
        next(lines)


def test_a_missing_file_fails_before_the_first_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: no such file"):
        next(read_lines([written(tmp_path, "a", b"1\n"), tmp_path / "missing"]))


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        list(read_lines([tmp_path]))


def test_does_not_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "r") as stdin, os.fdopen(writing, "wb", buffering=0) as other:
        monkeypatch.setattr(sys, "stdin", stdin)
        lines = read_lines()
        for text in ("one", "two"):
            other.write(f"{text}\nincompl".encode())
            assert next(lines).text.endswith(text)


def test_training_text_may_hold_nul_bytes(tmp_path: Path) -> None:
    assert list(read_text_lines(written(tmp_path, "a", b"a\0b\r\n"))) == ["a\0b"]


@given(st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]))))
def test_what_is_written_is_what_was_read(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("lines")
    source = written(folder, "in", "".join(text + "\n" for text in texts).encode())
    with LineWriter(folder / "out") as writer:
        for line in read_lines([source]):
            writer.write(line.text, line.ending)
    assert (folder / "out").read_bytes() == source.read_bytes()


def test_each_line_is_in_the_file_at_once(tmp_path: Path) -> None:
    writer = LineWriter(tmp_path / "out")
    writer.write("one\ntwo")
    assert (tmp_path / "out").read_bytes() == b"one two\n"
    writer.close()


def test_refuses_to_write_over_its_input(tmp_path: Path) -> None:
    path = written(tmp_path, "a", b"1\n")
    (tmp_path / "link").symlink_to(path)
    with pytest.raises(UsageError, match="both input and output"):
        LineWriter(tmp_path / "link", [Path("-"), path])
    assert path.read_bytes() == b"1\n"


def test_names_an_output_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no/such"):
        LineWriter(tmp_path / "no" / "such")
    with pytest.raises(InputError, match="/dev/full"), LineWriter(Path("/dev/full")) as writer:
        writer.write("text")
