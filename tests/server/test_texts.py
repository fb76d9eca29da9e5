"""Texts are divided and joined without a change; offsets count UTF-16 code units of the client's document."""

import json
from html import unescape
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.server.guard import RequestError
from specdec_cli.server.matches import plain_text, read_annotations
from specdec_cli.server.texts import LONGEST_PIECE, checked_lines, split_html, split_pieces
from tests.tables import tables

CASES = tables(__file__)

TEXT = st.text(st.sampled_from("ab. ?\n\r😀ü<&;"), max_size=60)
PARTS = ["The old man walks. ", "He is here", "\n", "- ", "> ", "\r\n", " and the river", "😀 ", "    "]
PROSE = st.lists(st.sampled_from(PARTS), max_size=12).map("".join)


@given(TEXT, st.integers(1, 30))
def test_the_pieces_of_a_text_join_to_it(text: str, longest: int) -> None:
    pieces = split_pieces(text, longest)
    assert pieces.join(pieces.texts) == text
    assert all(piece.strip() and "\n" not in piece and len(piece) <= longest for piece in pieces.texts)


def test_long_lines_are_divided_between_sentences() -> None:
    line = "This is one. This is two. This is three."
    assert split_pieces(line, 26).texts == ("This is one. This is two.", "This is three.")
    assert split_pieces(line, 20).texts == ("This is one.", "This is two.", "This is three.")
    assert split_pieces(line, 40).texts == (line,)


def test_long_sentences_are_divided_at_spaces() -> None:
    assert split_pieces("one two three four", 9).texts == ("one two", "three", "four")
    assert max(map(len, split_pieces("a" * 2500).texts)) <= LONGEST_PIECE
    assert max(map(len, split_pieces("word " * 9990).texts)) <= LONGEST_PIECE


@given(st.text(st.sampled_from("ab. ?😀ü"), max_size=60))
def test_html_without_entities_joins_to_itself(text: str) -> None:
    document = f"<div>{text}<p>{text}</p><pre>{text}\n</pre></div>"
    page = split_html(document)
    assert page.join([one.replace("\n", " ") for one in page.texts]).split() == document.split()


def test_html_is_divided_at_blocks() -> None:
    page = split_html("<ul>\n<li>A <b>red</b>&nbsp;house &amp; more</li><li>1 &lt; 2 &amp;lt;</li></ul><script>x < y</script><!-- no -->")
    assert page.texts == ("A <b>red</b><n1/>house & more", "1 &lt; 2 &amp;lt;")
    assert page.join(["R&D", "b &lt; c"]) == "<ul>\n<li>R&amp;D</li><li>b &lt; c</li></ul><script>x < y</script><!-- no -->"
    assert unescape(page.join(page.texts)).count("& more") == 1


@pytest.mark.parametrize("tag", CASES.tags_stay_as_they_are)
def test_tags_stay_as_they_are(tag: str) -> None:
    page = split_html(f"<p>See {tag}this &quot;page&quot;</a> now.</p>")
    assert page.texts == (f'See {tag}this "page"</a> now.',)
    assert page.join(page.texts) == f'<p>See {tag}this "page"</a> now.</p>'
    block = "<p" + tag.removeprefix("<a")
    assert split_html(f"{block}one").join(["two"]) == f"{block}two"


@pytest.mark.parametrize(("page", "texts"), CASES.elements_that_must_not_be_translated_are_no_text)
def test_elements_that_must_not_be_translated_are_no_text(page: str, texts: list[str]) -> None:
    found = split_html(page)
    assert found.texts == tuple(texts)
    assert found.join(found.texts) == page


def test_entities_of_spaces_are_kept_between_words() -> None:
    text = (
        "<p>&nbsp;</p><p>The dog&nbsp;is 5&#160;km <code>a&nbsp;b</code> away.&ensp;&thinsp;<n1/> &amp;nbsp;<b title='a&nbsp;b'>Yes</b></p>"
    )
    page = split_html(text)
    assert page.texts == ("The dog<n3/>is 5<n4/>km <x5/> away.<n6/><n7/><n1/> &amp;nbsp;<b title='a&nbsp;b'>Yes</b>",)
    assert page.join(page.texts) == text
    assert page.join(["Der Hund<n3/>ist <x5/>"]) == "<p>&nbsp;</p><p>Der Hund&nbsp;ist <code>a&nbsp;b</code></p>"


def test_entities_with_many_digits_are_read() -> None:
    assert split_html(f"a &#{'9' * 5000}; b").texts == ("a \ufffd b",)


def test_entities_without_a_semicolon_are_entities() -> None:
    page = split_html("1 &lt 2 &copy 3 &&#108;t; R&D a < b")
    assert page.texts == ("1 &lt; 2 © 3 &amp;lt; R&D a &lt; b",)
    assert page.join(page.texts) == "1 &lt; 2 © 3 &amp;lt; R&amp;D a &lt; b"


@given(st.text(st.sampled_from("ab <>&;='\"p\n#38"), max_size=60))
def test_html_shows_the_same_after_a_translation(text: str) -> None:
    page = split_html(text)
    assert "".join(_shown(page.join(page.texts)).split()) == "".join(_shown(text).split())


def _shown(page: str) -> str:
    """The tags of a page as they are, and the text between them without entities."""
    shown: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            shown.append(f"<{tag} {attrs}>".replace("\\n", " "))  # a text has one line

        def handle_endtag(self, tag: str) -> None:
            shown.append(f"</{tag}>")

        def handle_data(self, data: str) -> None:
            shown.append(data)

    reader = Reader()
    reader.feed(page)
    reader.close()
    return "".join(shown)


@given(PROSE)
def test_places_of_checked_lines_are_those_of_their_characters(text: str) -> None:
    for line in checked_lines(text):
        found = "".join(text[line.position(offset)] for offset in range(len(line.text)))
        assert found.replace("\n", " ").replace("\r", " ") == line.text


def test_wrapped_lines_are_checked_as_one() -> None:
    text = "> There was nobody\n> there to meet the\n> old man.\n\nBye."
    lines = list(checked_lines(text))
    assert [line.text for line in lines] == ["> There was nobody there to meet the old man.", "Bye."]
    place = lines[0].position(lines[0].text.index("meet"))
    assert text[place : place + 4] == "meet"


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30), st.data())
def test_spans_are_in_utf_16_code_units(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    span = plain_text(text).original_span(start, end)
    assert span is not None
    assert text.encode("utf-16-le")[2 * span[0] : 2 * span[1]].decode("utf-16-le") == text[start:end]


def test_markup_is_skipped_and_never_replaced() -> None:
    annotation = [
        {"text": "😀 My "},
        {"markup": "\\emph{"},
        {"text": "old"},
        {"markup": "}"},
        {"markup": "~", "interpretAs": " "},
        {"text": "house"},
    ]
    text = read_annotations(json.dumps({"annotation": annotation}))
    assert text.checked == "😀 My old house"
    document = "😀 My \\emph{old}~house"

    def original(words: str) -> str | None:
        start = text.checked.index(words)
        span = text.original_span(start, start + len(words))
        return None if span is None else document.encode("utf-16-le")[2 * span[0] : 2 * span[1]].decode("utf-16-le")

    assert original("old") == "old" and original("house") == "house" and original("My") == "My"
    assert original("My old") is None and original("old house") is None and original(" house") is None


@pytest.mark.parametrize(
    "data", ["", "[]", "{}", '{"annotation": 1}', '{"annotation": [{}]}', '{"annotation": [{"text": 1}]}', "[" * 100_000]
)
def test_other_annotations_are_refused(data: str) -> None:
    with pytest.raises(RequestError) as caught:
        read_annotations(data)
    assert caught.value.status == 400
