"""Spaces that are wrong beside punctuation marks and between words of English prose: `it .It is`, `a test .`, `This  line`; and accents
in place of apostrophes."""

import re

from specdec_cli.text.edits import Edit
from specdec_cli.text.locale.languages import is_function_word
from specdec_cli.text.marks import ACCENTS

_GLUED = re.compile(r"(?<=[^\W\d_]{2})( ?)([.!?])(?=([A-Z][a-z']*)\b)")
"""A mark without a space after it, before a word with a capital, which is the third group."""
_BEFORE = re.compile(r"(?<=[\w)\"\u201d]) ([.,!?;])(?=\s|$)(?! ?[.!?])|(?<=[a-z]) (,)(?=[A-Za-z])")
"""A space before a mark, which is the first group; the second one is a comma that has no space after it."""
_ATTACHED = re.compile(r"[^\W\d_]{2}(?:,|[;!?]|\.(?=\s+[A-Z]))(?=\s|$)|[a-z] ,[A-Za-z]")
"""A mark that follows a word, as it does not in text whose words and marks are divided by spaces."""
_REPEATED = re.compile(r"(?:(?<=[^\W\d_])|(?<=,)) {2}(?=[^\W\d_])")
"""Two spaces inside a sentence; after a full stop they are a style, and beside numbers they align columns."""
_ACCENT = re.compile(rf"(?<=[A-Za-z])[{ACCENTS}](?=(?:[tsmd]|re|ve|ll)\b)")
_SPACES = re.compile(r"\s{2,}|\t")
SCORE, TYPE = 1.0, "R:ORTH"
"""The score of an edit of spaces, which is right or is not made, and the type of the error."""


def spaces_beside_marks(text: str) -> list[Edit]:
    """Edits that put the space beside a mark after it: a word with a small letter before the mark, and after it a word with a capital, show
    that a sentence ends there. After a full stop without a space it must be a function word (`e.g.This` and `user.Name` end none).

    A space before a mark is removed only where other marks of the text show that these are not divided by spaces throughout.
    """
    found = [_edit(mark, f"{mark[2]} ") for mark in _GLUED.finditer(text) if _ends_sentence(mark)]
    if (found or _ATTACHED.search(text)) and " . ." not in text:
        found += [_edit(mark, mark[1] or f"{mark[2]} ") for mark in _BEFORE.finditer(text) if not (mark[1] == "." and _lacks_word(mark))]
    return sorted(found)


def apostrophes(text: str) -> list[Edit]:
    """Edits that put apostrophes in place of accents in the short forms of English words, as in don`t."""
    return [_edit(accent, "'") for accent in _ACCENT.finditer(text)]


def repeated_spaces(text: str) -> list[Edit]:
    """Edits that make one space of two inside a sentence. Other wide spaces of the text, or tabs, show that it is a table."""
    found = list(_REPEATED.finditer(text))
    inside = len(_SPACES.findall(text.strip()))
    return [_edit(spaces, " ") for spaces in found] if found and inside == len(found) <= 2 and text.strip()[-1] in ".!?" else []


def _ends_sentence(mark: re.Match[str]) -> bool:
    if not _word_before(mark).islower() or mark[3] == "Net":
        return False
    return mark[1] != "" or mark[2] != "." or is_function_word(mark[3], "en")


def _lacks_word(mark: re.Match[str]) -> bool:
    """Whether a function word stands before a mark: then a word such as a link is perhaps missing, as in `it went to .`"""
    return is_function_word(_word_before(mark), "en")


def _word_before(mark: re.Match[str]) -> str:
    """The letters directly before a mark."""
    text, start = mark.string, mark.start()
    while start and text[start - 1].isalnum() and not text[start - 1].isdecimal():
        start -= 1
    return text[start : mark.start()]


def _edit(found: re.Match[str], text: str) -> Edit:
    return Edit(found.start(), found.end(), found[0], text, score=SCORE, types=(TYPE,))
