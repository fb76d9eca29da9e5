"""Frequent misspellings, drawn into right sentences, that the lexicon and n-grams of the shipped corrector mend."""

import random
import re

import pytest

from specdec_cli.text.edits import apply_edits
from specdec_cli.text.spelling.ngrams import FILE as NGRAMS
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import FILE, Lexicon, Speller
from tests.source import ROOT
from tests.tables import tables

TEXTS = tables(__file__)
ASKED = 60


@pytest.fixture(scope="module")
def speller() -> Speller:
    folder = ROOT / "specdec_cli" / "bundles" / "en-gec"
    return Speller(Lexicon.of_file(folder / FILE), NgramModel.read(folder / NGRAMS))


@pytest.mark.parametrize(("errors", "least"), [(1, 58), (2, 57), (3, 54)])
def test_most_drawn_misspellings_are_corrected(speller: Speller, errors: int, least: int) -> None:
    draw = random.Random(errors)
    wrong: dict[str, list[str]] = {}
    for misspelt, right in TEXTS.misspellings.items():
        wrong.setdefault(right, []).append(misspelt)
    known = re.compile(rf"\b(?:{'|'.join(wrong)})\b")
    mended = 0
    for _ in range(ASKED):
        sentence = draw.choice([each for each in TEXTS.sentences if len(known.findall(each)) >= errors])
        places = sorted(draw.sample(list(known.finditer(sentence)), errors), key=re.Match.start, reverse=True)
        text = sentence
        for place in places:
            text = text[: place.start()] + draw.choice(wrong[place[0]]) + text[place.end() :]
        found = apply_edits(text, [edit for edit in speller.edits(text) if edit.score is not None and edit.score > 0])
        mended += found == sentence
    assert mended >= least
