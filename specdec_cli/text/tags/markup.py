"""Inline tags, marks of emphasis, and items without a meaning in their sentence, such as line breaks: texts without them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from operator import attrgetter
from typing import NamedTuple

from specdec_cli.text.protect.spans import CODE, TAG_ATTRIBUTES
from specdec_cli.text.segment.sentences import Segments, whole_line
from specdec_cli.text.view import Bare, Side, Tag, Untagged

RAISED = (
    rf"<sup(?:{TAG_ATTRIBUTES})?>(?:<a\s[^<>]*>)?(?:\[[^][<>A-Za-z\u00c0-\u024f]{{0,16}}\](?:\([^()\s]*\))?"
    r"|[^][<>A-Za-z\u00c0-\u024f]{0,16})(?:</a>)?</sup>"
)
"""A superscript without letters: a mark of a note, or an exponent."""
_ITEMS = re.compile(
    rf"(?:(?:(?P<breaks><(?i:br|hr|img|input)(?:{TAG_ATTRIBUTES}|\s*/)?>|<n\d+/>|&nbsp;)"  # what separates words, as a space does
    r"|<v\d+/>|<(?i:wbr)\s*/?>|<!--.{0,2000}?-->|<ref(?:\s[^<>]*)?(?:/>|(?<!/)>[^<>]{0,2000}</ref>)|(?<=[^\s(])\[\^\w{1,64}\]"
    rf"|{RAISED}"
    r"|<(?P<outer>g\d+)>(?:<(?P<inner>g\d+)></(?P=inner)>|<n\d+/>)?</(?P=outer)>)\s*)+"
)
"""Items with only white space between them."""
_SIGN = re.compile(r"<[\w!]|\[\^|&nbsp;")
_SPACE_AND_TAGS = re.compile(r"\s(?:</?\w[^<>]*>)+$")
_TAGS_AND_SPACE = re.compile(r"(?:</?\w[^<>]*>)+\s")
_MARKUP = re.compile(r"</?\w[^<>]*>|\s+")
_LONGEST_TAGS = 256
_STOPS = ".,;:!?)]\u2026\u201d\u00bb"


def without_voids(source: str) -> Untagged:
    """Return `source` without its void items. Items in code between backquotes remain."""
    voids: list[Tag] = []
    for items in _outside_code(_ITEMS, source) if _SIGN.search(source) else ():
        start, end, width, side = _removed(source, items, voids[-1].end if voids else 0)
        voids.append(Tag(0, start, end, width=width, side=side))
    return Untagged.without(source, voids)


def _outside_code(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """Yield the matches of `pattern` that do not begin or end in code between backquotes."""
    code = [match.span() for match in re.finditer(CODE, text)] if "`" in text else []
    for match in pattern.finditer(text):
        place = bisect_left(code, (match.end(),)) - 1  # the last code that begins before its end
        if place < 0 or code[place][1] <= match.start():
            yield match


def _removed(source: str, items: re.Match[str], begin: int) -> tuple[int, int, int, Side]:
    """What is removed with items: first and last offset, at least `begin`, the spaces in its place, and its side."""
    first, last, breaks = items.start(), items.start() + len(items.group().rstrip()), items["breaks"] is not None
    before, after = source[begin:first], source[last:]
    start, end = begin + len(before.rstrip()), len(source) - len(after.lstrip())
    has_left, has_right = start < first, last < end
    spaced_left = has_left or _SPACE_AND_TAGS.search(source, max(first - _LONGEST_TAGS, 0), first) is not None
    spaced_right = has_right or _TAGS_AND_SPACE.match(source, last) is not None
    has_text_after = _MARKUP.sub("", after[:_LONGEST_TAGS]) != ""
    if not (has_text_after and _MARKUP.sub("", source[max(start - _LONGEST_TAGS, 0) : start])):
        return first, last, 0, "before" if has_text_after else "after"
    if after[:1] in _STOPS and (has_left or breaks):
        return start, last, 0, "after"
    if not breaks and not (spaced_left and spaced_right):
        return first, last, 0, "before" if spaced_left else "after"
    if spaced_left > has_left or spaced_right > has_right:  # there is a space beyond tags
        return start, end, 0, "before" if spaced_left > has_left else "after"
    return start, end, 1, "gap"


_NAMES = r"a|abbr|b|bdi|big|cite|em|font|g\d+|i|ins|label|mark|q|s|small|span|strike|strong|sub|sup|u|\d{1,2}"
"""Names of tags, also the numbers that libraries of messages give to elements: <1>here</1>."""
_ATTRIBUTE = r"\s+[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=`]+)"
_FORUM_NAMES = r"b|i|u|s|center|colou?r|email|font|left|list|quote|right|size|spoiler|url"
_TAG = re.compile(
    rf"<(?P<slash>/?)(?P<name>{_NAMES})(?P<attributes>(?:{_ATTRIBUTE})*+)\s*+>"
    rf"|\[(?P<slash2>/?)(?P<name2>{_FORUM_NAMES})(?:=[^][\n]{{1,200}})?\]",
    re.IGNORECASE,
)
"""A tag of HTML or the like, or one of forums: [b], [color=red]."""
_EMPHASIS = re.compile(
    r"(?<![\w'\\])(?P<quotes>'{2,3})(?=[\w\"(\u201c\u201e])(?=[^\n]{0,300}?[^\W\d_])(?:[^'\n]|(?<=\w)'(?=\w)){1,300}(?<!\s)(?P=quotes)(?![\w'])|"
    r"(?<![\w*~\\])(?P<mark>\*{1,3}|~~|_)(?=[\w\"'(\u201c\u201e\u2018\u00ab])"
    r"(?=[^*~_\n]{0,300}?[^\W\d_])[^*~_\n]{1,300}(?<!\s)(?P=mark)(?![\w*~])"
)
"""Emphasis by marks, as in chats, Markdown and wikis: *really*, ''really''. The marks touch the words inside them, and no word outside."""


def bare(source: str) -> Bare:
    """Return `source` without its void items and inline tags."""
    items = without_voids(source)
    return Bare(items, untagged(items.text))


def untagged(source: str) -> Untagged:
    """Return `source` without its inline tags and marks of emphasis. A tag that separates two words without a space remains, as does one
    without attributes and counterpart, such as "<b>" in "a <b> c".
    """
    runs: list[list[Tag]] = []  # tags without text between them
    for tag in _tags(source):
        if runs and runs[-1][-1].end == tag.start:
            runs[-1].append(tag)
        else:
            runs.append([tag])
    return Untagged.without(source, (tag for run in runs if not _separates_words(source, run) for tag in run))


def _separates_words(source: str, run: Sequence[Tag]) -> bool:
    """Whether tags, some of which close, and some of which open, have letters or digits on both sides."""
    start, end = run[0].start, run[-1].end
    beside = source[max(start - 1, 0) : start] + source[end : end + 1]
    return len({tag.closes for tag in run}) == 2 and len(beside) == 2 and beside.isalnum()


def _tags(source: str) -> list[Tag]:
    """The tags of `source` that have attributes or a counterpart, and the marks of emphasis, in order."""
    tags = set[Tag]()
    opened: dict[str, list[Tag]] = {}
    for match in _TAG.finditer(source):
        name = f"{match.group()[0]}{match['name'] or match['name2']}".lower()
        tag, same = Tag(0, *match.span(), bool(match["slash"] or match["slash2"]), name=name), opened.setdefault(name, [])
        if match["attributes"]:
            tags.add(tag)
        if not tag.closes:
            same.append(tag)
        elif same:
            tags |= {same.pop(), tag}
    for match in _outside_code(_EMPHASIS, source):
        (start, end), mark = match.span(), match["mark"] or match["quotes"]
        tags |= {Tag(0, start, start + len(mark), name=mark), Tag(0, end - len(mark), end, closes=True, name=mark)}
    return sorted(tags, key=lambda tag: tag.start)


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


class TaggedSegments(NamedTuple):
    """The segments of a line without its tags and void items, `tagged` with those in the gaps that are around whole texts and between
    them. `inner` has the other ones of each text.
    """

    tagged: Segments
    inner: tuple[InlineTags, ...]


def without_tags(source: str) -> Bare:
    """Return `source` without its void items and its inline tags. If the tags are no pairs, one inside or after the other, all of them
    remain.
    """
    found = bare(source)
    return replace(found, plain=Untagged(found.plain.source, found.plain.source)) if _pairs(found.plain) is None else found


def distributed(line: Bare, segments: Segments) -> TaggedSegments:
    """Distribute the tags and void items of a line over its `segments`, whose texts have none and are not empty."""
    plain = line.plain
    if not plain.tags and not line.items.tags:
        return TaggedSegments(segments, (NO_TAGS,) * len(segments.texts))
    lengths = [len(part) for pair in zip(segments.gaps, (*segments.texts, ""), strict=True) for part in pair]
    edges = list(pairwise(accumulate(lengths, initial=0)))
    places = [tag.place for tag in plain.tags]
    items = [(each.place, _void(plain.view.offset(each.place), line.items, each)) for each in line.items.tags]
    void_places = [void.start for _, void in items]
    counterparts = {tag.start: pair for pair in _pairs(plain) or [] for tag in pair}
    inner, taken, placed = [], set[int](), set[int]()
    for start, end in edges[1:-1:2]:
        tags = plain.tags[bisect_right(places, start) : bisect_left(places, end)]
        pairs = sorted({counterparts[tag.start] for tag in tags}, key=lambda pair: pair[0].start)
        taken |= {tag.start for pair in pairs for tag in pair if start <= tag.place <= end}
        near = items[bisect_left(void_places, start) : bisect_right(void_places, end)]
        voids = dict(_voids(near, pairs, start, end))
        placed.update(voids)
        inner.append(InlineTags(tuple(_clipped(plain, pair, start, end) for pair in pairs), tuple(voids.values())))
    rest = [(tag.start, _void(tag.place, plain, tag)) for tag in plain.tags if tag.start not in taken]
    rest += [each for each in items if each[0] not in placed]
    left = [item for _, item in sorted(rest, key=lambda each: each[0])]
    gaps = tuple(_with_items(plain.text, left, *edge) for edge in edges[::2])
    return TaggedSegments(replace(segments, gaps=gaps), tuple(inner))


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


def _void(place: int, line: Untagged, tag: Tag) -> VoidSpan:
    """What was removed from a line, as an item at the offset `place` of a text without it."""
    return VoidSpan(place, place + tag.width, line.source[tag.start : tag.end], tag.side)


def _voids(items: Iterable[tuple[int, VoidSpan]], pairs: Sequence[Pair], first: int, last: int) -> Iterator[tuple[int, VoidSpan]]:
    """Those of the void items that are in the text from `first` to `last`, or at its ends in one of its `pairs`, with their offsets in the
    line with tags.
    """
    for mark, void in items:
        owners = [index for index, (opening, closing) in enumerate(pairs) if opening.start < mark < closing.end]
        if (first < void.start and void.end < last) or (owners and first <= void.start and void.end <= last):
            spans = sum(opening.start < mark for opening, _ in pairs)
            owner = owners[-1] if owners else -1
            yield mark, replace(void, start=void.start - first, end=void.end - first, owner=owner, spans=spans)


def _pairs(plain: Untagged) -> list[Pair] | None:
    """The pairs of the tags of a line, in order of the opening tags; None if a tag has no counterpart, if pairs overlap,
    or if more than _DEEPEST are inside each other.
    """
    opened: list[Tag] = []
    pairs: list[Pair] = []
    for tag in plain.tags:
        if not tag.closes and len(opened) < _DEEPEST:
            opened.append(tag)
        elif not tag.closes or not opened or opened[-1].name != tag.name:
            return None
        else:
            pairs.append((opened.pop(), tag))
    return None if opened else sorted(pairs, key=lambda pair: pair[0].start)


def _with_items(text: str, items: Sequence[VoidSpan], start: int, end: int) -> str:
    """The characters `start` to `end` of a line, with those of `items` that are there and at both ends."""
    pieces, position = [], start
    for item in items[bisect_left(items, start, key=attrgetter("start")) : bisect_right(items, end, key=attrgetter("start"))]:
        if item.end <= end:
            pieces += [text[position : item.start], item.item]
            position = item.end
    return "".join([*pieces, text[position:end]])


def _clipped(plain: Untagged, pair: Pair, first: int, last: int) -> TagSpan:
    """The part of a pair that is in the text from `first` to `last`."""
    start, end = (min(max(tag.place, first), last) - first for tag in pair)
    opening, closing = (plain.source[tag.start : tag.end] if first <= tag.place <= last else "" for tag in pair)
    return TagSpan(start, end, opening, closing)
