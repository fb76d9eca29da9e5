"""HTML documents."""

import html
import random
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from specdec_cli.documents.document import Source
from specdec_cli.documents.html import read_html
from specdec_cli.errors import InputError
from specdec_cli.text.tags.markup import without_voids
from tests.documents.helper import parse, shout, texts, translated, unchanged
from tests.tables import sample, tables

CASES = tables(__file__)

TEXT = sample("page.html")


def test_all_else_is_kept() -> None:
    changed = translated(TEXT, "html")
    assert " ".join(changed.casefold().split()) == " ".join(TEXT.casefold().replace("&eacute;", "\u00e9").replace("&#39;", "'").split())
    for kept in (
        'if (a < b) "text"',
        "p {a: b}",
        "code here",
        "<code>Ctrl <i>now</i></code>",
        "Kept <b>as</b> it is",
        "Kept too",
        "x?a=1&amp;b=2",
    ):
        assert kept in changed
    assert "title=\"A 'NICE' HOUSE\">VERY NICE</a>.</p>" in changed
    assert '<span translate="no">Name</span> HERE</ul>' in changed


def test_superscripts_without_letters_are_no_text() -> None:
    text = "<p>one.<sup><a title='two' href='#n'>[<b>1</b>]</a></sup> three m<sup>2</sup>, the 4<sup>th</sup>,<sup>&dagger;</sup> five</p>"
    assert texts(parse(text, "html")) == ["two", "one.<v1/> three m<v2/>, the 4<g3>th</g3>,<v4/> five"]
    changed = translated(text, "html")
    assert changed == re.sub("one|two|three|the|th|five|(?<= )m", lambda found: found.group().upper(), text)


@pytest.mark.parametrize("mark", ["translate=no", "translate='NO'", "class='a notranslate'"])
def test_attributes_of_elements_that_are_kept_are_kept(mark: str) -> None:
    text = f"<p {mark} title='one'>two</p><img {mark} alt='three'><img {mark} alt='four'/>"
    assert translated(text, "html") == text


def test_characters_of_markup_are_escaped() -> None:
    text = '<p title="one">two &lt; <b>three</b></p>'
    assert translated(text, "html", lambda each: f'{each} & "<i>') == (
        '<p title="one & &#34;&lt;i>">two &lt; <b>three</b> & "&lt;i></p>'.replace(" & ", " &amp; ")
    )


def test_the_declared_encoding_is_kept() -> None:
    data = '<meta charset="iso-8859-15"><p>caf\xe9</p>'.encode("iso-8859-15")
    document = parse(data, "html")
    assert texts(document) == ["caf\u00e9"]
    assert document.translated(["\u20ac \u201c\xfc"]) == '<meta charset="iso-8859-15"><p>\u20ac &#8220;\xfc</p>'.encode("iso-8859-15")
    with pytest.raises(InputError, match="line 2: not valid UTF-8"):
        parse(b"<p>\ncaf\xe9", "html")


@pytest.mark.parametrize("label", ["iso-8859-1", "ISO8859-1", "iso88591", "latin-1", "latin1", "us-ascii", "ascii", "windows-1252"])
def test_western_encodings_are_windows_1252(label: str) -> None:
    page = f'<meta charset="{label}"><p>\u201ccaf\xe9\u201d \u2013 5 \u20ac</p>'
    document = parse(page.encode("cp1252"), "html")
    assert texts(document) == ["\u201ccaf\xe9\u201d \u2013 5 \u20ac"]
    changed = document.translated(["\u201eKaffee\u201c \u2026 \u2192"])
    assert changed == f'<meta charset="{label}"><p>\u201eKaffee\u201c \u2026 &#8594;</p>'.encode("cp1252")


def test_bytes_that_windows_1252_lacks_are_kept() -> None:
    data = b'<meta charset="us-ascii"><p>the \x93cat\x9d</p>'
    assert parse(data, "html").translated(["THE CAT \x9d"]) == b'<meta charset="us-ascii"><p>THE CAT \x9d</p>'


def test_xml_keeps_its_declared_encoding() -> None:
    data = (
        '<?xml version="1.0" encoding="iso-8859-1"?><xliff version="1.2"><file><trans-unit id="1"><source>caf\xe9</source></trans-unit>'
        "</file></xliff>"
    ).encode("latin-1")
    assert b">&#8220;Kaffee\xe9</target>" in parse(data, "xliff").translated(["\u201cKaffee\xe9"])


MARKUP = st.sampled_from(CASES.markup)


@given(st.lists(MARKUP, max_size=40).map(" ".join) | st.lists(MARKUP, max_size=40).map("".join) | st.text(max_size=60))
def test_unchanged_segments_give_the_same_bytes(text: str) -> None:
    data = text.replace("\0", "").encode("utf-8", "replace")
    document = parse(data, "html")
    assert unchanged(document) == data
    assert document.corrected([[] for _ in document.segments]) == data


@given(st.lists(MARKUP, max_size=30).map("".join))
@example("<!--<p")
@example("<!x<p")
@example("<!--word>two words")
@example("<![word](two)<p>words")
@example("<![word](two)>words")
def test_outputs_are_the_segments_of_the_new_document(text: str) -> None:
    document = parse(text, "html")
    changed = document.translated([shout(each) for each in texts(document)])
    before, after = ([html.unescape(each).casefold() for each in texts(one)] for one in (document, parse(changed, "html")))
    assert before == after


def test_a_long_run_of_spaces_takes_little_time() -> None:
    text = f"<p>One{' ' * 200_000}two</p>"
    assert texts(parse(text, "html")) == [text[3:-4]]


def test_references_with_many_digits_are_read() -> None:
    long = f"&#{'9' * 5000};"
    assert texts(parse(f"<p title='{long}'>The dog {long} is here.</p>", "html")) == [f"The dog {long} is here."]


@pytest.mark.parametrize(("tag", "text"), CASES.labels_of_buttons_and_descriptions_are_text)
def test_labels_of_buttons_and_descriptions_are_text(tag: str, text: str) -> None:
    assert texts(parse(f"<p>{tag}</p>", "html"))[0] == text
    assert translated(f"<p>{tag}</p>", "html") == f"<p>{tag.replace(text, text.upper())}</p>"


@pytest.mark.parametrize("tag", CASES.other_values_are_no_text)
def test_other_values_are_no_text(tag: str) -> None:
    assert texts(parse(f"<p>{tag}</p>", "html")) == []


def test_drawn_pages_keep_the_line_breaks_beside_their_tags() -> None:
    draw = random.Random(61)

    def element(depth: int) -> str:
        indent, name = "  " * depth, draw.choice(("a", "b", "em", "span"))
        is_parent = depth < 4 and draw.random() < 0.6
        inner = element(depth + 1) if is_parent else f"{indent}  {draw.choice(('house', 'dog', 'red car'))}"
        more = f"\n{element(depth + 1)}" if is_parent and draw.random() < 0.5 else ""
        return f"{indent}<{name}>\n{inner}{more}\n{indent}</{name}>"

    for _ in range(60):
        page = f"<div>\n{element(1)}\n{element(1)}\n</div>\n"
        document = parse(page.encode(), "html")
        expected = re.sub(r"house|dog|red car", lambda found: found.group().upper(), page)
        outputs = [re.sub(r"house|dog|red car", lambda found: found.group().upper(), each) for each in texts(document)]
        assert document.translated(outputs).decode() == expected


@pytest.mark.parametrize(("tag", "shown"), CASES.attributes_are_text_by_element_and_kind)
def test_attributes_are_text_by_element_and_kind(tag: str, shown: list[str]) -> None:
    assert texts(parse(tag, "html")) == shown


def test_values_without_quotation_marks_stay_one_value() -> None:
    output = translated("<input type=submit value=Search><img alt=Cat src=a.png>", "html", lambda text: f"{text} \"it\" now='1'")
    assert "value=Search&#32;&#34;it&#34;&#32;now&#61;&#39;1&#39;>" in output and output.endswith("src=a.png>")
    assert html.unescape(output) == "<input type=submit value=Search \"it\" now='1'><img alt=Cat \"it\" now='1' src=a.png>"


MARKS = ("1", "12", "[3]", "*", "\u2020", "\u00a7", "**", "[*]")


@pytest.mark.parametrize("seed", range(60))
def test_references_to_notes_are_no_text(seed: int) -> None:
    draw = random.Random(f"notes {seed}")
    before, mark, after = draw.choice(CASES.words), draw.choice(MARKS), draw.choice(["", " Then he went home.", " who was old, left."])
    tag = draw.choice(["a", "a", "span"] if not before[-2].isdigit() else ["a"])
    attributes = draw.choice([' href="#n1"', ' class="ref"', ' id="r1" href="notes.html#n1"'])
    page = f"<p>{before}<{tag}{attributes}>{mark}</{tag}>{after}</p>"
    (text,) = texts(parse(page, "html"))
    assert without_voids(text).text == before + after
    assert translated(page, "html", str) == page
    assert f"<{tag}{attributes}>{mark}</{tag}>" in translated(page, "html", lambda each: each.upper().replace("<V", "<v"))


@pytest.mark.parametrize("page", CASES.numbers_of_a_sentence_are_text)
def test_numbers_of_a_sentence_are_text(page: str) -> None:
    (text,) = texts(parse(page, "html"))
    assert "<v" not in text


@pytest.mark.parametrize(("content", "texts"), CASES.what_is_marked_with_another_language_stays)
def test_what_is_marked_with_another_language_stays(content: str, texts: list[str]) -> None:
    found = [segment.text for segment in read_html(Source(content.encode(), "a.html", language="eng_Latn")).segments]
    assert [re.sub(r"<[^<>]*>", "<x/>", text) for text in found] == texts
    assert len(read_html(Source(content.encode(), "a.html")).segments) >= len(texts)
