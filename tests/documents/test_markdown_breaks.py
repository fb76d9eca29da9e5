"""Lines of Markdown documents that end a text."""

import pytest

from tests.documents.helper import parse, shout, texts
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "expected"), CASES.line_breaks_end_a_text_unless_lower_case_follows)
def test_line_breaks_end_a_text_unless_lower_case_follows(text: str, expected: list[str]) -> None:
    document = parse(f"{text}\n", "md")
    assert texts(document) == expected
    assert document.translated([shout(each) for each in texts(document)]).decode().casefold() == f"{text}\n".casefold()


@pytest.mark.parametrize(("text", "expected"), CASES.a_bold_first_line_is_a_title)
def test_a_bold_first_line_is_a_title(text: str, expected: list[str]) -> None:
    assert texts(parse(text, "md")) == expected
