"""Parallel text from TSV and aligned files."""

import lzma
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import Pair, read_aligned, read_pairs, read_tsv
from specdec_cli.text.io.lines import STDIO


def written(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    content = text.encode()
    path.write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
    return path


def test_files_of_two_or_three_columns_are_read(tmp_path: Path) -> None:
    two, three = written(tmp_path, "two.tsv", "a\tb\r\n"), written(tmp_path, "three.tsv.xz", "d\ta\tb\n\ta\tb\n")
    assert list(read_pairs([two, three])) == [Pair("a", "b"), Pair("a", "b", "d"), Pair("a", "b")]


def test_a_byte_order_mark_is_no_part_of_the_first_source(tmp_path: Path) -> None:
    assert list(read_tsv(written(tmp_path, "a.tsv", "\ufeffa\tb\n\ufeffc\td\n"))) == [Pair("a", "b"), Pair("\ufeffc", "d")]


def test_a_line_with_other_columns_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"a\.tsv, line 2: 3 tab-separated fields, expected 2"):
        list(read_tsv(written(tmp_path, "a.tsv", "a\tb\na\tb\tc\n")))


def test_stdin_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"a\n")))
    with pytest.raises(InputError, match="stdin, line 1: 1 tab-separated field"):
        list(read_tsv(STDIO))


@pytest.mark.parametrize(("source", "target", "short"), [("1\n2\n", "1\n", "target"), ("1\n", "1\n2\n", "source")])
def test_aligned_files_require_equal_numbers_of_lines(tmp_path: Path, source: str, target: str, short: str) -> None:
    with pytest.raises(InputError, match=f"{short}: ends after line 1"):
        list(read_aligned(written(tmp_path, "source", source), written(tmp_path, "target", target)))
