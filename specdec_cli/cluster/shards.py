"""Shards: consecutive lines of the input that a worker processes together, and that are stored together."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.text.io.lines import Line
from specdec_cli.text.io.windows import EXTENDED

SHARD_LINES = 1000
"""The number of lines of a shard unless another is given."""


@dataclass(frozen=True)
class Shard:
    """Shard number `index` (from 0): `lines` of one input file; the first of them is line `first` (from 1) of the whole input."""

    index: int
    first: int
    lines: Sequence[Line]

    @property
    def file(self) -> Path | None:
        """The input file of the lines; None for stdin."""
        return self.lines[0].file

    @property
    def bytes(self) -> int:
        """The size of the lines in the input, in bytes."""
        return sum(len(line.text.encode("utf-8")) + len(line.ending) for line in self.lines)

    def digest(self) -> str:
        """A hash, in hexadecimal, of the texts of the lines in their order."""
        digest = hashlib.sha256()
        for line in self.lines:
            digest.update(line.text.encode("utf-8") + line.ending.encode("ascii"))
        return digest.hexdigest()[:16]


def cut_shards(lines: Iterable[Line], size: int, goes_on: Callable[[str], bool] = lambda _: False) -> Iterator[Shard]:
    """Cut lines into shards of `size` lines, each from one file.

    A shard whose last line goes on in the next line (`goes_on`) is extended, up to `2 * size` lines, at least 256.
    """
    index, first = 0, 1
    shard: list[Line] = []
    for line in lines:
        full = len(shard) >= size and not (goes_on(shard[-1].text) and len(shard) < max(2 * size, EXTENDED))
        if shard and (full or line.file != shard[0].file):
            yield Shard(index, first, tuple(shard))
            index, first, shard = index + 1, first + len(shard), []
        shard.append(line)
    if shard:
        yield Shard(index, first, tuple(shard))
