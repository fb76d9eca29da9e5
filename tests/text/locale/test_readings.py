"""What models read in the place of units, lengths of time, couples and keys, and what stands for it in the translation."""

import pytest

from specdec_cli.text.locale.readings import read_text


@pytest.mark.parametrize(
    ("text", "languages", "read", "output", "expected"),
    [
        ("2 tbsp of oil", ("en", "de"), "2 g oil", "2 g \u00d6l", "2 EL \u00d6l"),
        ("2.5 oz of oil", ("en", "de"), "2.5 g oil", "2,5 Gramm \u00d6l", "2,5 oz \u00d6l"),
        ("1 tbsp oil, 1 tsp salt", ("en", "de"), "1 g oil, 1 g salt", "1 g \u00d6l, 1 G Salz", "1 EL \u00d6l, 1 TL Salz"),
        ("1 EL \u00d6l", ("de", "en"), "1 g \u00d6l", "1 gram of oil", "1 tbsp oil"),
        (
            "\u00bd TL Salz und 1 \u00bd Pck. Hefe",
            ("de", "en"),
            "\u00bd g Salz und 1 \u00bd g Hefe",
            "\u00bd g salt and 1 \u00bd g yeast",
            "\u00bd tsp salt and 1 \u00bd packets of yeast",
        ),
        ("Er lief 3:45 Min. lang", ("de", "en"), "Er lief 3.45 Min. lang", "He ran 3.45 minutes", "He ran 3:45 minutes"),
        ("It is in B flat minor", ("en", "de"), "It is in Berlin", "Es ist in Berlin", "Es ist in b-Moll"),
        ("in Fis-Dur und in h-Moll", ("de", "en"), "in Berlin und in Berlin", "in Berlin and in Berlin", "in F-sharp major and in B minor"),
        ("He died in 44 BC.", ("en", "de"), "He died in 1044.", "Er starb 1044.", "Er starb 44 v. Chr."),
        ("AD 79, 2500 B.C.", ("en", "de"), "1079, 2500.", "1079, 2500.", "79 n. Chr., 2500 v. Chr."),
        ("im Jahr 500 n. Chr. und 44 v. Chr. so", ("de", "en"), "im Jahr 1500 und 1044 so", "in 1500 and 1044", "in 500 AD and 44 BC"),
        (
            '"He is 5\'7" tall," she said',
            ("en", "de"),
            '"He is 507 cm tall," she said',
            '"Er ist 507 cm", sagt sie',
            '"Er ist 5\'7"", sagt sie',
        ),
        ("Mr. & Mrs. Hall came", ("en", "de"), "Anna and Tom came", "Anna und Tom kamen", "Herr und Frau Hall kamen"),
        ("with Mr and Mrs Hall", ("en", "de"), "with Anna and Tom", "mit Anna und Tom", "mit Herrn und Frau Hall"),
        ("bei Herrn und Frau Kuhn", ("de", "en"), "bei Anna und Tom", "with Anna and Tom", "with Mr. and Mrs. Kuhn"),
    ],
)
def test_a_model_reads_what_it_knows(text: str, languages: tuple[str, str], read: str, output: str, expected: str) -> None:
    found = read_text(text, languages)
    assert found is not None
    assert found.text == read
    assert found.restored(output) == expected
    assert found.restored("Das hat es nicht.") is None


@pytest.mark.parametrize(
    "text", ["At 3:45 PM", "2 grams", "Wir treffen uns um 8:30 Uhr", "in a minor role", "`2 tbsp`", "Mr. Smith and Mrs. Hall"]
)
def test_other_texts_are_read_as_they_are(text: str) -> None:
    assert read_text(text, ("en", "de")) is None
    assert read_text("2 tbsp of oil", ("en", "fr")) is None
