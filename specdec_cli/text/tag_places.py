"""Placing of inline tags in a translation."""

import re
from collections.abc import Sequence

from specdec_cli.text.tag_ranges import Node, RangeChooser
from specdec_cli.text.tag_spans import TagSpan
from specdec_cli.text.tag_words import Run

_LEADING, _TRAILING = re.compile(r"[^\w\s]+"), re.compile(r"[^\w\s]+$")
_Placed = tuple[int, bool, int, int, str]
"""What a tag is sorted by: its offset, whether it opens, the length of its span, and the order of the span; and the tag."""


def with_tags(source: str, output: str, spans: Sequence[TagSpan], gains: Sequence[Sequence[float]]) -> str:
    """Return `output`, the translation of `source`, with the tags of the `spans` of the source.

    `gains` has for each span one number for each word of the output (see `find_words`): how much less likely the word is, in nats,
    if the source lacks the words of the span. A span without a certain word is placed in proportion to its place in the source. Each
    tag is there once, tags are nested as in the source, and a span with text has a word if there is one.
    """
    chooser = RangeChooser(source, output)
    tags: list[_Placed] = []
    for node in chooser.tree(spans, gains):
        _add(node, chooser, tags)
    pieces, position = [], 0
    for place, _, _, _, tag in sorted(tags, key=lambda each: each[:4]):
        pieces += [output[position:place], tag]
        position = place
    return "".join([*pieces, output[position:]])


def _add(node: Node, chooser: RangeChooser, tags: list[_Placed]) -> Run:
    """Add the tags of `node` and of those inside it, and return its characters in the output.

    Several tags at one offset are sorted: closing tags first, from the shortest span to the longest; then opening tags, from the
    longest span to the shortest.
    """
    begin, finish = _characters(node, chooser)
    number = len(tags)
    inner = [_add(each, chooser, tags) for each in node.inner]
    begin, finish = min([begin, *(each[0] for each in inner)]), max([finish, *(each[1] for each in inner)])
    if begin == finish:
        tags[number:] = [(begin, True, 0, node.order, _joined(node))]
    else:
        tags.append((begin, True, begin - finish, node.order, node.span.opening))
        tags.append((finish, False, finish - begin, -node.order, node.span.closing))
    return begin, finish


def _joined(node: Node) -> str:
    """The tags of `node` and of those inside it, without text."""
    return "".join([node.span.opening, *map(_joined, node.inner), node.span.closing])


def _characters(node: Node, chooser: RangeChooser) -> Run:
    """The characters of a node in the output: those of its words, with the marks beside them if the span has some there."""
    output, words = chooser.output, chooser.others
    if not words:
        return 0, len(output)
    if node.low == node.high:
        place = words[node.low][0] if node.low < len(words) else len(output)
        return place, place
    begin, finish = words[node.low][0], words[node.high - 1][1]
    if chooser.is_same_word(node):
        start, end = chooser.words[node.first]
        return begin + max(node.start - start, 0), begin + min(node.end, end) - start
    if node.shares:
        return begin, finish
    span = chooser.source[node.start : node.end]
    before = output[words[node.low - 1][1] if node.low else 0 : begin]
    after = output[finish : words[node.high][0] if node.high < len(words) else None]
    head, tail = _TRAILING.search(before), _LEADING.match(after)
    if head and _LEADING.match(span) and (head.start() or not node.low):  # marks after a space, or at the beginning
        begin -= len(head.group())
    if tail and _TRAILING.search(span):
        finish += len(tail.group())
    return begin, finish
