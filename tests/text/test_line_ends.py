"""Sentences that continue on the next line."""

import pytest

from specdec_cli.text.edits import apply_edits, find_edits
from specdec_cli.text.line_ends import drop_boundary_edits, find_continued, find_wrapped, without_added_stop

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


@pytest.mark.parametrize(
    ("source", "output", "text"),
    [
        ("my friend, and we", "My friend and we.", "my friend and we"),
        ("he recieve", "He received.", "he received"),
        ("in London,", "in London.", "in London,"),
        ("a man and", "a man.", "a man and"),
        ("i am here", "I am here.", "I am here"),
        ("bought two apple", "He bought two apples.", "bought two apples"),
        ("He have a car", "he has a car.", "He has a car"),
        ("it is", "it is", "it is"),
    ],
)
def test_edits_at_the_ends_of_continued_texts_are_dropped(source: str, output: str, text: str) -> None:
    edits = drop_boundary_edits(find_edits(source, output), 0, len(source), continues_next=True, continues_previous=True)
    assert apply_edits(source, edits) == text
    both = drop_boundary_edits(find_edits(source, output), 0, len(source), continues_next=False, continues_previous=False)
    assert apply_edits(source, both) == output


def test_a_fragment_gets_no_full_stop() -> None:
    assert without_added_stop("Das rote Auto.", "The red car") == "Das rote Auto"
    assert without_added_stop("Das rote Auto.", "The red car.") == "Das rote Auto."
    assert without_added_stop("Das Auto...", "The car") == "Das Auto..."


def test_wrapped_lines_are_found_with_sentences_that_end_in_them() -> None:
    text = ["The children are playing in the", "garden behind the house. They", "are happy.", "", "One.", "Two.", "Three."]
    assert find_wrapped(text) == [True, True, False, False, False, False, False]


def test_a_line_without_a_stop_among_sentences_is_not_wrapped() -> None:
    text = ["A free book about the operating system in the making", "i found a place to eat.", "We go home.", "It rains."]
    assert find_wrapped(text) == [False] * 4
    assert find_wrapped(text[:2]) == [True, False]


def test_lines_without_a_last_sentence_are_not_wrapped() -> None:
    assert find_wrapped(["kalo mita resu nope dita", "fosu kalo mita resu nopedi", "kalo mita resu nope difo"]) == [False] * 3
    assert find_wrapped(["The children are playing in the garden and", "their dog sleeps."]) == [True, False]
    assert find_wrapped(["The children are playing in the garden and", "their dog"]) == [False, False]
    assert find_wrapped(["- one item of a list that is long enough", "- two items."]) == [False, False]
