"""Words between marks of emphasis, as in chats: how many are translated, with their marks around them.

`pytest tests/pipeline/test_drawn_emphasis.py -s` prints the counts.
"""

import random

import pytest

from tests.drawn import Drawn, Kind, check_translations

MARKS = ("*", "**", "***", "_", "~~")
ENGLISH = (
    ("It is {} good.", "very", "sehr"),
    ("I {} like your house.", "really", "wirklich|sehr"),
    ("We need {} tickets.", "two", "zwei"),
    ("She is my {} friend.", "best", "beste[rn]?"),
    ("The {} car is mine.", "red", "rote"),
    ("Please call me {}.", "today", "heute"),
    ("I have {} been there.", "never", "nie|niemals|noch nie"),
    ("He is {} here.", "not", "nicht"),
    ("Do you {} believe that?", "really", "wirklich"),
    ("The {} is empty.", "bottle", "Flasche"),
    ("{} told you that?", "Who", "Wer"),
    ("Read the {}, please!", "instructions", "Anweisungen|Anleitung"),
)
GERMAN = (
    ("Das ist {} gut.", "sehr", "very"),
    ("Ich mag dein Haus {}.", "wirklich", "really"),
    ("Wir brauchen {} Karten.", "zwei", "two"),
    ("Sie ist meine {} Freundin.", "beste", "best"),
    ("Das {} Auto geh\u00f6rt mir.", "rote", "red"),
    ("Bitte ruf mich {} an.", "heute", "today"),
    ("Ich war {} dort.", "nie", "never"),
    ("Er ist {} hier.", "nicht", "not|isn't"),
    ("Der {} ist leer.", "K\u00fchlschrank", "fridge|refrigerator"),
    ("{} hat dir das gesagt?", "Wer", "Who"),
    ("Das ist {} lustig!", "so", "so"),
    ("{} hat er das getan?", "Warum", "Why"),
)


def _drawn(draw: random.Random, sentences: tuple[tuple[str, str, str], ...]) -> Drawn:
    sentence, word, expected = draw.choice(sentences)
    mark = draw.choice(MARKS)
    own = mark.replace("*", r"\*")
    return Drawn(sentence.format(f"{mark}{word}{mark}"), has=(rf"(?<![*_~]){own}(?:{expected}){own}(?![*_~])",))


def english(draw: random.Random) -> Drawn:
    return _drawn(draw, ENGLISH)


def german(draw: random.Random) -> Drawn:
    return _drawn(draw, GERMAN)


@pytest.mark.long
@pytest.mark.parametrize("kind", [Kind(english, 97), Kind(german, 97, bundle="de-en")], ids=lambda kind: kind.draw.__name__)
def test_emphasised_words_are_translated_between_their_marks(kind: Kind, pytestconfig: pytest.Config) -> None:
    check_translations(kind, 1, pytestconfig.cache, are_warned=False)
