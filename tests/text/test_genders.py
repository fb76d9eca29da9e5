"""Genders of German nouns and the articles that fit them, and names of people that a translation lacks."""

import pytest

from specdec_cli.pipeline.term_judging import article_of, gender
from specdec_cli.text.people import lost_names, without_gender_signs
from tests.tables import tables

CASES = tables(__file__)

BY_GENDER = {
    "m": "Vertrag Kaufvertrag Frühling Tourismus Prozessor Bahnhof Kuchen Skorpion Aufwand Zement Irrtum Rechner Export Streik Umsatz",
    "f": "Rechnung Freiheit Mannschaft Station Qualität Fabrik Kultur Tendenz Bäckerei Datei Batterie Leinwand Antwort Visitenkarte",
    "n": "Mädchen Dokument Zentrum Schreiben Büro Gewand Verfahren Komitee Abitur Papier Passwort Gericht Schwert Rathaus Zeichen",
    "": "Filter Band Moment Plastik Partikel Wagnis Teil Frist",
}


@pytest.mark.parametrize(("expected", "nouns"), BY_GENDER.items())
def test_an_ending_tells_the_gender_of_a_noun(expected: str, nouns: str) -> None:
    assert {noun: gender(noun) for noun in nouns.split()} == dict.fromkeys(nouns.split(), expected)


@pytest.mark.parametrize(("text", "noun", "fits", "forms"), CASES.an_article_is_compared_with_the_gender_of_its_noun)
def test_an_article_is_compared_with_the_gender_of_its_noun(text: str, noun: str, fits: bool, forms: list[str]) -> None:
    start = text.index(noun)
    article = article_of(text, start, start + len(noun))
    assert article is not None and (article.fits, list(article.forms)) == (fits, forms)


@pytest.mark.parametrize(("text", "noun"), CASES.other_words_before_a_noun_are_no_articles)
def test_other_words_before_a_noun_are_no_articles(text: str, noun: str) -> None:
    start = text.index(noun)
    assert article_of(text, start, start + len(noun)) is None


@pytest.mark.parametrize(("text", "plain"), CASES.words_for_people_of_all_genders_become_plain_ones)
def test_words_for_people_of_all_genders_become_plain_ones(text: str, plain: str) -> None:
    assert without_gender_signs(text, "de-DE") == plain
    assert without_gender_signs(text, "en") == text


@pytest.mark.parametrize(("source", "output", "language", "expected"), CASES.names_that_an_output_lacks)
def test_names_that_an_output_lacks(source: str, output: str, language: str, expected: list[str]) -> None:
    assert lost_names(source, output, language) == expected
