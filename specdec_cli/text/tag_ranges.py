"""Choice of the words of a translation that belong to spans of the source: by gains, or in proportion to their places."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from specdec_cli.text.tag_spans import TagSpan
from specdec_cli.text.tag_words import Run, find_words, touched

CERTAIN = 1.5
"""The gain, in nats, from which on a word of the output is taken as the translation of a word of the span."""
_SHARE, _EXTRA = 0.25, 0.75
"""What a word must add, as a share of the span's largest gain: up to as many words as the span has, and each word beyond them."""


@dataclass
class Node:
    """A span of the source: its characters `start` to `end` without spaces, and its words `first` to `last`.

    `gains` has a number for each word of the output. `inner` are the nodes inside it, and `low` to `high` its words in the output. No
    other node has the same `order`. A node that `shares` words with one beside it has no marks around them.
    """

    span: TagSpan
    order: int
    start: int
    end: int
    first: int
    last: int
    gains: Sequence[float]
    inner: list["Node"] = field(default_factory=list)
    low: int = 0
    high: int = 0
    shares: bool = False

    def __post_init__(self) -> None:
        self.most = max(self.gains, default=0.0)
        self.sums = [0.0, *accumulate(self.gains)]

    @property
    def is_empty(self) -> bool:
        """Whether the span has no text."""
        return self.start == self.end

    def share(self) -> None:
        """Note that the node and those inside it share words."""
        self.shares = True
        for node in self.inner:
            node.share()

    @property
    def is_closed(self) -> bool:
        """Whether both tags of the span are inside the text."""
        return bool(self.span.opening and self.span.closing)


class RangeChooser:
    """Chooses the words of `output` for nodes of `source`; `words` and `others` are the words of both."""

    def __init__(self, source: str, output: str) -> None:
        self.source, self.output = source, output
        self.words, self.others = find_words(source), find_words(output)

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
            node = Node(span, order, start, end, *touched(self.words, start, end), own)
            while opened and opened[-1].span.end < max(span.end, span.start + 1):
                opened.pop()
            (opened[-1].inner if opened else tops).append(node)
            opened.append(node)
        self._choose(tops, (0, len(self.words)), 0, len(self.others))
        return tops

    def _choose(self, nodes: list[Node], outer: Run, low: int, high: int) -> None:
        """Choose words with the indices `low` to `high` for `nodes`; `outer` are the words of the source around them."""
        free, placed = set(range(low, high)), list[Node]()
        ordered = sorted((node for node in nodes if not node.is_empty), key=lambda node: (node.is_closed, -node.most))
        for left, node in zip(reversed(range(len(ordered))), ordered, strict=True):
            alike = next(
                (each for each in placed if (each.first, each.last) == (node.first, node.last) == (node.first, node.first + 1)), None
            )
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
            self._choose(node.inner, (node.first, node.last), node.low, node.high)
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
            other.inner.append(node)
            other.share()

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
        if (node.first, node.last) == outer:
            return high - low
        if node.most >= CERTAIN:
            beyond = max(high - low - max(node.last - node.first, 1), 0)
            return node.sums[high] - node.sums[low] - node.most * (_SHARE * (high - low) + (_EXTRA - _SHARE) * beyond)
        length = max(round((node.last - node.first) * len(self.others) / max(len(self.words), 1)), 1)
        middle = (self.others[low][0] + self.others[high - 1][1]) / len(self.output)
        return -abs(middle - (node.start + node.end) / len(self.source)) - abs(high - low - length)

    def is_same_word(self, node: Node) -> bool:
        """Whether `node` is a part of a word that the output has too, at the place of the node."""
        if node.last - node.first != 1 or node.high - node.low != 1 or node.inner:
            return False
        (start, end), (begin, finish) = self.words[node.first], self.others[node.low]
        return (node.start > start or node.end < end) and self.source[start:end] == self.output[begin:finish]
