"""Tidied text: spaces before marks, the first letter and the last full stop."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.shape import tidied


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("so he left , and we stayed .", "So he left, and we stayed."),
        ("What \u00a0? He said : no ;", "What? He said: no;"),
        ("it costs 5", "It costs 5."),
        ("\u00e9t\u00e9", "\u00c9t\u00e9."),
        ("( yes )", "( yes )"),  # brackets and contractions stay
        ("He does n't know 's .", "He does n't know 's."),
        ("\u201cno\u201d", "\u201cno\u201d"),
        ("", ""),
        (" , a", ", a."),
    ],
)
def test_texts_are_tidied(text: str, expected: str) -> None:
    assert tidied(text) == expected


@given(st.text(alphabet="aB .,!?'(1\u00df\u01c6", max_size=20))
def test_letters_are_kept_and_tidied_text_stays(text: str) -> None:
    found = tidied(text)
    assert tidied(found) == found
    assert [each for each in found.casefold() if each.isalnum()] == [each for each in text.casefold() if each.isalnum()]
