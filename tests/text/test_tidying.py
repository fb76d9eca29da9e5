"""Tidied text: spaces before marks, the first letter and the last full stop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.shape import tidied
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "expected"), CASES.texts_are_tidied)
def test_texts_are_tidied(text: str, expected: str) -> None:
    assert tidied(text) == expected


@given(st.text(alphabet="aB .,!?'(1\u00df\u01c6", max_size=20))
def test_letters_are_kept_and_tidied_text_stays(text: str) -> None:
    found = tidied(text)
    assert tidied(found) == found
    assert [each for each in found.casefold() if each.isalnum()] == [each for each in text.casefold() if each.isalnum()]
