"""Index files in the cache folder: the arrays of an index one after the other, mapped into memory when they are read."""

import contextlib
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from specdec_cli.files import write_atomically
from specdec_cli.memories.features import hashed
from specdec_cli.memories.index import Index, Texts

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
        return _index([bytes_[start : start + size].view(kind) for start, size, kind in zip(ends, sizes, _TYPES, strict=False)])
    return None


def _arrays(index: Index) -> Iterator[NDArray[Any]]:
    for texts in _columns(index):
        yield from (texts.data, texts.starts)
    yield from (index.lengths, index.weights, index.guessed, index.hashes, index.hashed_entries, index.names, index.firsts, index.entries)


def _columns(index: Index) -> tuple[Texts, Texts, Texts, Texts]:
    return index.sources, index.targets, index.tagged_sources, index.tagged_targets


def _index(arrays: list[NDArray[Any]]) -> Index | None:
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
