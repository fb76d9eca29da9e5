"""Classes for the outputs and times of benchmark runs."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from time import perf_counter
from typing import Any, Self

from specdec_cli.benchmark.rows import Row


@dataclass(frozen=True)
class Output:
    """The output of a line: text, output ids of each sentence (EOS included), rounds and wall time in seconds (None: not measured)."""

    text: str
    sentences: tuple[tuple[int, ...], ...]
    rounds: int | None = None
    seconds: float | None = None

    @property
    def tokens(self) -> int:
        """The number of emitted tokens of all sentences of the line, EOS included."""
        return sum(map(len, self.sentences))


@dataclass(frozen=True)
class Run:
    """One run of a row over all lines: wall time in seconds, outputs in order, peak memory of the process so far in MB (2**20 bytes).

    With an adaptive block size, `drafted` is the number of rounds with a draft, and `block_size` their mean block size; else both
    are None. A memory of None was not measured.
    """

    seconds: float
    outputs: tuple[Output, ...]
    peak_memory_mb: float | None = None
    drafted: int | None = None
    block_size: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """All fields by name, outputs as dictionaries, for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The inverse of `to_dict`; accepts lists for tuples, as JSON has them."""
        outputs = (output | {"sentences": tuple(map(tuple, output["sentences"]))} for output in values["outputs"])
        return cls(**values | {"outputs": tuple(Output(**output) for output in outputs)})


@dataclass(frozen=True)
class RowRuns:
    """A row of the benchmark, the settings with which it was decoded by name, and its runs over the same lines."""

    row: Row
    settings: dict[str, Any]
    runs: tuple[Run, ...]

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The output of each line, in order, in the first run."""
        return self.runs[0].outputs


def timed(decode: Callable[[Sequence[str]], Sequence[Output]], lines: Sequence[str], one_by_one: bool) -> Run:
    """Call `decode` with `lines` and measure the wall time; with `one_by_one`, call it for each line, and measure each line too."""
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
