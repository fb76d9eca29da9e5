"""The ends and beginnings of outputs, as in the source."""

import pytest

from specdec_cli.text.shape import (
    quoted_forms,
    with_closing_quote,
    with_own_quotes,
    with_repeated_marks,
    with_single_stops,
    with_small_function_word,
)


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("p. 12, etc. for", "S. 12, usw.. für", "S. 12, usw. für"),
        ("The car... ...is here", "Das Auto..... ist da", "Das Auto... ist da"),
        ("Wait..", "Warte..", "Warte.."),
        ("Wait....", "Warte....", "Warte...."),
        ("Wait...", "Warte...", "Warte..."),
        ("Well... I know\u2026", "Nun... ich..", "Nun... ich..."),
        ("Wait\u2026", "Warte.", "Warte\u2026"),
        ("Wait... It is 5.", "Warte... Es ist 5.", "Warte... Es ist 5."),
    ],
)
def test_stops_are_single_or_an_ellipsis(source: str, output: str, expected: str) -> None:
    assert with_single_stops(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Thank you!!!", "Danke!", "Danke!!!"),
        ("Really?! No!! Why?", "Wirklich? Nein! Warum?", "Wirklich?! Nein!! Warum?"),
        ("You did what?!", "Was? Was hast du getan?", "Was? Was hast du getan?"),
        ("Why?", "Warum?!", "Warum?!"),
        ("Go!! (/a?b=1)", "Los! (/a?b=1)", "Los!! (/a?b=1)"),
    ],
)
def test_runs_of_marks_are_those_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_repeated_marks(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ('She asked, "Why?"', "Sie fragte: \u201eWarum?", "Sie fragte: \u201eWarum?\u201c"),
        ('She asked, "Why?"', "Sie fragte: \u201eWarum?\u201c", "Sie fragte: \u201eWarum?\u201c"),
        ('She asked, "Why', "Sie fragte: \u201eWarum", "Sie fragte: \u201eWarum"),
        ("Why?", "Warum?", "Warum?"),
    ],
)
def test_a_missing_closing_quotation_mark_is_added(source: str, output: str, expected: str) -> None:
    assert with_closing_quote(output, source) == expected


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [("on", "Auf", "auf"), ("house", "Haus", "Haus"), ("On", "Auf", "Auf"), ("of the", "Von der", "von der"), ("x", "", "")],
)
def test_function_words_of_parts_have_the_case_of_the_source(source: str, output: str, expected: str) -> None:
    assert with_small_function_word(output, source) == expected


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
    ],
)
def test_quotations_have_the_marks_of_german(output: str, source: str, expected: str | None) -> None:
    assert with_own_quotes(output, source, "de") == expected


def test_quotations_are_written_in_several_ways() -> None:
    assert quoted_forms('"Go," he said.', "de") == ('"Go", he said.', '"Go," he said.', "'Go', he said.", "\u201eGo\u201c, he said.")
    assert quoted_forms("The dogs' and cats' food, and Tom's.", "de") == ("The dogs' and cats' food, and Tom's.",)
    for text in ('It is 5" wide.', 'It is 5\'11" tall and 12" wide.', 'Two " marks " here.'):
        assert quoted_forms(text, "de") == (text,)
