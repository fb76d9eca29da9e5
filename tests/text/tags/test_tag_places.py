"""Inline tags in translations: each once, nested as in the source, around the words with the largest gains."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from specdec_cli.text.segment.sentences import Segments, split_sentences
from specdec_cli.text.tags.alignment import copied_gains, find_words, touched, with_tags
from specdec_cli.text.tags.markup import distributed, untagged, without_tags

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


@pytest.mark.parametrize(
    ("source", "output", "expected"),
    [
        ("Please close the <b>door</b>.", "Bitte die T\u00fcr schlie\u00dfen.", "Bitte die <b>T\u00fcr</b> schlie\u00dfen."),
        ("Please <b>close</b> the <i>door</i>.", "Bitte die T\u00fcr schlie\u00dfen.", "Bitte die <i>T\u00fcr</i> <b>schlie\u00dfen</b>."),
        ("The door of <b>{0}</b>.", "Die T\u00fcr von {0}.", "Die T\u00fcr von <b>{0}</b>."),
        ("Please close the <b>door!</b>", "Bitte die T\u00fcr schlie\u00dfen!", "Bitte die <b>T\u00fcr</b> schlie\u00dfen!"),
        ("<b>Please close the door</b>.", "Bitte die T\u00fcr schlie\u00dfen.", "<b>Bitte die T\u00fcr schlie\u00dfen</b>."),
        ("<b>Please close the door.</b>", "Bitte die T\u00fcr schlie\u00dfen.", "<b>Bitte die T\u00fcr schlie\u00dfen.</b>"),
        ("<b>the <i>red</i></b> house", "die rote Haus", "<b>die <i>rote</i></b> Haus"),
        ("it is H<sub>2</sub>O and C<sub>2</sub>H<sub>6</sub>", "ist H2O und C2H6", "ist H<sub>2</sub>O und C<sub>2</sub>H<sub>6</sub>"),
        ("the <b>h</b>ouse", "das Haus", "das <b>Haus</b>"),  # the tag was inside a word that the output does not have
        ("<b>Red:</b> the door", "Rote: die T\u00fcr", "<b>Rote:</b> die T\u00fcr"),
        ("the <b> red </b> house", "das rote Haus", "das <b> rote </b> Haus"),
        ("the<b> red </b>house", "das rote Haus", "das<b> rote </b>Haus"),
        ("the <i><b>  red</b> house </i> here", "hier das rote Haus", "hier das <i><b>  rote</b> Haus </i>"),
        ("ask <b>\u201cnever\u201d</b> now", "frage \u201enie\u201c jetzt", "frage <b>\u201enie\u201c</b> jetzt"),
        ("see <a href='x'>https://example.org/a</a> now", "jetzt https://example.org/a", "jetzt <a href='x'>https://example.org/a</a>"),
        ("one two <b>three</b> four", "eins zwei drei vier", "eins zwei <b>drei</b> vier"),  # in proportion
        ("<b>one</b> <i>two</i> <u>three</u>", "Eins", "<b><i><u>Eins</u></i></b>"),
        ("<b>Never</b> close", "schlie\u00dfen nie", "schlie\u00dfen <b>nie</b>"),
        ("one<i></i> two", "eins zwei", "<i></i>eins zwei"),
    ],
)
def test_tags_are_around_the_words_of_their_span(source: str, output: str, expected: str) -> None:
    assert placed(source, output) == expected


def test_a_pair_over_several_sentences_keeps_its_ends() -> None:
    plain = without_tags("<i>He is here. Close the</i> door. <b>No</b>")
    tags = distributed(plain, split_sentences(plain.text))
    assert tags.segments.texts == ("He is here.", "Close the door.", "No")
    assert tags.tagged.gaps == ("<i>", " ", " <b>", "</b>")
    assert distributed(without_tags("<b>Now</b> go."), split_sentences("Now go.")).tagged.gaps == ("", "")
    assert [[(span.opening, span.closing) for span in inner.spans] for inner in tags.inner] == [[], [("", "</i>")], []]
    assert with_tags("Close the door.", "T\u00fcr zu, bitte.", tags.inner[1], [[0, 9, 0]]) == "T\u00fcr zu</i>, bitte."


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
