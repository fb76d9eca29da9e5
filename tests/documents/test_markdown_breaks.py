"""Lines of Markdown documents that end a text."""

import pytest

from tests.documents.helper import parse, shout, texts, translated
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("text", "expected"), CASES.line_breaks_end_a_text_unless_lower_case_follows)
def test_line_breaks_end_a_text_unless_lower_case_follows(text: str, expected: list[str]) -> None:
    document = parse(f"{text}\n", "md")
    assert texts(document) == expected
    assert document.translated([shout(each) for each in texts(document)]).decode().casefold() == f"{text}\n".casefold()


def test_a_part_after_a_line_break_is_wrapped_on_its_own() -> None:
    text = "> One house<br>Some children are playing\n> in the garden.\n"
    longer = translated(text, "md", lambda each: each.replace("playing", "playing ball").replace("One", "One large and beautiful"))
    assert longer == "> One large and beautiful house<br>Some children are playing\n> ball in the garden.\n"


@pytest.mark.parametrize(("text", "expected"), CASES.a_bold_first_line_is_a_title)
def test_a_bold_first_line_is_a_title(text: str, expected: list[str]) -> None:
    assert texts(parse(text, "md")) == expected


def test_imports_of_components_are_kept() -> None:
    text = "import Tabs from '@theme/Tabs';\nimport {A, B} from \"./b\"\n\nWe import tea from India.\n"
    assert texts(parse(text, "md")) == ["We import tea from India."]
