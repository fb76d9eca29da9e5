"""Quotations of a text, and the quotation marks of outputs."""

import pytest

from specdec_cli.text.quotations import Quotation, lost_primes, quotations, quoted_forms, with_own_quotes, with_primes
from tests.tables import tables

CASES = tables(__file__)


def shown(text: str, found: tuple[Quotation, ...]) -> list[object]:
    """The quotations as lists of their text and of the quotations inside."""
    return [[text[each.start : each.end], *shown(text, each.inner)] for each in found]


@pytest.mark.parametrize(("text", "expected"), CASES.quotations_are_found_with_those_inside)
def test_quotations_are_found_with_those_inside(text: str, expected: list[object]) -> None:
    assert shown(text, quotations(text)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"We left early.', Quotation(0, 15, closes=False)),
        ("He said, \u201cIt rained.", Quotation(9, 20, closes=False)),
        ('Nobody saw us," she said.', Quotation(0, 15, opens=False)),
        ("Nobody saw us,' she said.", Quotation(0, 15, opens=False)),
        ("Niemand sah uns\u201c, sagte sie.", Quotation(0, 16, opens=False)),
    ],
)
def test_a_sentence_can_begin_or_end_a_quotation(text: str, expected: Quotation) -> None:
    assert quotations(text) == (expected,)


@pytest.mark.parametrize(
    ("output", "source", "expected"),
    [
        ('"Wo bist du?" fragte er.', '"Where are you?" he asked.', "\u201eWo bist du?\u201c, fragte er."),
        ("\u00bbJa\u00ab, sagte sie.", "'Yes,' she said.", "\u201eJa\u201c, sagte sie."),
        ("Er sagte: 'Halt!'", "He said, \u201cStop!\u201d", "Er sagte: \u201eHalt!\u201c"),
        ("\u201eIch wei\u00df nicht,\u201c sagte er.", "'I don't know,' he said.", "\u201eIch wei\u00df nicht\u201c, sagte er."),
        ("\u201eHilf mir!\u201c rief meine Mutter.\u201c", '"Help me!" cried my mother.', "\u201eHilf mir!\u201c, rief meine Mutter."),
        ("\u201eBist du fertig!\u201c", '"Are you ready!" she shouted.', None),
        ("\u201eIch liebe dich, sagte er.", '"I love you," he said.', None),
        ("\u201e\u201c sagte er.", '"Go," he said.', None),
        ("\u201eIch las \u201eDune\u201c oft.\u201c", "'I read \"Dune\" often.'", "\u201eIch las \u201aDune\u2018 oft.\u201c"),
        ("Die Endung '.gz' f\u00fcr \u201egzip\u201c", "The ending '.gz' for 'gzip'", "Die Endung '.gz' f\u00fcr \u201egzip\u201c"),
        ("\u201eDune\u201c ist alt, \u201eDune\u201c", "\"'Dune' is old,\"", None),
    ],
)
def test_quotations_have_the_marks_of_german(output: str, source: str, expected: str | None) -> None:
    assert with_own_quotes(output, source, "de") == expected


@pytest.mark.parametrize(("output", "source", "expected"), CASES.a_german_quotation_inside_of_a_sentence_has_no_stop_at_its_end)
def test_a_german_quotation_inside_of_a_sentence_has_no_stop_at_its_end(output: str, source: str, expected: str) -> None:
    assert with_own_quotes(output, source, "de") == expected
    assert "\u201c" not in (with_own_quotes(output, source, "en") or "")


@pytest.mark.parametrize(("source", "output", "expected", "lost"), CASES.marks_of_inches_are_no_quotation_marks)
def test_marks_of_inches_are_no_quotation_marks(source: str, output: str, expected: str, lost: list[str]) -> None:
    assert with_primes(source, output) == expected
    assert lost_primes(source, expected) == lost


def test_quotations_are_written_in_several_ways() -> None:
    assert quoted_forms('"Go," he said.', "de") == ('"Go", he said.', '"Go," he said.', "'Go', he said.", "\u201eGo\u201c, he said.")
    assert quoted_forms("The dogs' and cats' food, and Tom's.", "de") == ("The dogs' and cats' food, and Tom's.",)
    for text in ("The ending '.gz' is old.", 'It is 5" wide.', 'It is 5\'11" tall and 12" wide.', 'Two " marks " here.'):
        assert quoted_forms(text, "de") == (text,)
