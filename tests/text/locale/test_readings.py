"""What models read in the place of units, lengths of time, couples and keys, and what stands for it in the translation."""

import pytest

from specdec_cli.text.locale.readings import read_text
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "source", "target", "read", "output", "expected"), CASES.a_model_reads_what_it_knows)
def test_a_model_reads_what_it_knows(text: str, source: str, target: str, read: str, output: str, expected: str) -> None:
    found = read_text(text, (source, target))
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
