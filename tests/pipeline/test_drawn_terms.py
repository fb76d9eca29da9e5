"""Sentences with terms of a glossary, drawn from templates: which of their translations have a warning."""

import random
import re
from collections.abc import Iterator
from itertools import product

import pytest

from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.checks import GLOSSARY
from specdec_cli.text.glossary import Glossary, Term, come_out
from tests.stored_engine import opened
from tests.tables import tables

TEXTS = tables(__file__)

_GENITIVE = re.compile(
    r"\b(?:des|[mds]?eines|Ihres|dieses) (?:Apparat|Schreiben|Nutzer|Rechner|Mandant|Fahrzeug|Objekt|Mediziner|Zweirad)\b"
)
_ACCUSATIVE = re.compile(r"\b(?:den|[mds]?einen|Ihren|diesen) Mandant\b")
"""What lacks an ending, too."""


def warned(templates: tuple[str, ...], seed: int, cache: pytest.Cache) -> Iterator[tuple[str, str, bool]]:
    """Source, translation and whether it has a warning, of up to 60 sentences in which the glossary brings a term."""
    bundle, engine = opened("en-de", cache)
    translator = LineTranslator(engine, bundle.tokenizer, languages=("en", "de"))
    lines = [template.format(term) for template, (term, _) in product(templates, TEXTS.terms)]
    lines = random.Random(seed).sample(lines, 60)
    usual = [each.text for each in translator.translate(lines)]
    translator.use_glossary(Glossary([Term(*each) for each in TEXTS.terms]))
    for line, without, found in zip(lines, usual, translator.translate(lines), strict=True):
        terms = [term for term, there in found.terms if there]
        if not all(come_out(terms, without)):
            yield line, found.text, GLOSSARY in found.warnings


@pytest.mark.long
@pytest.mark.parametrize("seed", [21, 22])
def test_a_term_that_is_a_noun_in_the_place_of_one_has_no_warning(seed: int, pytestconfig: pytest.Config) -> None:
    found = list(warned(TEXTS.nouns, seed, pytestconfig.cache))
    faults = [each for each in found if each[2] and not _ACCUSATIVE.search(each[1])]
    print(f"\nnouns     seed {seed}: {len(found) - len(faults)} of {len(found)}")
    assert len(found) > 50
    assert 100 * len(faults) <= 5 * len(found), faults


@pytest.mark.long
@pytest.mark.parametrize("seed", [21, 22])
def test_a_term_that_pulls_its_sentence_apart_has_a_warning(seed: int, pytestconfig: pytest.Config) -> None:
    found = list(warned(TEXTS.no_nouns, seed, pytestconfig.cache))
    faults = [each for each in found if not each[2]]
    print(f"\nno nouns  seed {seed}: {len(found) - len(faults)} of {len(found)}")
    assert len(found) > 50
    assert 100 * len(faults) <= 25 * len(found), faults


@pytest.mark.long
@pytest.mark.parametrize("seed", [21, 22])
def test_a_term_that_lacks_an_ending_has_a_warning(seed: int, pytestconfig: pytest.Config) -> None:
    found = [each for each in warned(TEXTS.with_genitive, seed, pytestconfig.cache) if _GENITIVE.search(each[1])]
    faults = [each for each in found if not each[2]]
    print(f"\ngenitives seed {seed}: {len(found) - len(faults)} of {len(found)}")
    assert len(found) > 15
    assert 100 * len(faults) <= 16 * len(found), faults
