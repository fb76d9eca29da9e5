"""An earlier version of a text and its translation: aligned with the new version, to find the old translation of each sentence."""

from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise, takewhile
from math import ceil, sqrt

from specdec_cli.memories.found import EXACT, FoundDraft, load_rapidfuzz
from specdec_cli.memories.pairs import Entry

LARGEST = 2**29
"""Largest product of the lengths of two passages whose longest common subsequence is computed; this takes 64 MiB."""


def matching_blocks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Yield the passages that both versions have, in order: the places of their first sentences in `old` and `new`, and
    their lengths; the last one is empty and stands at both ends.

    They are the common head and tail, and the longest common subsequence of what is between. Where that is too long
    (see LARGEST), it is cut at sentences that occur once in each version and are in the same order in most cases, as in
    Bram Cohen's patience diff, and where that is not enough, into parts of equal length. RapidFuzz must be installed.
    """
    head = sum(1 for _ in takewhile(_equal, zip(old, new, strict=False)))
    shorter = min(len(old), len(new)) - head
    tail = sum(1 for _ in takewhile(_equal, zip(reversed(old[len(old) - shorter :]), reversed(new[len(new) - shorter :]), strict=True)))
    numbers: dict[str, int] = {}
    olds, news = ([numbers.setdefault(each, len(numbers)) for each in text[head : len(text) - tail]] for text in (old, new))
    yield 0, 0, head
    for first, new_first, length in _between(olds, news):
        yield head + first, head + new_first, length
    yield len(old) - tail, len(new) - tail, tail
    yield len(old), len(new), 0


def _equal(pair: tuple[str, str]) -> bool:
    return pair[0] == pair[1]


def _between(old: list[int], new: list[int]) -> Iterator[tuple[int, int, int]]:
    """The common passages of two versions whose sentences are numbers."""
    from rapidfuzz.distance import LCSseq

    ends = len(old), len(new)
    anchors = [] if len(old) * len(new) <= LARGEST else _anchors(old, new)
    for (first, new_first), (end, new_end) in pairwise([(-1, -1), *anchors, ends]):
        for (start, stop), (new_start, new_stop) in _parts((first + 1, end), (new_first + 1, new_end)):
            for block in LCSseq.editops(old[start:stop], new[new_start:new_stop]).as_matching_blocks():
                if block.size:
                    yield start + block.a, new_start + block.b, block.size
        if end < len(old):
            yield end, new_end, 1


def _parts(ours: tuple[int, int], theirs: tuple[int, int]) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """Two passages, cut into the smallest number of equal parts whose lengths have a product of about LARGEST."""
    count = max(1, ceil(sqrt((ours[1] - ours[0]) * (theirs[1] - theirs[0]) / LARGEST)))
    bounds = ([start + (end - start) * part // count for part in range(count + 1)] for start, end in (ours, theirs))
    yield from zip(*map(pairwise, bounds), strict=True)


def _anchors(old: list[int], new: list[int]) -> list[tuple[int, int]]:
    """The places of the sentences that occur once in each version: the most that are in the same order in both."""
    counts, new_counts = Counter(old), Counter(new)
    positions = {number: index for index, number in enumerate(old) if counts[number] == 1}
    # Of the increasing sequences of each length, the one with the smallest last place in `old`.
    lasts: list[int] = []
    chains: list[tuple[int, int, int]] = []
    ends: list[int] = []
    for new_place, number in enumerate(new):
        if new_counts[number] == 1 and number in positions:
            length = bisect_left(lasts, positions[number])
            lasts[length : length + 1] = [positions[number]]
            ends[length : length + 1] = [len(chains)]
            chains.append((positions[number], new_place, ends[length - 1] if length else -1))
    anchors = []
    at = ends[-1] if ends else -1
    while at >= 0:
        anchors.append(chains[at][:2])
        at = chains[at][2]
    return anchors[::-1]


NEAR = 50
"""Sentences of a changed passage that are compared with a new one: those before and after the same place in it."""


Passage = tuple[Sequence[Entry], Sequence[str]]
"""The sentences of an old version with their translations, and those of the new version of the same text, in order."""


class PreviousVersion:
    """Finds the old translations of the sentences of a new version, passage by passage.

    The versions of a passage are aligned (see `matching_blocks`). An unchanged sentence gets its old translation; within a changed
    passage, a sentence gets that of the most similar old one, if the similarity is at least `similarity` percent; a
    sentence that was moved gets the translation of an equal one anywhere, of one that is no guess if there is one.
    Raises UsageError if RapidFuzz is not installed.
    """

    def __init__(self, passages: Iterable[Passage], similarity: float) -> None:
        self._extract, self._ratio = load_rapidfuzz()
        self._similarity = similarity
        self._found: dict[str, deque[FoundDraft | None]] = defaultdict(deque)
        for old, sentences in passages:
            for sentence, draft in zip(sentences, self._aligned(old, sentences), strict=True):
                self._found[sentence].append(draft)

    def find(self, sentences: Sequence[str]) -> list[FoundDraft | None]:
        """Return the draft of each of the next `sentences` of the new version, None where nothing is similar enough."""
        return [self._found[sentence].popleft() if self._found.get(sentence) else None for sentence in sentences]

    def _aligned(self, entries: Sequence[Entry], new: Sequence[str]) -> Iterator[FoundDraft | None]:
        """The draft of each sentence of the new version of a passage."""
        old = [each.source for each in entries]
        anywhere = {each.source: each for guessed in (True, False) for each in entries if each.guessed is guessed}
        end = new_end = 0
        for start, new_start, length in matching_blocks(old, new):
            for index in range(new_end, new_start):
                if new[index] in anywhere:
                    yield _draft(anywhere[new[index]], EXACT)
                else:
                    middle = end + (index - new_end) * (start - end) // (new_start - new_end)
                    yield self._similar(new[index], entries[max(end, middle - NEAR) : min(start, middle + NEAR)])
            end, new_end = start + length, new_start + length
            yield from (_draft(each, EXACT) for each in entries[start:end])

    def _similar(self, sentence: str, entries: Sequence[Entry]) -> FoundDraft | None:
        """The draft from the most similar of some old sentences."""
        choices = [each.source for each in entries]
        best = self._extract(sentence, choices, scorer=self._ratio, score_cutoff=self._similarity)
        return _draft(entries[best[2]], best[1]) if best else None


def _draft(entry: Entry, similarity: float) -> FoundDraft:
    return FoundDraft(entry.target, similarity, "previous", entry.guessed, entry.tagged)
