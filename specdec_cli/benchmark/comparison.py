"""The runs of a row together with those of the greedy and beam rows that it is compared with."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import median

from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.rows import BEST, Row


@dataclass(frozen=True)
class Comparison:
    """A measured row, and the greedy and the beam row that `compare` pairs with it (None: there is none)."""

    measured: RowRuns
    greedy: RowRuns | None = None
    beam: RowRuns | None = None

    @cached_property
    def sentences(self) -> int:
        """The number of sentences that the measured row decoded in one run."""
        return sum(len(output.sentences) for output in self.measured.outputs)

    @cached_property
    def tokens(self) -> int:
        """The number of tokens that the measured row emitted in one run, EOS included."""
        return sum(output.tokens for output in self.measured.outputs)

    @cached_property
    def rounds(self) -> int:
        """The number of rounds of all sentences in one run of the measured row; 0 if they were not counted."""
        return sum(output.rounds or 0 for output in self.measured.outputs)

    @cached_property
    def seconds(self) -> float:
        """The median wall time of the measured row's runs, in seconds."""
        return median(run.seconds for run in self.measured.runs)

    @cached_property
    def milliseconds(self) -> list[float]:
        """The measured row's `milliseconds_per_sentence`."""
        return milliseconds_per_sentence(self.measured)

    @cached_property
    def differing_lines(self) -> list[int] | None:
        """The numbers (from 1) of the lines whose output tokens differ from those of greedy decoding; None without a greedy row."""
        if self.greedy is None:
            return None
        pairs = zip(self.measured.outputs, self.greedy.outputs, strict=True)
        return [number for number, (ours, theirs) in enumerate(pairs, start=1) if ours.sentences != theirs.sentences]

    def speedup_over(self, other: RowRuns | None) -> float | None:
        """The median wall time of the row `other` divided by that of the measured row; None if `other` is None."""
        return median(run.seconds for run in other.runs) / self.seconds if other else None


def compare(measured: Sequence[RowRuns]) -> list[Comparison]:
    """Pair each row with the first greedy row and the first beam row that `baseline` finds for it among `measured`."""
    return [Comparison(one, baseline(one.row, measured, "greedy"), baseline(one.row, measured, "beam")) for one in measured]


def baseline(row: Row, measured: Iterable[RowRuns], decoding: str) -> RowRuns | None:
    """The first of `measured` with the decoding `decoding` and the bundle, threads and batch size of `row`; None if there is none.

    The batch size may differ if `row` has the variant "best", for which the benchmark chooses it. A row with the mode
    and the minimum score of `row` is preferred, because they decide which misspelt words are corrected before the model reads a text.
    """
    rows = [one for one in measured if (one.row.decoding, one.row.model, one.row.threads) == (decoding, row.model, row.threads)]
    rows = [one for one in rows if row.variant == BEST or one.row.options.batch_size == row.options.batch_size]
    alike = [one for one in rows if (one.row.options.mode, one.row.min_score) == (row.options.mode, row.min_score)]
    return next(iter(alike or rows), None)


def milliseconds_per_sentence(one: RowRuns) -> list[float]:
    """For each line with text, its median wall time over all runs, in milliseconds, divided by its number of sentences.

    Empty if the row decoded batches, whose lines have no time of their own.
    """
    times = []
    for outputs in zip(*(run.outputs for run in one.runs), strict=True):
        seconds = [output.seconds for output in outputs if output.seconds is not None]
        if seconds and outputs[0].sentences:
            times.append(1000 * median(seconds) / len(outputs[0].sentences))
    return times


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile `share` (0 to 1) of `values`, interpolated linearly between neighbouring values."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])
