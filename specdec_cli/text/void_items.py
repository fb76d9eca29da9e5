"""Inline items without a meaning in their sentence, such as line breaks, images and marks of footnotes: they are removed from it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

from specdec_cli.text.protected import TAG_ATTRIBUTES

Side = Literal["before", "after", "gap"]
"""Where an item is: before the word that follows it, after the word before it, or in the place of the space between both."""
RAISED = (
    rf"<sup(?:{TAG_ATTRIBUTES})?>(?:<a\s[^<>]*>)?(?:\[[^][<>A-Za-z\u00c0-\u024f]{{0,16}}\](?:\([^()\s]*\))?"
    r"|[^][<>A-Za-z\u00c0-\u024f]{0,16})(?:</a>)?</sup>"
)
"""A superscript without letters: a mark of a note, or an exponent."""
_ITEM = re.compile(
    rf"(?P<breaks><(?i:br|hr|img|input)(?:{TAG_ATTRIBUTES}|\s*/)?>|<n\d+/>)"  # what separates words, as a space does
    r"|<v\d+/>|<(?i:wbr)\s*/?>|<!--.*?-->|(?<=[^\s(])\[\^\w{1,64}\]"
    rf"|{RAISED}"
    r"|<(?P<outer>g\d+)>(?:<(?P<inner>g\d+)></(?P=inner)>|<n\d+/>)?</(?P=outer)>"
)
_SIGN = re.compile(r"<[\w!]|\[\^")
_CODE = re.compile(r"(?<!`)(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)")
_TAGS_BEFORE, _TAGS_AFTER = re.compile(r"(?:</?\w[^<>]*>)+$"), re.compile(r"(?:</?\w[^<>]*>)+")
_MARKUP = re.compile(r"</?\w[^<>]*>|\s+")
_LONGEST_TAGS = 256
_STOPS = ".,;:!?)]\u2026\u201d\u00bb"


@dataclass(frozen=True)
class Void:
    """A removed `item`, with the white space beside it that was removed too.

    In the text without items, `width` spaces (0 or 1) at the offset `place` are in its place.
    """

    place: int
    width: int
    item: str
    side: Side


class _Run(NamedTuple):
    """Items from `start` to `end` with only white space between them; whether one of them separates words."""

    start: int
    end: int
    breaks: bool


def without_voids(source: str) -> tuple[str, tuple[Void, ...]]:
    """Return `source` without its void items, and these in order. Items in code between backquotes remain."""
    if not _SIGN.search(source):
        return source, ()
    voids: list[Void] = []
    pieces: list[str] = []
    position = length = 0
    for run in _runs(source):
        start, end, width, side = _removed(source, run, position)
        pieces += [source[position:start], " " * width]
        length += start - position
        voids.append(Void(length, width, source[start:end], side))
        length += width
        position = end
    return "".join([*pieces, source[position:]]), tuple(voids)


def _runs(source: str) -> Iterator[_Run]:
    code = [found.span() for found in _CODE.finditer(source)] if "`" in source else []
    run: _Run | None = None
    for found in _ITEM.finditer(source):
        if any(start < found.start() < end for start, end in code):
            continue
        breaks = found["breaks"] is not None
        if run is not None and not source[run.end : found.start()].strip():
            run = _Run(run.start, found.end(), run.breaks or breaks)
        else:
            yield from (each for each in (run,) if each)
            run = _Run(*found.span(), breaks)
    yield from (each for each in (run,) if each)


def _removed(source: str, run: _Run, begin: int) -> tuple[int, int, int, Side]:
    """What is removed with a run: first and last offset, at least `begin`, the spaces in its place, and its side."""
    before, after = source[begin : run.start], source[run.end :]
    start, end = begin + len(before.rstrip()), len(source) - len(after.lstrip())
    has_left, has_right = start < run.start, run.end < end
    spaced_left, spaced_right = has_left or _is_spaced_before(source, run.start), has_right or _is_spaced_after(source, run.end)
    has_text_after = _MARKUP.sub("", after[:_LONGEST_TAGS]) != ""
    if not (has_text_after and _MARKUP.sub("", source[max(start - _LONGEST_TAGS, 0) : start])):
        return run.start, run.end, 0, "before" if has_text_after else "after"
    if source[run.end : run.end + 1] in _STOPS and (has_left or run.breaks):
        return start, run.end, 0, "after"
    if not run.breaks and not (spaced_left and spaced_right):
        return run.start, run.end, 0, "before" if spaced_left else "after"
    if spaced_left > has_left or spaced_right > has_right:  # there is a space beyond tags
        return start, end, 0, "before" if spaced_left > has_left else "after"
    return start, end, 1, "gap"


def _is_spaced_before(source: str, place: int) -> bool:
    """Whether white space is before the tags that end at `place`."""
    window = source[max(place - _LONGEST_TAGS, 0) : place]
    tags = _TAGS_BEFORE.search(window)
    return tags is not None and window[: tags.start()][-1:].isspace()


def _is_spaced_after(source: str, place: int) -> bool:
    tags = _TAGS_AFTER.match(source, place)
    return tags is not None and source[tags.end() : tags.end() + 1].isspace()
