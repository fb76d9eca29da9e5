"""Reading and writing of lines."""

import codecs
import gzip
import io
import os
import re
import subprocess
import sys
import tracemalloc
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line, LineTooLong, read_lines, read_text_lines
from specdec_cli.text.io.writing import LineWriter


class Stdin:
    """A replacement of sys.stdin, of which only `buffer` is used."""

    def __init__(self, content: bytes) -> None:
        self.buffer = io.BytesIO(content)


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_lines_end_only_at_lf(tmp_path: Path) -> None:
    path = written(tmp_path, "a", "one\u2028still\u0085one\x0b\x0c\x1c\ntwo\n".encode())
    assert [line.text for line in read_lines([path])] == ["one\u2028still\u0085one\x0b\x0c\x1c", "two"]


def test_crlf_is_a_line_end_and_a_lone_cr_is_text(tmp_path: Path) -> None:
    path = written(tmp_path, "a", b"one\r\nt\rwo\nthree\r\r\nfour\r")
    lines = list(read_lines([path]))
    assert [(line.text, line.ending) for line in lines] == [("one", "\r\n"), ("t\rwo", "\n"), ("three\r", "\r\n"), ("four", "\r\n")]


@pytest.mark.parametrize(("content", "count"), [(b"", 0), (b"\n", 1), (b"\n\n", 2), (b"a", 1), (b"a\n", 1), (b"a\nb", 2)])
def test_lines_are_counted(tmp_path: Path, content: bytes, count: int) -> None:
    assert len(list(read_lines([written(tmp_path, "a", content)]))) == count


def test_files_are_read_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin(b"s\n"))
    a, b = written(tmp_path, "a", b"1\n2"), written(tmp_path, "b", b"3\n")
    lines = list(read_lines([a, Path("-"), b]))
    assert [line.text for line in lines] == ["1", "2", "s", "3"]
    assert [(line.file, line.number) for line in lines] == [(a, 1), (a, 2), (None, 1), (b, 1)]
    assert [line.location for line in lines] == [f"{a}, line 1", f"{a}, line 2", "stdin, line 1", f"{b}, line 1"]


def test_stdin_is_read_without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", Stdin("Grüße\n".encode()))
    assert list(read_lines()) == [Line(1, "Grüße", "\n", "stdin, line 1")]


def test_compressed_files_are_read(tmp_path: Path) -> None:
    path = written(tmp_path, "a.gz", gzip.compress(b"one\ntwo\n"))
    assert [line.text for line in read_lines([path])] == ["one", "two"]


def test_a_damaged_file_fails_after_its_valid_lines(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(b"%d\n" % number for number in range(100000)))
    lines = read_lines([written(tmp_path, "a.gz", whole[: len(whole) // 2])])
    assert next(lines).text == "0"
    with pytest.raises(InputError, match=r"a\.gz, after line \d+"):
        list(lines)


def test_a_file_that_is_not_compressed_is_no_gzip_file(tmp_path: Path) -> None:
    (tmp_path / "a.gz").write_bytes(b"x")
    with pytest.raises(InputError, match=r"a\.gz: not a gzip file$"):
        list(read_lines([tmp_path / "a.gz"]))


@pytest.mark.parametrize(("bad", "cause"), [(b"\xff", "not valid UTF-8"), (b"a\0b", "NUL byte"), (b"\xed\xa0\x80", "not valid UTF-8")])
def test_an_invalid_line_fails_after_earlier_lines(tmp_path: Path, bad: bytes, cause: str) -> None:
    good, mixed = written(tmp_path, "good", b"1\n"), written(tmp_path, "mixed", b"2\n" + bad + b"\n4\n")
    lines = read_lines([good, mixed])
    assert [next(lines).text, next(lines).text] == ["1", "2"]
    with pytest.raises(InputError, match=rf"mixed, line 2: .*{cause}"):
        next(lines)


@pytest.mark.parametrize("mark", [codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE])
def test_another_encoding_is_named_with_its_remedy(tmp_path: Path, mark: bytes) -> None:
    encoding = "utf-16-le" if mark == codecs.BOM_UTF16_LE else "utf-16-be"
    with pytest.raises(InputError, match=r"line 1: .*; it looks like UTF-16; .* iconv -f UTF-16 -t UTF-8 FILE"):
        list(read_lines([written(tmp_path, "a", mark + "eins\n".encode(encoding))]))
    for text in ("zw\u00f6lf\n".encode("latin-1"), b"1\n" + mark + b"\n"):
        with pytest.raises(InputError, match=r"; if it is in another encoding, .* iconv -f WINDOWS-1252 -t UTF-8 FILE"):
            list(read_lines([written(tmp_path, "b", text)]))


@pytest.mark.parametrize(
    ("beginning", "message"),
    [
        (b"%PDF-1.4\n%\xe2\xe3", "a: a PDF file; extract its text first, e.g. pdftotext FILE"),
        (b"{\\rtf1\\ansi\n", "a: an RTF file; save it as .docx or .odt first"),
        (b"PK\x03\x04\0\n", "a: a ZIP file; for a document give --format, e.g. --format docx"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\n", "a: a file of an early office program"),
        (gzip.compress(b"one\n", mtime=0), "a: compressed by gzip; give its name the ending .gz"),
        (b"\x89PNG\r\n\x1a\n", "a: a picture"),
    ],
)
def test_a_file_that_is_no_text_is_named(tmp_path: Path, beginning: bytes, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        list(read_lines([written(tmp_path, "a", beginning)]))


def test_only_the_first_bytes_say_that_a_file_is_no_text(tmp_path: Path) -> None:
    assert [line.text for line in read_lines([written(tmp_path, "a", b"See:\n%PDF-1.4\n")])] == ["See:", "%PDF-1.4"]


def test_a_missing_file_fails_before_the_first_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="missing: no such file"):
        next(read_lines([written(tmp_path, "a", b"1\n"), tmp_path / "missing"]))
    (tmp_path / "link").symlink_to("link")
    with pytest.raises(InputError, match="link: is a link whose target does not exist"):
        next(read_lines([tmp_path / "link"]))


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        list(read_lines([tmp_path]))


def test_lines_are_not_read_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "r") as stdin, os.fdopen(writing, "wb", buffering=0) as other:
        monkeypatch.setattr(sys, "stdin", stdin)
        lines = read_lines()
        for text in ("one", "two"):
            other.write(f"{text}\nincompl".encode())
            assert next(lines).text.endswith(text)


def test_training_text_may_contain_nul_bytes(tmp_path: Path) -> None:
    assert list(read_text_lines(written(tmp_path, "a", b"a\0b\r\n"))) == ["a\0b"]


@given(st.lists(st.text(st.characters(exclude_characters="\n\0", exclude_categories=["Cs"]))))
def test_written_lines_equal_the_lines_read(tmp_path_factory: pytest.TempPathFactory, texts: list[str]) -> None:
    folder = tmp_path_factory.mktemp("lines")
    source = written(folder, "in", "".join(text + "\n" for text in texts).encode())
    with LineWriter(folder / "out") as writer:
        for line in read_lines([source]):
            writer.write(line.text, line.ending)
    assert (folder / "out").read_bytes() == source.read_bytes()


def test_a_line_may_be_as_long_as_the_limit(tmp_path: Path) -> None:
    path = written(tmp_path, "a", b"1234\n123\r\n12345\n6\n")
    lines = read_lines([path], max_bytes=4)
    assert [next(lines).text, next(lines).text] == ["1234", "123"]
    with pytest.raises(LineTooLong, match="a, line 3: longer than 4 bytes"):
        next(lines)


@pytest.mark.parametrize("size", [2**16 - 1, 2**16, 2**16 + 1, 3 * 2**16])
def test_lines_longer_than_the_read_size_are_read(tmp_path: Path, size: int) -> None:
    path = written(tmp_path, "a", b"x" * size + b"\n\n" + b"y" * size)
    assert [len(line.text) for line in read_lines([path])] == [size, 0, size]


def test_a_line_beyond_the_limit_is_not_read_to_its_end(tmp_path: Path) -> None:
    bomb = written(tmp_path, "bomb.gz", b"".join(gzip.compress(bytes(2**24)) for _ in range(16)))
    tracemalloc.start()
    for path in (Path("/dev/zero"), bomb):
        with pytest.raises(LineTooLong, match="line 1: longer than 1000000 bytes"):
            next(read_lines([path], max_bytes=10**6))
    assert tracemalloc.get_traced_memory()[1] < 5 * 10**6
    tracemalloc.stop()


def test_non_blocking_pipes_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    with os.fdopen(reading, "r") as stdin, os.fdopen(writing, "wb", buffering=0) as other:
        monkeypatch.setattr(sys, "stdin", stdin)
        Timer(0.05, other.write, [b"late\n"]).start()
        assert next(read_lines()).text == "late"


def test_a_waiting_reader_does_not_block_the_exit() -> None:
    script = """
import threading, time
from specdec_cli.text.io.lines import read_lines
threading.Thread(target=lambda: next(read_lines()), daemon=True).start()
time.sleep(0.1)
"""
    reading, writing = os.pipe()
    result = subprocess.run([sys.executable, "-c", script], stdin=reading, capture_output=True, text=True, check=False)
    os.close(reading)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0, "")
