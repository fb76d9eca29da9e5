"""Markup around texts: which texts a document has, and what comes of changes of them in translations and by edits."""

from functools import partial
from typing import Any

import pytest

from tests.documents.helper import corrected, parse, texts, translated, unchanged
from tests.tables import sample, tables

CASES = tables(__file__).cases


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['format']}: {case['name']}")
def test_texts_of_markup_are_changed_and_all_else_is_kept(case: dict[str, Any]) -> None:
    format, source = case["format"], case.get("source") or sample(case["sample"])
    document = parse(source, format)
    assert unchanged(document).decode() == source or format in ("po", "xliff")  # in which missing translations are written
    assert texts(document) == case.get("texts", texts(document))
    if "capitals" in case:
        assert translated(source, format) == case["capitals"]
    for change in (translated, corrected):
        for row in case.get(change.__name__, ()):
            assert change(source, format, partial(_replaced, row["changes"])) == row["expected"]


def _replaced(changes: dict[str, str], text: str) -> str:
    for old, new in changes.items():
        text = text.replace(old, new)
    return text
