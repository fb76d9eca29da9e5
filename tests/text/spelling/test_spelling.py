"""Corrections of misspelt and confused words: which words, by which others, and with what scores."""

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.ngram_counting import count_ngrams
from specdec_cli.text.spelling.speller import Lexicon, Speller, _is_usual, _usual_variants, _variants

TEXT = [
    "They had an argument about the receipt.",
    "We accommodate the guests of the house.",
    "Furthermore, we want to know the reasons.",
    "And furthermore they know.",
    "They live up to the house.",
    "She doesn't know the reason.",
    "The guests had a quite bad idea.",
    "They were quiet in the house.",
]
WORDS = ["accommodate", "argument", "bad", "doesn't", "furthermore", "guest", "guests", "house", "lychee", "quiet", "quite"]
WORDS += ["reason", "receipt", "the", "to", "up", "Pilates"]


@pytest.fixture(scope="module")
def speller() -> Speller:
    return Speller(Lexicon(lambda: WORDS), count_ngrams(TEXT * 20))


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("They had an arguement.", "They had an argument."),  # a letter too many
        ("They had an argment.", "They had an argument."),  # one too few
        ("They had an argumant.", "They had an argument."),  # another one
        ("They had an agrument.", "They had an argument."),  # two exchanged
        ("They had an aargument.", "They had an argument."),
        ("Futhermore, we want to know.", "Furthermore, we want to know."),
        ("They know. Futhermore, they live.", "They know. Furthermore, they live."),
        ("They live up tothe house.", "They live up to the house."),
        ("She doesnt know.", "She doesn't know."),
        ("They had a queit house.", "They had a quiet house."),
        ("We accomodate the geusts of the house.", "We accommodate the guests of the house."),
        ("They had an arguement: https://qwx.org/hjkl/bnmq/zrtp/wxyz", "They had an argument: https://qwx.org/hjkl/bnmq/zrtp/wxyz"),
        ("The arguement's idea.", "The argument's idea."),
    ],
)
def test_misspelt_words_are_corrected(speller: Speller, text: str, corrected: str) -> None:
    edits = speller.edits(text)
    assert apply_edits(text, edits) == corrected
    assert all(edit.score is not None and edit.source == text[edit.start : edit.end] for edit in edits)


@pytest.mark.parametrize(
    "text",
    [
        "They had an argument.",
        "They had a lychee.",  # in the lexicon alone
        "They had some pilates.",  # a name there
        "They had receipts.",  # a plural
        "They had an argxmxnt.",  # two changes
        "Mr. Argumant had a house.",
        "They had Argumant about it.",
        "Argumant Paris had a house.",
        "Argumant's house.",
        "They had the ARGUMANT.",
        "We had arguemant.net and argument-guest and guset-house.",
        "They had an arg\u00fcment.",
        "They had an arguin' idea.",
        "They had a hse.",  # too short
        "Ther hause nich wir sund gutst.",  # too many unknown words
        "",
    ],
)
def test_other_words_are_left_alone(speller: Speller, text: str) -> None:
    assert speller.edits(text) == []


@pytest.fixture(scope="module")
def listener() -> Speller:
    usual = [
        "The dog hurt its leg.",
        "It's an idea.",
        "They had an honest guest and a house.",
        "They're there for their guests.",
        "We saw a house.",
    ]
    return Speller(Lexicon(lambda: [*WORDS, "honest"]), count_ngrams(usual * 1000))


@pytest.mark.parametrize(
    ("text", "corrected"),
    [
        ("They had a honest guest.", "They had an honest guest."),
        ("We saw an house.", "We saw a house."),
        ("The dog hurt it's leg.", "The dog hurt its leg."),
        ("Its an idea.", "It's an idea."),
        ("They\u2019re their for there guests.", "They\u2019re there for their guests."),
        ("Its an idea, \u2018we\u2019 say.", "It\u2019s an idea, \u2018we\u2019 say."),
        ("Their there for their guests.", "They're there for their guests."),
    ],
)
def test_words_that_sound_alike_are_corrected(listener: Speller, text: str, corrected: str) -> None:
    edits = listener.edits(text)
    assert apply_edits(text, edits) == corrected
    assert all(edit.score is not None and edit.score > 0 and edit.source == text[edit.start : edit.end] for edit in edits)


@pytest.mark.parametrize(
    "text",
    [
        "The dog hurt its leg.",
        "They're there for their guests.",
        "They had AN house.",
        "They had @an house.",
        "They had an-house.",
        "They had an xx.",  # nothing is known about either
        "",
    ],
)
def test_words_that_are_as_probable_remain(listener: Speller, text: str) -> None:
    assert listener.edits(text) == []


def test_the_context_chooses_among_corrections_and_gives_the_score(speller: Speller) -> None:
    (one,), (other,) = speller.edits("The guests had a quiite bad idea."), speller.edits("They were quiiet in the house.")
    assert (one.text, other.text) == ("quite", "quiet")
    (strange,) = speller.edits("The reason about quiiet the receipt.")
    assert one.score is not None and strange.score is not None and one.score > strange.score


def test_a_frequent_misspelling_costs_less(speller: Speller) -> None:
    (doubled,), (changed,) = speller.edits("They had an arggument."), speller.edits("They had an arqument.")
    assert doubled.score is not None and changed.score is not None and doubled.score > changed.score


@pytest.mark.parametrize("word", ["letter", "beleive", "ocurred", "aab", "it's", "caf\u00e9e", "goverment", "yyo", "ab"])
def test_usual_variants_are_those_variants_that_are_usual(word: str) -> None:
    assert _usual_variants(word) == {new for new in _variants(word) if new != word and _is_usual(word, new)}
