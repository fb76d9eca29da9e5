"""Shards of lines, and what a worker does with them: the interface between commands and workers, and its results."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from specdec_cli.errors import SpecdecError
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


LINES, TOKENS = "lines", "tokens"
"""Names of counts that every job has: input lines, and output tokens (0 for jobs without a model)."""


@dataclass(frozen=True)
class Output:
    """The output of consecutive lines: `texts` has one string for each, which holds any number of complete output lines.

    `counts` are numbers of the job by name; `messages` are warnings for the user.
    """

    texts: tuple[str, ...]
    counts: Counter[str] = field(default_factory=Counter)
    messages: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """Why a worker could not load its model or process lines. `kind` is the class of the error, if the user caused it.

    After a `broken` failure the worker cannot go on, and is replaced.
    """

    message: str
    kind: type[SpecdecError] | None = None
    broken: bool = False


@dataclass(frozen=True)
class FailedLine:
    """A line that could not be processed, and the error of its last try."""

    line: Line
    error: str


LineFunction: TypeAlias = Callable[[Sequence[Line], int], Output]
"""Processes consecutive lines; the second argument is the number of the first one in the whole input, from 1."""


class Job(Protocol):
    """What each worker does. A job is sent to the workers, so it can be pickled, and it loads its model in `open`."""

    def open(self) -> AbstractContextManager[LineFunction]:
        """Load the model; the function that processes lines can be called inside the `with` block."""

    def failed(self, line: Line) -> str:
        """The output text for a line that could not be processed."""


def joined(outputs: Iterable[Output]) -> Output:
    """The output of consecutive groups of lines as one."""
    texts: list[str] = []
    counts: Counter[str] = Counter()
    messages: list[str] = []
    for output in outputs:
        texts += output.texts
        counts.update(output.counts)
        messages += output.messages
    return Output(tuple(texts), counts, tuple(messages))
