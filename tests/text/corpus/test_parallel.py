"""Parallel text from TSV and aligned files, and edits in M2 format."""

import lzma
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import (
    AnnotatedSentence,
    GoldEdit,
    Pair,
    apply_gold_edits,
    read_aligned,
    read_m2,
    read_pairs,
    read_tsv,
)
from specdec_cli.text.io.lines import STDIO
from tests.tables import tables

CASES = tables(__file__)


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


def edit(start: int, end: int, *corrections: str) -> GoldEdit:
    return GoldEdit(start, end, tuple(tuple(text.split()) for text in corrections))


def test_m2_files_are_parsed(tmp_path: Path) -> None:
    path = tmp_path / "a.m2"
    path.write_text(
        "\nS He have seen it many time .\n"
        "A 1 2|||R:VERB|||has||had|||REQUIRED|||-NONE-|||2\n"
        "A 5 6|||R:NOUN|||times|||REQUIRED|||-NONE-|||2\n"
        "A 3 4|||U:PRON|||-NONE-|||REQUIRED|||-NONE-|||0\n"
        "A 7 7|||M:OTHER||||||REQUIRED|||-NONE-|||0\n"
        "A -1 -1|||noop|||-NONE-|||REQUIRED|||-NONE-|||3\n"
        "\n\nS \n\nS Yes\r\n"
    )
    first, empty, last = read_m2(path)
    assert first.source == ("He", "have", "seen", "it", "many", "time", ".")
    assert dict(first.annotators) == {0: (edit(3, 4, ""), edit(7, 7, "")), 2: (edit(1, 2, "has", "had"), edit(5, 6, "times")), 3: ()}
    assert list(first.annotators) == [0, 2, 3]
    assert (empty, last) == (AnnotatedSentence((), {0: ()}), AnnotatedSentence(("Yes",), {0: ()}))


@pytest.mark.parametrize(("text", "words"), CASES.malformed_files_are_refused)
def test_malformed_files_are_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "a.m2"
    path.write_text(text)
    with pytest.raises(InputError, match=f"a.m2, {words}"):
        list(read_m2(path))


def test_edits_are_applied_in_order_of_position() -> None:
    source = tuple("abcd")
    assert apply_gold_edits(source, [edit(4, 4, "z"), edit(1, 3, "x y w"), edit(1, 1, "v"), edit(0, 1, "")]) == tuple("vxywdz")
    assert apply_gold_edits(source, []) == source
    with pytest.raises(ValueError, match="tokens 1 to 2 overlaps another, which ends at 2"):
        apply_gold_edits(source, [edit(1, 2, "y"), edit(0, 2, "x")])
