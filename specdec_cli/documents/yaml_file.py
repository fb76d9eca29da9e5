"""YAML: the scalars that are values and strings are texts, in all five styles; keys, anchors, tags and comments are kept.

PyYAML finds the scalars; what it would write anew stays as it is.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.json_file import in_double_quotes
from specdec_cli.documents.reading import decode, load_library, marked_encoding
from specdec_cli.documents.segments import Layout, Segment
from specdec_cli.documents.values import unescaped, value_segments
from specdec_cli.documents.wrapped import text_segment
from specdec_cli.errors import InputError
from specdec_cli.text.view import Part, view_of

_STRING = "tag:yaml.org,2002:str"
_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")
_HEADER = re.compile(r"[^\n]*\n")
_BLANK_LINE = re.compile(r"\n[ \t]*\r?(?=\n)")
_PARAGRAPH = re.compile(r"[^\n]+(?:\n(?![ \t\r]*\n)[^\n]+)*")
_INDENT = re.compile(r"^[ \t]*(?=\S)", re.MULTILINE)
_ESCAPES = {
    "'": re.compile("''"),
    '"': re.compile(r"\\(?:\r?\n[ \t]*|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)"),
}
_ESCAPED_LINE_BREAK = re.compile(r"(?<!\\)(?:\\\\)*(?P<break>\\n)")
_NONE = re.compile(r"(?!)")
_UNSAFE = re.compile(r"[\s\"'\[\]{},&*!|>%@`#?:-]|(?:true|false|yes|no|on|off|y|n|null|~|=|<<|[\d.+-].*)$", re.IGNORECASE)
"""The beginning of a value that must be between quotation marks to be text."""
COMMENT_OR_FIELD = re.compile(r"\s#|:(?:\s|$)")
"""What a value without quotation marks may not have: the beginning of a comment, or the end of a key."""
_FLOW = re.compile(r"[\[\]{},]")


def read_yaml(source: Source) -> TextDocument:
    """Parse a YAML file. Raises InputError, naming the line, for a malformed one, and UsageError without PyYAML."""
    encoding = marked_encoding(source.data) or "utf-8"
    content = decode(source.data, source.name, encoding)
    yaml = load_library("yaml", source.name)
    segments = [segment for event, is_flow in _values(content, source.name, yaml) for segment in _segments(content, event, is_flow, yaml)]
    if "\r\n" in content:
        segments = [replace(each, layout=replace(each.layout, gap=each.layout.gap.replace("\n", "\r\n"))) for each in segments]
    return TextDocument(source, content, segments, encoding)


def in_single_quotes(text: str) -> str:
    """`text` as it is between single quotation marks."""
    return text.replace("'", "''")


_IN_QUOTES: dict[str, Callable[[str], str]] = {"'": in_single_quotes, '"': in_double_quotes}


def plain(text: str, *, is_flow: bool = False) -> str:
    """`text` as a value without quotation marks, or between them where it needs some; `is_flow`: in brackets or braces."""
    needs = _UNSAFE.match(text) or COMMENT_OR_FIELD.search(text) or (is_flow and _FLOW.search(text))
    return f'"{in_double_quotes(text)}"' if needs else text


def _values(content: str, name: str, yaml: Any) -> Iterator[tuple[Any, bool]]:
    """Yield the event of each scalar that is a string and no key, and whether it is in brackets or braces."""
    resolver = yaml.resolver.Resolver()
    is_key: list[bool | None] = []
    """For each open collection whether a key is next; None for a sequence."""
    flows: list[bool] = []
    try:
        for event in yaml.parse(content, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.CollectionEndEvent):
                is_key.pop()
                flows.pop()
            if not isinstance(event, yaml.NodeEvent):
                continue
            key = bool(is_key and is_key[-1])
            if is_key and is_key[-1] is not None:
                is_key[-1] = not key
            if isinstance(event, yaml.CollectionStartEvent):
                is_key.append(True if isinstance(event, yaml.MappingStartEvent) else None)
                flows.append(bool(event.flow_style))
            elif isinstance(event, yaml.ScalarEvent) and not key:
                tag = event.tag or (resolver.resolve(yaml.ScalarNode, event.value, (True, False)) if not event.style else _STRING)
                if tag in (_STRING, "!"):
                    yield event, any(flows)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise InputError(f"{name}{line}: not YAML: {error.problem}") from error
    except yaml.YAMLError as error:
        raise InputError(f"{name}: not YAML: {str(error).splitlines()[0]}") from error


def _segments(content: str, event: Any, is_flow: bool, yaml: Any) -> list[Segment]:
    """The segments of a scalar: its lines, or paragraphs of lines that YAML joins."""
    begin, finish, style = event.start_mark.index, event.end_mark.index, str(event.style or "")
    begin = _PROPERTIES.match(content, begin, finish).end()  # type: ignore[union-attr]
    if style in ("|", ">"):
        header = _HEADER.match(content, begin, finish)
        return [] if header is None else _of_block(content, header.end(), finish, is_folded=style == ">")
    if style:
        begin, finish = begin + 1, finish - 1
    quoted = None if style else partial(plain, is_flow=is_flow)
    layout = Layout(escape=_IN_QUOTES.get(style, str), quoted=quoted)
    if _BLANK_LINE.search(content, begin, finish):
        return []
    segments: list[Segment] = []
    for first, last in _between_breaks(content, begin, finish) if style == '"' else [(begin, finish)]:
        parts = unescaped(content, first, last, _ESCAPES.get(style, _NONE), partial(_undone, yaml))
        if "\n" not in content[first:last]:
            segments += value_segments(parts, layout)
            continue
        view = view_of(part for part in parts if part[0])
        joined = text_segment(Segment(view.text, view.pieces), 0, len(view.text))
        if joined is not None:
            wrapped = replace(joined[0].layout, escape=layout.escape, quoted=layout.quoted)
            segments.append(replace(joined[0], layout=wrapped))
    return segments


def _of_block(content: str, begin: int, finish: int, *, is_folded: bool) -> list[Segment]:
    """The segments of a block scalar: its lines, or those paragraphs of a folded one whose lines are indented alike."""
    segments: list[Segment] = []
    for paragraph in _PARAGRAPH.finditer(content, begin, finish):
        lines: Part = (paragraph.group(), *paragraph.span(), "text")
        whole = view_of([lines])
        indents = {indent.group() for indent in _INDENT.finditer(paragraph.group())}
        if is_folded and len(indents) == 1 and "\n" in paragraph.group():
            joined = text_segment(Segment(whole.text, whole.pieces), 0, len(whole.text))
            segments += [] if joined is None else [joined[0]]
        else:
            segments += value_segments([lines], Layout())
    return segments


def _between_breaks(content: str, begin: int, finish: int) -> Iterator[tuple[int, int]]:
    """Yield begin and end of the parts between the escapes of line breaks."""
    for match in _ESCAPED_LINE_BREAK.finditer(content, begin, finish):
        yield begin, match.start("break")
        begin = match.end()
    yield begin, finish


def _undone(yaml: Any, escape: re.Match[str]) -> str:
    text = escape[0]
    if text == "''":
        return "'"
    return "" if text[1] in "\r\n" else str(yaml.safe_load(f'"{text}"'))
