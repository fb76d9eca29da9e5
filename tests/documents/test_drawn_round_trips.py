"""Documents with all that their formats allow around the text, drawn: nothing outside of the segments changes, to the byte.

Each output begins and ends with words that show where it is. What is outside of them must be what is outside of the segments.
"""

import io
import random
import re
import zipfile
from collections.abc import Callable

import pytest

from specdec_cli.documents.document import Document, TextDocument
from specdec_cli.documents.formats import Format
from tests.documents.helper import parse

WORDS = ("house", "green", "friend", "the", "old", "apples", "went", "garden", "river", "night", "small", "people")
COMMENTS = ("<!-- a  comment -->", "<!---->", "<!--\n two\n lines -->", "<!-- <p>old</p> -->")
ENTITIES = ("&amp;", "&nbsp;", "&eacute;", "&#128512;", "&lt;b&gt;", "&#xe9;", "&quot;", "&AMP", "&unknown;")
SPACES = ("\n", "\n\n", " \n", "\t", "  ", "\n \t\n", "")


def sentence(draw: random.Random) -> str:
    return " ".join(draw.choice(WORDS) for _ in range(draw.randint(3, 9))).capitalize() + draw.choice((".", ".", "!", "?", ""))


def html(draw: random.Random) -> str:
    """A page in which blocks have odd attributes, and what is no text is between them."""
    tags = (
        *("<p class=a id=\"b\"  data-x='c > d'>{}</p>", "<P\n lang='x'>{}</P>", "<li>{}", "<h1 >{}</h1 >", "<td nowrap>{}</td>"),
        *("<div><br/>{}<hr></div>", "<p>{} <img src=a.png alt='x y'> {}</p>", '<p>{} <b CLASS="q">{}</b> {}</p>'),
        *("<p translate=no>{}</p>", "<button disabled>{}</button>", "<p>{} <code>x = 1 &lt; 2</code> {}</p>"),
    )
    others = (
        *COMMENTS,
        *("<?php echo '<p>x</p>'; ?>", "<![CDATA[ a < b ]]>", '<script>if (a < b) { c("<p>"); }</script>', "<style>p > a { b: c }</style>"),
        *("<pre>  a\n   b </pre>", "<svg viewBox='0 0 1 1'><path d='M0'/></svg>", "<textarea> x\n y</textarea>", "</p>", "<br>", "&nbsp;"),
        *("<input type=hidden value='keep me'>", "<link rel=x href=y>", "<template><p>kept text</p></template>"),
    )
    head = draw.choice(("<!DOCTYPE html>\n", '<?xml version="1.0"?>\n<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "x.dtd">\n', ""))
    parts = []
    for _ in range(draw.randint(3, 8)):
        tag = draw.choice(tags)
        texts = [f"{sentence(draw)}{draw.choice(('', ' ' + draw.choice(ENTITIES)))}" for _ in range(tag.count("{}"))]
        parts += [draw.choice(SPACES), tag.format(*texts), draw.choice(SPACES), draw.choice(others)]
    title = f"<title>{sentence(draw)}</title>\n<meta name=keywords content='a, b'>"
    return f"{head}<html><head>{title}</head>\n<body>{''.join(parts)}</body></html>"


def markdown(draw: random.Random) -> str:
    blocks = (
        *("# {}", "## {} ##", "{}", "* {}\n* {}", "1.  {}\n2.  {}", "> {}", "- [ ] {}", "{}\n===", "{}  \n{}", "   {}", "+ {}\n\n  {}"),
        *("| {} | {} |\n|---|:-:|\n| {} | {} |", "{}[^1]\n\n[^1]: {}"),
    )
    others = (
        *("```python\nx  =  1 # note\n```", "~~~\n a\n~~~", "    indented code", "[ref]: http://a.org  'A title'", "***", "- - -"),
        *("<div>\n<b>kept</b></div>", "<!-- a\n\n b -->", "<?x y?>", "\\newpage", "![](a.png)", "$$\nx^2\n$$", "<br/>", "\t"),
    )
    front = draw.choice(("", "---\ntitle:  x y\ntags: [a,  b]\n---\n\n", "+++\na = 1\n+++\n\n"))
    parts = []
    for _ in range(draw.randint(3, 8)):
        block = draw.choice(blocks)
        parts += [block.format(*(sentence(draw) for _ in range(block.count("{}")))), draw.choice(("\n\n", "\n\n\n", "\n \n"))]
        parts += [draw.choice(others), draw.choice(("\n\n", "\n\n\n"))]
    return front + "".join(parts).rstrip("\n") + draw.choice(("", "\n", "\n\n"))


def subtitles(draw: random.Random) -> str:
    parts = []
    for number in range(1, draw.randint(3, 8)):
        settings = draw.choice(("", "  X1:10 X2:20", " "))
        text = draw.choice(("{}", "<i>{}</i>", "- {}\n- {}", "{{\\an8}}{}", '<font color="#ffffff">{}</font>', "[{}]", "♪ {} ♪"))
        text = text.format(*(sentence(draw) for _ in range(text.count("{}"))))
        parts.append(f"{number}\n00:00:{number:02},000 --> 00:00:{number:02},900{settings}\n{text}\n" + draw.choice(("\n", "\n\n", " \n")))
    return "".join(parts)


def webvtt(draw: random.Random) -> str:
    others = (*("NOTE a  note\nof two lines\n\n", "STYLE\n::cue { color: red }\n\n", "REGION\nid:fred\nwidth:40%\n\n", "NOTE\n\n", "\n"),)
    parts = [f"WEBVTT{draw.choice(('', ' - a title', ' x:y'))}\n\n", draw.choice(others)]
    for number in range(1, draw.randint(3, 8)):
        name = draw.choice(("", "intro one\n", f"{number}\n"))
        text = draw.choice(("{}", "<v Tom>{}</v>", "<c.red>{}</c>", "- {}\n- {}", "<00:01.000>{}", "{} &amp; {}"))
        text = text.format(*(sentence(draw) for _ in range(text.count("{}"))))
        parts.append(f"{name}00:{number:02}.000 --> 00:{number:02}.900 align:start  line:0\n{text}\n\n")
        parts.append(draw.choice((*others, "")) if number > 2 else "")
    return "".join(parts)


def catalogue(draw: random.Random) -> str:
    parts = [
        draw.choice(("", "# A title  \n#\n")) + 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n"X-Other:  a b\\n"\n\n'
    ]
    for number in range(draw.randint(3, 8)):
        before = draw.choice(("", "#  a note\n", "#. for you\n#: a.c:12  b.c:3\n", "#, c-format\n", '#| msgid "old"\n', 'msgctxt "menu"\n'))
        text = f"{sentence(draw)} {number}"
        string = draw.choice((f'"{text}"', f'""\n"{text[:5]}"\n"{text[5:]}"', f'"{text}\\n"'))
        entry = draw.choice((f'msgid {string}\nmsgstr ""\n', f'msgid  {string}\nmsgstr "Schon da."\n', f'msgid\t{string}\nmsgstr ""\n'))
        if before.startswith("#|"):
            entry, before = f'msgid {string}\nmsgstr "alt"\n', f"#, fuzzy\n{before}"
        parts += [before, entry, draw.choice(("\n", "\n\n"))]
    return "".join(parts) + '#~ msgid "gone"\n#~ msgstr "weg"\n'


def xliff(draw: random.Random) -> str:
    head = draw.choice(
        ('<?xml version="1.0" encoding="UTF-8"?>\n', "<?xml version='1.0'?>", '<?xml version="1.0"?>\n<!-- by\nx -->\n<?a b?>\n')
    )
    parts = [
        f'{head}<xliff  version="1.2" xmlns="urn:oasis:names:tc:xliff:document:1.2"><file source-language="en" datatype="html">\n<body>'
    ]
    for number in range(draw.randint(3, 8)):
        text = sentence(draw)
        text = draw.choice(
            (text, f"{text} &amp; more", f'{text} <g id="1">{sentence(draw)}</g>', f"{text} <x id='2'/> end", f"&lt;b&gt;{text}")
        )
        note = draw.choice(
            ("", "<note>a  b</note>", "<!-- c -->", "<?p q?>", "<note><![CDATA[x < y]]></note>", "<context-group purpose='l'/>")
        )
        target = draw.choice(("", "", "<target></target>", "<target/>", '<target state="translated">Schon da.</target>'))
        space = draw.choice(("\n    ", "", "\n\t", "  "))
        parts.append(
            f"{space}<trans-unit id='{number}'  xml:space=\"default\">{space}<source>{text}</source>{space}{target}{note}</trans-unit>"
        )
    return "".join([*parts, "\n</body></file></xliff>", draw.choice(("", "\n", "\n<!-- end -->\n"))])


DRAWN: dict[Format, Callable[[random.Random], str]] = {
    "html": html,
    "md": markdown,
    "srt": subtitles,
    "vtt": webvtt,
    "po": catalogue,
    "xliff": xliff,
}
SEEDS = range(60)


def drawn(format: Format, seed: int) -> bytes:
    """A document with one of three kinds of line ends, with a byte order mark or without."""
    draw = random.Random(f"{format} {seed}")
    content = DRAWN[format](draw)
    ending = draw.choice(("\n", "\n", "\r\n"))
    mark = draw.choice((b"", b"", b"\xef\xbb\xbf"))
    return mark + content.replace("\n", ending).encode()


def marked(text: str, number: int) -> str:
    """An output for the text of segment `number` that shows where it is."""
    return f"Qx{number}begin {text} qx{number}end"


def outside(document: Document) -> str:
    """What is outside of the segments."""
    assert isinstance(document, TextDocument)
    parts, position = [], 0
    for segment in sorted(document.segments, key=lambda each: each.begin):
        parts.append(document.content[position : segment.begin])
        position = max(position, segment.finish)
    return "|".join([*filter(None, parts), document.content[position:]])


def outside_of_outputs(text: str, count: int) -> str:
    """What is outside of marked outputs; that of an attribute may be inside the markup of another one."""
    spans = []
    for number in range(count):
        start, end = re.search(rf"Qx{number}begin", text), re.search(rf"qx{number}end", text)
        assert start is not None and end is not None, (number, text)
        spans.append((start.start(), end.end()))
    parts, position = [], 0
    for begin, finish in sorted(spans):
        parts.append(text[position:begin])
        position = max(position, finish)
    return "|".join([*filter(None, parts), text[position:]])


@pytest.mark.parametrize("format", [format for format in DRAWN if format not in ("po", "xliff")])
def test_nothing_outside_of_the_segments_changes(format: Format) -> None:
    segments = 0
    for seed in SEEDS:
        data = drawn(format, seed)
        document = parse(data, format)
        texts = [segment.text for segment in document.segments]
        assert document.translated(texts) == document.corrected([[] for _ in texts]) == data, (seed, data)
        found = document.translated([marked(text, number) for number, text in enumerate(texts)]).decode()
        assert outside_of_outputs(found, len(texts)) == outside(document), (seed, data)
        segments += len(texts)
    assert segments > 200, segments


def without_translations(text: str, format: Format) -> str:
    """A catalogue or an XLIFF file without what a translation writes: strings of translations, fuzzy flags, targets."""
    if format == "xliff":
        return re.sub(r"\s*<target(?:\s[^<>]*)?(?:/>|>.*?</target>)", "", text, flags=re.DOTALL)
    text = re.sub(r'^msgstr[^\n"]*(?:"[^\n]*\n)+', "msgstr\n", text, flags=re.MULTILINE)
    return re.sub(r"#, fuzzy\r?\n|, fuzzy|fuzzy, ", "", text)


@pytest.mark.parametrize("format", ["po", "xliff"])
def test_nothing_but_translations_changes(format: Format) -> None:
    segments = 0
    for seed in SEEDS:
        data = drawn(format, seed)
        document = parse(data, format)
        texts = [segment.text for segment in document.segments]
        found = document.translated([marked(text, number) for number, text in enumerate(texts)])
        assert without_translations(found.decode(), format) == without_translations(data.decode(), format), (seed, data)
        assert all(f"qx{number}end".encode() in found for number in range(len(texts)))
        segments += len(texts)
    assert segments > 120, segments


def word(draw: random.Random) -> dict[str, str]:
    """The parts of a Word file."""
    namespace = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
    runs = []
    for _ in range(draw.randint(3, 8)):
        properties = draw.choice(("", "<w:rPr><w:b/></w:rPr>", "<w:rPr><w:color w:val='FF0000'/></w:rPr>"))
        texts = "".join(f"<w:r>{properties}<w:t xml:space='preserve'>{sentence(draw)} </w:t></w:r>" for _ in range(draw.randint(1, 3)))
        other = draw.choice(
            ("", "<w:bookmarkStart w:id='0' w:name='x'/>", "<!-- c -->", "<w:p><w:r><w:br/></w:r></w:p>", "<w:sectPr/>", "\n ")
        )
        runs.append(f"<w:p w:rsidR='1'><w:pPr><w:pStyle w:val='A'/></w:pPr>{texts}</w:p>{other}")
    document = (
        f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n<w:document {namespace}><w:body>{"".join(runs)}</w:body></w:document>'
    )
    return {
        "[Content_Types].xml": '<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>',
        "_rels/.rels": "<Relationships/>",
        "word/document.xml": document,
        "word/styles.xml": f"<w:styles {namespace}>  <w:style w:styleId='A'/></w:styles>",
        "word/media/image1.png": "".join(chr(draw.randrange(256)) for _ in range(200)),
        "docProps/app.xml": "<Properties>\n</Properties>",
        "customXml/item1.xml": f"<x>{sentence(draw)}</x>",
    }


def zipped(draw: random.Random, parts: dict[str, str]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in parts.items():
            info = zipfile.ZipInfo(name, (2020, 1, draw.randint(1, 28), 3, 4, 6))
            info.compress_type = draw.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
            archive.writestr(info, text.encode("latin-1"))
    return buffer.getvalue()


def test_every_other_member_of_a_word_file_stays() -> None:
    segments = 0
    for seed in SEEDS:
        draw = random.Random(f"docx {seed}")
        data = zipped(draw, word(draw))
        document = parse(data, "docx")
        texts = [segment.text for segment in document.segments]
        assert document.translated(texts) == data
        changed = document.translated([text.replace("house", "hovel").replace("the", "thy") for text in texts])
        with zipfile.ZipFile(io.BytesIO(data)) as before, zipfile.ZipFile(io.BytesIO(changed)) as after:
            assert [vars_of(each) for each in before.infolist()] == [vars_of(each) for each in after.infolist()]
            for name in before.namelist():
                own, found = before.read(name).decode("latin-1"), after.read(name).decode("latin-1")
                if name == "word/document.xml":
                    own, found = (re.sub(r"(<w:t)(?: xml:space=['\"]preserve['\"])?>[^<]*<", r"\1><", text) for text in (own, found))
                assert own == found, (seed, name)
        segments += len(texts)
    assert segments > 200, segments


def vars_of(info: zipfile.ZipInfo) -> tuple[object, ...]:
    """What a member says of itself, besides its size."""
    return info.filename, info.date_time, info.compress_type, info.external_attr, info.extra, info.comment
