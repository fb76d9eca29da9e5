"""The texts of apps, drawn and read again by readers of these tests: only values change; what is malformed is named with its line."""

import codecs
import random
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import format_of, read_document
from specdec_cli.errors import InputError
from tests.documents.helper import parse
from tests.documents.test_values import SEEDS, WORDS, changed, units
from tests.documents.test_values import translated as translated_by_tags
from tests.tables import tables

CASES = tables(__file__)

ESCAPE = re.compile(r"(?s)\\(?:[uU]([0-9a-fA-F]{4})|(.))")
CONTROLS = {"n": "\n", "t": "\t"}


def line(draw: random.Random) -> str:
    return " ".join(draw.choice([*WORDS, "%1$s", "R&D", "a<b", "%@", "@home", "why?"]) for _ in range(draw.randint(1, 8))).replace(
        "\t", " "
    )


def unescaped(text: str) -> str:
    found = ESCAPE.sub(lambda each: chr(int(each[1], 16)) if each[1] else CONTROLS.get(each[2], each[2]), text)
    return found.encode("utf-16", "surrogatepass").decode("utf-16")


def shown_by_android(text: str) -> str:
    """What Android shows for the text of an element."""
    found, is_quoted = "", False
    for piece in re.findall(r'(?s)"|(?:\\.|[^"\\])+', text):
        is_quoted ^= piece == '"'
        found += "" if piece == '"' else piece if is_quoted else re.sub(r"\s+", " ", piece)
    return unescaped(found if text.strip()[:1] == '"' else found.strip())


def as_escapes(text: str, mark: str) -> str:
    return "".join(f"\\{mark}{unit:04x}" for unit in units(text))


def android_value(draw: random.Random, text: str) -> str:
    """The element's content for a text that is shown, in one of the ways in which it can be written."""
    is_quoted = draw.random() < 0.2
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "@": "\\@", "?": "\\?", "'": "'" if is_quoted else "\\'"}
    written = "".join(as_escapes(each, "u") if draw.random() < 0.05 and each.isalpha() else escapes.get(each, each) for each in text)
    if not is_quoted and draw.random() < 0.3:
        written = written.replace(" ", draw.choice(["\n        ", " \n  "]), 1)
    if "&" in written and "\\u" not in written and draw.random() < 0.3:
        written = f"<![CDATA[{written}]]>"
    else:
        written = written.replace("&", "&amp;").replace("<", draw.choice(["&lt;", "&#60;", "&#x3c;"]))
    return f'"{written}"' if is_quoted else written


@pytest.mark.parametrize("seed", SEEDS)
def test_strings_arrays_and_plurals_of_android_change(seed: int) -> None:
    draw = random.Random(f"android {seed}")
    before, parts = list[str](), ['<?xml version="1.0" encoding="utf-8"?>\n<!-- by -->\n<resources>\n']
    for number in range(draw.randint(3, 8)):
        before.append("\n".join(line(draw) for _ in range(draw.choice([1, 1, 2]))))
        value = android_value(draw, before[-1])
        around = draw.choice(
            [
                f'<string name="a{number}">{{}}</string>',
                '<plurals name="p">\n  <item quantity="other">{}</item></plurals>',
                "<string-array name='b'><item>{}</item></string-array>",
            ]
        )
        other = draw.choice(
            ['<string name="k" translatable="false">Keep me</string>', '<string name="r">@string/a0</string>', "<color>#fff</color>", ""]
        )
        parts += ["    ", around.replace("{}", value), "\n", other]
    data = "".join([*parts, "</resources>\n"]).replace("\n", draw.choice(["\n", "\r\n"])).encode()
    root = ElementTree.fromstring(translated_by_tags(data, "android").decode())
    kept = ("Keep me", "@string/a0")
    found = [shown_by_android(each.text or "") for each in root.iter() if each.tag in ("string", "item") and each.text not in kept]
    assert found == [changed(text) for text in before]
    assert [each.text for each in root.iter("string") if each.text in kept] == re.findall("Keep me|@string/a0", data.decode())


@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_apple_change(seed: int) -> None:
    draw = random.Random(f"strings {seed}")
    before, content = dict[str, str](), '/* The "title" = "x";\n   of it */\n'
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n"}
    ascii_only = draw.random() < 0.3
    for number in range(draw.randint(3, 8)):
        text = "\n".join(line(draw) for _ in range(draw.choice([1, 1, 2])))
        before[f"key {number}"] = text
        written = "".join(as_escapes(each, "U") if ascii_only and not each.isascii() else escapes.get(each, each) for each in text)
        equals, end = draw.choice(["=", " = ", " /* = */\n = "]), draw.choice([";", " ; // a note"])
        content += f'"key {number}"{equals}"{written}"{end}\n'
        content += draw.choice(["", "// one; two = three\n", '"alone";\n', "word = kept;\n", "\n"])
    mark, encoding = draw.choice([(b"", "utf-8"), (codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le")])
    data = mark + content.replace("\n", draw.choice(["\n", "\r\n"])).encode(encoding)
    found = translated_by_tags(data, "strings").removeprefix(mark).decode(encoding)
    pairs = re.findall(r'"(key \d)"(?:\s|/\*.*?\*/)*=\s*"((?:[^"\\]|\\.)*)"', found)
    assert {key: unescaped(value) for key, value in pairs} == {key: changed(text) for key, text in before.items()}
    assert found.isascii() or not ascii_only or "\\U" not in content
    assert re.sub(r'(= *)"(?:[^"\\]|\\.)*"', r"\1", found) == re.sub(
        r'(= *)"(?:[^"\\]|\\.)*"', r"\1", data.removeprefix(mark).decode(encoding)
    )


def test_an_output_that_begins_like_a_reference_is_escaped() -> None:
    document = parse("<resources><string>Hello you, who?</string></resources>", "android")
    assert document.translated(["@you, hallo?"]) == b"<resources><string>\\@you, hallo?</string></resources>"


@pytest.mark.parametrize(("name", "data", "message"), CASES.malformed_files_are_errors_that_name_the_line)
def test_malformed_files_are_errors_that_name_the_line(name: str, data: str, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"{name}, {message}")):
        read_document(Source(data.encode(), name), format_of(Path(name)))


def test_names_of_resources_of_android() -> None:
    names = ("strings.xml", "strings_menu.xml", "app_strings.xml.gz", "values-de/colors.xml", "values/arrays.xml", "a.strings")
    assert [format_of(Path(name)) for name in names] == [*["android"] * 5, "strings"]
    assert {format_of(Path(name)) for name in ("a.xml", "values/a.txt", "strings.txt", "my-values/a.xml")} == {"lines", "txt"}
