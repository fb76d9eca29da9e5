"""Documents that are made to take long, and documents in encodings that no browser knows."""

from collections.abc import Callable

import pytest

from specdec_cli.documents.formats import Format
from specdec_cli.documents.reading import known_encoding
from specdec_cli.errors import InputError
from specdec_cli.server.texts import checked_lines
from specdec_cli.text.protect.spans import without_protected
from specdec_cli.text.tags.markup import bare
from tests.documents.helper import parse, steps, texts, translated, unchanged
from tests.tables import tables

CASES = tables(__file__)

CUE = "1\n00:00:01,000 --> 00:00:02,000\n"
PO = 'msgid ""\nmsgstr ""\n\nmsgid "'
XLIFF = '<?xml version="1.0"?><xliff version="1.2"><file source-language="en" target-language="de"><body>'
XLIFF += "<trans-unit id='1'><source>a"
WORST: list[tuple[Format, Callable[[int], str]]] = [
    ("srt", lambda size: CUE + "<b>" * (size // 3) + "x\n"),
    ("srt", lambda size: CUE + "{\\b}" * (size // 4) + "x\n"),
    ("srt", lambda size: CUE + "Yes <" * (size // 5) + "\n"),
    ("vtt", lambda size: "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "x &amp; " * (size // 8) + "\n"),
    ("md", lambda size: "|a" * (size // 4) + "\n" + "|-" * (size // 4)),
    ("md", lambda size: "a  \n" * (size // 4)),
    ("md", lambda size: "a <!--" * (size // 6)),
    ("md", lambda size: "![a](b) " * (size // 8)),
    ("md", lambda size: "[" * size),
    ("md", lambda size: "`a " * (size // 3)),
    ("md", lambda size: "**a '\"(" * (size // 7)),
    ("html", lambda size: "``a `&" * (size // 6)),
    ("html", lambda size: "<code>" * (size // 6) + "x\n"),
    ("html", lambda size: "<b a=1 " * (size // 7)),
    ("html", lambda size: "<b a='" * (size // 6)),
    ("html", lambda size: "<!--" * (size // 4)),
    ("html", lambda size: "<img alt='a'> b " * (size // 16)),
    ("po", lambda size: PO + "a\\n" * (size // 3) + '"\nmsgstr ""\n'),
    ("po", lambda size: PO + "{n, plural, " * (size // 12) + '"\nmsgstr ""\n'),
    ("po", lambda size: PO + "a && " * (size // 5) + '"\nmsgstr ""\n'),
    ("po", lambda size: PO + "{\\\\i1}" * (size // 6) + '"\nmsgstr ""\n'),
    ("po", lambda size: PO + "{n, plural, one {'{ " * (size // 20) + '"\nmsgstr ""\n'),
    ("xliff", lambda size: XLIFF + "<x id='1'/>" * (size // 11) + "</source></trans-unit></body></file></xliff>"),
    ("android", lambda size: f"<resources><string>{' ' * size}x{'<g>' * 100}y{'</g>' * 100}</string></resources>"),
    ("android", lambda size: f"<resources>{'<string>&amp; a</string>' * (size // 20)}</resources>"),
    ("android", lambda size: f"<resources><string>{'<g>a</g> b' * (size // 10)}</string></resources>"),
    ("strings", lambda size: '"a" = "' + "\\n a" * (size // 4) + '";'),
    ("strings", lambda size: '"a" = "b";/* * */' * (size // 17) + " " * size + "/* " * (size // 3) + "*/"),
]
"""Texts of about a number of characters, with a worst case of a reader each."""


@pytest.mark.long
@pytest.mark.parametrize(("format", "make"), WORST)
def test_reading_takes_a_number_of_steps_that_grows_with_the_document(format: Format, make: Callable[[int], str]) -> None:
    def work(size: int) -> int:
        return steps(lambda: unchanged(parse(make(size), format)))

    work(100)  # what is done once
    assert work(100_000) < 6 * work(25_000) + 20_000


@pytest.mark.parametrize(("format", "make"), [each for each in WORST if each[0] not in ("po", "xliff")])
def test_worst_cases_stay_as_they_are(format: Format, make: Callable[[int], str]) -> None:
    text = make(2000)
    assert unchanged(parse(text, format)) == text.encode()


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (f"a `{'b ' * 999}c` d", f"a `{'b ' * 1001}c` d"),
        (f"a <!-- {'b ' * 990}--> d", f"a <!-- {'b ' * 1001}--> d"),
    ],
)
def test_markup_has_a_largest_length_in_which_its_end_is_looked_for(short: str, long: str) -> None:
    """So each beginning without an end costs a bounded number of steps."""
    found = [without_protected(bare(text).text) for text in (short, long)]
    assert "b b" not in found[0] and "b b" in found[1]


@pytest.mark.long
@pytest.mark.parametrize("line", ["a\n", "[a]: b\n", "> a b\n", "- a\n", "a b c.\r\n"])
def test_joining_lines_takes_a_number_of_steps_that_grows_with_them(line: str) -> None:
    def work(size: int) -> int:
        return steps(lambda: list(checked_lines(line * (size // len(line)))))

    work(100)  # what is done once
    assert work(40_000) < 6 * work(10_000) + 20_000


@pytest.mark.parametrize("text", CASES.encodings_that_only_python_knows_are_not_read)
def test_encodings_that_only_python_knows_are_not_read(text: str) -> None:
    document = parse(text, "html")
    assert document.translated([each.replace("Hello", "Hallo") for each in texts(document)]).decode() == text.replace("Hello", "Hallo")


@pytest.mark.parametrize(
    "name",
    ["idna", "punycode", "utf-7", "unicode_escape", "rot13", "undefined", "mbcs", "oem", "base64", "none", "utf-16", "utf_32_be", "x-", ""],
)
def test_other_encodings_are_unknown(name: str) -> None:
    assert known_encoding(name) is None


@pytest.mark.parametrize(
    ("name", "own"),
    [
        *(("UTF-8", "utf-8"), ("latin1", "iso8859-1"), ("Shift_JIS", "shift_jis"), (" koi8-r ", "koi8-r"), ("windows-1251", "cp1251")),
        *(("ISO-8859-8-I", "iso8859-8"), ("x-sjis", "shift_jis"), ("x-mac-cyrillic", "mac-cyrillic"), ("windows-874", "cp874")),
    ],
)
def test_encodings_of_documents_are_known(name: str, own: str) -> None:
    assert known_encoding(name) == own


@pytest.mark.parametrize("name", ["utf-16", "utf-32", "utf-7", "zlib_codec", "idna", "rot13", "cp65001"])
def test_catalogues_and_xliff_with_other_encodings_are_read_as_utf_8(name: str) -> None:
    catalogue = f'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset={name}\\n"\n\nmsgid "Caf\u00e9 +ADw-b+AD4-"\nmsgstr ""\n'
    assert texts(parse(catalogue, "po")) == ["Caf\u00e9 +ADw-b+AD4-"]
    file = XLIFF.replace('"1.0"', f'"1.0" encoding="{name}"', 1) + " caf\u00e9</source></trans-unit></body></file></xliff>"
    assert texts(parse(file, "xliff")) == ["a caf\u00e9"]


@pytest.mark.parametrize("end", ["<p>Good day</p", "<li>One <b>two</b", "<p>Hi</p><a href='x", "<p>Hi</p><br", "<p>Hi</p><b x <b y"])
def test_a_tag_that_nothing_closes_is_kept(end: str) -> None:
    shown = translated(end, "html")
    assert shown[-3:] == end[-3:] and shown.count("<") == end.count("<")
    assert not any(each.endswith(("p", "b", "x", "r")) for each in map(str.rstrip, texts(parse(end, "html"))))


def test_deep_lists_are_read() -> None:
    text = "".join(f"{'  ' * depth}- item {depth}\n" for depth in range(40))
    assert texts(parse(text, "md")) == [f"item {depth}" for depth in range(40)]


@pytest.mark.parametrize("text", ["> " * 99 + "The end.\n", "- " * 49 + "The end.\n"])
def test_the_deepest_blocks_of_markdown_are_read(text: str) -> None:
    assert texts(parse(text, "md")) == ["The end."]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Hi.\n\n" + "> " * 100 + "The end.\n", 3),
        ("- " * 50 + "The end.\n", 1),
        ("".join(f"{'  ' * depth}- item {depth}\n" for depth in range(1000)), 50),
    ],
)
def test_blocks_of_markdown_that_are_too_deep_are_refused_with_their_line(text: str, line: int) -> None:
    with pytest.raises(InputError, match=rf"a\.md, line {line}: nested more than 99 blocks deep"):
        parse(text, "md")
