"""What a row says and how long it took, run by run."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Any, Self

from specdec_cli.benchmark.rows import Row


@dataclass(frozen=True)
class Output:
    """A line decoded: its text, the ids of each sentence (EOS included), and rounds and seconds where they were counted."""

    text: str
    sentences: tuple[tuple[int, ...], ...]
    rounds: int | None = None
    seconds: float | None = None

    @property
    def tokens(self) -> int:
        """All emitted tokens, EOS included."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True)
class Run:
    """All lines once: wall seconds from text to text, outputs in order, and the process's peak memory so far in MB.

    Where it was chosen as it went, `drafted` are the rounds that drafted, `block_size` the tokens asked for on average.
    """

    seconds: float
    outputs: tuple[Output, ...]
    peak_memory_mb: float | None = None
    drafted: int | None = None
    block_size: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The inverse of `to_dict`, with lists for tuples."""
        outputs = (output | {"sentences": tuple(map(tuple, output["sentences"]))} for output in values["outputs"])
        return cls(**values | {"outputs": tuple(Output(**output) for output in outputs)})


@dataclass(frozen=True)
class Measured:
    """A row with its settled settings and all its runs over the same lines."""

    row: Row
    settings: dict[str, Any]
    runs: tuple[Run, ...]

    @property
    def outputs(self) -> tuple[Output, ...]:
        """What the row said, the first time."""
        return self.runs[0].outputs


def timed(decode: Callable[[Sequence[str]], Sequence[Output]], lines: Sequence[str], one_by_one: bool) -> Run:
    """Decode `lines` and time it; one by one, each output has its own seconds."""
    started = perf_counter()
    if not one_by_one:
        outputs = tuple(decode(lines))
        return Run(perf_counter() - started, outputs)
    single: list[Output] = []
    ends = [started]
    for line in lines:
        single += decode([line])
        ends.append(perf_counter())
    seconds = (end - start for start, end in pairwise(ends))
    return Run(ends[-1] - started, tuple(replace(output, seconds=taken) for output, taken in zip(single, seconds, strict=True)))
