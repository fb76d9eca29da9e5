"""Markers before and after the text of a line: bullets, heading and quotation signs, comment signs, log stamps,
tags, keys.
"""

import re
from typing import NamedTuple

from specdec_cli.text.protected import EMOJI

_DATE = r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:Z|[+-]\d{2}:?\d{2})?|\d{2}:\d{2}:\d{2}(?:[.,]\d+)?"
_LEVEL = r"\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)\]?:?"
_HEAD = re.compile(
    "|".join(
        (
            r"[\s\ufeff]+",
            r">+(?=[\s\w])",  # a quotation
            r"(?:\.{3}|\u2026)\s*(?=\w)",  # the rest of a sentence
            r"[-*+\u2022\u2023\u25e6\u25aa\u00b7\u2013\u2014]\s+(?:\[[ xX]\]\s+)?",  # an item of a list
            r"(?:\(\d{1,2}\)|\d{1,3}[.)])\s+|\d{1,2}(?:\.\d{1,3})+\.?\s+(?=[A-Z])|\(?(?:[A-Za-z]|[ivx]{2,5})\)\s+",  # a number
            r"\.\. [a-z]+::(?:\s+|$)|:[A-Za-z][\w-]*(?: [\w.*-]+){0,3}:\s+",  # a directive or field of reStructuredText
            r"(?:#{1,6}|#[:.,|~]|={1,6}|\*{2,6})\s+",  # a heading, a comment
            r"(?://+!?|/\*+|%+|;+|--|<!--|\.\.)\s+|(?:\"{3}|'{3})(?=\w)",  # a comment
            r"\|\s*",  # a row of a table
            rf"\[?(?:{_DATE})\]?:?\s+(?:{_LEVEL}\s+)?(?:[\w.-]+(?:\[\d+\])?:\s+)?|\[(?:[A-Z]+|(?=[\s.:,-]*\d)[\d\s.:,-]++)\]:?\s+",  # a log
            r"[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2}\s+\S+\s+[\w./-]+(?:\[\d+\])?:\s+",
            r"[^\s:]+:\d+(?::\d+)?:\s+(?:(?:fatal )?(?:error|warning|note):\s+)?",  # what a compiler says
            r"\\item(?:\[[^][]*\])?\s+|\{\\[^{}]*\}",
            rf"{EMOJI}\s*",
        )
    )
)
_TAG = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>\s*")
_TAIL = re.compile(rf"(?:</?[A-Za-z][\w:.-]*(?:\s[^<>]*)?/?>|\s(?:\||\*+/|-->|\\|[#=]+)|{EMOJI})$")
_MAX_MARK_LENGTH = 256
"""The largest number of characters in a mark at the end of a line."""
# Opening marks, each with the mark that must close it at the end of the line.
_PAIRS = tuple(
    (re.compile(opening), re.compile(closing))
    for opening, closing in (
        (r"(?:msgid(?:_plural)?|msgctxt|msgstr(?:\[\d+\])?)\s+\"", r"(?:\\n)?\"$"),
        (r"\"[^\"]+\"\s*:\s*\"", r"\"\s*,?$"),
        (r"\"", r"\\n\"$"),
        (r"[\w.-]+\s*=\s*\"(?=[^\"\s]*\s[^\"]*\"\s*[,;]?$)", r"\"\s*[,;]?$"),
        (r"[\w.-]+\s*=\s*(?=[^\s\"'=(){}]+\s[^=(){};]+$)", r"$"),
        (r"\\(?:(?:sub)*section|chapter|paragraph|caption|title)\*?\{(?=[^{}]*\}$)", r"\}$"),
        (r"(?<=\"{3})", r"\"{3}$"),
        (r"(?<='{3})", r"'{3}$"),
    )
)


class Marked(NamedTuple):
    """A line in three parts: markers and white space before the text, the text, and markers and white space after
    it.
    """

    head: str
    body: str
    tail: str


def split_marks(line: str) -> Marked:
    """Split `line` into the markers before its text, the text, and the markers after it.

    Markers are bullets, heading, quotation and comment signs, log stamps, tags, keys and the like. The text is
    stripped of white space, and may be empty; the markers include this white space, so the three parts joined are
    `line`.
    """
    start = _head_end(line)
    end = _tail_start(line, start)
    for opening, closing in _PAIRS:
        opened = opening.match(line, start)
        if opened and (closed := closing.search(line[:end], opened.end())):
            start, end = opened.end(), closed.start()
            break
    body = line[start:end]
    start += len(body) - len(body.lstrip())
    end = max(start, end - len(body) + len(body.rstrip()))
    return Marked(line[:start], line[start:end], line[end:])


def _head_end(line: str) -> int:
    position = 0
    while position < len(line):
        mark = _HEAD.match(line, position) or _opening_tag(line, position)
        if mark is None:
            break
        position = mark.end()
    return position


def _tail_start(line: str, start: int) -> int:
    end = len(line)
    while end > start:
        window = line[max(start, end - _MAX_MARK_LENGTH) : end]
        kept = window.rstrip()
        mark = _TAIL.search(kept)
        if mark is None:
            return end if kept == window else end - len(window) + len(kept)
        end -= len(window) - mark.start()
    return end


def _opening_tag(line: str, position: int) -> re.Match[str] | None:
    """The tag at `position`, if it encloses all of the text after it or none of it."""
    tag = _TAG.match(line, position)
    if tag is None:
        return None
    rest, closing = line[tag.end() :], f"</{tag[1]}>"
    closes = rest.count(closing) - rest.count(f"<{tag[1]}>") - rest.count(f"<{tag[1]} ")
    return tag if closes == 0 or (closes == 1 and closing in rest[_tail_start(rest, 0) :]) else None
