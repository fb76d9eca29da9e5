"""Places of void items, such as line breaks, in a translation: between the translations of the parts of the source around them."""

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import inf

from specdec_cli.text.tag_spans import VoidSpan
from specdec_cli.text.tag_words import Run, copied_gains, find_words, touched

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
Ranges = Sequence[tuple[int, int, int]]
"""For each span its number, and the indices (first, end) of its words in the output."""


def parts(source: str, voids: Sequence[VoidSpan]) -> list[Run]:
    """The parts of `source` before, between and after the items, as offsets (start, end)."""
    starts = [0, *(void.end for void in voids)]
    return list(zip(starts, [*(void.start for void in voids), len(source)], strict=True))


def choose_cuts(source: str, output: str, voids: Sequence[VoidSpan], gains: Sequence[Sequence[float]], ranges: Ranges) -> list[int]:
    """Return for each item the number of words of the `output` that are before it. The items keep their order.

    `gains` has for each part of the source (see `parts`) a number for each word of the output: how much less likely the word is, in
    nats, if the source lacks the part; no numbers where that is not known. The cuts maximise the sum of the gains of all words
    for their parts. An item is inside the words of its span, and at no cut inside those of other spans (see `ranges`).
    """
    words, own = find_words(output), find_words(source)
    if not (voids and words):
        return [0] * len(voids)
    found = parts(source, voids)
    sums = [_sums(source, output, part, gain) for part, gain in zip(found, gains, strict=True)]
    needs = [_NO_WORD * (first < last) for first, last in (touched(own, *part) for part in found)]
    before = [0.0, *[-inf] * len(words)]  # for each cut, the most that the parts before it can have
    ways: list[list[int]] = []
    for number, (total, need) in enumerate(zip(sums, needs, strict=True)):
        after, way = [-inf] * len(before), [0] * len(before)
        for cut, bonus in _ends(source, output, voids[number : number + 1], ranges, words):
            scores = [before[each] + total[cut] - total[each] - need * (each == cut) for each in range(cut + 1)]
            way[cut] = max(range(cut + 1), key=scores.__getitem__)
            after[cut] = scores[way[cut]] + bonus
        ways.append(way)
        before = after
    cuts, cut = [], len(words)
    for way in reversed(ways[1:]):
        cut = way[cut]
        cuts.append(cut)
    return cuts[::-1]


def _ends(source: str, output: str, voids: Sequence[VoidSpan], ranges: Ranges, words: Sequence[Run]) -> Iterator[tuple[int, float]]:
    """Yield the cuts at which the part before an item may end, with what each gains; the last part (no item) ends with the text."""
    if not voids:
        yield len(words), 0.0
    for void in voids:
        stops = _is_after_stop(source, void.start)
        for cut in _allowed(void, ranges, len(words)):
            yield cut, _STOP * (stops and _is_after_stop(output, _begin(output, words, cut)))


def void_place(source: str, output: str, void: VoidSpan, words: Sequence[Run], cut: int) -> Run:
    """The characters of `output`, often a space, in whose place an item is written that has `cut` of the `words` before it."""
    begin = words[cut - 1][1] if cut else 0
    end = _begin(output, words, cut)
    space = _SPACE.search(output, begin, end)
    if cut == 0 and void.side != "after":
        return 0, 0
    if void.side == "after":
        is_after_word = cut > 0 and source[void.start - 1 : void.start].isalnum()
        place = begin if is_after_word else space.start() if space else end
    elif void.side == "before" or space is None:
        place = space.end() if space else end
    else:
        return space.span()
    return place, place


def _begin(output: str, words: Sequence[Run], cut: int) -> int:
    """The offset of the word after a cut."""
    return words[cut][0] if cut < len(words) else len(output)


def _allowed(void: VoidSpan, ranges: Ranges, count: int) -> list[int]:
    """The cuts at which an item may be; all, if it may be at none."""
    inside = [(low, high) for number, low, high in ranges if number == void.owner]
    others = [(low, high) for number, low, high in ranges if number != void.owner]
    low, high = inside[0] if inside else (0, count)
    found = [cut for cut in range(low, high + 1) if not any(first < cut < last for first, last in others if (first, last) != (low, high))]
    return found or list(range(count + 1))


def _is_after_stop(text: str, place: int) -> bool:
    return _STOPS.search(text, max(place - 8, 0), place) is not None


def _sums(source: str, output: str, part: Run, gains: Sequence[float]) -> list[float]:
    """Sums of the gains of the first words of the output for a part of the source, less by their distances from its place."""
    first, last = (offset / max(len(source), 1) for offset in part)
    known = gains or copied_gains(source, part, output)
    found = []
    for (start, end), gain in zip(find_words(output), known, strict=True):
        middle = (start + end) / 2 / len(output)
        found.append(min(max(gain, 0.0), _MOST_GAIN) - _APART * max(first - middle, middle - last, 0.0))
    return [0.0, *accumulate(found)]
