"""Inline tags in translations: each once, nested as in the source, around the words with the largest gains."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdec_cli.text.segment.sentences import Segments, split_sentences
from specdec_cli.text.tags.alignment import copied_gains, find_words, touched, with_tags
from specdec_cli.text.tags.markup import InlineTags, TagSpan, distributed, untagged, without_tags
from tests.tables import tables

CASES = tables(__file__)

LEXICON = {"the": "die", "red": "rote", "house": "Haus", "door": "T\u00fcr", "close": "schlie\u00dfen", "never": "nie", "not": "nicht"}
TAG = re.compile(r"</?\w+>")


def placed(source: str, output: str) -> str:
    """`output` with the tags of `source`, a sentence; the gains are those of LEXICON and of words in both texts."""
    plain = without_tags(source)
    tags = distributed(plain, Segments((plain.text,), ("", "")))
    gains = []
    for span in tags.inner[0].spans:
        own = find_words(plain.text)
        first, last = touched(own, span.start, span.end)
        targets = {LEXICON.get(plain.text[start:end].lower()) for start, end in own[first:last]}
        copied = copied_gains(plain.text, (span.start, span.end), output)
        gains.append(
            [max(gain, 5.0 * (output[start:end] in targets)) for gain, (start, end) in zip(copied, find_words(output), strict=True)]
        )
    return tags.tagged.join([with_tags(plain.text, output, tags.inner[0], gains)])


@pytest.mark.parametrize(("source", "output", "expected"), CASES.tags_are_around_the_words_of_their_span)
def test_tags_are_around_the_words_of_their_span(source: str, output: str, expected: str) -> None:
    assert placed(source, output) == expected


def test_a_pair_over_several_sentences_keeps_its_ends() -> None:
    plain = without_tags("<i>He is here. Close the</i> door. <b>No</b>")
    tags = distributed(plain, split_sentences(plain.text))
    assert tags.tagged.texts == ("He is here.", "Close the door.", "No")
    assert tags.tagged.gaps == ("<i>", " ", " <b>", "</b>")
    assert distributed(without_tags("<b>Now</b> go."), split_sentences("Now go.")).tagged.gaps == ("", "")
    assert [[(span.opening, span.closing) for span in inner.spans] for inner in tags.inner] == [[], [("", "</i>")], []]
    assert with_tags("Close the door.", "T\u00fcr zu, bitte.", tags.inner[1], [[0, 9, 0]]) == "T\u00fcr zu</i>, bitte."


def test_ends_of_two_pairs_at_one_word_are_behind_it() -> None:
    tags = InlineTags((TagSpan(0, 3, "", "</i>"), TagSpan(4, 7, "<b>", "")))
    assert with_tags("one two", "Eins", tags, [[9.0], [9.0]]) == "Eins</i><b>"


@pytest.mark.parametrize("line", ["<b>one <i>two</b> three</i>", "see <a href='x'>this", "<b>" * 17 + "one" + "</b>" * 17])
def test_tags_that_are_not_nested_pairs_stay_in_the_text(line: str) -> None:
    assert without_tags(line).text == line


PARTS = ("<b>", "</b>", "<i>", "</i>", "<a>", "</a>", "<u>", "</u>")


@given(
    st.lists(st.sampled_from(["red", "house", "door", " ", " ", " ", ".", ", ", "\u201c", "x1", *PARTS]), max_size=25),
    st.lists(st.sampled_from(["rote", "Haus", "T\u00fcr", " ", " ", ".", ", ", "\u201e", "x1", "`c d`"]), max_size=12),
)
def test_each_tag_is_there_once_and_nested(parts: list[str], output: list[str]) -> None:
    source, text = "".join(parts), "".join(output)
    plain = without_tags(source)
    assume(plain.text)  # a line of tags alone is copied
    found = placed(source, text)
    tags = [plain.source[tag.start : tag.end] for tag in plain.tags]
    assert sorted(TAG.findall(found)) == sorted([*tags, *TAG.findall(plain.text)]) or TAG.search(plain.text)
    if plain.tags:
        assert "".join(TAG.sub("", found).split()) == "".join(text.split())
        assert without_tags(f"{found} ").tags or not untagged(found).tags
        opened: list[str] = []
        for tag in TAG.findall(found):
            if tag.startswith("</"):
                assert opened.pop() == tag.replace("/", "")
            else:
                opened.append(tag)
        assert not opened
