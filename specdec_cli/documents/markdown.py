"""Markdown (CommonMark, with tables and strikethrough): front matter, paragraphs, headings, table cells, HTML blocks.

markdown-it-py finds the blocks. The text of each is then located in the lines of the file, so that all else is kept.
"""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Literal, NamedTuple

from specdec_cli.documents.document import Document, Source, TextDocument
from specdec_cli.documents.html import html_segments
from specdec_cli.documents.json_file import in_double_quotes
from specdec_cli.documents.reading import decode, load_library
from specdec_cli.documents.segments import Layout, Segment, SegmentBuilder
from specdec_cli.documents.wrapped import ends_sentence, with_lines
from specdec_cli.documents.yaml_file import COMMENT_OR_FIELD, in_single_quotes, plain
from specdec_cli.errors import InputError
from specdec_cli.text.protect.spans import CODE, FORMULA, TAG_ATTRIBUTES
from specdec_cli.text.tags.markup import RAISED

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
_ATTRIBUTES = re.compile(r"(?<![ \t])[ \t]+\{:?[ \t]*[#.][^{}]*\}$")
"""The attributes of a heading, as {#name .class}, after its text."""
_TITLE = re.compile(r"(\*\*|__)(?!\s)[^*_]+\1:?$")
"""A line that is bold as a whole."""
_DEFINITION = re.compile(r":[ \t]+")
"""The mark before the definition of the term in the lines above it."""
Run = tuple[int, int]
"""Begin and end of the text of one line, as offsets into the document."""


def read_markdown(source: Source) -> Document:
    """Parse a Markdown file. Raises InputError for bytes that are not UTF-8 and for blocks that are nested too deeply, and UsageError
    without markdown-it-py.
    """
    content = decode(source.data, source.name)
    parser = load_library("markdown_it", source.name).MarkdownIt("commonmark", {"maxNesting": _DEEPEST})
    parser.enable("table").disable("inline")  # markup inside blocks is found by `inline_marks`
    kept = front_matter_end(content)
    shown = _blank(content[:kept]) + _FORMULA.sub(lambda found: _blank(found.group()), content[kept:])
    references: dict[str, Any] = {}
    tokens = parser.parse(shown, references)
    for token in tokens:
        if token.type in ("blockquote_open", "list_item_open") and token.level + 1 >= _DEEPEST:  # what is inside was not read
            raise InputError(f"{source.name}, line {token.map[0] + 1}: nested more than {_DEEPEST - 1} blocks deep")
    front = front_matter_segments(content) if source.front_matter else ()
    return TextDocument(source, content, [*front, *_segments(source, content, tokens, frozenset(references.get("references", ())))])


def _blank(text: str) -> str:
    """Return as many line ends as `text` has."""
    return "\n" * len(_LINE_END.findall(text))


def _segments(source: Source, content: str, tokens: Sequence[Any], references: Collection[str]) -> Iterator[Segment]:
    lines = _lines(content)
    cursor = -1, 0
    for index, token in enumerate(tokens):
        if token.type == "html_block":
            yield from html_segments(content, lines[token.map[0]][0], lines[token.map[1] - 1][1], source.language)
        elif token.type == "inline" and token.map:
            runs: list[Run] = []
            for number, text in enumerate(token.content.split("\n"), token.map[0]):
                run = _find(content, lines[number], text.strip(), cursor[1] if cursor[0] == number else 0)
                if run is None:
                    runs = []
                    break
                cursor = number, run[1]
                runs.append(run)
            for group in _groups(content, _without_marks(content, runs, tokens, index) if runs else []):
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
    for match in _LINE_END.finditer(content):
        runs.append((position, match.start()))
        position = match.end()
    return [*runs, (position, len(content))]


def _find(content: str, line: Run, text: str, start: int) -> Run | None:
    """Where `text` is in a line, at `start` or later; in a cell of a table, a pipe may have a backslash before it."""
    start = max(start, line[0])
    if "|" not in text:
        position = content.find(text, start, line[1])
        return None if position < 0 else (position, position + len(text))
    pattern = re.escape(text).replace(r"\|", r"\\?\|")
    match = re.compile(pattern).search(content, start, line[1])
    return match.span() if match else None


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
    yield from (with_lines(content, found) for builder in builders for found in builder.build_each(layout))


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


_FRONT_MATTER = re.compile(r"\ufeff?(---|\+\+\+)[ \t]*\r?\n(?P<lines>.*?)^\1[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_VALUE = re.compile(
    r"^(?:title|description)[ \t]*[:=][ \t]*"
    r"(?:\"(?P<double>[^\"\\\r\n]*)\"|'(?P<single>[^'\r\n]*)'|(?P<plain>[^\s\"'\[\]{}&*!|>%@`#-](?:[^\r\n]*[^ \t\r\n])?))[ \t]*\r?$",
    re.MULTILINE,
)
"""A field with a value on its line. Values with escapes, with comments and on several lines are kept."""


def front_matter_end(content: str) -> int:
    """The offset after the front matter of a file; 0 if it has none."""
    match = _FRONT_MATTER.match(content)
    return match.end() if match else 0


def front_matter_segments(content: str) -> Iterator[Segment]:
    """Yield the segments of title and description. A value without quotation marks gets some where its output needs them."""
    front = _FRONT_MATTER.match(content)
    if front is None:
        return
    for match in _VALUE.finditer(content, *front.span("lines")):
        kind = match.lastgroup or ""
        if kind == "plain" and (front[1] == "+++" or COMMENT_OR_FIELD.search(match[kind])):
            continue
        builder = SegmentBuilder(content)
        builder.text(*match.span(kind))
        escape = {"double": in_double_quotes, "single": in_single_quotes if front[1] == "---" else _in_literal}.get(kind, str)
        segment = builder.build(Layout(escape=escape, quoted=plain if kind == "plain" else None))
        if segment is not None:
            yield segment


def _in_literal(text: str) -> str:
    """The text of a literal string of TOML, which has no escapes."""
    return text.replace("'", "\u2019")


Kind = Literal["open", "close", "single", "void", "line_break", "end"]
_CODE = rf"(?P<code>{CODE})"
_ESCAPE = r"(?P<escape>\\[!-/:-@\[-`{-~])"
_COMMENT = r"(?P<comment><!--.{0,2000}?-->)"
_HTML = rf"(?P<raised>{RAISED})|{_COMMENT}|" + r"(?P<address><[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*>|<[\w.+-]+@[\w.-]+>)"
_TAG = rf"<(?P<slash>/?)(?P<tag>[A-Za-z][\w-]*)(?:{TAG_ATTRIBUTES}|(?P<empty>\s*/))?>"
_MATH = rf"(?P<math>{FORMULA})"
_DISPLAY = r"(?P<display>(?<![$\\])\$\$(?:[^$]|\$(?!\$))+\$\$(?!\$))"
_NOTE = r"(?P<note>\[\^[^][\s]+\]|(?<=[\w.,;:!?)\"'\u2019\u201d])\[\\?[\[(]?[\d*\u2020\u2021\u00a7]{1,4}\\?[])]?\]\([^()\s]*\))"
"""The mark of a note, or a link without words directly behind a word or mark, which leads to one: friend.[1](#fn1)"""
_DESTINATION = r"\((?:[^()\\]|\\.|\([^()]*\))*\)"
_END = rf"(?P<end>\](?P<target>{_DESTINATION}|\[[^][]*\])?)"
_DELIMITER = r"(?P<delimiter>\*+|_+|~~)"
_INLINE = re.compile("|".join((_CODE, _ESCAPE, _HTML, _TAG, _MATH, _DISPLAY, _NOTE, r"(?P<start>!?\[)", _END, _DELIMITER)), re.DOTALL)
_OPENING = re.compile(r"(?:[\s*_~\[>(\"'\u2018\u201c\u201e\u00ab]|<\w[^<>]{0,256}>){0,16}+")
"""What may be before the first letter of a text."""
_MOST_OPEN = 100
"""What was opened before so many others is not closed."""
_VOID = frozenset(("br", "hr", "img", "input", "wbr"))


class Mark(NamedTuple):
    """The characters `start` to `end` of a text are markup that opens or closes a pair, or is single: one that may stand for a word, one
    without a meaning in its sentence, one that separates words, or one that ends a text. The description of an image is at the offsets
    `label`.
    """

    start: int
    end: int
    kind: Kind
    label: tuple[int, int] = (0, 0)


class _Opened(NamedTuple):
    """Markup that begins a pair if its other end follows: the start of a link, an HTML tag, or a run of delimiters such as `**`.

    - `name`: "[", "<" and the name of the tag, or the delimiter.
    - `match`: the match of the markup.
    - `start`, `end`: the delimiters of a run that belong to no pair yet.
    - `closes`: the run could also end a pair.
    """

    name: str
    found: re.Match[str]
    start: int = 0
    end: int = 0
    closes: bool = False


def inline_marks(text: str, references: Collection[str]) -> list[Mark]:
    """Return the inline markup of `text`, the source of a paragraph, in order; pairs are nested.

    `references` are the labels of the document's link definitions, in upper case and with single spaces. Code and
    escapes are not marks: they are text that other rules protect. A delimiter without a counterpart is text.
    """
    marks: list[Mark] = []
    opened: list[_Opened] = []
    for match in _INLINE.finditer(text):
        if match["comment"] or match["note"] or match["raised"]:
            marks.append(Mark(*match.span(), "void"))
        elif match["address"] or match["display"]:
            marks.append(Mark(*match.span(), "single"))
        elif match["tag"]:
            _take_tag(match, opened, marks)
        elif match["start"]:
            opened.append(_Opened("[", match))
        elif match["end"]:
            _take_link(text, match, opened, marks, references)
        elif match["delimiter"]:
            _take_delimiter(text, match, opened, marks)
    marks += _tags_alone(opened)
    return _without_inner(sorted(marks))


def _take_tag(match: re.Match[str], opened: list[_Opened], marks: list[Mark]) -> None:
    """Add an HTML tag: a pair with the last one of the same name, or a single mark."""
    name = f"<{match['tag'].lower()}"
    if match["slash"]:
        if not _close(name, match, opened, marks):
            marks.append(Mark(*match.span(), "void"))
    elif match["tag"].lower() in _VOID:
        marks.append(Mark(*match.span(), _void_kind(match)))
    elif match.group().endswith("/>"):
        marks.append(Mark(*match.span(), "single"))
    else:
        opened.append(_Opened(name, match))


def _void_kind(match: re.Match[str]) -> Kind:
    """The kind of mark for an HTML tag without content. `<br>` ends a text, unless the next letter is in lower case."""
    name, text = match["tag"].lower(), match.string
    if name == "wbr":
        return "void"
    opening = _OPENING.match(text, match.end())
    goes_on = opening is not None and text[opening.end() : opening.end() + 1].islower()
    return "end" if name == "br" and not goes_on else "line_break"


def _take_link(text: str, match: re.Match[str], opened: list[_Opened], marks: list[Mark], references: Collection[str]) -> None:
    """Add a link or image whose text ends here; one that is its own label is single, because its text must not change."""
    index = _last(opened, lambda each: each.name == "[")
    if index is None:
        return
    start = opened[index].found
    label = text[start.end() : match.start()]
    target = match["target"] or ""
    if target.startswith("(") or (target not in ("", "[]") and normal_label(target[1:-1]) in references):
        if start.group() == "[":
            _close("[", match, opened, marks)
        else:  # the description of an image is a text of its own
            del opened[index:]
            around = opened[-1].found if opened else None
            begins_link = around is not None and around.group() == "[" and around.end() == start.start()
            kind: Kind = "line_break" if begins_link else "single"  # a badge is no word of its sentence
            marks.append(Mark(start.start(), match.end(), kind, (start.end(), match.start())))
    elif normal_label(label) in references:
        del opened[index:]
        marks.append(Mark(start.start(), match.end(), "single"))
    else:
        del opened[index]


def _take_delimiter(text: str, match: re.Match[str], opened: list[_Opened], marks: list[Mark]) -> None:
    """Add the pairs that a run of delimiters closes, as in CommonMark (section 6.2); what is left of it may open others.

    Equal runs are one pair.
    """
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    inner = match.group()[0] == "_"
    closes = before != "" and not before.isspace() and not (inner and after.isalnum())
    opens = after != "" and not after.isspace() and not (inner and before.isalnum())
    name, (start, end) = match.group() if match.group() == "~~" else match.group()[0], match.span()
    while closes and start < end:
        index = _last(opened, lambda each: _fits(each, name, match, opens))
        if index is None:
            break
        other = opened[index]
        left = other.end - other.start
        count = left if left == end - start else 2 if min(left, end - start) > 1 else 1
        marks += [*_tags_alone(opened[index + 1 :]), Mark(other.end - count, other.end, "open"), Mark(start, start + count, "close")]
        opened[index:] = [other._replace(end=other.end - count)] if count < left else []
        start += count
    if opens and start < end:
        opened.append(_Opened(name, match, start, end, closes))


def _last(opened: Sequence[_Opened], fits: Callable[[_Opened], bool]) -> int | None:
    """The place of the last of `opened` that `fits`, among the last _MOST_OPEN, so that much markup without counterparts takes
    little time; None if there is none.
    """
    return next((index for index in reversed(range(max(len(opened) - _MOST_OPEN, 0), len(opened))) if fits(opened[index])), None)


def _fits(opened: _Opened, name: str, match: re.Match[str], opens: bool) -> bool:
    """Whether the delimiters `match` can close what `opened` opens. `opens`: they could also open a pair (CommonMark, emphasis, rule 9)."""
    if opened.name != name:
        return False
    first, last = len(opened.found.group()), len(match.group())
    return not (opened.closes or opens) or (first + last) % 3 != 0 or (first % 3 == 0 and last % 3 == 0)


def _close(name: str, match: re.Match[str], opened: list[_Opened], marks: list[Mark]) -> bool:
    """Take `match` as the closing mark of the last open element called `name`, and add the pair to `marks`. False if none is open."""
    index = _last(opened, lambda each: each.name == name)
    if index is None:
        return False
    marks += [*_tags_alone(opened[index + 1 :]), Mark(*opened[index].found.span(), "open"), Mark(*match.span(), "close")]
    del opened[index:]
    return True


def _tags_alone(opened: Sequence[_Opened]) -> Iterator[Mark]:
    """The marks of HTML tags that nothing closes."""
    return (Mark(*each.found.span(), "void") for each in opened if each.name.startswith("<"))


def _without_inner(marks: list[Mark]) -> list[Mark]:
    """`marks` without those inside a single mark."""
    kept: list[Mark] = []
    for mark in marks:
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def normal_label(label: str) -> str:
    """Return the label of a link definition as CommonMark compares it: in upper case, with single spaces."""
    return " ".join(label.split()).upper()
