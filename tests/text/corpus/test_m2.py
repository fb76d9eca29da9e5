"""Files in M2 format, and their edits."""

from pathlib import Path

import pytest

from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import AnnotatedSentence, GoldEdit, apply_gold_edits, read_m2
from tests.tables import tables

CASES = tables(__file__)


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
