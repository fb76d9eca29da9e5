"""Texts in capitals are decoded in small letters, and come out in capitals."""

from collections.abc import Callable

import pytest

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.text.shape import in_small_letters, is_in_capitals, with_first_capital
from tests.variants import chosen


def placed(text: str, model: Callable[[str], str]) -> str:
    """The output that is chosen."""
    return chosen(variants_with("\u20ac".__contains__, text), model).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ERROR: FILE NOT FOUND", True),
        ("SETTINGS", True),
        ("READ `ls` FIRST, http://re.su", True),
        ("STRASSE 5", True),
        ("NATO", False),
        ("USA, UK, EU", False),
        ("The FILE", False),
        ("123", False),
        ("", False),
    ],
)
def test_texts_in_capitals_are_not_abbreviations(text: str, expected: bool) -> None:
    assert is_in_capitals(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HOW ARE YOU?", True),
        ("GET OUT!", True),
        ("THE DOG IS RED", True),
        ("WE ARE OUT OF GAS!", True),
        ("SHE SAW ME AND RAN", True),
        ("NOT IN USE", True),
        ("UN, EU, USA", False),
        ("USB HDMI", True),
        ("CD DVD!", False),
        ("VAT ID", False),
        ("US AND UK", False),
        ("OK!", False),
    ],
)
def test_shouted_sentences_have_function_words_or_a_final_mark(text: str, expected: bool) -> None:
    assert is_in_capitals(text, "en") == expected


@pytest.mark.parametrize(
    ("text", "small"),
    [
        ("ERROR: I FOUND IT", "Error: I found it"),
        ('"\u00c4RGER" UND `LS`', '"\u00c4rger" und `LS`'),
        ("`LS` IS HERE", "`LS` Is here"),
    ],
)
def test_the_first_letter_stays_a_capital(text: str, small: str) -> None:
    assert in_small_letters(text) == small


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("THE STREET", "DIE STRASSE"),
        ("THE STREET %s `ls`", "DIE STRASSE %s `ls`"),
        ("THE STREET FILE.TXT", "DIE STRASSE FILE.TXT"),
        ("THE STREET \u20ac", "DIE STRASSE \u20ac"),
        ("the street", "die stra\u00dfe"),
        ("THE", "THE"),
    ],
)
def test_outputs_are_in_capitals_except_for_protected_spans(text: str, output: str) -> None:
    words = {"the": "die", "street": "stra\u00dfe", "The": "Die"}
    assert placed(text, lambda source: " ".join(words.get(word, word) for word in source.split())) == output


@pytest.mark.parametrize(
    ("source", "output", "written"),
    [
        ("Download it.", "l\u00e4dt es.", "L\u00e4dt es."),
        ('"Old" house', "\u201ealtes\u201c Haus", "\u201eAltes\u201c Haus"),
        ("download it", "l\u00e4dt es", "l\u00e4dt es"),
        ("Use iPhones", "iPhones verwenden", "iPhones verwenden"),
        ("Use tar", "tar-Datei", "tar-Datei"),
        ("Use `x`", "`x` nutzen", "`x` nutzen"),
        ("See a.org", "a.org sehen", "a.org sehen"),
        ("In the evening", "'s avonds", "'s avonds"),
        ("5 Houses", "5 h\u00e4user", "5 h\u00e4user"),
        ("", "x", "x"),
        ("{% if x %}You are here.", "{% if x %}du bist hier.", "{% if x %}Du bist hier."),
        ("<%= a %> %s You", "<%= a %> %s du", "<%= a %> %s Du"),
        ("{a} files", "{a} dateien", "{a} dateien"),
        ("%d Dateien", "%d files", "%d files"),
    ],
)
def test_a_text_keeps_its_first_capital(source: str, output: str, written: str) -> None:
    assert with_first_capital(output, source) == written
