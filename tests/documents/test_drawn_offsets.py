"""Offsets of edits in 60 drawn texts with references, tags, astral and combined characters, soft hyphens and both kinds of line ends.

In every format, what an edit says it replaces is at its place in the file, and the change of the file makes the edit and nothing else.
"""

import io
import random
import re
import zipfile
from collections.abc import Callable, Sequence

import pytest

from specdec_cli.documents.document import Document, FileEdit, TextDocument
from specdec_cli.documents.formats import Format
from specdec_cli.documents.html import unescape
from specdec_cli.documents.segments import STAND_IN
from specdec_cli.server.matches import plain_text, read_annotations
from specdec_cli.server.texts import checked_lines
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.protect.characters import readable
from specdec_cli.text.tags.markup import bare
from tests.documents.helper import parse

WORDS = [
    *("house", "green", "friend", "the", "old", "apples", "went", "2,350", "why?", "na\u00efve", "e\u0301tude", "ma\u0308nner"),
    *("co\u00adoperate", "\U0001f600", "\U0001d4b3yz", "\U00020000", "\U0001f1e9\U0001f1ea", "I\u2019m", "\u201cfine\u201d", "o\u200dk"),
]
SEEDS = range(60)


def words_of(random: random.Random) -> list[str]:
    return [random.choice(WORDS) for _ in range(random.randint(3, 14))] + ["end"]


def broken(random: random.Random, words: list[str], indent: str = "") -> str:
    """The words, with a line break instead of some of the spaces."""
    ending = random.choice(["\n", "\r\n"])
    gaps = [random.choice([" ", " ", " ", ending + indent]) for _ in words[1:]]
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""], strict=True))


def marked(random: random.Random, words: list[str], opening: str, closing: str) -> list[str]:
    """The words with markup around one of them, or inside it."""
    place = random.randrange(len(words))
    return [*words[:place], f"{opening}{words[place]}{closing}", *words[place + 1 :]]


def html(random: random.Random) -> str:
    entities = ["&amp;", "&eacute;t&eacute;", "&#128512;", "a&nbsp;b", "AT&amp;T", "&lt;b&gt;", "caf&#xe9;", "co&shy;op"]
    opening = random.choice(["<b>", '<a href="x&amp;y">', "<i>"])
    words = marked(random, [*words_of(random), random.choice(entities), "last"], opening, "</i>")
    return f'<p>{broken(random, words, "  ")}</p>\n<img alt="{" ".join(words_of(random))} &quot;x&quot;">\n'


def markdown(random: random.Random) -> str:
    inline, delimiter = random.choice(["`code`", "[a link](x.html)", "&amp;", "\\*star"]), random.choice(["**", "_", "*"])
    return "> " + broken(random, marked(random, [*words_of(random), inline], delimiter, delimiter), "> ") + "\n"


def subtitles(random: random.Random) -> str:
    cue = broken(random, marked(random, words_of(random), "<i>", "</i>"))
    return f"1\n00:00:01,000 --> 00:00:02,000\n{cue}\n\n2\n00:00:03,000 --> 00:00:04,000\n{broken(random, words_of(random))}.\n"


def webvtt(random: random.Random) -> str:
    return f"WEBVTT\n\n00:01.000 --> 00:02.000\n{broken(random, [*words_of(random), '&amp;', 'more'])}\n"


def catalogue(random: random.Random) -> str:
    escaped = random.choice(['\\"so\\"', "tab\\there", "\\303\\251", "%d"])
    words = [*words_of(random), escaped, "last"]
    half = len(words) // 2
    parts = [f'"{" ".join(words[:half])} "', f'"{" ".join(words[half:])}\\n"']
    return 'msgid ""\nmsgstr ""\n"Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "a"\nmsgstr ""\n' + "\n".join(parts) + "\n"


def xliff(random: random.Random) -> str:
    words = marked(
        random, [*words_of(random), random.choice(["&amp;", "&#128512;", "&lt;b&gt;", "caf&#xe9;"]), "last"], '<g id="1">', "</g>"
    )
    target = f"<source>x</source><target>{' '.join(words)}</target>"
    head = '<xliff version="1.2"><file source-language="en" target-language="en"><body>'
    return f'<?xml version="1.0"?>\n{head}<trans-unit id="1">{target}</trans-unit></body></file></xliff>\n'


DRAWN: dict[Format, Callable[[random.Random], str]] = {
    "html": html,
    "md": markdown,
    "srt": subtitles,
    "vtt": webvtt,
    "po": catalogue,
    "xliff": xliff,
}


def words_in(text: str) -> list[Edit]:
    """An edit for each word of a text that is no stand-in: a replacement, an insertion after it, or its deletion."""
    shown = STAND_IN.sub(lambda found: " " * len(found.group()), text)
    spans = [found.span() for found in re.finditer(r"\w[\w\u0301\u0308\u00ad\u200d]*", shown)]
    spans += [found.span() for found in re.finditer(r"[\U0001f300-\U0001f64f]", shown)]
    edits = [Edit(start, end, text[start:end], "qqq") for start, end in spans]
    return edits + [Edit(end, end, "", " more") for _, end in spans]


def read(content: str, format: Format) -> Document:
    return parse(content, format, purpose="correct")


def in_file(content: str, edit: FileEdit) -> tuple[str, str]:
    """What a change of a file replaces, and the file after it; places are found from the lines, as an editor does."""
    lines = content.split("\n")
    start, end = (sum(len(line) + 1 for line in lines[: point.line - 1]) + len(point.before) for point in (edit.start, edit.end))
    for point in (edit.start, edit.end):
        assert lines[point.line - 1].startswith(point.before)
    assert edit.text is not None
    return content[start:end], content[:start] + edit.text + content[end:]


@pytest.mark.parametrize("format", DRAWN)
def test_every_edit_is_at_its_place_in_the_file(format: Format) -> None:
    checked = 0
    for seed in SEEDS:
        content = DRAWN[format](random.Random(f"{format} {seed}"))
        document = read(content, format)
        for number, segment in enumerate(document.segments):
            for edit in words_in(segment.text):
                replaced, changed = in_file(content, document.file_edit(segment, edit))
                if edit.source and replaced:
                    assert plain(replaced, format) == edit.source, (content, edit)
                if replaced or changed != content:
                    made = [[edit] if each == number else [] for each in range(len(document.segments))]
                    assert words_shown(read(changed, format)) == words_shown(document, made), (content, edit)
                    checked += 1
        assert document.corrected([[] for _ in document.segments]) == content.encode()
    assert checked > 400, checked


def plain(text: str, format: Format) -> str:
    """Text of a file as it is read."""
    if format == "po":
        return text.replace('\\"', '"').replace("\\303\\251", "\u00e9")
    return unescape(text) if format in ("html", "vtt", "xliff") else text


def words_shown(document: Document, edits: Sequence[Sequence[Edit]] = ()) -> list[str]:
    """The words of a document without markup, after `edits` of each segment."""
    made = edits or [[] for _ in document.segments]
    texts = [apply_edits(segment.text, each) for segment, each in zip(document.segments, made, strict=True)]
    return STAND_IN.sub("", " ".join(texts)).split()


def test_every_edit_of_a_word_document_changes_its_own_words() -> None:
    for seed in SEEDS:
        drawn = random.Random(f"docx {seed}")
        formats = ["", "<w:rPr><w:b/></w:rPr>", ""]
        texts = [f"<w:t xml:space='preserve'>{' '.join(words_of(drawn))} </w:t>" for _ in formats]
        runs = "".join(f"<w:r>{format}{text}</w:r>" for format, text in zip(formats, texts, strict=True))
        xml = f'<w:document xmlns:w="w"><w:body><w:p>{runs}</w:p></w:body></w:document>'
        data = io.BytesIO()
        with zipfile.ZipFile(data, "w") as archive:
            archive.writestr("word/document.xml", xml)
        document = parse(data.getvalue(), "docx", purpose="correct")
        for number, segment in enumerate(document.segments):
            for edit in words_in(segment.text):
                made = document.corrected([[edit] if each == number else [] for each in range(len(document.segments))])
                again = parse(made, "docx", purpose="correct")
                assert STAND_IN.sub("", again.segments[number].text) == STAND_IN.sub("", apply_edits(segment.text, [edit]))
                start, end = document.file_edit(segment, edit)[:2]
                assert segment.text[len(start.before) : len(end.before)] == edit.source


def utf16(text: str, start: int, end: int) -> str:
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le")


def test_every_edit_is_at_its_place_for_a_client_of_the_server() -> None:
    checked = 0
    for seed in SEEDS:
        drawn = random.Random(f"server {seed}")
        text = "\r\n\r\n".join(broken(drawn, words_of(drawn), "  ") for _ in range(3))
        for line in checked_lines(text):
            for edit in words_in(line.text):
                start, end = line.span(edit.start, edit.end)
                assert text[start:end] == edit.source
                if edit.source:
                    found = plain_text(text).original_span(start, end)
                    assert found is not None and utf16(text, *found) == edit.source
                    checked += 1
    assert checked > 1000, checked


def test_every_edit_is_at_its_place_beside_markup_of_a_client() -> None:
    kept = 0
    for seed in SEEDS:
        drawn = random.Random(f"markup {seed}")
        annotation: list[dict[str, str]] = []
        for word in words_of(drawn):
            shown = drawn.choice([{}, {"interpretAs": drawn.choice([" ", "x", "\n\n"])}])
            markup = drawn.choice(["<b>", "</b>", "~", "\\emph{", "\U0001f600"])
            annotation += [{"text": f"{word} "}, {"markup": markup} | shown]
        document = "".join(part.get("text", "") + part.get("markup", "") for part in annotation)
        text = read_annotations({"annotation": annotation})
        for line in checked_lines(text.checked):
            for edit in words_in(line.text):
                found = text.original_span(*line.span(edit.start, edit.end)) if edit.source else None
                if found is not None:
                    assert utf16(document, *found) == edit.source
                    kept += 1
    assert kept > 300, kept


def test_markup_of_the_same_length_as_what_is_read_for_it_is_not_replaced() -> None:
    text = read_annotations({"annotation": [{"text": "go "}, {"markup": "~", "interpretAs": "a"}, {"text": " way"}]})
    assert text.checked == "go a way"
    assert text.original_span(0, 8) is None and text.original_span(5, 8) == (5, 8)


def test_every_edit_is_at_its_place_in_a_line_with_tags_and_emoji() -> None:
    checked = 0
    for seed in SEEDS:
        drawn = random.Random(f"line {seed}")
        words = marked(drawn, marked(drawn, words_of(drawn), "<b>", "</b>"), '<a href="x">', "</a>")
        line = " ".join(words) + drawn.choice(["", " \U0001f600", "<br>x"])
        plain_line = bare(line)
        view = readable(plain_line.text, lambda character: not character.isascii())
        for edit in words_in(view.text):
            if not edit.source:
                continue
            for found in plain_line.restored(view.restored([edit])):
                assert line[found.start : found.end] == found.source, (line, found)
                checked += 1
    assert checked > 400, checked


def test_documents_that_are_text_say_where_their_segments_are() -> None:
    for format, draw in DRAWN.items():
        content = draw(random.Random(format))
        document = read(content, format)
        assert isinstance(document, TextDocument)
        for segment in document.segments:
            assert content[segment.begin : segment.finish] and segment.begin < segment.finish
