"""Detection of sentences that continue on the next line, and removal of edits that must not be made at the ends and beginnings
of lines.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from specdec_cli.text.edits import Edit, count_words
from specdec_cli.text.marks import Marked, split_marks

_END = re.compile(r"[.!?\u2026:;\u3002\uff01\uff1f][\"')\]\u2019\u201d\u00bb]*$")
_ADDED = re.compile(r"(?<!\.)[.,;:?!]$")
_STOPS = ".?!\u3002\uff01\uff1f"
_MARKS = _STOPS + ",;:\u2026\uff0c\uff1b\uff1a\u3001"
_PAUSES = ",;:\u2013\u2014"
_STOP = re.compile(r"(?<!\.)[.!?]$")
_SENTENCE = 8
"""A line of at least so many words is a sentence, and not a title, a signature or the like."""
_COMMENT = re.compile(r"[#%/;=<]|--|\.\.")
_MAX_WRAPPED_WIDTH = 100
"""The largest number of characters in a line of a wrapped text."""
_MIN_WRAPPED_LINES = 3
"""The smallest number of lines in which wrapping is detected."""
_MIN_LENGTH = 40
"""Shorter lines (in characters) are not joined with the next one, unless the text has a visible wrap width."""


def without_added_stop(output: str, source: str) -> str:
    """Return `output` without its last character if that is one of . , ; : ? ! and `source` ends with a letter or
    digit.

    Otherwise, and if a full stop is before this character (as in an ellipsis), `output` is returned as it is.
    """
    return _ADDED.sub("", output) if source[-1:].isalnum() else output


def without_own_stop(output: str, source: str) -> str:
    """Return `output`, of a piece of a sentence that goes on after it, with the last mark of `source` in place of a final . ! or ?
    that `source` does not have; without it if `source` ends with none of , ; : and dashes.
    """
    if not _STOP.search(output) or source[-1:] in tuple(_STOPS):
        return output
    return output[:-1] + (source[-1:] if source[-1:] in tuple(_PAUSES) else "")


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


def with_own_marks(edits: Sequence[Edit], text: str, *, continues: bool = False, closes: bool = False) -> list[Edit]:
    """Return `edits` of `text`, a sentence or heading, without their changes of the punctuation after its last letter or digit.

    No mark is added there, as to a title or a signature, and none removed, as from an ellipsis. Only if the text has a single
    mark there, and it is one of . ? !, may it become another of them. Marks never replace the last word. If the sentence
    `continues` on the next line, the last word is not removed either. With `closes`, a text of at least 8 words that does not continue,
    and ends with one, may get a stop: it is a sentence.
    """
    end, last = _end_of_words(text), _marks(text[_end_of_words(text) :])
    is_sentence = closes and not continues and end == len(text) and count_words(text) >= _SENTENCE
    changeable = {last} if last in tuple(_STOPS) or is_sentence else set[str]()
    found = [_with_own_marks(edit, end, changeable) if edit.end >= end else edit for edit in edits]
    if continues:
        found = [edit for edit in found if edit.end < end or _end_of_words(edit.text) or not _end_of_words(edit.source)]
    return [edit for edit in found if edit.text != edit.source]


def with_own_beginning(edits: Sequence[Edit]) -> list[Edit]:
    """Return `edits` of a text that continues a sentence of the previous line, without those that would begin a sentence.

    The first letter keeps its case (except for the pronoun I), and no capitalised word is inserted before it.
    """
    if not edits or edits[0].start or re.match(r"I\b", edits[0].text):
        return list(edits)
    first = edits[0]._replace(text=_as_in(edits[0].source, edits[0].text))
    begins = first.text[:1].isupper() and not first.source[:1].isupper()
    return list(edits[1:]) if begins or first.text == first.source else [first, *edits[1:]]


def _blocks(lines: Sequence[str], marked: Sequence[Marked]) -> Iterator[tuple[int, list[bool]]]:
    """Yield each block of lines that can be a paragraph: the index of its first line, and for each line whether it is wrapped."""
    first = 0
    for end in range(1, len(lines) + 1):
        if end == len(lines) or not _follows(marked[end - 1], marked[end]):
            yield first, _wrapped(lines[first:end], marked[first:end])
            first = end


def _follows(line: Marked, following: Marked) -> bool:
    """Whether two lines can belong to one paragraph: both have text; their leading marks are equal, or the second has none."""
    same = following.head == line.head and not re.search(r"\w|[-*+\u2022|=]", line.head)
    plain = not following.head.strip() and not _COMMENT.search(line.head)
    return bool(line.body and following.body and (same or plain))


def _wrapped(lines: Sequence[str], marked: Sequence[Marked]) -> list[bool]:
    """For each line, whether it is wrapped; a line of less than half the length of the longest ends its paragraph."""
    width = max(map(len, lines))
    ends = [number for number, line in enumerate(lines[:-1], 1) if 2 * len(line) < width]
    found: list[bool] = []
    for first, end in pairwise([0, *ends, len(lines)]):
        words = (line.body.split()[0] for line in marked[first + 1 : end])
        full = all(len(line) + 1 + len(word) > width for line, word in zip(lines[first:end], words, strict=False))
        found += [full and end - first >= _MIN_WRAPPED_LINES and width <= _MAX_WRAPPED_WIDTH] * (end - first - 1) + [False]
    return found


def _with_own_marks(edit: Edit, end: int, changeable: Collection[str]) -> Edit:
    """The edit of a text whose words end at `end` with the punctuation of its source; if that is `changeable`, it may be a stop."""
    rest, cut = edit.source[max(0, end - edit.start) :], _end_of_words(edit.text)
    old, new = _marks(rest), _marks(edit.text[cut:])
    if old == new or (old in changeable and new in tuple(_STOPS)):
        return edit
    return edit._replace(text=edit.text[:cut] + rest if cut else edit.source)


def _end_of_words(text: str) -> int:
    """The offset after the last letter or digit of `text`."""
    return next((place for place in range(len(text), 0, -1) if text[place - 1].isalnum()), 0)


def _marks(text: str) -> str:
    """The punctuation marks of `text`, without other characters."""
    return "".join(character for character in text if character in _MARKS)


def _as_in(source: str, text: str) -> str:
    """`text` with its first letter in the case of that of `source`, if both are the same letter."""
    return source[0] + text[1:] if source[:1].lower() == text[:1].lower() != "" else text
