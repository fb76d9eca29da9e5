"""A word n-gram language model in a compact file, which says how usual a changed text is beside the text before the change."""

import math
import mmap
import re
import struct
from bisect import bisect_left
from collections.abc import Iterable
from functools import lru_cache, reduce
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

from specdec_cli.errors import ModelError
from specdec_cli.files import check_regular, write_atomically
from specdec_cli.text.edits import Change, split_words

FILE = "ngrams.bin"
"""Name of the model's file in a bundle."""
ORDER = 3
"""Most words of an n-gram."""
HEADER = struct.Struct("<8sQQQ")
"""The header of the file: MAGIC, the number of words that were counted, of buckets and of n-grams."""
MAGIC = b"specdec3"
HASH_BITS, FINGERPRINT_BITS, COUNT_BITS = 64, 11, 5
_MASK = (1 << HASH_BITS) - 1
FACTOR = 0x9E3779B97F4A7C15
"""Odd factor of the hash of an n-gram: the hashes of its words are the digits of a number of this base, modulo 2 to the power 64."""
STEPS = 1.5
"""A count c is stored as the integer next to STEPS times its binary logarithm."""
SCORE_WEIGHT = 0.05
"""The score of an edit contains the log ratio of the texts with and without it (see `log_ratio`), multiplied by this factor."""
_CONTEXT_WEIGHT = 5.0
"""The probability after shorter contexts counts as much as this number of occurrences of the context."""
_UNKNOWN = 2.0**-20
"""Probability of a word before anything is counted: one of about a million words."""
_COUNTS: tuple[float, ...] = tuple(2.0 ** (stored / STEPS) for stored in range(2**COUNT_BITS))
"""The counts for the integers that are stored."""
_DIGIT = re.compile(r"\d")


class NgramModel:
    """A trigram model of words with the counts in `data`, the content of a file that `count_ngrams` made; `name` is the file's, for
    messages.

    The probability of a word after a context of n words is (count of context and word + w p) / (count of context + w), where p is its
    probability after the last n - 1 words and w = 5: the mean of a Dirichlet distribution (MacKay and Peto 1995, "A hierarchical
    Dirichlet language model"). The counts are looked up by hash: one of about 300 n-grams that were not counted has the count of another.
    Raises ModelError for damaged data.
    """

    def __init__(self, data: bytes | mmap.mmap, name: Path | str = FILE) -> None:
        self._data = memoryview(data)
        if len(self._data) < HEADER.size or self._data[: len(MAGIC)] != MAGIC:
            raise ModelError(f"{name}: not a file of n-grams that this version of specdec reads")
        _, self._words, buckets, ngrams = HEADER.unpack_from(self._data)
        start, end = HEADER.size + 4 * (buckets + 1), HEADER.size + 4 * (buckets + 1) + 2 * ngrams
        if buckets & (buckets - 1) or not buckets or end != len(self._data):
            raise ModelError(f"{name}: damaged (its header does not fit its length of {len(self._data)} bytes)")
        self._starts, self._entries = self._data[HEADER.size : start].cast("I"), self._data[start:end].cast("H")
        if self._starts[0] or self._starts[buckets] != ngrams:
            raise ModelError(f"{name}: damaged (its buckets do not hold its {ngrams} n-grams)")
        self._bucket_shift = HASH_BITS - buckets.bit_length() + 1
        self._count = lru_cache(2**13)(self._looked_up)  # the same n-grams are counted for several edits
        self._log_probability = lru_cache(2**5)(self._sum_of_logs)  # many edits of a sentence replace the same words

    @classmethod
    def read(cls, path: Path) -> "NgramModel":
        """Map the file `path` into memory. Raises ModelError if it is missing or damaged."""
        check_regular(path, ModelError)
        try:
            with path.open("rb") as stream:
                return cls(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ), path)
        except (OSError, ValueError) as error:
            raise ModelError(f"{path}: {error}") from error

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        write_atomically(path, lambda partial: partial.write_bytes(self._data))

    def log_ratio(self, sentence: str, change: Change) -> float:
        """The natural logarithm of how many times more probable `change` makes `sentence`; negative if it becomes less probable.

        Only words that change, and words with one of these among the two before them, are looked up.
        """
        old, new = _hashes_around(sentence, change)
        shortest = min(len(old), len(new))
        same = next((index for index in range(shortest) if old[index] != new[index]), shortest)
        rest = next((index for index in range(shortest - same) if old[-1 - index] != new[-1 - index]), shortest - same)
        context = ORDER - 1
        before, after = (self._log_probability(words[max(same - context, 0) : len(words) - rest + context]) for words in (old, new))
        return after - before

    def count(self, *words: str) -> float:
        """The approximate count of an n-gram of up to three words.

        It is 0 for an n-gram that occurred less than twice in the counted text; but about one in 300 of these has the hash of another
        n-gram, and then the count of that one.
        """
        return self._count(reduce(_extended, (_hash(_DIGIT.sub("0", word)) for word in words), 0))

    def knows(self, word: str) -> bool:
        """Whether `word`, or its form in lower case, has a count above 0 (see `count`)."""
        return self.count(word) > 0 or self.count(word.lower()) > 0

    def _sum_of_logs(self, words: tuple[int, ...]) -> float:
        """The sum of the log probabilities of words from the third on, each given the two before it. `words` are hashes."""
        pairs = [_extended(before, word) for before, word in pairwise(words)]
        triples = map(_extended, pairs, words[ORDER - 1 :])
        of_words, of_pairs, of_triples = (list(map(self._count, ngrams)) for ngrams in (words, pairs, triples))
        total, all_words = 0.0, float(self._words)
        counts = zip(of_triples, of_pairs, of_pairs[1:], of_words[1:], of_words[2:], strict=False)
        for triple, pair_before, pair, word_before, word in counts:
            # No n-gram is more frequent than its parts: a greater count is that of another n-gram with the same hash.
            before = min(word_before, all_words)
            two_before = min(pair_before, before)
            of_word = min(word, all_words)
            of_pair = min(pair, of_word, before)
            probability = _mean(of_word, all_words, _UNKNOWN)
            probability = _mean(of_pair, before, probability)
            total += math.log(_mean(min(triple, of_pair, two_before), two_before, probability))
        return total

    def _looked_up(self, key: int) -> float:
        """Look up the approximate count of the n-gram with the hash `key`, as in `count`."""
        bucket = key >> self._bucket_shift
        fingerprint = (key >> self._bucket_shift - FINGERPRINT_BITS) % 2**FINGERPRINT_BITS << COUNT_BITS
        end = min(self._starts[bucket + 1], len(self._entries))
        # Of n-grams with the same fingerprint, the greatest count is the last one.
        start = min(self._starts[bucket], end)
        found = bisect_left(self._entries, fingerprint + 2**COUNT_BITS, start, end) - 1
        stored: int = self._entries[found] - fingerprint if found >= start else -1
        return _COUNTS[stored] if stored >= 0 else 0.0


def _extended(ngram: int, word: int) -> int:
    """The hash of an n-gram and a word after it. `ngram` and `word` are their hashes; 0 is that of an n-gram without words."""
    return (ngram * FACTOR + word) & _MASK


def _mean(count: float, context_count: float, probability: float) -> float:
    """The probability of a word after a context that occurred `context_count` times, `count` times with the word after it. `probability` is
    that after the shorter context.
    """
    return (count + _CONTEXT_WEIGHT * probability) / (context_count + _CONTEXT_WEIGHT)


def word_hashes(sentence: str) -> tuple[int, ...]:
    """The 64-bit hashes of a sentence's words, after two signs for its start and before one for its end. All digits are equal."""
    return (*_START, *_hashes(sentence), *_END)


_NEAR = 256
"""More characters than three words have."""


def _hashes_around(sentence: str, change: Change) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The hashes of the text that `change` replaces, and those of its new text, each with the words of `sentence` near it.

    At least two whole words are included on either side, or all words up to the sentence's start or end and the sign for that. The
    sentence is cut at spaces, where no word is cut; but no more than _NEAR characters are read on either side.
    """
    begin, stop = max(change.start - _NEAR, 0), min(change.end + _NEAR, len(sentence))
    before, after = sentence[begin : change.start], sentence[change.end : stop]
    earlier, later = before.rsplit(None, ORDER), after.split(None, ORDER)
    start = _START if len(earlier) <= ORDER and not begin else ()
    end = _END if len(later) <= ORDER and stop == len(sentence) else ()
    first = len(earlier[0]) if len(earlier) > ORDER else 0
    last = len(after) - (len(later[-1]) if len(later) > ORDER else 0)
    old, new = sentence[begin + first : change.end + last], f"{before[first:]}{change.text}{after[:last]}"
    return (*start, *_hashes(old), *end), (*start, *_hashes(new), *end)


def _hashes(text: str) -> Iterable[int]:
    return map(_hash, split_words(_DIGIT.sub("0", text)))


@lru_cache(2**16)
def _hash(word: str) -> int:
    return int.from_bytes(blake2b(word.encode(), digest_size=HASH_BITS // 8).digest(), "little")


_START, _END = (_hash("<s>"),) * (ORDER - 1), (_hash("</s>"),)
