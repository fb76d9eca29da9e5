"""Quotations of a text, and the quotation marks of outputs."""

import pytest

from specdec_cli.text.quotations import Quotation, lost_primes, quotations, quoted_forms, with_own_quotes, with_primes


def shown(text: str, found: tuple[Quotation, ...]) -> list[object]:
    """The quotations as lists of their text and of the quotations inside."""
    return [[text[each.start : each.end], *shown(text, each.inner)] for each in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said, 'I read \"Dune\" twice.'", [["'I read \"Dune\" twice.'", ['"Dune"']]]),
        (
            "\u201eDas \u201aIch\u2018 ist alt\u201c, sagte er.",
            [["\u201eDas \u201aIch\u2018 ist alt\u201c", ["\u201aIch\u2018"]]],
        ),
        ("I saw \u201eAusgang\u201c there.", [["\u201eAusgang\u201c"]]),
        ('"What is \u201eHeimat\u201c?" he asked.', [['"What is \u201eHeimat\u201c?"', ["\u201eHeimat\u201c"]]]),
        ("\"'Heidi' is old,\" Tom said.", [["\"'Heidi' is old,\"", ["'Heidi'"]]]),
        ("\u00bbJa\u00ab, sagte er, \u00abOui\u00bb.", [["\u00bbJa\u00ab"], ["\u00abOui\u00bb"]]),
        ("'The dogs' food,' he said.", [["'The dogs' food,'"]]),
        ("The word 'love' is old.", [["'love'"]]),
        ("The dogs' and cats' food, and Tom's.", []),
        ("'Tis late, 'cause it's the boys' house, and rock 'n' roll.", []),
        ('It is 5" wide, 5\'11" tall and 12" deep.', []),
        ('Two " marks " here.', []),
        ('Open <a title="a b">it</a>.', []),
        ("", []),
    ],
)
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


@pytest.mark.parametrize(
    ("output", "source", "expected"),
    [
        ('Er sang "Lass es sein." und ging.', 'He sang "Let it be." and left.', "Er sang \u201eLass es sein\u201c und ging."),
        ('"Es ist gut.", sagte er.', '"It is good." he said.', "\u201eEs ist gut\u201c, sagte er."),
        ('Er sagte: "Es ist gut."', 'He said: "It is good."', "Er sagte: \u201eEs ist gut.\u201c"),
        ('Er schrieb "Tee usw." und ging.', 'He wrote "tea etc." and left.', "Er schrieb \u201eTee usw.\u201c und ging."),
        ('Er sagte "Ich ..." und ging.', 'He said "I ..." and left.', "Er sagte \u201eIch ...\u201c und ging."),
        ('"Ich komme." Tom ging.', '"I am coming." Tom left.', "\u201eIch komme.\u201c Tom ging."),
    ],
)
def test_a_german_quotation_inside_of_a_sentence_has_no_stop_at_its_end(output: str, source: str, expected: str) -> None:
    assert with_own_quotes(output, source, "de") == expected
    assert "\u201c" not in (with_own_quotes(output, source, "en") or "")


@pytest.mark.parametrize(
    ("source", "output", "expected", "lost"),
    [
        ('It has 15".', "Es hat 15.", 'Es hat 15".', []),
        ('It has 15.6".', "Es hat 15,6\u00ab.", 'Es hat 15,6".', []),
        ("It is 12' long.", "Es ist 12 Fu\u00df lang.", "Es ist 12 Fu\u00df lang.", ["12'"]),
        ('A 15" one.', "Ein 15er.", "Ein 15er.", ['15"']),
        ('A 15" one.', 'Ein \u00bbBild\u00ab mit 15".', 'Ein \u00bbBild\u00ab mit 15".', ['15"']),
        ('He said "it is 15" again.', "Er sagte \u201ees ist 15\u201c.", "Er sagte \u201ees ist 15\u201c.", []),
    ],
)
def test_marks_of_inches_are_no_quotation_marks(source: str, output: str, expected: str, lost: list[str]) -> None:
    assert with_primes(source, output) == expected
    assert lost_primes(source, expected) == lost


def test_quotations_are_written_in_several_ways() -> None:
    assert quoted_forms('"Go," he said.', "de") == ('"Go", he said.', '"Go," he said.', "'Go', he said.", "\u201eGo\u201c, he said.")
    assert quoted_forms("The dogs' and cats' food, and Tom's.", "de") == ("The dogs' and cats' food, and Tom's.",)
    for text in ("The ending '.gz' is old.", 'It is 5" wide.', 'It is 5\'11" tall and 12" wide.', 'Two " marks " here.'):
        assert quoted_forms(text, "de") == (text,)
