"""Words between marks of emphasis, as in chats, and words in capitals: how many are translated, with their marks around them.

`pytest tests/pipeline/test_drawn_emphasis.py -s` prints the counts.
"""

import random

import pytest

from tests.drawn import Drawn, Kind, check_translations
from tests.tables import tables

TEXTS = tables(__file__)


def _drawn(draw: random.Random, sentences: tuple[tuple[str, str, str], ...]) -> Drawn:
    sentence, word, expected = draw.choice(sentences)
    mark = draw.choice(TEXTS.marks)
    own = mark.replace("*", r"\*")
    return Drawn(sentence.format(f"{mark}{word}{mark}"), has=(rf"(?<![*_~]){own}(?:{expected}){own}(?![*_~])",))


def english(draw: random.Random) -> Drawn:
    return _drawn(draw, TEXTS.english)


def german(draw: random.Random) -> Drawn:
    return _drawn(draw, TEXTS.german)


def english_stress(draw: random.Random) -> Drawn:
    word, sentence, expected = draw.choice(TEXTS.english_stress)
    name = draw.choice(("", "Tom, ", "Well, ", "Anna: ", "Dear all, ", "Sorry, "))
    return Drawn(name + sentence.format(word.upper()), has=(rf"(?i)\b(?:{expected})",), lacks=(word.upper(),))


def german_stress(draw: random.Random) -> Drawn:
    word, sentence, expected = draw.choice(TEXTS.german_stress)
    name = draw.choice(("", "Tom, ", "Also, ", "Anna: ", "Hallo, ", "Ja, "))
    return Drawn(name + sentence.format(word.upper()), has=(rf"(?i)\b(?:{expected})",), lacks=(word.upper(),))


KINDS = (
    Kind(english, 97),
    Kind(german, 97, bundle="de-en"),
    Kind(english_stress, 90),
    Kind(german_stress, 90, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
def test_emphasised_words_are_translated_between_their_marks(kind: Kind, pytestconfig: pytest.Config) -> None:
    check_translations(kind, 1, pytestconfig.cache, are_warned=False)
