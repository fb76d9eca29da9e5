"""Placing of inline tags and void items in a translation: the words that translate those of a span, and places between words."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from math import inf
from typing import NamedTuple

from specdec_cli.text.edits import UNSPACED
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.tags.markup import InlineTags, TagSpan, VoidSpan

_LETTER = rf"(?:(?!{UNSPACED})\w)"
_WORD = re.compile(rf"{UNSPACED}|{_LETTER}+(?:['\u2019.,-]{_LETTER}+)*")
Run = tuple[int, int]
COPIED = 3.0
"""The gain of a word that is the same in the source and the translation; see `copied_gains`."""


def find_words(text: str) -> list[Run]:
    """Return the offsets (start, end) of the words of `text`, in order; a protected span, such as a URL, is one word."""
    spans = protected_spans(text)
    edges = [(0, 0), *spans, (len(text), len(text))]
    between = [match.span() for one, other in pairwise(edges) for match in _WORD.finditer(text, one[1], other[0])]
    return sorted([*between, *spans])


def touched(words: Sequence[Run], start: int, end: int) -> tuple[int, int]:
    """The indices (first, end) of the words that have a character in `start` to `end`; equal if there is none."""
    inside = [number for number, word in enumerate(words) if word[0] < end and start < word[1]]
    return (inside[0], inside[-1] + 1) if inside else (0, 0)


def copied_gains(source: str, span: Run, output: str) -> list[float]:
    """Return for each word of `output` COPIED if it is once in both texts, in the source inside the `span`, else 0."""
    words, others = find_words(source), find_words(output)
    counts = [Counter(text[start:end] for start, end in runs) for text, runs in ((source, words), (output, others))]
    inside = {source[start:end] for start, end in words[slice(*touched(words, *span))]}
    once = {word for word in inside if counts[0][word] == counts[1][word] == 1}
    return [COPIED * (output[start:end] in once) for start, end in others]


CERTAIN = 1.5
"""The gain, in nats, from which on a word of the output is taken as the translation of a word of the span."""
_SHARE, _EXTRA = 0.25, 0.75
"""What a word must add, as a share of the span's largest gain: up to as many words as the span has, and each word beyond them."""


@dataclass
class Node:
    """A span of the source: its characters `start` to `end` without spaces, and the indices (first, end) of its `words`.

    `gains` has a number for each word of the output. `inner` are the nodes inside it, and `low` to `high` its words in the output.
    `order` is its index among the nodes of the source.
    """

    span: TagSpan
    order: int
    start: int
    end: int
    words: Run
    gains: Sequence[float]
    inner: list["Node"] = field(default_factory=list)
    low: int = 0
    high: int = 0

    def __post_init__(self) -> None:
        self.most = max(self.gains, default=0.0)
        self.sums = [0.0, *accumulate(self.gains)]

    @property
    def size(self) -> int:
        """The number of its words."""
        return self.words[1] - self.words[0]

    @property
    def is_empty(self) -> bool:
        """Whether the span has no text."""
        return self.start == self.end

    @property
    def is_closed(self) -> bool:
        """Whether both tags of the span are inside the text."""
        return bool(self.span.opening and self.span.closing)


class RangeChooser:
    """Chooses the words of `output` for nodes of `source`; `words` and `others` are the words of both, and `nodes` all nodes in order."""

    def __init__(self, source: str, output: str) -> None:
        self.source, self.output = source, output
        self.words, self.others = find_words(source), find_words(output)
        self.nodes: list[Node] = []

    def tree(self, spans: Sequence[TagSpan], gains: Sequence[Sequence[float]]) -> list[Node]:
        """Return the nodes of `spans` that are inside no other span, with words of the output for all nodes.

        Nodes beside each other have different words, as long as there are enough.
        """
        tops: list[Node] = []
        opened: list[Node] = []
        for order, (span, own) in enumerate(zip(spans, gains, strict=True)):
            text = self.source[span.start : span.end]
            start = span.start + len(text) - len(text.lstrip())
            end = max(start, span.start + len(text.rstrip()))
            node = Node(span, order, start, end, touched(self.words, start, end), own)
            while opened and opened[-1].span.end < max(span.end, span.start + 1):
                opened.pop()
            (opened[-1].inner if opened else tops).append(node)
            opened.append(node)
            self.nodes.append(node)
        self._choose(tops, (0, len(self.words)), 0, len(self.others))
        return tops

    def _choose(self, nodes: list[Node], outer: Run, low: int, high: int) -> None:
        """Choose words with the indices `low` to `high` for `nodes`; `outer` are the words of the source around them."""
        free, placed = set(range(low, high)), list[Node]()
        ordered = sorted((node for node in nodes if not node.is_empty), key=lambda node: (node.is_closed, -node.most))
        for left, node in zip(reversed(range(len(ordered))), ordered, strict=True):
            alike = next((each for each in placed if each.words == node.words and node.size == 1), None)
            ranges = [] if alike else self._ranges(node, free, low, high)
            roomy = [each for each in ranges if len(free) - (each[1] - each[0]) >= left]
            if ranges:
                node.low, node.high = max(roomy or ranges, key=lambda each: self._score(node, outer, *each))
            elif placed:
                self._share(node, alike or placed[0], nodes)
            else:
                node.low, node.high = low, high
            free -= set(range(node.low, node.high))
            placed.append(node)
            self._choose(node.inner, node.words, node.low, node.high)
        for node in nodes:
            if node.is_empty:
                place = low + (high - low) * node.start // max(len(self.source), 1)
                node.low = node.high = max(min(place, high - 1), low)

    def _share(self, node: Node, other: Node, nodes: list[Node]) -> None:
        """Give `node` the words of `other`, beside which it is one of `nodes`: it is put into it, unless both are parts of one word."""
        node.low, node.high = other.low, other.high
        if not (node.is_closed or other.is_closed):  # one reaches to the beginning of the text, and the other to its end
            node.low = node.high = len(self.others)
        elif not (self.is_same_word(node) and self.is_same_word(other)):
            nodes.remove(node)
            while other.inner and (other.inner[-1].low, other.inner[-1].high) == (other.low, other.high):
                other = other.inner[-1]
            other.inner.append(node)

    def _ranges(self, node: Node, free: set[int], low: int, high: int) -> list[Run]:
        """The ranges of free words that `node` can have; a tag outside the text is at the first or the last word there."""
        found = []
        for start in sorted(free) if node.span.opening else [low] * (low in free):
            end = start
            while end in free:
                end += 1
                if node.span.closing or end == high:
                    found.append((start, end))
        return found

    def _score(self, node: Node, outer: Run, low: int, high: int) -> float:
        """How well the words `low` to `high` of the output fit `node`."""
        if node.words == outer:
            return high - low
        if node.most >= CERTAIN:
            beyond = max(high - low - max(node.size, 1), 0)
            return node.sums[high] - node.sums[low] - node.most * (_SHARE * (high - low) + (_EXTRA - _SHARE) * beyond)
        length = max(round(node.size * len(self.others) / max(len(self.words), 1)), 1)
        middle = (self.others[low][0] + self.others[high - 1][1]) / len(self.output)
        return -abs(middle - (node.start + node.end) / len(self.source)) - abs(high - low - length)

    def begin(self, number: int) -> int:
        """The offset in the output of a word, or of the end behind all words."""
        return self.others[number][0] if number < len(self.others) else len(self.output)

    def is_same_word(self, node: Node) -> bool:
        """Whether `node` is a part of a word that the output has too, at the place of the node."""
        if node.size != 1 or node.high - node.low != 1 or node.inner:
            return False
        (start, end), (begin, finish) = self.words[node.words[0]], self.others[node.low]
        return (node.start > start or node.end < end) and self.source[start:end] == self.output[begin:finish]


_MOST_GAIN = 3.0
"""The gain, in nats, from which on a word certainly belongs to a part: no word counts more than a few others."""
_APART = 4.0
"""What a word loses, in nats, for being as far from the place of its part as the text is long."""
_STOP = 2.0
"""What a place after a stop gains if there is one before the item, too."""
_NO_WORD = 3.0
"""What a part with words loses if it has none in the output."""
_STOPS = re.compile(r"[,;:.!?\u2026\u2013\u2014)][\"'\u201c\u201d]?\s*$|\s-\s*$")
_SPACE = re.compile(r"\s+")


def parts(source: str, voids: Sequence[VoidSpan]) -> list[Run]:
    """The parts of `source` before, between and after the items, as offsets (start, end)."""
    starts = [0, *(void.end for void in voids)]
    return list(zip(starts, [*(void.start for void in voids), len(source)], strict=True))


def choose_cuts(texts: RangeChooser, voids: Sequence[VoidSpan], gains: Sequence[Sequence[float]]) -> list[int]:
    """Return for each item the number of words of the output that are before it. The items keep their order.

    `gains` has for each part of the source (see `parts`) a number for each word of the output: how much less likely the word is, in
    nats, if the source lacks the part; no numbers where that is not known. The cuts maximise the sum of the gains of all words
    for their parts. An item is inside the words of its span, and at no cut inside those of other spans.
    """
    count = len(texts.others)
    if not (voids and count):
        return [0] * len(voids)
    # for each cut, the most that the parts before it can have, and their cuts
    best = [(0.0, list[int]()), *[(-inf, list[int]())] * count]
    for part, gain, void in zip(parts(texts.source, voids), gains, [*voids, None], strict=True):
        first, last = touched(texts.words, *part)
        total, need = _sums(texts, part, gain), _NO_WORD * (first < last)
        stops = _STOP * (void is not None and _is_after_stop(texts.source, void.start))
        after = [(-inf, [*cuts, 0]) for _, cuts in best]
        for cut in [count] if void is None else _allowed(texts, void):
            bonus = total[cut] + stops * _is_after_stop(texts.output, texts.begin(cut))
            scores = [score - total[each] - need * (each == cut) for each, (score, _) in enumerate(best[: cut + 1])]
            most = max(scores)
            after[cut] = most + bonus, [*best[scores.index(most)][1], cut]
        best = after
    return best[-1][1][:-1]


def void_place(texts: RangeChooser, void: VoidSpan, cut: int) -> Run:
    """The characters of the output, often a space, in whose place an item is written that has `cut` of its words before it."""
    begin, end = texts.others[cut - 1][1] if cut else 0, texts.begin(cut)
    space = _SPACE.search(texts.output, begin, end)
    if cut == 0 and void.side != "after":
        return 0, 0
    if void.side == "after":
        is_after_word = cut > 0 and texts.source[void.start - 1 : void.start].isalnum()
        place = begin if is_after_word else space.start() if space else end
    elif void.side == "before" or space is None:
        place = space.end() if space else end
    else:
        return space.span()
    return place, place


def _allowed(texts: RangeChooser, void: VoidSpan) -> list[int]:
    """The cuts at which an item may be: in its own span, not in others, and not at the edge of one that is on its other side in the source.
    All, if it may be at none.
    """
    owner = texts.nodes[void.owner] if void.owner >= 0 else None
    low, high = (owner.low, owner.high) if owner else (0, len(texts.others))
    found = set(range(low, high + 1))
    for node in texts.nodes:
        if node.order > void.owner or node.low > low or node.high < high:
            is_before = node.order < void.spans
            found.difference_update(range(node.low, node.high) if is_before else range(node.low + 1, node.high + 1))
    return sorted(found) or list(range(len(texts.others) + 1))


def _is_after_stop(text: str, place: int) -> bool:
    return _STOPS.search(text, max(place - 8, 0), place) is not None


def _sums(texts: RangeChooser, part: Run, gains: Sequence[float]) -> list[float]:
    """Sums of the gains of the first words of the output for a part of the source, less by their distances from its place."""
    first, last = (offset / max(len(texts.source), 1) for offset in part)
    found = []
    for (start, end), gain in zip(texts.others, gains or copied_gains(texts.source, part, texts.output), strict=True):
        middle = (start + end) / 2 / len(texts.output)
        found.append(min(max(gain, 0.0), _MOST_GAIN) - _APART * max(first - middle, middle - last, 0.0))
    return [0.0, *accumulate(found)]


_LEADING, _TRAILING = re.compile(r"[^\w\s]+"), re.compile(r"[^\w\s]+$")


class _Item(NamedTuple):
    """Tags around the characters `begin` to `finish` of the output and the items `inner` among them; without these, an item in their place.

    `place` are the first and the end of its words in the output, and the number of spans that begin before it in the source.
    """

    place: tuple[int, int, int]
    begin: int
    finish: int
    opening: str
    closing: str = ""
    inner: Sequence["_Item"] | None = None


def with_tags(
    source: str, output: str, tags: InlineTags, gains: Sequence[Sequence[float]], part_gains: Sequence[Sequence[float]] = ()
) -> str:
    """Return `output`, the translation of `source`, with the `tags` of the source.

    `gains` has for each span one number for each word of the output (see `find_words`): how much less likely the word is, in nats,
    if the source lacks the words of the span. A span without a certain word is placed in proportion to its place in the source. Each
    tag is there once, tags are nested as in the source, and a span with text has a word if there is one. Void items are between the
    words that translate the parts of the source around them, for which `part_gains` has the same numbers (see `choose_cuts`).
    """
    chooser = RangeChooser(source, output)
    nodes = chooser.tree(tags.spans, gains)
    cuts = choose_cuts(chooser, tags.voids, part_gains or [()] * (len(tags.voids) + 1))
    voids: dict[int, list[_Item]] = {}
    for void, cut in zip(tags.voids, cuts, strict=True):
        place = void_place(chooser, void, cut)
        voids.setdefault(void.owner, []).append(_Item((cut, cut, void.spans), *place, void.item))
    return _written(output, [*voids.get(-1, ()), *(_item(node, chooser, voids) for node in nodes)], 0, len(output))


def _written(output: str, items: Iterable[_Item], begin: int, finish: int) -> str:
    """The characters `begin` to `finish` of the output with `items` there, of which those at the same place are in the right order."""
    pieces, position = [], begin
    for item in sorted(items, key=lambda each: each.place):
        start = max(item.begin, position)
        end = max(item.finish, start)
        inner = "" if item.inner is None else _written(output, item.inner, start, end)
        pieces += [output[position:start], item.opening, inner, item.closing]
        position = end
    return "".join([*pieces, output[position:finish]])


def _item(node: Node, chooser: RangeChooser, voids: dict[int, list[_Item]]) -> _Item:
    """The tags of `node`, with those inside it and the void items of its span."""
    begin, finish, opening, closing = _with_spaces(node, chooser, *_characters(node, chooser))
    inner = [*voids.get(node.order, ()), *(_item(each, chooser, voids) for each in node.inner)]
    begin, finish = min([begin, *(each.begin for each in inner)]), max([finish, *(each.finish for each in inner)])
    return _Item((node.low, node.high, node.order), begin, finish, opening, closing, inner)


def _with_spaces(node: Node, chooser: RangeChooser, begin: int, finish: int) -> tuple[int, int, str, str]:
    """The characters of a node in the output, and its tags with the spaces inside them that the source has there.

    A space of the output beside the node is inside it if the source has none outside.
    """
    span, source, output = node.span, chooser.source, chooser.output
    opening, closing = span.opening, span.closing
    if node.is_empty or begin == finish:
        return begin, finish, opening, closing
    before = source[span.start : min([node.start, *(each.span.start for each in node.inner)])]
    after = source[max([node.end, *(each.span.end for each in node.inner)]) : span.end]
    if opening and before.isspace():
        if source[span.start - 1 : span.start].isspace() or not output[begin - 1 : begin].isspace():
            opening += before
        else:
            begin = len(output[:begin].rstrip())
    if closing and after.isspace():
        if source[span.end : span.end + 1].isspace() or not output[finish : finish + 1].isspace():
            closing = after + closing
        else:
            finish = len(output) - len(output[finish:].lstrip())
    return begin, finish, opening, closing


def _characters(node: Node, chooser: RangeChooser) -> Run:
    """The characters of a node in the output: those of its words, with the marks beside them if the span has some there."""
    output, words = chooser.output, chooser.others
    if not words:
        return 0, len(output)
    if node.low == node.high:
        return chooser.begin(node.low), chooser.begin(node.low)
    begin, finish = words[node.low][0], words[node.high - 1][1]
    if chooser.is_same_word(node):
        start, end = chooser.words[node.words[0]]
        return begin + max(node.start - start, 0), begin + min(node.end, end) - start
    own = chooser.words[slice(*node.words)] or [(node.end, node.start)]  # without words, the span has marks at both ends
    before = output[words[node.low - 1][1] if node.low else 0 : begin]
    after = output[finish : chooser.begin(node.high)]
    head, tail = _TRAILING.search(before), _LEADING.match(after)
    if head and node.start < own[0][0] and (head.start() or not node.low):  # marks after a space, or at the beginning
        begin -= len(head.group())
    if tail and own[-1][1] < node.end:
        finish += len(tail.group())
    return begin, finish
