"""An index of the sources of a translation memory, as arrays, and its file in the cache folder, from which they are mapped."""

import contextlib
import re
from array import array
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from specdec_cli.files import write_atomically
from specdec_cli.memories.pairs import Entry

_WORD = re.compile(r"\w+")
WITHOUT_SPACES = "\u0e00-\u0eff\u1000-\u109f\u2e80-\ud7af\uf900-\ufaff"
"""Characters of scripts without spaces, as ranges for a regular expression."""
_WITHOUT_SPACES = re.compile(f"[{WITHOUT_SPACES}]")


def features(text: str) -> Set[str]:
    """The words of `text` in lower case; of a word in a script without spaces, such as Chinese, the pairs of its
    characters. A text without a word has itself as its only feature.
    """
    words = set(_WORD.findall(text.lower()))
    if _WITHOUT_SPACES.search(text):
        for word in [word for word in words if len(word) > 2 and _WITHOUT_SPACES.search(word)]:
            words.remove(word)
            words.update(word[index : index + 2] for index in range(len(word) - 1))
    return words or {text}


def hashed(text: str) -> int:
    """A number of 64 bits for `text`, the same in every process."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


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


FORMAT = 4
"""Number of the layout of the files."""
_ALIGNMENT = 64
"""Bytes of which the place of every array is a multiple, as numpy copies unaligned arrays in each operation."""
_HEADER = 192
"""Bytes before the first array: the format, the key, a checksum of the arrays, and the number of values of each."""
_TYPES = (*(np.uint8, np.int64) * 4, np.int32, np.float32, np.bool_, np.uint64, np.int32, np.uint64, np.int64, np.int32)


def write_index(path: Path, index: Index, key: str) -> bool:
    """Store `index` with the `key` of what it was made from in place of an older one; return whether this succeeded.
    No error is raised if the file cannot be written.
    """
    arrays: list[NDArray[Any]] = [np.ascontiguousarray(each, kind) for each, kind in zip(_arrays(index), _TYPES, strict=True)]

    def write(partial: Path) -> None:
        checksum = 0
        with partial.open("wb") as stream:
            stream.seek(_HEADER)
            for each in arrays:
                padded = each.tobytes() + bytes(-each.nbytes % _ALIGNMENT)
                checksum = crc32(padded, checksum)
                stream.write(padded)
            stream.seek(0)
            stream.write(np.array([FORMAT, hashed(key), checksum, *map(len, arrays)], np.uint64).tobytes())

    try:
        write_atomically(path, write)
    except OSError:
        return False
    return True


def map_index(path: Path, key: str) -> Index | None:
    """Map the index in the file `path` into memory; None if there is none, or if it was made from something else than
    `key` says, or is damaged.
    """
    with contextlib.suppress(OSError, ValueError, IndexError, OverflowError):
        bytes_ = np.memmap(path, np.uint8, "r")
        numbers = [int(number) for number in bytes_[: 8 * (3 + len(_TYPES))].view(np.uint64)]
        if numbers[:2] != [FORMAT, hashed(key)]:
            return None
        sizes = [count * np.dtype(kind).itemsize for count, kind in zip(numbers[3:], _TYPES, strict=True)]
        ends = list(accumulate((size + -size % _ALIGNMENT for size in sizes), initial=_HEADER))
        # The checksum is of all arrays, so that no damaged text is taken for a translation.
        if ends[-1] != len(bytes_) or crc32(bytes_[_HEADER:].data) != numbers[2]:
            return None
        return _checked([bytes_[start : start + size].view(kind) for start, size, kind in zip(ends, sizes, _TYPES, strict=False)])
    return None


def _arrays(index: Index) -> Iterator[NDArray[Any]]:
    for texts in _columns(index):
        yield from (texts.data, texts.starts)
    yield from (index.lengths, index.weights, index.guessed, index.hashes, index.hashed_entries, index.names, index.firsts, index.entries)


def _columns(index: Index) -> tuple[Texts, Texts, Texts, Texts]:
    return index.sources, index.targets, index.tagged_sources, index.tagged_targets


def _checked(arrays: list[NDArray[Any]]) -> Index | None:
    """The index of these arrays; None if their sizes do not go together, or if numbers are out of range."""
    first, second, third, fourth = (Texts(arrays[place], arrays[place + 1]) for place in range(0, 8, 2))
    index = Index(first, second, third, fourth, *arrays[8:])
    count = len(index.lengths)
    sizes = [*map(len, _columns(index)), len(index.weights), len(index.guessed), len(index.hashes), len(index.hashed_entries)]
    parts: list[tuple[NDArray[np.int64], NDArray[Any]]] = [
        *((texts.starts, texts.data) for texts in _columns(index)),
        (index.firsts, index.entries),
    ]
    fits = sizes == [count] * 8 and len(index.firsts) == len(index.names) + 1
    known = all(len(each) == 0 or (each.min() >= 0 and each.max() < count) for each in (index.entries, index.hashed_entries))
    return index if fits and known and all(_is_rising(starts, len(data)) for starts, data in parts) else None


def _is_rising(starts: NDArray[np.int64], end: int) -> bool:
    """Whether places rise from 0 to `end`."""
    return bool(starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())
