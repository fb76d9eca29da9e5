"""Wrapped paragraphs: sentences that continue on the next line, joining of lines, and wrapping of their output."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import Line
from specdec_cli.text.segment.code import is_code
from specdec_cli.text.segment.layout import Marked, split_marks
from specdec_cli.text.view import Part, Piece, view_of

_END = re.compile(r"[.!?\u2026:;\u3002\uff01\uff1f][\"')\]\u2019\u201d\u00bb]*$")
_COMMENT = re.compile(r"[#%/;=<]|--|\.\.")
_MAX_WRAPPED_WIDTH = 100
"""The largest number of characters in a line of a wrapped text."""
_MIN_WRAPPED_LINES = 3
"""The smallest number of lines in which wrapping is detected."""
_MIN_LENGTH = 40
"""Shorter lines (in characters) are not joined with the next one, unless the text has a visible wrap width."""


def find_continued(lines: Sequence[str]) -> list[bool]:
    """For each line, whether its last sentence continues on the next line.

    A line that does not end with punctuation continues if the next one begins in lower case, or if both belong to a
    wrapped text. A text is wrapped if it has at least three lines, no line has more than 100 characters, and the
    first word of each line would not have fitted on the line before.
    """
    if len(lines) == 1:
        return [False]
    marked = [split_marks(line) for line in lines]
    found = [False] * len(lines)
    for first, wrapped in _blocks(lines, marked):
        for index, is_wrapped in enumerate(wrapped[:-1], first):
            open_end = not _END.search(marked[index].body)
            found[index] = open_end and (is_wrapped or marked[index + 1].body[0].islower())
    return found


def find_wrapped(lines: Sequence[str]) -> list[bool]:
    """For each line, whether the next line belongs to the same wrapped paragraph.

    Other than in `find_continued`, a sentence may end with the line, but not every line of a paragraph ends one, and its
    last line ends one. Two lines that no width shows to be wrapped belong together if the first has at least 40
    characters and an unfinished sentence, and the second begins in lower case, but not among lines most of which end a
    sentence: these are a list of sentences. Lines that begin with different markers never do.
    """
    marked = [split_marks(line) for line in lines]
    found = [False] * len(lines)
    for first, wrapped in _blocks(lines, marked):
        ended = [bool(_END.search(marked[index].body)) for index in range(first, first + len(wrapped))]
        is_list = 2 * sum(ended) > len(ended)
        for index, is_wrapped in enumerate(wrapped[:-1], first):
            going = not ended[index - first] and _MIN_LENGTH <= len(lines[index]) <= _MAX_WRAPPED_WIDTH
            found[index] = is_wrapped or (going and not is_list and marked[index + 1].body[0].islower())
        start = first
        for last in (index for index in range(first, first + len(wrapped)) if not found[index]):
            ends = ended[start - first : last + 1 - first]
            if all(ends) or not ends[-1]:
                found[start:last] = [False] * (last - start)
            start = last + 1
    return found


def is_unfinished(line: str) -> bool:
    """Whether `line` has text and this text does not end with one of . ! ? … : ; or their full-width forms, with
    closing quotes or a bracket after it or not. Markers such as bullets do not count as text.
    """
    body = split_marks(line).body
    return bool(body) and not _END.search(body)


def _blocks(lines: Sequence[str], marked: Sequence[Marked]) -> Iterator[tuple[int, list[bool]]]:
    """Yield each block of lines that can be a paragraph: the index of its first line, and for each line whether it is wrapped."""
    first = 0
    for end in range(1, len(lines) + 1):
        if end == len(lines) or not _follows(marked[end - 1], marked[end]):
            yield first, _are_wrapped(lines[first:end], marked[first:end])
            first = end


def _follows(line: Marked, following: Marked) -> bool:
    """Whether two lines can belong to one paragraph: both have text; their leading marks are equal, or the second has none."""
    same = following.head == line.head and not re.search(r"\w|[-*+\u2022|=]", line.head)
    plain = not following.head.strip() and not _COMMENT.search(line.head)
    return bool(line.body and following.body and (same or plain))


def _are_wrapped(lines: Sequence[str], marked: Sequence[Marked]) -> list[bool]:
    """For each line, whether it is wrapped; a line of less than half the length of the longest ends its paragraph."""
    width = max(map(len, lines))
    ends = [number for number, line in enumerate(lines[:-1], 1) if 2 * len(line) < width]
    found: list[bool] = []
    for first, end in pairwise([0, *ends, len(lines)]):
        words = (line.body.split()[0] for line in marked[first + 1 : end])
        full = all(len(line) + 1 + len(word) > width for line, word in zip(lines[first:end], words, strict=False))
        found += [full and end - first >= _MIN_WRAPPED_LINES and width <= _MAX_WRAPPED_WIDTH] * (end - first - 1) + [False]
    return found


_ITEM = re.compile(r"\s*(?:[-*+\u2022]|\(?\w{1,5}[.)])\s")
_ROW = re.compile(r"\t|\|")
_LETTER = re.compile(r"[^\W\d_]")
_LONGEST_BLOCK = 200
"""The largest number of lines in which `join_wrapped` looks for wrapped paragraphs together."""


@dataclass(frozen=True)
class Paragraph(Line):
    """Several lines joined to one: `text` has them separated by spaces, without the markers before the text of all but the first.

    `head` is the markers before the text of the lines after the first. `pieces` are those of `text` as a view of the original `lines` with
    their endings. `width` is the number of characters of the longest line. The other fields are those of a Line.
    """

    lines: tuple[Line, ...] = ()
    head: str = ""
    pieces: tuple[Piece, ...] = ()
    width: int = 0


def join_paragraphs(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield `lines`, with the lines of each paragraph joined to one Paragraph.

    A line continues a paragraph if it has text that is neither code nor a table row, and the same markers before it (comment or quotation
    sign, indentation) or, after a list item, white space. A line ends its paragraph if it has less than half the length of the longest, or
    ends with two spaces or a backslash. If reading `lines` raises InputError, the lines that were read before it are yielded first.
    """
    block: list[tuple[Line, Marked]] = []
    try:
        for line in lines:
            marked = split_marks(line.text)
            is_text = not line.is_code and _is_text(line.text, marked)
            if block and not (is_text and block[-1][0].file == line.file and _goes_on(block, marked)):
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
        *first, last = _wrapped(text, line.width, line.head)
        yield from ((one, line.lines[0].ending) for one in first)
        yield last, line.ending


def unwrapped_lines(line: Line) -> tuple[Line, ...]:
    """The lines that `line` was joined from, if it is a Paragraph, else `line` itself."""
    return line.lines if isinstance(line, Paragraph) else (line,)


def _is_text(text: str, marked: Marked) -> bool:
    return bool(_LETTER.search(marked.body)) and not is_code(text) and not _ROW.search(text.strip())


def _goes_on(block: Sequence[tuple[Line, Marked]], following: Marked) -> bool:
    last = block[-1][1]
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
    parts, position, finish = list[Part](), 0, 0
    for line, marked in group:
        text = line.text if line is first else line.text[len(marked.head) :]
        begin = position + len(line.text) - len(text)
        parts += [] if line is first else [(" ", finish, begin, "gap")]
        text = text if line is last else text.rstrip()
        position, finish = position + len(line.text) + len(line.ending), begin + len(text)
        parts.append((text, begin, finish, "text"))
    view = view_of(parts)
    places = first.number, view.text, last.ending, first.location, first.file
    return Paragraph(*places, lines=tuple(line for line, _ in group), head=group[1][1].head, pieces=view.pieces, width=width)


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
