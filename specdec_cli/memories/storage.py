"""Index files in the cache folder: the arrays of an index one after the other, mapped into memory when they are read."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from specdec_cli.files import write_atomically
from specdec_cli.memories.features import hashed
from specdec_cli.memories.index import Index, Texts

FORMAT = 2
"""Number of the layout of the files and of the rules by which features are made."""
_ALIGNMENT = 64
"""Bytes of which the place of every array is a multiple, as numpy copies unaligned arrays in each operation."""
_TYPES = (np.uint8, np.int64, np.uint8, np.int64, np.int32, np.float32, np.bool_, np.uint64, np.int32, np.uint64, np.int64, np.int32)


def write_index(path: Path, index: Index, key: str) -> bool:
    """Store `index` with the `key` of what it was made from in place of an older one; return whether this succeeded.
    No error is raised if the file cannot be written.
    """

    def write(partial: Path) -> None:
        with partial.open("wb") as stream:
            for each in (np.array([FORMAT, hashed(key)], np.uint64), *_arrays(index)):
                npy.write_array(stream, each, allow_pickle=False)
                stream.write(bytes(-stream.tell() % _ALIGNMENT))

    try:
        write_atomically(path, write)
    except OSError:
        return False
    return True


def map_index(path: Path, key: str) -> Index | None:
    """Map the index in the file `path` into memory; None if there is none, or if it was made from something else than
    `key` says, or is damaged.
    """
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        with path.open("rb") as stream:
            if npy.read_array(stream, allow_pickle=False).tolist() != [FORMAT, hashed(key)]:
                return None
            stream.seek(-stream.tell() % _ALIGNMENT, 1)
            places = [_skip(stream, kind) for kind in _TYPES]
            if stream.seek(0, 2) != places[-1][2]:
                return None
        return _index([_mapped(path, kind, *place) for kind, place in zip(_TYPES, places, strict=True)])
    return None


def _skip(stream: IO[bytes], kind: Any) -> tuple[int, int, int]:
    """Go past an array of the file: its first byte, its number of values, and the first byte of the next one."""
    if npy.read_magic(stream) != (1, 0):
        raise ValueError("not the version of the format that is written")
    shape, _, found = npy.read_array_header_1_0(stream)
    if found != np.dtype(kind) or len(shape) != 1:
        raise ValueError("not the array that is expected")
    start = stream.tell()
    end = start + shape[0] * found.itemsize
    end += -end % _ALIGNMENT
    stream.seek(end)
    return start, shape[0], end


def _mapped(path: Path, kind: Any, start: int, count: int, end: int) -> NDArray[Any]:  # noqa: ARG001
    # An empty array cannot be mapped.
    return np.asarray(np.memmap(path, kind, "r", start, count)) if count else np.zeros(0, kind)


def _arrays(index: Index) -> Iterator[NDArray[Any]]:
    yield from (index.sources.data, index.sources.starts, index.targets.data, index.targets.starts, index.lengths, index.weights)
    yield from (index.guessed, index.hashes, index.hashed_entries, index.names, index.firsts, index.entries)


def _index(arrays: list[NDArray[Any]]) -> Index | None:
    """The index of these arrays; None if their sizes do not go together, or if numbers are out of range."""
    index = Index(Texts(arrays[0], arrays[1]), Texts(arrays[2], arrays[3]), *arrays[4:])
    count = len(index.lengths)
    sizes = [len(index.sources), len(index.targets), len(index.weights), len(index.guessed), len(index.hashes), len(index.hashed_entries)]
    parts: list[tuple[NDArray[np.int64], NDArray[Any]]] = [
        (index.sources.starts, index.sources.data),
        (index.targets.starts, index.targets.data),
        (index.firsts, index.entries),
    ]
    fits = sizes == [count] * 6 and len(index.firsts) == len(index.names) + 1
    known = all(len(each) == 0 or (each.min() >= 0 and each.max() < count) for each in (index.entries, index.hashed_entries))
    return index if fits and known and all(_is_rising(starts, len(data)) for starts, data in parts) else None


def _is_rising(starts: NDArray[np.int64], end: int) -> bool:
    """Whether places rise from 0 to `end`."""
    return bool(starts[0] == 0 and starts[-1] == end and (np.diff(starts) >= 0).all())
