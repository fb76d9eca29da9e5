"""Beginnings and ends inside of sentences: pieces of long ones, dates at the beginning of lines, and American stops in quotations."""

import random

import pytest

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.variants import as_it_is
from specdec_cli.text.shape import Place
from tests.drawn import Drawn, Kind, check_translations, kinds
from tests.tables import tables

TEXTS = tables(__file__)

STARTS = (
    r"Der|Die|Das|Den|Dem|Ein|Eine|Einen|Und|Aber|Als|Weil|W\u00e4hrend|Er|Wir|Es|In|Mit|Auf|Bis|Zum|Zur|Seine|Seinen|Unsere|Mein|Meine"
)


def pieces(draw: random.Random) -> Drawn:
    """Sentences that are too long for the model: their pieces go on with small letters."""
    clauses = (f"{draw.choice(TEXTS.subjects)} {draw.choice(TEXTS.deeds)}" for _ in range(draw.randrange(12, 18)))
    text = next(clauses)
    for clause in clauses:
        text += draw.choice(TEXTS.joints) + clause
    return Drawn(f"{text[0].upper()}{text[1:]}.", lacks=(rf"[a-z\u00e4\u00f6\u00fc\u00df,;] (?:{STARTS})\b",))


def dates_at_the_beginning(draw: random.Random) -> Drawn:
    """German lines that begin with the day of a date, with a bullet or not: the day is no number of a list."""
    day, month = draw.randrange(1, 29), draw.choice(list(TEXTS.months))
    english = TEXTS.months[month]
    line = f"{draw.choice(('', '', '- ', '* '))}{day}. {month}{draw.choice(TEXTS.behind)}"
    date = rf"(?:{english} {day}(?:st|nd|rd|th)?|{day}(?:st|nd|rd|th)?(?: of)? {english})\b"
    return Drawn(line, has=(date,), lacks=(rf"\b{day}\. {english}",))


def stops_inside(draw: random.Random) -> Drawn:
    """Quotations with a stop inside, after which the sentence goes on: German has none there."""
    return Drawn(draw.choice(TEXTS.frames).format(draw.choice(TEXTS.sayings)), lacks=(r"\.[\u201c\"](?=,| [a-z\u00e4\u00f6\u00fc])",))


def speech_without_commas(draw: random.Random) -> Drawn:
    """Speech in the middle of a sentence, with no comma or colon beside its marks."""
    source = f'{draw.choice(TEXTS.sayers)} said "{draw.choice(TEXTS.said)}"{draw.choice(TEXTS.after)}.'
    return Drawn(source, has=(r"\u201e[^\u201e\u201c]*\w[^\u201e\u201c]*\u201c[^\u201e\u201c]*\w[^\u201e\u201c]*$",))


KINDS = (
    *kinds(97, pieces, stops_inside),
    *kinds(95, speech_without_commas),
    *kinds(97, dates_at_the_beginning, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [21, 22])
def test_beginnings_and_ends_inside_of_sentences_are_those_of_the_language(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_translations(kind, seed, pytestconfig.cache, are_warned=False)


@pytest.mark.parametrize(("source", "output", "expected"), TEXTS.a_later_piece_begins_small)
def test_a_later_piece_of_a_sentence_begins_small_unless_its_first_word_may_be_a_noun(source: str, output: str, expected: str) -> None:
    text = DecodedText(source, iter([as_it_is(source)]), place=Place(goes_on=True), languages=("en", "de"))
    text.parts.append(Hypothesis(0, [0], 1, None))
    assert text.settle(lambda _: output) and text.output == expected
