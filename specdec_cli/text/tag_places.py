"""Placing of inline tags and void items in a translation."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from specdec_cli.text.tag_ranges import Node, RangeChooser
from specdec_cli.text.tag_spans import InlineTags
from specdec_cli.text.tag_voids import choose_cuts, void_place
from specdec_cli.text.tag_words import Run

_LEADING, _TRAILING = re.compile(r"[^\w\s]+"), re.compile(r"[^\w\s]+$")


@dataclass
class _Item:
    """The characters `begin` to `finish` of the output are between the tags `opening` and `closing`, with the items `inner` among them.

    A void item is written in the place of its characters. `order` is the number of the span, counted from 1, and for a void item that of
    the last span that begins before it in the source.
    """

    begin: int
    finish: int
    order: int
    opening: str
    closing: str = ""
    inner: list["_Item"] = field(default_factory=list)
    is_void: bool = False


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
    cuts = choose_cuts(source, output, tags.voids, part_gains or [()] * (len(tags.voids) + 1), _ranges(nodes))
    voids: dict[int, list[_Item]] = {}
    place = 0
    for void, cut in zip(tags.voids, cuts, strict=True):
        begin, finish = (max(each, place) for each in void_place(source, output, void, chooser.others, cut))
        voids.setdefault(void.owner, []).append(_Item(begin, finish, void.spans, void.item, is_void=True))
        place = finish
    items = [_item(node, chooser, voids) for node in nodes]
    return _written(output, [*items, *_outside(items, voids.get(-1, ()))], 0, len(output))


def _written(output: str, items: Iterable[_Item], begin: int, finish: int) -> str:
    """The characters `begin` to `finish` of the output with `items` there."""
    pieces, position = [], begin
    for item in sorted(_nested(items), key=lambda each: (each.begin, each.finish, each.order, each.is_void)):
        start = max(item.begin, position)
        end = max(item.finish, start)
        inner = "" if item.is_void else _written(output, item.inner, start, end)
        pieces += [output[position:start], item.opening, inner, item.closing]
        position = end
    return "".join([*pieces, output[position:finish]])


def _nested(items: Iterable[_Item]) -> list[_Item]:
    """`items` with each that has the same characters as one before it inside that one."""
    found: dict[Run, _Item] = {}
    kept: list[_Item] = []
    for item in sorted(items, key=lambda each: each.order):
        run = item.begin, item.finish
        if item.is_void or item.begin == item.finish or run not in found:
            kept.append(item)
        else:
            found[run].inner.append(item)
        if not item.is_void:
            found[run] = item
    return kept


def _item(node: Node, chooser: RangeChooser, voids: dict[int, list[_Item]]) -> _Item:
    """The tags of `node`, with those inside it and the void items of its span."""
    begin, finish = _characters(node, chooser)
    inner = [_item(each, chooser, voids) for each in node.inner]
    inner += _outside(inner, voids.get(node.order, ()))
    begin, finish = min([begin, *(each.begin for each in inner)]), max([finish, *(each.finish for each in inner)])
    return _Item(begin, finish, node.order + 1, node.span.opening, node.span.closing, inner)


def _outside(items: Sequence[_Item], voids: Iterable[_Item]) -> list[_Item]:
    """Return the void items with corrected places. One that is inside one of `items`, or before an item that it follows in the source,
    is moved to the end of that item.

    If an item with another void item follows a void item in the source, but would stand before it, the void item is moved to the
    beginning of that item.
    """
    found = []
    for void in voids:
        around = next((each for each in items if _is_inside(void, each)), None)
        following = next((each for each in items if void.order < each.order and each.begin < void.begin <= each.finish), None)
        if following is not None and _has_void(following):
            void.begin = void.finish = following.begin
        elif around is not None:
            void.begin = void.finish = around.finish
        found.append(void)
    return found


def _has_void(item: _Item) -> bool:
    return any(each.is_void or _has_void(each) for each in item.inner)


def _is_inside(void: _Item, item: _Item) -> bool:
    """Whether a void item is written inside another item, or before one that it follows in the source."""
    follows = item.order <= void.order
    return item.begin < void.begin < item.finish or (follows and item.begin == void.begin < item.finish)


def _ranges(nodes: Iterable[Node]) -> list[tuple[int, int, int]]:
    """The words in the output of all nodes and those inside them."""
    return [each for node in nodes for each in ((node.order, node.low, node.high), *_ranges(node.inner))]


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
    own = chooser.words[node.first : node.last] or [(node.end, node.start)]  # without words, the span has marks at both ends
    before = output[words[node.low - 1][1] if node.low else 0 : begin]
    after = output[finish : words[node.high][0] if node.high < len(words) else None]
    head, tail = _TRAILING.search(before), _LEADING.match(after)
    if head and node.start < own[0][0] and (head.start() or not node.low):  # marks after a space, or at the beginning
        begin -= len(head.group())
    if tail and own[-1][1] < node.end:
        finish += len(tail.group())
    return begin, finish
