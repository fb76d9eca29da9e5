"""Void items, such as line breaks: removed from the text, and placed in its translation once and in order."""

import re

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from specdec_cli.text.segment.sentences import split_sentences
from specdec_cli.text.tags.alignment import find_words, with_tags
from specdec_cli.text.tags.markup import distributed, tags_around, tags_inside, without_tags, without_voids
from tests.tables import tables

CASES = tables(__file__)

ITEMS = ("<br>", "<br/>", '<img src="a.png" alt="x > y">', "<n1/>", "<v2/>", "[^1]", "<!-- a -->", "<g1></g1>", "<wbr>", "<sup>2</sup>")


@pytest.mark.parametrize(("source", "text"), CASES.items_are_removed)
def test_items_are_removed(source: str, text: str) -> None:
    assert without_voids(source).text == text


@pytest.mark.parametrize(("source", "output", "gains", "expected"), CASES.items_are_between_the_translations_of_their_parts)
def test_items_are_between_the_translations_of_their_parts(source: str, output: str, gains: list[list[float]], expected: str) -> None:
    tags = tags_inside(source)
    words = {"two": "zwei", "house": "Haus"}
    own = without_tags(source).text
    spans = [
        [5.0 * (each.strip(".,") in [words.get(word) for word in own[span.start : span.end].split()]) for each in output.split()]
        for span in tags.spans
    ]
    assert with_tags(own, output, tags, spans, gains) == expected


def test_items_between_sentences_are_in_the_gaps() -> None:
    plain = without_tags("<b>One is here.</b><br> Two<br>is <i>there</i>.")
    found = distributed(plain, split_sentences(plain.text))
    assert found.tagged.texts == ("One is here.", "Two is there.")
    assert found.tagged.gaps == ("<b>", "</b><br> ", "")
    assert [void.item for void in found.inner[1].voids] == ["<br>"]


@example(["red", "<b>", "<br>", "</b>", "<br/>", "red"], [])
@example(["red", "<br/>", "<b>", "red", "<br>", "</b>"], [". "])
@example(["red", "red", "<br>", "<b>", "<br/>", "red", "</b>"], ["rote"])
@given(
    st.lists(st.sampled_from(["red", "house", " ", " ", ". ", ", ", "(", "<b>", "</b>", *ITEMS]), max_size=20),
    st.lists(st.sampled_from(["rote", "Haus", " ", " ", ". ", ", ", "\u201e"]), max_size=12),
)
def test_each_item_is_there_once_and_in_order(parts: list[str], output: list[str]) -> None:
    source, text = "".join(parts), "".join(output)
    plain = without_tags(source)
    assume(plain.text.strip())
    (before, after), inner = tags_around(source), tags_inside(source)
    # Pairs that share a word are around it together, with what is between them before or behind it.
    assume(len(find_words(text)) >= len(inner.spans))
    found = before + with_tags(plain.text.strip(), text, inner, [()] * len(inner.spans)) + after
    rest, place = [], 0
    for item in (source[tag.start : tag.end].strip() for tag in plain.items.tags):
        begin = found.index(item, place)
        rest.append(found[place:begin])
        place = begin + len(item)
    if "<" not in plain.text:
        assert re.sub(r"\s|</?b>", "", "".join([*rest, found[place:]])) == re.sub(r"\s", "", text)


def test_many_items_in_a_line_take_little_time() -> None:
    source = "How are you<br>now? " * 5_000
    plain = without_tags(source)
    found = distributed(plain, split_sentences(plain.text))
    assert [len(tags.voids) for tags in found.inner] == [1] * 5_000
