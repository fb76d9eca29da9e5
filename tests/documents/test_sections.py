"""Text of packages that is not plain XML text: CDATA sections, comments, instructions and references; drawn documents."""

import random
import re
import zipfile
from collections.abc import Callable
from io import BytesIO
from xml.etree import ElementTree

import pytest

from specdec_cli.documents.formats import Format
from specdec_cli.documents.packages.archive import in_order
from specdec_cli.errors import InputError
from tests.documents.helper import parse, steps, texts, unchanged
from tests.documents.test_docx import word
from tests.documents.test_packages import DRAWING, book, opendocument, package, part, slides

KINDS: dict[str, tuple[Format, str, str, Callable[[str], bytes]]] = {
    "Word": ("docx", "word/document.xml", "t", lambda text: word(f"<w:r><w:t>{text}</w:t></w:r>")),
    "PowerPoint": ("pptx", "ppt/slides/slide2.xml", "t", lambda text: slides(f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>")),
    "OpenDocument": ("odt", "content.xml", "p", lambda text: opendocument(f"<text:p>{text}</text:p>")),
    "EPUB": ("epub", "content.opf", "title", lambda text: book(text)),
}
PIECES = (
    lambda r: r.choice([" old", " house", " is", " nice", "a-b"]),
    lambda r: f"<![CDATA[{r.choice([' a < b', ' &#99999999;', ' &amp;', ' <b>x</b>', '', ' ]] x', ' &#x41;'])}]]>",
    lambda r: r.choice(["<!-- note -->", "<!-- a < b & c -->", "<!---->"]),
    lambda r: r.choice(["<?note x?>", "<?a b > c?>"]),
    lambda r: r.choice(["&lt;", "&amp;", "&#65;", "&#x42;", "&#" + "0" * 5000 + "67;", "&quot;", "&amp;lt;"]),
)
"""What an element with text may have inside."""


def shown(xml: str, name: str) -> list[str]:
    """The texts of the elements of a name, as ElementTree reads them."""
    root = ElementTree.fromstring(xml)
    return ["".join(each.itertext()) for each in root.iter() if each.tag.rpartition("}")[2] == name]


def drawn(seed: int) -> str:
    generator = random.Random(seed)
    return "The" + "".join(generator.choice(PIECES)(generator) for _ in range(generator.randint(1, 8))) + " end"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(60))
def test_drawn_texts_are_read_and_written_as_elementtree_reads_them(kind: str, seed: int) -> None:
    format, name, element, make = KINDS[kind]
    data = make(drawn(seed))
    read = shown(part(data, name), element)[0]
    document = parse(data, format)
    marked = texts(document)
    own = next(text for text in marked if text.startswith("The") and text.endswith(" end"))
    assert re.sub(r"<v\d+/>", "", own) == read
    assert unchanged(document) == data
    outputs = [text.replace("The", "That") if text == own else text for text in marked]
    assert shown(part(document.translated(outputs), name), element)[0] == "That" + read.removeprefix("The")


def test_slides_with_numbers_of_any_length_are_in_order() -> None:
    names = [f"ppt/slides/slide{number}.xml" for number in ("10", "9" * 5000, "2", "007", "1" + "0" * 4999)]
    assert [len(name) for name in sorted(names, key=in_order)] == [21, 23, 22, 5020, 5020]
    slide = f"<p:sld {DRAWING}><a:p><a:r><a:t>Far</a:t></a:r></a:p></p:sld>"
    data = package(ppt__presentation_xml="<a/>", **{f"ppt__slides__slide{'9' * 5000}_xml": slide})
    assert texts(parse(data, "pptx")) == ["Far"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name_are_refused() -> None:
    stream = BytesIO(slides("<a:p><a:r><a:t>One</a:t></a:r></a:p>"))
    with zipfile.ZipFile(stream, "a") as file:
        file.writestr("ppt/slides/slide1.xml", "<a/>")
    with pytest.raises(InputError, match=r"two parts have the name ppt/slides/slide1\.xml"):
        parse(stream.getvalue(), "pptx")


LONG: dict[str, tuple[Format, Callable[[int], bytes]]] = {
    "spaces of a paragraph": ("odt", lambda size: opendocument(f"<text:p>A{' ' * size}b</text:p>")),
    "tabs of a paragraph": ("odt", lambda size: opendocument("<text:p>A" + "\t" * size + "b</text:p>")),
    "spaces of a title": ("epub", lambda size: book(f"A{' ' * size}b")),
    "line breaks of Word": ("docx", lambda size: word("<w:r>" + "<w:t>-</w:t><w:br/>" * (size // 20) + "<w:t>a</w:t></w:r>")),
    "line breaks of a slide": (
        "pptx",
        lambda size: slides("<a:p><a:r>" + "<a:t>-</a:t><a:br/>" * (size // 20) + "<a:t>a</a:t></a:r></a:p>"),
    ),
    "spaces in a format": ("docx", lambda size: word(f"<w:r><w:rPr><w:x{' ' * size}/></w:rPr><w:t>A b</w:t></w:r>")),
    "spaces in the tag of a text": ("docx", lambda size: word(f"<w:r><w:t{' ' * size}>A b</w:t></w:r>")),
    "kept parts": ("android", lambda size: f"<resources><string>{'<xliff:g>a</xliff:g> b' * (size // 20)}</string></resources>".encode()),
}


@pytest.mark.parametrize("name", LONG)
def test_reading_and_writing_take_a_number_of_steps_that_grows_with_the_document(name: str) -> None:
    format, make = LONG[name]

    def work(size: int) -> int:
        def run() -> None:
            document = parse(make(size), format)
            document.translated([f"{text} " for text in texts(document)])

        return steps(run)

    work(10)  # what is cached
    assert work(8000) < 2.3 * work(4000) + 500
