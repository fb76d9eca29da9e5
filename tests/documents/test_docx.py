"""Word documents."""

import re
import zipfile
from io import BytesIO
from xml.etree import ElementTree

import docx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.text.edits import find_edits
from tests.documents.helper import parse, shout, steps, texts, unchanged

BOLD = "<w:rPr><w:b/></w:rPr>"
HYPHEN = "<w:noBreakHyphen/>"


@pytest.fixture
def data() -> bytes:
    """A document with a heading, runs of different formats, a list, a table, a header and a line break."""
    made = docx.Document()
    made.add_heading("My house", 0)
    paragraph = made.add_paragraph("The ")
    paragraph.add_run("red house").bold = True
    for text in (" is ver", "y old", " & small. "):
        paragraph.add_run(text)
    broken = made.add_paragraph("One line")
    broken.add_run().add_break()
    broken.add_run("and another")
    made.add_paragraph("12")
    made.add_table(1, 2).cell(0, 1).text = "A cat"
    made.sections[0].header.paragraphs[0].text = "The header"
    stream = BytesIO()
    made.save(stream)
    return stream.getvalue()


def paragraphs(data: bytes) -> list[str]:
    """The text of each paragraph, as python-docx reads it."""
    return [paragraph.text for paragraph in docx.Document(BytesIO(data)).paragraphs]


def test_paragraphs_are_segments(data: bytes) -> None:
    found = texts(parse(data, "docx"))
    assert found[:4] == ["My house", "The <g1>red house</g1> is very old & small.", "One line<n1/>and another", "A cat"]
    assert found[4:] == ["The header"]


def test_formats_and_all_other_parts_are_kept(data: bytes) -> None:
    document = parse(data, "docx")
    changed = document.translated([shout(each) for each in texts(document)])
    assert paragraphs(changed) == ["MY HOUSE", "THE RED HOUSE IS VERY OLD & SMALL. ", "ONE LINE\nAND ANOTHER", "12"]
    runs = docx.Document(BytesIO(changed)).paragraphs[1].runs
    assert [(run.text, run.bold) for run in runs if run.text] == [("THE ", None), ("RED HOUSE", True), (" IS VERY OLD & SMALL. ", None)]
    assert docx.Document(BytesIO(changed)).sections[0].header.paragraphs[0].text == "THE HEADER"
    with zipfile.ZipFile(BytesIO(data)) as before, zipfile.ZipFile(BytesIO(changed)) as after:
        assert before.namelist() == after.namelist()
        differing = [name for name in before.namelist() if before.read(name) != after.read(name)]
    assert len(differing) == 2 and "word/document.xml" in differing


def test_superscripts_without_letters_are_no_text() -> None:
    made = docx.Document()
    paragraph = made.add_paragraph()
    for text in ("The end.", "^1", " It has 20 m", "^2", " on the 3", "^rd", " day", "^*"):
        paragraph.add_run(text.removeprefix("^")).font.superscript = True if text.startswith("^") else None
    stream = BytesIO()
    made.save(stream)
    document = parse(stream.getvalue(), "docx")
    assert texts(document) == ["The end.<v1/> It has 20 m<v2/> on the 3<g3>rd</g3> day"]
    assert paragraphs(document.translated([shout(each) for each in texts(document)])) == ["THE END.1 IT HAS 20 M2 ON THE 3RD DAY*"]


def test_unchanged_segments_give_the_same_bytes(data: bytes) -> None:
    document = parse(data, "docx")
    assert unchanged(document) == data
    assert document.corrected([[] for _ in document.segments]) == data


def test_edits_are_made_in_their_runs(data: bytes) -> None:
    document = parse(data, "docx", purpose="correct")
    changed = document.corrected([find_edits(each, each.replace("old", "new")) for each in texts(document)])
    assert paragraphs(changed)[1] == "The red house is very new & small. "
    assert docx.Document(BytesIO(changed)).paragraphs[1].runs[1].bold


def archive(**parts: bytes) -> bytes:
    """A ZIP file with these parts; underscores in names stand for slashes."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name.replace("_", "/") + ".xml", content)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK..", "not readable as a ZIP file"),
        (archive(other=b"<a/>"), "no word/document.xml"),
        (archive(word_document=b"<a>\n<b>"), r"word/document\.xml, line 2: not well-formed"),
        (archive(word_document=b"<a/>", word_media_x=b"\0" * 2**24), "compressed to less than a 1000th"),
        (archive(word_document=b'<!DOCTYPE a [<!ENTITY b "c">]><a/>'), "declares its own document type"),
    ],
)
def test_bad_files_are_errors(content: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse(content, "docx")


def test_a_wrong_size_in_the_directory_is_an_error() -> None:
    content = bytearray(archive(word_document=b"<a>" + b" " * 5000 + b"</a>"))
    place = content.index(b"PK\x01\x02") + 24
    content[place : place + 4] = (10).to_bytes(4, "little")
    with pytest.raises(InputError, match=r"a\.docx"):
        parse(bytes(content), "docx")


def test_a_damaged_part_that_is_copied_is_an_error(data: bytes) -> None:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        place = archive.getinfo("word/styles.xml").header_offset
    damaged = bytearray(data)
    damaged[place + 200] ^= 255
    document = parse(bytes(damaged), "docx")
    with pytest.raises(InputError, match=r"a\.docx: not readable as a ZIP file"):
        document.translated([shout(text) for text in texts(document)])


def word(*parts: str) -> bytes:
    """A Word file with one paragraph of texts and marks; a text after "*" is bold."""
    runs = "".join(
        f"<w:r>{part}</w:r>" if part.startswith("<") else f"<w:r>{BOLD * part.startswith('*')}<w:t>{part.lstrip('*')}</w:t></w:r>"
        for part in parts
    )
    return archive(word_document=f'<w:document xmlns:w="w"><w:body><w:p>{runs}</w:p></w:body></w:document>'.encode())


def shown(data: bytes) -> str:
    """The texts and marks of a Word file, with a hyphen as text."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        content = ElementTree.fromstring(file.read("word/document.xml"))
    tags = {"t": "", "noBreakHyphen": "-"} | dict.fromkeys(("document", "body", "p", "r", "rPr", "b"), "")
    names = ((element.tag.removeprefix("{w}"), element.text or "") for element in content.iter())
    return "".join(tags.get(name, f"<{name}/>") + text for name, text in names)


def shouted(data: bytes) -> str:
    """What `shown` shows of a Word file whose texts are in upper case."""
    document = parse(data, "docx")
    return shown(document.translated([shout(each) for each in texts(document)]))


@pytest.mark.parametrize("name", ["br", "cr", "tab", "ptab"])
def test_line_breaks_and_tabs_separate_texts(name: str) -> None:
    mark = f"<w:{name}/>"
    data = word("Milk", mark, "2", mark, " Bread ", mark, mark, "Water and wine", mark)
    assert texts(parse(data, "docx")) == ["Milk", "Bread", "Water and wine"]
    assert shouted(data) == f"MILK{mark}2{mark} BREAD {mark}{mark}WATER AND WINE{mark}".replace("w:", "")


def test_a_sentence_goes_on_in_lower_case_after_a_line_break() -> None:
    data = word(
        "The dog", "<w:br/>", "and the cat", "<w:tab/>", "Bread", "<w:drawing/>", "Water", "<w:cr/>", "Milk", "<w:br/>", "*or", " not"
    )
    assert texts(parse(data, "docx")) == ["The dog<n1/>and the cat", "Bread<n1/>Water", "Milk<n1/>or<v2/> not"]
    assert shouted(data) == "THE DOG<br/>AND THE CAT<tab/>BREAD<drawing/>WATER<cr/>MILK<br/>OR NOT"


PARTS = st.sampled_from(["milk", "Bread", " ", "2", "*red", "<w:br/>", "<w:tab/>", "<w:drawing/>", "<w:t/>", HYPHEN])


@given(st.lists(PARTS, max_size=12).map(lambda parts: word(*parts)).filter(lambda data: "--" not in shown(data)))
def test_texts_are_written_back_at_their_places(data: bytes) -> None:
    assert unchanged(parse(data, "docx")) == data
    assert shouted(data) == re.sub(r"milk|Bread|red", lambda found: found.group().upper(), shown(data))


def test_a_hyphen_that_does_not_break_is_text() -> None:
    data = word("It is a well", HYPHEN, "known book.", "<w:br/>", HYPHEN, "A cat", HYPHEN, "house")
    document = parse(data, "docx")
    assert texts(document) == ["It is a well-known book.", "-A cat-house"]
    changed = document.translated(["It is a well-known book.", "-Ein Haus"])
    assert shown(changed) == "It is a well-known book.<br/>-Ein Haus"
    with zipfile.ZipFile(BytesIO(changed)) as file:
        assert file.read("word/document.xml").decode().count(HYPHEN) == 1


def _field(text: str, *, simple: bool) -> str:
    begin, end = (f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "end"))
    run = f"<w:r><w:t>{text}</w:t></w:r>"
    return f"</w:r><w:fldSimple>{run}</w:fldSimple><w:r>" if simple else f"</w:r>{begin}{run}{end}<w:r>"


@pytest.mark.parametrize("simple", [True, False])
def test_a_field_with_words_is_a_pair(simple: bool) -> None:
    data = word("<w:t>See</w:t>", _field(" figure 2", simple=simple), "<w:t> here</w:t>")
    assert texts(parse(data, "docx")) == ["See<g1> figure 2</g1> here"]


def test_text_that_was_moved_away_is_kept() -> None:
    data = word("<w:t>My</w:t>", "</w:r><w:moveFrom><w:r><w:t> old</w:t></w:r></w:moveFrom><w:r>", "<w:t> house</w:t>")
    assert texts(parse(data, "docx")) == ["My<v1/> house"]
    assert shouted(data) == "MY<moveFrom/> old HOUSE"


@pytest.mark.parametrize(
    ("number", "output", "expected"),
    [("12", "0", "12"), ("12", "", "12"), ("12", "12 Seiten", "12"), ("Figure 2", "2", "2")],
)
@pytest.mark.parametrize("simple", [True, False])
def test_the_number_of_a_field_stays(number: str, output: str, expected: str, simple: bool) -> None:
    document = parse(word("<w:t>Page of</w:t>", _field(number, simple=simple), "<w:t>all</w:t>"), "docx")
    (text,) = texts(document)
    assert number in text
    changed = document.translated([text.replace(number, output)])
    assert re.findall(r"<w:t[^>]*>([^<]*)</w:t>", zipfile.ZipFile(BytesIO(changed)).read("word/document.xml").decode())[1] == expected


@pytest.mark.parametrize(
    ("output", "runs"),
    [
        ("Seite 2 <v1/>von<v2/> <v3/>58", ["Seite ", "2", " von ", "58"]),
        ("<v1/>Seite<v2/> 2 von 58<v3/>", ["Seite ", "2", " von ", "58"]),
        ("Seite <v1/>2<v2/> von 58 <v3/>Seiten", ["Seite ", "2", " von ", "58", " Seiten"]),
        ("Seite <v1/>zwei<v2/> von <v3/>58", ["Seite zwei", "2", " von ", "58"]),
        ("Von 58 <v1/>die<v2/> 2.<v3/>", ["Von 58 die ", "2", ".", "58"]),
    ],
)
@pytest.mark.parametrize("simple", [True, False])
def test_a_number_that_word_computes_is_in_its_field(output: str, runs: list[str], simple: bool) -> None:
    document = parse(word("Page ", _field("2", simple=simple), " of ", _field("58", simple=simple)), "docx")
    assert texts(document) == ["Page <v1/>2<v2/> of <v3/>58"]
    changed = zipfile.ZipFile(BytesIO(document.translated([output]))).read("word/document.xml").decode()
    assert re.findall(r"<w:t[^>]*>([^<]*)</w:t>", changed) == runs


@pytest.mark.parametrize("simple", [True, False])
@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        (["Page ", "1", "2", " here"], ["PAGE ", "1", "2", " HERE"]),
        (["Chapter 3.", "4", " is old"], ["CHAPTER 3.", "4", " IS OLD"]),
        (["Version2", "0", " of 1", "1", "."], ["VERSION2", "0", " OF 1", "1", "."]),
        (["Go ", *"1111", " on"], ["GO ", *"1111", " ON"]),
    ],
)
def test_numbers_of_fields_that_touch_other_numbers_stay(parts: list[str], kept: list[str], simple: bool) -> None:
    data = word(*(_field(part, simple=simple) if part.isdecimal() else f'<w:t xml:space="preserve">{part}</w:t>' for part in parts))
    changed = parse(data, "docx").translated([shout(text) for text in texts(parse(data, "docx"))])
    content = zipfile.ZipFile(BytesIO(changed)).read("word/document.xml").decode()
    assert re.findall(r"<w:t[^>]*>([^<]*)</w:t>", content) == kept


@pytest.mark.long
def test_many_fields_take_a_number_of_steps_that_grows_with_them() -> None:
    def work(count: int) -> int:
        data = word(*(part for number in range(count) for part in (f"word{number} ", _field(str(number), simple=True))))
        document = parse(data, "docx")
        return steps(lambda: document.translated([shout(text) for text in texts(document)]))

    work(5)  # what is done once
    assert work(1600) < 6 * work(400) + 20_000
