"""Long lines in parts: where they are divided, and that nothing is lost."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.long_lines import LONG, PART, in_parts
from specdec_cli.text.segment.paragraphs import Paragraph

SENTENCE = "It was sold for 2.5 million, as Dr. Hall said. "


def line(text: str) -> Line:
    return Line(7, text, "\r\n", "a.txt, line 7")


def parts_of(text: str) -> list[Line]:
    return list(in_parts([line(text)]))


@pytest.mark.parametrize(
    "text", ["", "One. Two.", SENTENCE * (LONG // len(SENTENCE)), "x" * 5 * LONG, "data:image/png;base64," + "aB1/" * LONG]
)
def test_short_lines_and_those_without_gaps_are_whole(text: str) -> None:
    assert parts_of(text) == [line(text)]


@pytest.mark.parametrize(
    ("text", "end"),
    [(SENTENCE, "said."), ("the red house, ", "house,"), ("word ", "word"), ("a,", ","), ("\u6211\u4eec\u8d70\u4e86\u3002", "\u3002")],
)
def test_parts_end_with_sentences_or_else_with_clauses_words_or_values(text: str, end: str) -> None:
    parts = parts_of(text * (2 * LONG // len(text)))
    assert len(parts) > 5
    assert all(len(part.text) <= PART and part.text.endswith(end) for part in parts[:-1])
    assert [part.goes_on for part in parts] == [True] * (len(parts) - 1) + [False]
    assert all(replace(part, text="", ending="", goes_on=False) == replace(line(""), ending="") for part in parts)


def test_a_protected_span_is_not_divided() -> None:
    address = f"https://example.org/{'a,b;' * LONG}c"
    parts = parts_of(f"{SENTENCE * 40}See {address} for it. {SENTENCE * 40}")
    assert [part.text.count(address) for part in parts if "example" in part.text] == [1]


def test_code_and_paragraphs_are_whole() -> None:
    whole = [replace(line(SENTENCE * 400), is_code=True), Paragraph(1, SENTENCE * 400, "\n", "", lines=())]
    assert list(in_parts(whole)) == whole


@given(
    st.lists(
        st.sampled_from(["No. ", "It is 3.5 m, ", "a  b", "<b>", "</b> ", "`x y` ", "\u3002", "\t", "Why? ", "(e.g. this) "]), min_size=600
    )
)
def test_parts_and_endings_are_the_line(pieces: list[str]) -> None:
    text = "".join(pieces) * 6
    assert "".join(part.text + part.ending for part in parts_of(text)) == f"{text}\r\n"
