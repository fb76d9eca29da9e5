"""Counting of the word n-grams of text."""

import math
from collections.abc import Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from specdec_cli.errors import InputError
from specdec_cli.text.spelling.ngrams import (
    COUNT_BITS,
    FACTOR,
    FINGERPRINT_BITS,
    HASH_BITS,
    HEADER,
    MAGIC,
    ORDER,
    STEPS,
    NgramModel,
    word_hashes,
)

LEAST = 2
"""N-grams with a lower count are not stored."""
_BUCKET = 8
"""The mean number of n-grams in a bucket is at most this."""
Hashes = NDArray[np.uint64]


def count_ngrams(sentences: Iterable[str]) -> NgramModel:
    """Make a model of the n-grams of one to three words in `sentences`. It needs about 40 bytes of memory for each word.

    Raises InputError if there is no sentence.
    """
    words = np.fromiter(chain.from_iterable(map(word_hashes, sentences)), np.uint64)
    if not len(words):
        raise InputError("the text for n-grams has no sentence")
    counted = [_counts(_hashes(words, size)) for size in range(1, ORDER + 1)]
    keys, counts = (np.concatenate(each) for each in zip(*counted, strict=True))
    buckets = 1 << (math.ceil(len(keys) / _BUCKET) - 1).bit_length()
    shift = HASH_BITS - buckets.bit_length() + 1
    rounded = np.rint(STEPS * np.log2(counts)).astype(np.uint64)
    codes = np.minimum(rounded, np.uint64(2**COUNT_BITS - 1))
    places = keys >> np.uint64(shift - FINGERPRINT_BITS)  # the number of the bucket, and the fingerprint
    order = np.lexsort((codes, places))
    starts = np.searchsorted(places[order] >> np.uint64(FINGERPRINT_BITS), np.arange(buckets + 1, dtype=np.uint64))
    entries = (places % np.uint64(2**FINGERPRINT_BITS) << np.uint64(COUNT_BITS) | codes)[order]
    header = HEADER.pack(MAGIC, len(words), buckets, len(keys))
    return NgramModel(header + starts.astype("<u4").tobytes() + entries.astype("<u2").tobytes())


def _hashes(words: Hashes, size: int) -> Hashes:
    """The hash of each n-gram of `size` words."""
    keys = np.zeros(len(words) - size + 1, np.uint64)
    for index in range(size):
        keys = keys * np.uint64(FACTOR) + words[index : index + len(keys)]  # modulo 2 to the power 64
    return keys


def _counts(keys: Hashes) -> tuple[Hashes, NDArray[np.intp]]:
    """The distinct `keys` that occur often enough, and how often they do."""
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct[counts >= LEAST], counts[counts >= LEAST]
