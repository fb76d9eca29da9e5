"""Sentences and paragraphs of several lines are joined and wrapped again; marks before and after the text of a line."""

import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.layout import split_marks
from specdec_cli.text.segment.paragraphs import Paragraph, find_continued, find_wrapped, join_paragraphs, join_wrapped, rewrapped
from specdec_cli.text.shape import with_own_beginning, with_own_marks, without_added_stop, without_own_stop
from tests.tables import tables

CASES = tables(__file__)

WRAPPED = [
    "When I came to the station nobody was",
    "there to meet me. I waited for Mister",
    "Miller, who came at last with the old",
    "car of his wife.",
]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([], []),
        (["nobody was", "there to meet him"], [True, False]),
        (["Nobody was there.", "he said."], [False, False]),
        (["Nobody was", "", "there to meet him"], [False, False, False]),
        (["A title", "Another title"], [False, False]),
        (["- one", "- two", "three"], [False, True, False]),
        (["# this goes", "# on here"], [True, False]),
        (["> this goes", "> on here"], [True, False]),
        (["> this goes", "on here"], [True, False]),
        (["% a comment", "and text"], [False, False]),
        (WRAPPED, [True, True, True, False]),
        (["Dear Tom", *WRAPPED], [False, True, True, True, False]),
        (["He has a car", "She has a dog", "They have three children now"], [False, False, False]),
    ],
)
def test_continued_lines_are_found(lines: list[str], found: list[bool]) -> None:
    assert find_continued(lines) == found


@pytest.mark.parametrize(("source", "output", "text"), CASES.edits_at_the_ends_of_continued_texts_are_dropped)
def test_edits_at_the_ends_of_continued_texts_are_dropped(source: str, output: str, text: str) -> None:
    edits = with_own_beginning(with_own_marks(find_edits(source, output), source, continues=True))
    assert apply_edits(source, edits) == text


@pytest.mark.parametrize(("source", "output", "text"), CASES.marks_at_the_end_of_a_text_are_neither_added_nor_removed)
def test_marks_at_the_end_of_a_text_are_neither_added_nor_removed(source: str, output: str, text: str) -> None:
    edits = find_edits(source, output)
    assert apply_edits(source, edits) == output
    assert apply_edits(source, with_own_marks(edits, source)) == text


@pytest.mark.parametrize(
    ("source", "output"),
    [("Is it.", "Is it?"), ("He go home .", "He goes home."), ("One. Two", "One, two"), ("so you go.", "So, you go!"), ("i", "I")],
)
def test_other_changes_at_the_end_of_a_text_are_made(source: str, output: str) -> None:
    assert apply_edits(source, with_own_marks(find_edits(source, output), source)) == output


ENDS = st.text('.,?!\u2026") \U0001f600', max_size=5)


@given(ENDS, ENDS)
def test_the_end_of_a_text_changes_only_in_a_single_stop_and_white_space(old: str, new: str) -> None:
    found = apply_edits("a man" + old, with_own_marks(find_edits("a man" + old, "a man" + new), "a man" + old))
    before, after = (re.sub(r"[^.,?!\u2026]", "", text) for text in (old, found))
    assert before == after or (len(before) == len(after) == 1 and {before, after} <= set(".?!"))


@pytest.mark.parametrize(("end", "closed"), [("", "."), (" \U0001f600", " \U0001f600"), ("...", "..."), ("\u2026", "\u2026"), (",", ",")])
def test_a_line_of_eight_words_may_be_closed(end: str, closed: str) -> None:
    source, output = f"Yesterday I go home with all my friends{end}", f"Yesterday I went home with all my friends{end}."
    edits = find_edits(source, output)
    assert apply_edits(source, with_own_marks(edits, source, closes=True)) == f"Yesterday I went home with all my friends{closed}"
    kept = f"Yesterday I went home with all my friends{end}"
    assert apply_edits(source, with_own_marks(edits, source)) == kept
    assert apply_edits(source, with_own_marks(edits, source, closes=True, continues=True)) == kept


def test_only_a_line_that_does_not_continue_loses_its_last_word() -> None:
    edits = find_edits("I saw the the", "I saw the")
    assert apply_edits("I saw the the", with_own_marks(edits, "I saw the the")) == "I saw the"
    assert with_own_marks(edits, "I saw the the", continues=True) == []


def test_a_fragment_gets_no_full_stop() -> None:
    assert without_added_stop("Das rote Auto.", "The red car") == "Das rote Auto"
    assert without_added_stop("Das rote Auto.", "The red car.") == "Das rote Auto."
    assert without_added_stop("Das Auto...", "The car") == "Das Auto..."


@pytest.mark.parametrize("span", CASES.protected_spans_that_end_with_a_mark)
def test_marks_of_protected_spans_stay_at_the_end(span: str) -> None:
    assert without_added_stop(f"Lies es {span}", "Read it") == f"Lies es {span}"
    assert without_own_stop(f"Lies es {span}", "Read it") == f"Lies es {span}"


def test_a_piece_of_a_sentence_ends_as_in_the_source() -> None:
    assert without_own_stop("Wenn er kommt.", "If he comes,") == "Wenn er kommt,"
    assert without_own_stop("Wenn er kommt.", "If he comes") == "Wenn er kommt"
    assert without_own_stop("Wenn er kommt", "If he comes,") == "Wenn er kommt"
    assert without_own_stop("Wenn er kommt...", "If he comes,") == "Wenn er kommt..."
    assert without_own_stop("Er kommt um 9 Uhr.", "He comes at 9 a.m.") == "Er kommt um 9 Uhr."


def test_wrapped_lines_are_found_with_sentences_that_end_in_them() -> None:
    text = ["The children are playing in the", "garden behind the house. They", "are happy.", "", "One.", "Two.", "Three."]
    assert find_wrapped(text) == [True, True, False, False, False, False, False]


def test_a_line_without_a_stop_among_sentences_is_not_wrapped() -> None:
    text = ["A free book about the operating system in the making", "i found a place to eat.", "We go home.", "It rains."]
    assert find_wrapped(text) == [False] * 4
    assert find_wrapped(text[:2]) == [True, False]


def test_a_heading_makes_no_paragraph_of_sentences() -> None:
    text = [
        "Please call the office tomorrow.",
        "Remember to bring your passport.",
        "Everything else will be arranged.",
        "Tomorrow we meet there.",
    ]
    assert find_wrapped(["My rules", *text]) == [False] * 5


def test_lines_without_a_last_sentence_are_not_wrapped() -> None:
    assert find_wrapped(["kalo mita resu nope dita", "fosu kalo mita resu nopedi", "kalo mita resu nope difo"]) == [False] * 3
    assert find_wrapped(["The children are playing in the garden and", "their dog sleeps."]) == [True, False]
    assert find_wrapped(["The children are playing in the garden and", "their dog"]) == [False, False]
    assert find_wrapped(["- one item of a list that is long enough", "- two items."]) == [False, False]


@pytest.mark.parametrize(("head", "body", "tail"), CASES.marks_are_split_off)
def test_marks_are_split_off(head: str, body: str, tail: str) -> None:
    assert split_marks(head + body + tail) == (head, body, tail)


@pytest.mark.parametrize(("line", "language", "head"), CASES.the_day_of_a_date_is_no_number_of_a_list)
def test_the_day_of_a_date_is_no_number_of_a_list(line: str, language: str, head: str) -> None:
    assert split_marks(line, language).head == head


@given(st.text(alphabet="ab .-*#>|<>/=\"'{}[]1:\t\\\U0001f389", max_size=40))
def test_the_parts_join_to_the_line(line: str) -> None:
    marked = split_marks(line)
    assert "".join(marked) == line
    assert marked.body == marked.body.strip()


@pytest.mark.parametrize("text", ["- ", " ", "<a ", "<a>", "| ", "# ", "\U0001f389 ", '"a":', "]("])
def test_long_lines_take_little_time(text: str) -> None:
    line = text * 20_000
    assert "".join(split_marks(line)) == line


@pytest.mark.parametrize("line", [f"[{'12, ' * 100_000}3]", "[" + "1" * 400_000, f'x="{"word " * 100_000}" more words'])
def test_long_lists_and_values_take_little_time(line: str) -> None:
    assert split_marks(line) == ("", line, "")


def lines_of(text: str) -> list[Line]:
    return [Line(number, line, "\n", f"stdin, line {number}") for number, line in enumerate(text.split("\n"), 1)]


@pytest.mark.parametrize(("text", "joined"), CASES.the_lines_of_a_paragraph_are_joined)
def test_the_lines_of_a_paragraph_are_joined(text: str, joined: list[str]) -> None:
    assert [line.text for line in join_paragraphs(lines_of(text))] == joined


def test_a_paragraph_is_wrapped_at_its_width() -> None:
    (line,) = join_paragraphs(lines_of("> one two three\n> four five"))
    assert isinstance(line, Paragraph) and line.width == len("> one two three")
    assert list(rewrapped(line, "> eins zwei drei vier f\u00fcnf")) == [("> eins zwei", "\n"), ("> drei vier", "\n"), ("> f\u00fcnf", "\n")]
    (item,) = join_paragraphs(lines_of("- one two\n  three"))
    assert [text for text, _ in rewrapped(item, "- eins zwei drei")] == ["- eins", "  zwei", "  drei"]


def test_lines_of_different_files_are_not_joined() -> None:
    first, second = (Line(1, "one two three", "\n", name, Path(name)) for name in "ab")
    assert list(join_paragraphs([first, second])) == [first, second]


@pytest.mark.parametrize("join", [join_paragraphs, join_wrapped])
def test_lines_before_an_unreadable_one_are_yielded(join: Callable[[Iterable[Line]], Iterator[Line]]) -> None:
    def read() -> Iterator[Line]:
        yield from lines_of("One two.\nThree four.")
        raise InputError("stdin, line 3: not valid UTF-8")

    found: list[str] = []
    with pytest.raises(InputError, match="line 3"):
        for line in join(read()):
            found += [text for text, _ in rewrapped(line, line.text)]
    assert found == ["One two.", "Three four."]


@given(st.text(alphabet="ab .->#\n\t|12", max_size=80))
def test_an_unchanged_paragraph_keeps_its_lines(text: str) -> None:
    assert "\n".join(one for line in join_paragraphs(lines_of(text)) for one, _ in rewrapped(line, line.text)) == text
