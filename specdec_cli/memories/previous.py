"""An earlier version of a text and its translation: finds for each sentence of the new version the old translation."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from specdec_cli.memories.alignment import matching_blocks
from specdec_cli.memories.found import EXACT, FoundDraft
from specdec_cli.memories.pairs import Entry
from specdec_cli.memories.similarity import load_rapidfuzz

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
            for place in range(new_end, new_start):
                if new[place] in anywhere:
                    yield _draft(anywhere[new[place]], EXACT)
                else:
                    middle = end + (place - new_end) * (start - end) // (new_start - new_end)
                    yield self._similar(new[place], entries[max(end, middle - NEAR) : min(start, middle + NEAR)])
            end, new_end = start + length, new_start + length
            yield from (_draft(each, EXACT) for each in entries[start:end])

    def _similar(self, sentence: str, entries: Sequence[Entry]) -> FoundDraft | None:
        """The draft from the most similar of some old sentences."""
        choices = [each.source for each in entries]
        best = self._extract(sentence, choices, scorer=self._ratio, score_cutoff=self._similarity)
        return _draft(entries[best[2]], best[1]) if best else None


def _draft(entry: Entry, similarity: float) -> FoundDraft:
    return FoundDraft(entry.target, similarity, "previous", entry.guessed, entry.tagged)
