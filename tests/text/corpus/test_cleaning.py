"""The rules for prepared text."""

from specdec_cli.text.corpus.cleaning import CleaningReport, CleaningRules, clean
from specdec_cli.text.corpus.parallel import Pair


def kept(pairs: list[Pair], **rules: object) -> list[Pair]:
    return list(clean(pairs, CleaningRules(**rules), CleaningReport()))  # type: ignore[arg-type]


def test_each_pair_is_kept_once_in_order() -> None:
    pairs = [Pair("b", "B"), Pair("a", "A"), Pair(" b ", "B"), Pair("b", "A"), Pair("b\nB", "")]
    assert kept(pairs) == [Pair("b", "B"), Pair("a", "A"), Pair("b", "A")]


def test_texts_with_equal_concatenations_are_no_duplicates() -> None:
    assert len(kept([Pair("ab", "c"), Pair("a", "bc")])) == 2


def test_only_long_lines_are_checked_for_their_ratio() -> None:
    assert len(kept([Pair("x", "y" * 20), Pair("x", "y" * 21)])) == 1


def test_lines_are_detokenised_and_normalised_on_request() -> None:
    assert kept([Pair("Hello , world !", "„ Ja “ .")]) == [Pair("Hello , world !", "„ Ja “ .")]
    assert kept([Pair("Hello , world !", "Ja .")], detokenize=True) == [Pair("Hello, world!", "Ja.")]
    assert kept([Pair("“Yes”", "„Ja“")], normalize_punctuation=True) == [Pair('"Yes"', '"Ja"')]
