"""Words between marks of emphasis, as in chats, and words in capitals: how many are translated, with their marks around them.

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


ENGLISH_STRESS = (
    ("very", "this is {} important.", "sehr"),
    ("not", "I am {} happy.", "nicht|kein"),
    ("never", "I {} said that.", "nie"),
    ("always", "she is {} late.", "immer"),
    ("only", "there are {} two books.", "nur"),
    ("really", "it was {} good.", "wirklich|sehr|richtig"),
    ("now", "we need it {}.", "jetzt"),
    ("all", "I read {} the books.", "alle"),
    ("must", "you {} see this film.", "m\u00fcssen|musst|muss"),
    ("every", "he calls me {} day.", "jede"),
    ("more", "I want {} time.", "mehr"),
    ("before", "call me {} you go.", "bevor"),
    ("without", "he left {} his keys.", "ohne"),
)
GERMAN_STRESS = (
    ("sehr", "das ist {} wichtig.", "very"),
    ("nicht", "ich bin {} m\u00fcde.", "not|n't"),
    ("nie", "ich habe das {} gesagt.", "never"),
    ("immer", "sie ist {} zu sp\u00e4t.", "always"),
    ("nur", "es gibt {} zwei B\u00fccher.", "only"),
    ("wirklich", "es war {} gut.", "really|actually|very"),
    ("jetzt", "wir brauchen es {}.", "now"),
    ("alle", "ich habe {} B\u00fccher gelesen.", "all"),
    ("muss", "ich {} nach Hause gehen.", "must|have to|need"),
    ("mehr", "ich will {} Zeit.", "more"),
    ("keine", "ich habe {} Zeit.", "no|n't|not"),
    ("sofort", "er kam {} zur\u00fcck.", "immediately|at once|right"),
    ("heute", "wir gehen {} ins Kino.", "today"),
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


def english_stress(draw: random.Random) -> Drawn:
    word, sentence, expected = draw.choice(ENGLISH_STRESS)
    name = draw.choice(("", "Tom, ", "Well, ", "Anna: ", "Dear all, ", "Sorry, "))
    return Drawn(name + sentence.format(word.upper()), has=(rf"(?i)\b(?:{expected})",), lacks=(word.upper(),))


def german_stress(draw: random.Random) -> Drawn:
    word, sentence, expected = draw.choice(GERMAN_STRESS)
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
