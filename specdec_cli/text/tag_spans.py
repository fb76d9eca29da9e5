"""Pairs of inline tags, such as those of bold text, in a line whose sentences are translated without them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise

from specdec_cli.text.inline_tags import Tag, Untagged, untagged
from specdec_cli.text.sentences import Segments

_NAME = re.compile(r"</?([A-Za-z]\w*)")
_DEEPEST = 16
"""Most tags of a line that are open at one place; the tags of other lines stay in its text."""
Pair = tuple[Tag, Tag]


@dataclass(frozen=True)
class TagSpan:
    """The characters `start` to `end` of a text are between the tags `opening` and `closing`; a tag outside the text is ""."""

    start: int
    end: int
    opening: str
    closing: str


@dataclass(frozen=True)
class TaggedSegments:
    """The `segments` of a line without its tags. `tagged` are the same with tags in the gaps: those that are around whole texts and
    between them. `spans` has the other ones of each text, in order of their beginnings, outer spans first.
    """

    segments: Segments
    tagged: Segments
    spans: tuple[tuple[TagSpan, ...], ...]


def without_pairs(source: str) -> Untagged:
    """Return `source` without its inline tags if these are pairs, one inside or after the other; else all tags remain."""
    plain = untagged(source)
    return plain if not plain.tags or _pairs(plain) is not None else Untagged(source, source)


def distributed(plain: Untagged, segments: Segments) -> TaggedSegments:
    """Distribute the tags of a line over its `segments`, whose texts have none and are not empty."""
    lengths = [len(part) for pair in zip(segments.gaps, (*segments.texts, ""), strict=True) for part in pair]
    edges = list(pairwise(accumulate(lengths, initial=0)))
    places = [tag.place for tag in plain.tags]
    counterparts = {tag.start: pair for pair in _pairs(plain) or [] for tag in pair}
    spans, taken = [], set[int]()
    for start, end in edges[1:-1:2]:
        tags = plain.tags[bisect_right(places, start) : bisect_left(places, end)]
        pairs = sorted({counterparts[tag.start] for tag in tags}, key=_begin)
        taken |= {tag.start for pair in pairs for tag in pair if start <= tag.place <= end}
        spans.append(tuple(_clipped(plain, pair, start, end) for pair in pairs))
    left = [tag for tag in plain.tags if tag.start not in taken]
    gaps = tuple(_with_tags(plain, left, *edge) for edge in edges[::2])
    return TaggedSegments(segments, replace(segments, gaps=gaps), tuple(spans))


def tags_around(source: str) -> tuple[str, str]:
    """The tags around all of `source`: those that open before its text, and those that close after it."""
    before, after = _whole(source).tagged.gaps
    return before, after


def spans_inside(source: str) -> tuple[TagSpan, ...]:
    """The spans of the tags of `source`, without those around all of it."""
    return _whole(source).spans[0]


def _whole(source: str) -> TaggedSegments:
    plain = without_pairs(source)
    return distributed(plain, Segments((plain.text,), ("", "")))


def _pairs(plain: Untagged) -> list[Pair] | None:
    """The pairs of the tags of a line, in order of the opening tags; None if a tag has no counterpart, if pairs overlap,
    or if more than _DEEPEST are inside each other.
    """
    opened: list[Tag] = []
    pairs: list[Pair] = []
    for tag in plain.tags:
        if not tag.closes and len(opened) < _DEEPEST:
            opened.append(tag)
        elif not tag.closes or not opened or _name(plain, opened[-1]) != _name(plain, tag):
            return None
        else:
            pairs.append((opened.pop(), tag))
    return None if opened else sorted(pairs, key=_begin)


def _name(plain: Untagged, tag: Tag) -> str:
    found = _NAME.match(plain.source, tag.start)
    return found[1].lower() if found else ""


def _begin(pair: Pair) -> int:
    return pair[0].start


def _place(tag: Tag) -> int:
    return tag.place


def _with_tags(plain: Untagged, tags: Sequence[Tag], start: int, end: int) -> str:
    """The characters `start` to `end` of a line, with those of `tags` that are there and at both ends."""
    first, last = bisect_left(tags, start, key=_place), bisect_right(tags, end, key=_place)
    pieces, position = [], start
    for tag in tags[first:last]:
        pieces += [plain.text[position : tag.place], plain.source[tag.start : tag.end]]
        position = tag.place
    return "".join([*pieces, plain.text[position:end]])


def _clipped(plain: Untagged, pair: Pair, first: int, last: int) -> TagSpan:
    """The part of a pair that is in the text from `first` to `last`."""
    start, end = (min(max(tag.place, first), last) - first for tag in pair)
    opening, closing = (plain.source[tag.start : tag.end] if first <= tag.place <= last else "" for tag in pair)
    return TagSpan(start, end, opening, closing)
