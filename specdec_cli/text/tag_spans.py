"""Pairs of inline tags, such as those of bold text, and void items, in a line whose sentences are translated without them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import NamedTuple

from specdec_cli.text.inline_tags import Tag, Untagged, untagged
from specdec_cli.text.sentences import Segments, whole_line
from specdec_cli.text.void_items import Side, without_voids

_NAME = re.compile(r"</?([A-Za-z]\w*)")
_DEEPEST = 16
"""Most tags of a line that are open at one place; the tags of other lines stay in its text."""
Pair = tuple[Tag, Tag]


class _Item(NamedTuple):
    """A tag or void item in a line without both: `width` characters at the offset `place` are in its place."""

    place: int
    width: int
    text: str


@dataclass(frozen=True)
class TagSpan:
    """The characters `start` to `end` of a text are between the tags `opening` and `closing`; a tag outside the text is ""."""

    start: int
    end: int
    opening: str
    closing: str


@dataclass(frozen=True)
class VoidSpan:
    """A void item, such as a line break, in place of the characters `start` to `end` of a text: a space, or no character.

    `owner` is the index of the innermost span that contains it, -1 if none does. `spans` is the number of spans of the text that begin
    before it.
    """

    start: int
    end: int
    item: str
    side: Side
    owner: int = -1
    spans: int = 0


@dataclass(frozen=True)
class InlineTags:
    """The spans of a text in order of their beginnings, outer ones first, and its void items in order."""

    spans: tuple[TagSpan, ...] = ()
    voids: tuple[VoidSpan, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.spans or self.voids)


NO_TAGS = InlineTags()


@dataclass(frozen=True)
class TaggedSegments:
    """The `segments` of a line without its tags and void items. `tagged` are the same with those in the gaps that are around whole
    texts and between them. `inner` has the other ones of each text.
    """

    segments: Segments
    tagged: Segments
    inner: tuple[InlineTags, ...]


def without_tags(source: str) -> Untagged:
    """Return `source` without its void items and its inline tags. If the tags are no pairs, one inside or after the other, all of them
    remain.
    """
    rest, voids = without_voids(source)
    plain = untagged(rest)
    if plain.tags and _pairs(plain) is None:
        plain = Untagged(rest, rest)
    marks = tuple(void.place for void in voids)
    ends = [tag.end for tag in plain.tags]
    starts = [tag.start for tag in plain.tags]
    removed = [0, *accumulate(end - start for start, end in zip(starts, ends, strict=True))]
    moved = tuple(replace(void, place=void.place - removed[bisect_right(ends, void.place)]) for void in voids)
    return replace(plain, voids=moved, marks=marks)


def distributed(plain: Untagged, segments: Segments) -> TaggedSegments:
    """Distribute the tags and void items of a line over its `segments`, whose texts have none and are not empty."""
    if not plain.tags and not plain.voids:
        return TaggedSegments(segments, segments, (NO_TAGS,) * len(segments.texts))
    lengths = [len(part) for pair in zip(segments.gaps, (*segments.texts, ""), strict=True) for part in pair]
    edges = list(pairwise(accumulate(lengths, initial=0)))
    places = [tag.place for tag in plain.tags]
    void_places = [void.place for void in plain.voids]
    counterparts = {tag.start: pair for pair in _pairs(plain) or [] for tag in pair}
    inner, taken, placed = [], set[int](), set[int]()
    for start, end in edges[1:-1:2]:
        tags = plain.tags[bisect_right(places, start) : bisect_left(places, end)]
        pairs = sorted({counterparts[tag.start] for tag in tags}, key=_begin)
        taken |= {tag.start for pair in pairs for tag in pair if start <= tag.place <= end}
        near = range(bisect_left(void_places, start), bisect_right(void_places, end))
        voids = dict(_voids(plain, near, pairs, start, end))
        placed.update(voids)
        inner.append(InlineTags(tuple(_clipped(plain, pair, start, end) for pair in pairs), tuple(voids.values())))
    left = _left(plain, taken, placed)
    gaps = tuple(_with_items(plain.text, left, *edge) for edge in edges[::2])
    return TaggedSegments(segments, replace(segments, gaps=gaps), tuple(inner))


def tags_around(source: str) -> tuple[str, str]:
    """The tags and void items around all of `source`: those before its text, and those after it."""
    before, after = _whole(source).tagged.gaps
    return before, after


def tags_inside(source: str) -> InlineTags:
    """The tags and void items of `source`, without those around all of it."""
    return _whole(source).inner[0]


def _whole(source: str) -> TaggedSegments:
    plain = without_tags(source)
    return distributed(plain, whole_line(plain.text) if plain.text.strip() else Segments((plain.text,), ("", "")))


def _voids(plain: Untagged, numbers: Sequence[int], pairs: Sequence[Pair], first: int, last: int) -> Iterator[tuple[int, VoidSpan]]:
    """Those void items with these `numbers` that are in the text from `first` to `last`, or at its ends in one of its `pairs`."""
    for number in numbers:
        void, mark = plain.voids[number], plain.marks[number]
        start, end = void.place, void.place + void.width
        owners = [index for index, (opening, closing) in enumerate(pairs) if opening.start < mark < closing.end]
        if (first < start and end < last) or (owners and first <= start and end <= last):
            spans = sum(opening.start < mark for opening, _ in pairs)
            yield number, VoidSpan(start - first, end - first, void.item, void.side, owners[-1] if owners else -1, spans)


def _left(plain: Untagged, taken: Collection[int], placed: Collection[int]) -> list[_Item]:
    """The tags and void items that are in no text, in order."""
    tags = [(tag.start, _Item(tag.place, 0, plain.source[tag.start : tag.end])) for tag in plain.tags if tag.start not in taken]
    voids = [
        (mark, _Item(void.place, void.width, void.item))
        for number, (void, mark) in enumerate(zip(plain.voids, plain.marks, strict=True))
        if number not in placed
    ]
    return [item for _, item in sorted([*voids, *tags], key=lambda each: each[0])]


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


def _item_place(item: _Item) -> int:
    return item.place


def _with_items(text: str, items: Sequence[_Item], start: int, end: int) -> str:
    """The characters `start` to `end` of a line, with those of `items` that are there and at both ends."""
    pieces, position = [], start
    for item in items[bisect_left(items, start, key=_item_place) : bisect_right(items, end, key=_item_place)]:
        if item.place + item.width <= end:
            pieces += [text[position : item.place], item.text]
            position = item.place + item.width
    return "".join([*pieces, text[position:end]])


def _clipped(plain: Untagged, pair: Pair, first: int, last: int) -> TagSpan:
    """The part of a pair that is in the text from `first` to `last`."""
    start, end = (min(max(tag.place, first), last) - first for tag in pair)
    opening, closing = (plain.source[tag.start : tag.end] if first <= tag.place <= last else "" for tag in pair)
    return TagSpan(start, end, opening, closing)
