"""Markdown (CommonMark, with tables and strikethrough): paragraphs, headings, table cells, HTML blocks.

markdown-it-py finds the blocks. The text of each is then located in the lines of the file, so that all else is kept.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from specdec_cli.documents.builder import SegmentBuilder
from specdec_cli.documents.document import Document, Source, TextDocument
from specdec_cli.documents.extras import load_library
from specdec_cli.documents.front_matter import front_matter_end, front_matter_segments
from specdec_cli.documents.html_text import html_segments
from specdec_cli.documents.markdown_inline import inline_marks
from specdec_cli.documents.reading import decode
from specdec_cli.documents.segments import Layout, Segment
from specdec_cli.documents.wrapped import ends_sentence, with_lines

_DEEPEST = 100
"""The most blocks inside of each other, such as lists and their items; markdown-it-py reads them recursively."""
_LINE_END = re.compile(r"\r\n?|\n")
_LINE_REST = re.compile(r"[ \t]*(?=[\r\n]|\Z)")
# Lines that are copied because they are syntax of a Markdown dialect: fences of blocks and admonitions, template statements, and
# import statements of MDX.
_DIRECTIVE = re.compile(r":{3,}|!{3}|\?{3}|\+{3}|\{[%:]|\[\[[^][]*\]\]$|\[![A-Z]+\]|import\s[\w\s{},*]+\sfrom\s+[\"'].*")
_BEGINS_BLOCK = re.compile(r"(?:[-+*:]|\d{1,9}[.)]|#{1,6}|=+|-+|>.*|`{3}.*|~{3}.*|:{3}.*|[-*_]{3,}|\|.*|<.*)$")
_FORMULA = re.compile(r"^[ \t>]*\$\$(?:[^$\n]|\$(?!\$)|\n(?![ \t>]*\r?\n))+\$\$[.,;]?[ \t]*(?=\r?$)", re.MULTILINE)
"""A formula on lines of its own."""
_BOX = re.compile(r"\[[ xX]\][ \t]+")
"""The box of an item in a task list."""
_ATTRIBUTES = re.compile(r"[ \t]+\{:?[ \t]*[#.][^{}]*\}$")
"""The attributes of a heading, as {#name .class}, after its text."""
_TITLE = re.compile(r"(\*\*|__)(?!\s)[^*_]+\1:?$")
"""A line that is bold as a whole."""
_DEFINITION = re.compile(r":[ \t]+")
"""The mark before the definition of the term in the lines above it."""
Run = tuple[int, int]
"""Begin and end of the text of one line, as offsets into the document."""


def read_markdown(source: Source) -> Document:
    """Parse a Markdown file. Raises InputError for bytes that are not UTF-8, and UsageError without markdown-it-py."""
    content = decode(source.data, source.name)
    parser = load_library("markdown_it", source.name).MarkdownIt("commonmark", {"maxNesting": _DEEPEST}).enable(["table", "strikethrough"])
    kept = front_matter_end(content)
    shown = _blank(content[:kept]) + _FORMULA.sub(lambda found: _blank(found.group()), content[kept:])
    references: dict[str, Any] = {}
    tokens = parser.parse(shown, references)
    front = front_matter_segments(content, source.purpose) if source.front_matter else ()
    return TextDocument(source, content, [*front, *_segments(content, tokens, frozenset(references.get("references", ())))])


def _blank(text: str) -> str:
    """Return as many line ends as `text` has."""
    return "\n" * len(_LINE_END.findall(text))


def _segments(content: str, tokens: Sequence[Any], references: Collection[str]) -> Iterator[Segment]:
    lines = _lines(content)
    cursor = -1, 0
    for place, token in enumerate(tokens):
        if token.type == "html_block":
            yield from html_segments(content, lines[token.map[0]][0], lines[token.map[1] - 1][1])
        elif token.type == "inline" and token.map:
            runs: list[Run] = []
            for number, text in enumerate(token.content.split("\n"), token.map[0]):
                run = _find(content, lines[number], text.strip(), cursor[1] if cursor[0] == number else 0)
                if run is None:
                    runs = []
                    break
                cursor = number, run[1]
                runs.append(run)
            for group in _groups(content, _without_marks(content, runs, tokens, place) if runs else []):
                yield from _paragraph(content, group, references)


def _without_marks(content: str, runs: Sequence[Run], tokens: Sequence[Any], place: int) -> list[Run]:
    """The `runs` of the token at `place`, without the check box that begins a task and the attributes that end a heading."""
    (begin, _), (last, end) = runs[0], runs[-1]
    box = _BOX.match(content, *runs[0]) if place > 1 and tokens[place - 2].type == "list_item_open" else None
    if tokens[place - 1].type == "heading_open":
        end = last + len(_ATTRIBUTES.sub("", content[last:end]))
    found = [*runs[:-1], (last, end)]
    return [(box.end() if box else begin, found[0][1]), *found[1:]]


def _lines(content: str) -> list[Run]:
    """Begin and end of each line, as markdown-it-py counts lines."""
    runs, position = [], 0
    for found in _LINE_END.finditer(content):
        runs.append((position, found.start()))
        position = found.end()
    return [*runs, (position, len(content))]


def _find(content: str, line: Run, text: str, start: int) -> Run | None:
    """Where `text` is in a line, at `start` or later; in a cell of a table, a pipe may have a backslash before it."""
    start = max(start, line[0])
    if "|" not in text:
        place = content.find(text, start, line[1])
        return None if place < 0 else (place, place + len(text))
    pattern = re.escape(text).replace(r"\|", r"\\?\|")
    found = re.compile(pattern).search(content, start, line[1])
    return found.span() if found else None


def _groups(content: str, runs: Sequence[Run]) -> Iterator[list[Run]]:
    """Yield the lines that are joined: all of a paragraph, up to hard breaks, or each one if every line ends a sentence.

    The definition of a term begins a group. A bold first line is a title of its own, unless the next line begins in lower case.
    """
    group: list[Run] = []
    single = all(ends_sentence(content[begin:end]) for begin, end in runs)
    for begin, end in runs:
        text = content[begin:end]
        if _DIRECTIVE.match(text):
            if group:
                yield group
            group = []
            continue
        definition = _DEFINITION.match(content, begin, end)
        if definition is not None:
            if group:
                yield group
            group, begin = [], definition.end()
        rest = _LINE_REST.match(content, end)
        marked = rest is not None and not rest.group() and text.endswith("\\")
        breaks = marked or (rest is not None and rest.group().endswith("  "))
        group.append((begin, end - marked))
        is_title = begin == runs[0][0] and _TITLE.match(text) and not _goes_on(content, runs[1:2])
        if breaks or single or is_title:
            yield group
            group = []
    if group:
        yield group


def _goes_on(content: str, runs: Sequence[Run]) -> bool:
    """Whether a sentence goes on in the next line: its first letter is in lower case."""
    return any(next(filter(str.isalnum, content[begin:end]), "").islower() for begin, end in runs)


def _paragraph(content: str, runs: Sequence[Run], references: Collection[str]) -> Iterator[Segment]:
    """Yield the segments of lines that belong together: one, or one for each part between marks that end a text."""
    builders = [SegmentBuilder(content)]
    begin = runs[0][0]
    text = content[begin : runs[-1][1]]
    marks = inline_marks(text, references)
    position, starts = begin, iter([*((mark.start + begin, mark.end + begin, mark.kind) for mark in marks), (runs[-1][1],) * 2 + (None,)])
    breaks = list(zip((run[1] for run in runs), (run[0] for run in runs[1:]), strict=False))
    for mark in marks:
        yield from _description(content, mark.label[0] + begin, mark.label[1] + begin, breaks)
    for start, end, kind in starts:
        for gap in [gap for gap in breaks if position <= gap[0] and gap[1] <= start]:
            builders[-1].text(position, gap[0])
            builders[-1].gap(*gap)
            position = gap[1]
        builders[-1].text(position, start)
        if kind == "end":
            builders.append(SegmentBuilder(content))
        elif kind is not None:
            getattr(builders[-1], kind)(start, end)
        position = max(position, end)
    layout = Layout(can_begin=lambda word: not _BEGINS_BLOCK.match(word))
    yield from (with_lines(content, found) for builder in builders if (found := builder.build(layout)))


def _description(content: str, begin: int, finish: int, breaks: Sequence[Run]) -> Iterator[Segment]:
    """Yield the segment of the description of an image in a link: a text of its own."""
    builder = SegmentBuilder(content)
    for gap in breaks:
        if begin <= gap[0] and gap[1] <= finish:
            builder.text(begin, gap[0])
            builder.gap(*gap)
            begin = gap[1]
    builder.text(begin, finish)
    found = builder.build()
    if found is not None:
        yield found
