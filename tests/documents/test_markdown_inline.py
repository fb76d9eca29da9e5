"""Inline markup of Markdown."""

import pytest

from specdec_cli.documents.markdown import inline_marks


@pytest.mark.parametrize(("between", "pairs"), [(50, 1), (150, 0)])
@pytest.mark.parametrize(("first", "last"), [("**", "**"), ("[", "](a)"), ("<b>", "</b>")])
def test_a_mark_is_closed_unless_very_many_others_were_opened_after_it(first: str, last: str, between: int, pairs: int) -> None:
    marks = inline_marks(f"{first}a {'~~b ' * between}c{last}", ())
    assert [mark.kind for mark in marks if mark.kind in {"open", "close"}] == ["open", "close"] * pairs
