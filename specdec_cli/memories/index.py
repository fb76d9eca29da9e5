"""An index of the sources of a translation memory, as arrays that can be mapped from a file."""

from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from specdec_cli.memories.features import features, hashed
from specdec_cli.memories.pairs import Entry


@dataclass(frozen=True)
class Texts:
    """N texts as UTF-8 `data`; text i is in data[starts[i] : starts[i + 1]]."""

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]

    def __getitem__(self, number: int) -> str:
        return self.at([number])[0]

    def at(self, numbers: Sequence[int]) -> list[str]:
        """The texts with these numbers."""
        data, places = memoryview(self.data.data), np.asarray(numbers, np.int64)
        spans = zip(self.starts[places].tolist(), self.starts[places + 1].tolist(), strict=True)
        return [str(data[start:end], "utf-8", "replace") for start, end in spans]

    def __len__(self) -> int:
        return len(self.starts) - 1


@dataclass(frozen=True)
class Index:
    """N entries, ordered by the length of their sources, and for each feature the entries that have it.

    `lengths` (N,) are the sources' lengths in code points, and `weights` (N,) the sums of the weights of their
    features (see `feature_weights`). `guessed` (N,) is true for those whose translation is a guess; the tagged texts are
    those with inline tags (see Entry). `hashes` (N,) are the sources' hashes in ascending order, and `hashed_entries`
    (N,) the entries that have them. `names` (F,) are the features' hashes in ascending order; the entries with feature f
    are entries[firsts[f] : firsts[f + 1]], ascending.
    """

    sources: Texts
    targets: Texts
    tagged_sources: Texts
    tagged_targets: Texts
    lengths: NDArray[np.int32]
    weights: NDArray[np.float32]
    guessed: NDArray[np.bool_]
    hashes: NDArray[np.uint64]
    hashed_entries: NDArray[np.int32]
    names: NDArray[np.uint64]
    firsts: NDArray[np.int64]
    entries: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.lengths)


def build_index(pairs: Iterable[Entry]) -> Index:
    """Index pairs of texts; of several with the same source, the last one is kept that is no guess, else the last guess."""
    explicit: dict[str, Entry] = {}
    guesses: dict[str, Entry] = {}
    for entry in pairs:
        (guesses if entry.guessed else explicit)[entry.source] = entry
    unique = guesses | explicit
    sources = sorted(unique, key=len)
    numbers: dict[str, int] = {}
    found, counts = array("i"), array("i")
    for source in sources:
        own = features(source)
        found.extend([numbers.setdefault(name, len(numbers)) for name in own])
        counts.append(len(own))
    names = np.fromiter(map(hashed, numbers), np.uint64, len(numbers))
    of_entry = np.frombuffer(counts, np.int32) if counts else np.zeros(0, np.int32)
    firsts, entries = _postings(_ranks(names)[_as_array(found)], of_entry, len(names))
    weights = feature_weights(np.diff(firsts), len(sources))
    hashes = np.fromiter(map(hashed, sources), np.uint64, len(sources))
    order = np.argsort(hashes, kind="stable")
    return Index(
        _texts(sources),
        _texts([unique[source].target for source in sources]),
        _texts([unique[source].tagged[0] for source in sources]),
        _texts([unique[source].tagged[1] for source in sources]),
        np.fromiter(map(len, sources), np.int32, len(sources)),
        np.bincount(entries, np.repeat(weights, np.diff(firsts)), len(sources)).astype(np.float32),
        np.fromiter((source not in explicit for source in sources), np.bool_, len(sources)),
        hashes[order],
        order.astype(np.int32),
        np.sort(names),
        firsts,
        entries,
    )


def feature_weights(frequencies: NDArray[np.int64], entries: int) -> NDArray[np.float64]:
    """The weights of features that occur in `frequencies` of `entries` entries: log(1 + entries / frequency)."""
    return np.log1p(entries / np.maximum(frequencies, 1))


def _postings(features_found: NDArray[np.int64], counts: NDArray[np.int32], names: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """The entries of each feature; entry i has the next counts[i] of the features that were found."""
    entries = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    order = np.argsort(features_found, kind="stable")
    firsts = np.concatenate([[0], np.cumsum(np.bincount(features_found, minlength=names))])
    return firsts.astype(np.int64), entries[order]


def _ranks(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The place of each value in ascending order."""
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def _as_array(numbers: "array[int]") -> NDArray[np.int32]:
    return np.frombuffer(numbers, np.int32) if numbers else np.zeros(0, np.int32)


def _texts(texts: list[str]) -> Texts:
    encoded = [text.encode("utf-8", "replace") for text in texts]
    starts = np.concatenate([[0], np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)))])
    return Texts(np.frombuffer(b"".join(encoded), np.uint8), starts.astype(np.int64))
