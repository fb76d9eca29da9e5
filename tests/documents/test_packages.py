"""Presentations, OpenDocument files and books: documents that are ZIP files."""

import zipfile
from io import BytesIO

import pytest

from specdec_cli.documents.document import check_languages
from specdec_cli.documents.formats import Format, format_of
from specdec_cli.errors import InputError
from specdec_cli.text.edits import find_edits
from tests.documents.helper import parse, shout, steps, texts, unchanged
from tests.tables import tables

CASES = tables(__file__)

OFFICE = 'xmlns:office="o" xmlns:text="t" xmlns:table="b" xmlns:draw="d"'
DRAWING = 'xmlns:a="a" xmlns:p="p"'


def package(**parts: str) -> bytes:
    """A ZIP file with these parts; two underscores in a name stand for a slash, and one for a point."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name.replace("__", "/").replace("_", "."), content)
    return stream.getvalue()


def part(data: bytes, name: str) -> str:
    """The text of a part."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        return file.read(name).decode()


def opendocument(*paragraphs: str) -> bytes:
    """An OpenDocument file with these paragraphs."""
    return package(
        content_xml=f"<office:document-content {OFFICE}>{''.join(paragraphs)}</office:document-content>",
        styles_xml=f"<office:document-styles {OFFICE}><text:p>A footer</text:p></office:document-styles>",
    )


def slides(*paragraphs: str) -> bytes:
    """A presentation of ten slides; the second one has these paragraphs."""
    others = {f"ppt__slides__slide{number}_xml": f"<p:sld {DRAWING}><a:p><a:r><a:t>Slide</a:t></a:r></a:p></p:sld>" for number in (10, 1)}
    return package(ppt__presentation_xml="<a/>", **others, ppt__slides__slide2_xml=f"<p:sld {DRAWING}>{''.join(paragraphs)}</p:sld>")


def book(title: str = "The house", language: str = "en-GB") -> bytes:
    """A book of one page, with a table of contents."""
    return package(
        mimetype="application/epub+zip",
        content_opf=f"<package xmlns:dc='d' xml:lang='{language}'><dc:title>{title}</dc:title>"
        f"<dc:language>{language}</dc:language></package>",
        toc_ncx=f'<ncx version="1" xml:lang="{language}"><navLabel><text>The first\n  room &amp; the garden</text></navLabel></ncx>',
        text__one_xhtml=f'<html lang="{language}"><body><h1>The first room</h1><p>It is <b>very</b> old.</p></body></html>',
    )


@pytest.mark.parametrize(("paragraph", "expected"), CASES.paragraphs_of_opendocument_files_are_segments)
def test_paragraphs_of_opendocument_files_are_segments(paragraph: str, expected: list[str]) -> None:
    data = opendocument(paragraph)
    document = parse(data, "odt")
    assert texts(document) == [*expected, "A footer"]
    assert unchanged(document) == data
    changed = document.translated([each.replace("e", "i") for each in texts(document)])
    assert texts(parse(changed, "odt")) == [each.replace("e", "i") for each in texts(document)]


def test_markup_of_opendocument_files_is_kept() -> None:
    document = parse(opendocument("<text:p>A<text:s/> <text:span x='1'>red</text:span> house&lt;</text:p>"), "odt")
    changed = part(document.translated(["EIN<n1/> <g2>ROTES</g2> HAUS < &", "B"]), "content.xml")
    assert "<text:p>EIN<text:s/> <text:span x='1'>ROTES</text:span> HAUS &lt; &amp;</text:p>" in changed


def test_what_a_cell_shows_is_not_stated_twice() -> None:
    cell = '<table:table-cell office:value-type="string"{}><text:p>Houses</text:p></table:table-cell>'
    data = opendocument(cell.format(' office:string-value="Houses"'))
    assert unchanged(parse(data, "odt")) == data
    assert cell.format("").replace("Houses", "HOUSES") in part(parse(data, "odt").translated(["HOUSES", "A"]), "content.xml")


def test_spans_of_an_office_program_do_not_divide_words() -> None:
    text = "<style:text-properties {}officeooo:rsid='{}'/>"
    formats = {"T1": text.format("", "1"), "T2": text.format("x='bold' ", "2"), "T3": text.format("x='bold' ", "3"), "T4": "<x/>"}
    styles = "".join(f'<style:style style:name="{name}" style:family="text">{each}</style:style>' for name, each in formats.items())
    names = 'xmlns:style="s" xmlns:officeooo="f"'
    words = [("", "The "), ("T2", "ho"), ("T3", "use"), ("", " is "), ("T1", "ve"), ("", "ry "), ("T4", "o"), ("T2", "ld")]
    spans = "".join(f'<text:span text:style-name="{name}">{word}</text:span>' if name else word for name, word in words)
    data = opendocument(f"<office:automatic-styles {names}>{styles}</office:automatic-styles><text:p>{spans}</text:p>")
    document = parse(data, "odt")
    assert texts(document)[0] == "The <g1>house</g1> is very <g2>o</g2><g3>ld</g3>"
    assert unchanged(document) == data
    changed = part(document.translated(["Das <g1>Haus</g1>", "B"]), "content.xml")
    assert '<text:p>Das <text:span text:style-name="T2">Haus</text:span></text:p>' in changed and styles in changed


@pytest.mark.parametrize(("paragraph", "expected"), CASES.paragraphs_of_slides_are_segments)
def test_paragraphs_of_slides_are_segments(paragraph: str, expected: list[str]) -> None:
    data = slides(paragraph)
    document = parse(data, "pptx")
    assert texts(document) == ["Slide", *expected, "Slide"]
    assert unchanged(document) == data
    changed = document.translated([shout(each) for each in texts(document)])
    assert texts(parse(changed, "pptx")) == [shout(each) for each in texts(document)]


def test_a_slide_has_no_attribute_for_space_and_ends_with_the_format_of_its_end() -> None:
    number = "<a:fld type='slidenum'><a:rPr/><a:t>7</a:t></a:fld><a:endParaRPr/>"
    document = parse(slides(f"<a:p><a:r><a:t>Page </a:t></a:r>{number}</a:p>"), "pptx")
    changed = part(document.translated(["Slide", "Das ist Seite <v1/>7 ", "Slide"]), "ppt/slides/slide2.xml")
    assert "<a:t>Das ist Seite </a:t>" in changed and changed.endswith("<a:endParaRPr/></a:p></p:sld>")
    document = parse(slides(f"<a:p><a:r><a:t>Page </a:t></a:r>{number}</a:p>"), "pptx")
    changed = part(document.translated(["Slide", "Seite <v1/>7 hier", "Slide"]), "ppt/slides/slide2.xml")
    assert "<a:r><a:t> hier</a:t></a:r><a:endParaRPr/>" in changed


def test_pages_contents_and_titles_of_books_are_segments() -> None:
    data = book()
    document = parse(data, "epub")
    assert texts(document) == ["The house", "The first room & the garden", "The first room", "It is <g1>very</g1> old."]
    assert unchanged(document) == data
    check_languages(document, "a.epub", "en", "de")
    changed = document.translated([shout(each) for each in texts(document)])
    assert "<dc:title>THE HOUSE</dc:title><dc:language>de</dc:language>" in part(changed, "content.opf")
    assert "xml:lang='de'" in part(changed, "content.opf") and '<ncx version="1" xml:lang="de">' in part(changed, "toc.ncx")
    assert "<text>THE FIRST\n  ROOM &amp; THE GARDEN</text>" in part(changed, "toc.ncx") or "THE FIRST ROOM &amp; THE GARDEN" in part(
        changed, "toc.ncx"
    )
    assert part(changed, "text/one.xhtml").startswith('<html lang="de"><body><h1>THE FIRST ROOM</h1>')
    with zipfile.ZipFile(BytesIO(changed)) as file:
        assert file.namelist()[0] == "mimetype"


def test_the_language_of_a_book_in_another_language_stays() -> None:
    document = parse(book(language="fr"), "epub")
    check_languages(document, "a.epub", "en", "de")
    changed = document.translated([shout(each) for each in texts(document)])
    assert "<dc:language>fr</dc:language>" in part(changed, "content.opf") and 'xml:lang="fr"' in part(changed, "toc.ncx")


@pytest.mark.parametrize(("data", "form"), [(opendocument("<text:p>An old house</text:p>"), "odt"), (book("An old house"), "epub")])
def test_edits_are_made_in_their_part(data: bytes, form: Format) -> None:
    document = parse(data, form, purpose="correct")
    edits = [find_edits(each, each.replace("old", "new")) for each in texts(document)]
    changed = parse(document.corrected(edits), form)
    assert texts(changed) == [each.replace("old", "new") for each in texts(document)]
    index = next(place for place, each in enumerate(edits) if each)
    assert document.place(document.segments[index], 3) == (index + 1, 4)
    assert document.file_edit(document.segments[index], edits[index][0]).text is None


@pytest.mark.parametrize(
    ("data", "form", "message"),
    [
        (package(other_xml="<a/>"), "odt", "not an OpenDocument file"),
        (package(other_xml="<a/>"), "pptx", "not a presentation"),
        (package(other_xml="<a/>"), "epub", "not a book in EPUB"),
        (package(content_xml="<a>\n<b>"), "odt", r"a\.odt, content\.xml, line 2: not well-formed"),
        (b"PK..", "epub", "not readable as a ZIP file"),
    ],
)
def test_bad_files_are_errors(data: bytes, form: Format, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(data, form)


@pytest.mark.parametrize(("worst", "closing"), CASES.work_on_opendocument_files_is_linear)
def test_work_on_opendocument_files_is_linear(worst: str, closing: str) -> None:
    def work(count: int) -> int:
        data = opendocument(*[f"<text:p>A b{worst * 50}{closing * 50}</text:p>"] * count)
        return steps(lambda: parse(data, "odt"))

    assert work(16) < 5 * work(4)


@pytest.mark.parametrize(
    ("name", "form"), [("a.odp", "odt"), ("b.ODS", "odt"), ("c.epub", "epub"), ("d.pptx", "pptx"), ("e.odf", "lines"), ("f.rst", "txt")]
)
def test_endings_name_formats(name: str, form: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assert format_of(tmp_path_factory.getbasetemp() / name) == form
