"""Markdown documents."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from specdec_cli.documents.markdown import inline_marks
from tests.documents.helper import parse, shout, texts, translated, unchanged
from tests.tables import sample, tables

CASES = tables(__file__)

TEXT = sample("page.md")


def structure(text: str) -> list[tuple[str, str, int]]:
    """The blocks of a document."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    return [(token.type, token.tag, token.level) for token in parser.parse(text)]


def test_all_else_is_kept() -> None:
    changed = translated(TEXT, "md")
    assert structure(changed) == structure(TEXT)
    assert "# THE *BIG* HOUSE\n" in changed
    assert '[THE\nGUIDE](https://e.org/a "T")' in changed
    assert "See [Foo], [Foo][], [the manual][man]".upper().replace("FOO", "Foo").replace("MAN]", "man]") in changed.replace("\n", " ")
    assert "> A QUOTE THAT\n> GOES ON HERE. ![A CAT](c.png)\n" in changed
    assert "- ANOTHER <b>ITEM</b>\n  THAT GOES ON\n" in changed
    assert "1. HARD BREAK HERE  \n   NEXT LINE &amp; MORE \\* STAR\\\n   THIRD LINE\n" in changed
    assert "| MONDAY | A \\| B *C* |\n" in changed
    assert '<a href="x">WORLD</a> <img src="a" alt="A PICTURE"></p>' in changed
    for kept in ("title: front matter", "code here", "indented code", "[Foo]: http://x", "http://y 'Title'"):
        assert kept in changed


@pytest.mark.parametrize(("text", "expected"), CASES.inline_markup_has_stand_ins)
def test_inline_markup_has_stand_ins(text: str, expected: str) -> None:
    document = parse(f"{text}\n", "md")
    assert texts(document) == [expected]
    assert document.translated([shout(each) for each in texts(document)]).decode().casefold() == f"{text}\n".casefold()


MARKUP = st.sampled_from(CASES.markup)


@given(st.lists(MARKUP, max_size=40).map(" ".join) | st.text(max_size=60).filter(lambda text: "\0" not in text))
def test_unchanged_segments_give_the_same_bytes(text: str) -> None:
    data = text.encode("utf-8", "replace")
    document = parse(data, "md")
    assert unchanged(document) == data
    assert document.corrected([[] for _ in document.segments]) == data
    for segment in document.segments:
        assert segment.text == segment.text.strip() and "\n" not in segment.text
        assert all(piece.begin <= piece.finish for piece in segment.pieces)


@given(st.lists(MARKUP, max_size=30).map("".join))
def test_segments_are_separate_and_written_back(text: str) -> None:
    document = parse(text, "md")
    again = parse(document.translated([f"{each} q" for each in texts(document)]), "md")
    assert sum(each.count("q") for each in texts(again)) >= len(document.segments)


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_formulas_are_kept(ending: str) -> None:
    text = "one\n$$\na\n- b\n$$\ntwo.\n\n> $$ c = d $$\n\nthen $$e =\nf$$ and $$g$$ follow, $$ is\nno formula.\n".replace("\n", ending)
    assert texts(parse(text, "md")) == ["one", "two.", "then <x1/> and <x2/> follow, $$ is no formula."]
    shouted = re.sub(r"\w\w+", lambda found: found.group().upper(), text)
    assert translated(text, "md").split() == shouted.split()


@pytest.mark.parametrize(("text", "expected"), CASES.the_description_of_an_image_is_no_part_of_its_sentence)
def test_the_description_of_an_image_is_no_part_of_its_sentence(text: str, expected: list[str]) -> None:
    assert texts(parse(text, "md")) == expected


@pytest.mark.parametrize(("text", "expected"), CASES.line_breaks_end_a_text_unless_lower_case_follows)
def test_line_breaks_end_a_text_unless_lower_case_follows(text: str, expected: list[str]) -> None:
    document = parse(f"{text}\n", "md")
    assert texts(document) == expected
    assert document.translated([shout(each) for each in texts(document)]).decode().casefold() == f"{text}\n".casefold()


@pytest.mark.parametrize(("text", "expected"), CASES.a_bold_first_line_is_a_title)
def test_a_bold_first_line_is_a_title(text: str, expected: list[str]) -> None:
    assert texts(parse(text, "md")) == expected


@pytest.mark.parametrize(("between", "pairs"), [(50, 1), (150, 0)])
@pytest.mark.parametrize(("first", "last"), [("**", "**"), ("[", "](a)"), ("<b>", "</b>")])
def test_a_mark_is_closed_unless_very_many_others_were_opened_after_it(first: str, last: str, between: int, pairs: int) -> None:
    marks = inline_marks(f"{first}a {'~~b ' * between}c{last}", ())
    assert [mark.kind for mark in marks if mark.kind in {"open", "close"}] == ["open", "close"] * pairs
