"""Sentences with drawn quantities, and what counts as right in a translation of one."""

from collections import Counter

import pytest

from specdec_cli.text.locale.quantities import find_quantities
from tools.quantities import COUNT, drawn_sentences, is_right, translate


@pytest.mark.parametrize("language", ["en", "de"])
def test_each_drawn_sentence_has_one_quantity_of_its_kind(language: str) -> None:
    drawn = list(drawn_sentences(language))
    assert drawn == list(drawn_sentences(language)) and len({text for _, text in drawn}) > 0.95 * COUNT
    assert Counter(kind for kind, _ in drawn) == {"number": 100, "time": 100, "price": 100}
    for kind, text in drawn:
        (found,) = find_quantities(text, language)
        assert (found.kind == "time") == (kind == "time") and bool(found.sign) == (kind == "price"), text


@pytest.mark.parametrize(
    ("kind", "source", "output", "languages"),
    [
        ("number", "We saw 2,350 birds.", "Wir sahen 2.350 Vögel.", "en de"),
        ("time", "We eat at 5:30 PM.", "Wir essen um 17.30 Uhr.", "en de"),
        ("time", "Wir essen um 4 Uhr.", "We eat at 4 o'clock.", "de en"),
        ("price", "It costs $45.50.", "Es kostet 45,50 $.", "en de"),
        ("price", "It costs €45.", "Es kostet 45 Euro.", "en de"),
    ],
)
def test_quantities_as_the_target_language_writes_them_are_right(kind: str, source: str, output: str, languages: str) -> None:
    first, second = languages.split()
    assert is_right(kind, source, output, (first, second))


@pytest.mark.parametrize(
    ("kind", "source", "output", "languages"),
    [
        ("number", "We saw 2,350 birds.", "Wir sahen 2,350 Vögel.", "en de"),
        ("number", "We saw 27 birds.", "Wir sahen 27 von 27 Vögeln.", "en de"),
        ("time", "We eat at 5:30 PM.", "Wir essen um 5.30 Uhr.", "en de"),
        ("time", "Wir essen um 16 Uhr.", "We eat at 4 o'clock.", "de en"),
        ("price", "It costs $45.50.", "Es kostet $45.50.", "en de"),
        ("price", "Es kostet 45 €.", "It costs $45.", "de en"),
        ("price", "Es kostet 45 €.", "It costs 45.", "de en"),
    ],
)
def test_other_quantities_are_wrong(kind: str, source: str, output: str, languages: str) -> None:
    first, second = languages.split()
    assert not is_right(kind, source, output, (first, second))


def test_the_engine_alone_translates_in_order() -> None:
    assert translate("en-de", ["Good morning!", "Tom is at home."]) == ["Guten Morgen!", "Tom ist zu Hause."]
