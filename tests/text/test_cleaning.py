"""What prepared text must satisfy."""

from specdec_cli.text.cleaning import CleaningReport, CleaningRules, clean
from specdec_cli.text.parallel import Pair


def kept(pairs: list[Pair], **rules: object) -> list[Pair]:
    return list(clean(pairs, CleaningRules(**rules), CleaningReport()))  # type: ignore[arg-type]


def test_keeps_each_pair_once_in_order() -> None:
    pairs = [Pair("b", "B"), Pair("a", "A"), Pair(" b ", "B"), Pair("b", "A"), Pair("b\nB", "")]
    assert kept(pairs) == [Pair("b", "B"), Pair("a", "A"), Pair("b", "A")]


def test_texts_that_run_into_each_other_are_no_duplicates() -> None:
    assert len(kept([Pair("ab", "c"), Pair("a", "bc")])) == 2


def test_asks_for_the_ratio_of_long_lines_only() -> None:
    assert len(kept([Pair("x", "y" * 20), Pair("x", "y" * 21)])) == 1


def test_detokenizes_and_normalises_when_asked() -> None:
    assert kept([Pair("Hello , world !", "„ Ja “ .")]) == [Pair("Hello , world !", "„ Ja “ .")]
    assert kept([Pair("Hello , world !", "Ja .")], detokenize=True) == [Pair("Hello, world!", "Ja.")]
    assert kept([Pair("“Yes”", "„Ja“")], normalize_punctuation=True) == [Pair('"Yes"', '"Ja"')]
