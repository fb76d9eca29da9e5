"""Joining of wrapped paragraphs to one line each, and wrapping of their output."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.errors import InputError
from specdec_cli.text.line_ends import find_wrapped
from specdec_cli.text.lines import Line
from specdec_cli.text.marks import Marked, split_marks
from specdec_cli.text.passthrough import is_code

_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\(?\w{1,5}[.)])\s")
_ROW = re.compile(r"\t|\|")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_BLOCK = 200
"""The largest number of lines in which `join_wrapped` looks for wrapped paragraphs together."""


@dataclass(frozen=True)
class Paragraph(Line):
    """Several lines joined to one: `text` has them separated by spaces, without the markers before the text of all
    but the first.

    For each of the original `lines`, `heads` has the markers before its text, and `starts` the offset in `text`, in
    code points, at which the line begins there: with its markers for the first line, without them for the others.
    `width` is the number of characters of the longest line. The other fields are those of a Line.
    """

    lines: tuple[Line, ...] = ()
    heads: tuple[str, ...] = ()
    starts: tuple[int, ...] = ()
    width: int = 0


def join_paragraphs(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield `lines`, with the lines of each paragraph joined to one Paragraph.

    A line continues a paragraph if it has text that is neither code nor a table row, and the same markers before it
    (comment or quotation sign, indentation) or, after a list item, white space. A line ends its paragraph if it has
    less than half the length of the longest, or ends with two spaces or a backslash. If reading `lines` raises
    InputError, the lines that were read before it are yielded first.
    """
    block: list[tuple[Line, Marked]] = []
    try:
        for line in lines:
            marked = split_marks(line.text)
            is_text = _is_text(line.text, marked)
            if block and not (is_text and block[-1][0].file == line.file and _goes_on([one for _, one in block], marked)):
                yield from _paragraphs(block)
                block = []
            if is_text:
                block.append((line, marked))
            else:
                yield line
    except InputError:
        yield from _paragraphs(block)
        raise
    yield from _paragraphs(block)


def join_wrapped(lines: Iterable[Line], chosen: Callable[[Line], bool] = lambda _: True) -> Iterator[Line]:
    """Yield `lines`, with the lines of each paragraph that is wrapped (see `find_wrapped`) joined to one Paragraph.

    In contrast to `join_paragraphs`, text with one sentence per line is not joined, and neither are lines that are not `chosen`
    (default: all are). If reading `lines` raises InputError, the lines that were read before it are yielded first.
    """
    block: list[Line] = []
    try:
        for line in lines:
            if not chosen(line):
                yield from _wrapped_paragraphs(block)
                block = []
                yield line
                continue
            if block and (block[-1].file != line.file or not block[-1].text.strip() or len(block) == _LONGEST_BLOCK):
                yield from _wrapped_paragraphs(block)
                block = []
            block.append(line)
    except InputError:
        yield from _wrapped_paragraphs(block)
        raise
    yield from _wrapped_paragraphs(block)


def rewrapped(line: Line, text: str) -> Iterator[tuple[str, str]]:
    """Yield the output lines, each with its line ending, for an input line whose output is `text`.

    The output of a Paragraph is wrapped at its width; a word that is longer than the width has a line of its own. A
    Paragraph whose output equals its text keeps its lines. Any other line is one output line.
    """
    if not isinstance(line, Paragraph):
        yield text, line.ending
    elif text == line.text:
        yield from ((one.text, one.ending) for one in line.lines)
    else:
        *first, last = _wrapped(text, line.width, line.heads[1])
        yield from ((one, line.lines[0].ending) for one in first)
        yield last, line.ending


def unwrapped_lines(line: Line) -> tuple[Line, ...]:
    """The lines that `line` was joined from, if it is a Paragraph, else `line` itself."""
    return line.lines if isinstance(line, Paragraph) else (line,)


def _is_text(text: str, marked: Marked) -> bool:
    return bool(_LETTER.search(marked.body)) and not is_code(text) and not _ROW.search(text.strip())


def _goes_on(block: Sequence[Marked], following: Marked) -> bool:
    last = block[-1]
    if last.tail not in ("", " "):
        return False
    if len(block) == 1 and (_ITEM.match(last.head) or last.head.isspace()):
        deeper = following.head.isspace() or (not following.head and last.head.isspace())
        return deeper and (bool(following.head) or not _ITEM.match(last.head))
    return following.head == last.head and not _ITEM.match(last.head) and not last.head.startswith("##")


def _paragraphs(block: list[tuple[Line, Marked]]) -> Iterator[Line]:
    """Yield the paragraphs of a block, which end after short lines."""
    width = max((len(line.text) for line, _ in block), default=0)
    group: list[tuple[Line, Marked]] = []
    for number, (line, marked) in enumerate(block, 1):
        group.append((line, marked))
        if 2 * len(line.text) < width or number == len(block):
            yield _joined(group, width)
            group = []


def _wrapped_paragraphs(block: list[Line]) -> Iterator[Line]:
    marked = [split_marks(line.text) for line in block]
    goes_on = find_wrapped([line.text for line in block])
    group: list[tuple[Line, Marked]] = []
    for line, mark, more in zip(block, marked, goes_on, strict=True):
        group.append((line, mark))
        if not (more and _is_text(line.text, mark)):
            yield _joined(group, max(len(one.text) for one, _ in group))
            group = []


def _joined(group: list[tuple[Line, Marked]], width: int) -> Line:
    first, last = group[0][0], group[-1][0]
    if len(group) == 1:
        return first
    text, starts = first.text.rstrip(), [0]
    for line, marked in group[1:]:
        starts.append(len(text) + 1)
        text = f"{text} {line.text[len(marked.head) :].rstrip() if line is not last else line.text[len(marked.head) :]}"
    lines, heads = tuple(line for line, _ in group), tuple(marked.head for _, marked in group)
    return Paragraph(first.number, text, last.ending, first.location, first.file, lines, heads, tuple(starts), width)


def wrap_words(words: Sequence[str], width: int, first: int, indent: int, can_begin: Callable[[str], bool] = bool) -> Iterator[list[str]]:
    """Yield `words` in groups, one for each line of at most `width` characters; a longer word has a line of its own.

    The first line already has `first` characters, and every other one `indent`. A word for which `can_begin` is false
    does not begin a line.
    """
    group: list[str] = []
    used = first
    for word in words:
        if group and used + 1 + len(word) > width and can_begin(word):
            yield group
            group, used = [], indent
        used += len(word) + bool(group)
        group.append(word)
    yield group


def _wrapped(text: str, width: int, head: str) -> Iterator[str]:
    """Yield `text` in lines of at most `width` characters; all but the first begin with the mark `head`."""
    start = len(split_marks(text).head)
    for number, words in enumerate(wrap_words(text[start:].split(" "), width, start, len(head), lambda _: True)):
        yield (head if number else text[:start]) + " ".join(words)
