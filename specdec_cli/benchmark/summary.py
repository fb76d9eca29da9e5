"""Summary of benchmark runs: the numbers of a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.rows import BEST, Row
from specdec_cli.metrics.scoring import Score

Scorer = Callable[[Sequence[str]], Score | None]


@dataclass(frozen=True)
class Result:
    """The results of a row; values that were not measured are None, or absent from `quality` (scores by metric).

    `iterations` is the mean number of rounds a sentence; `tokens_per_round` is summed over the corpus before dividing.
    `median_ms` and `p95_ms` are milliseconds a sentence over lines (the time of a line divided by its sentences). `spread` is
    the longest minus the shortest wall time of the repetitions, divided by the median. With an adaptive block size,
    `block_size` is its mean and `drafted` the share of rounds with a draft. `identical` is the number of lines with the same
    tokens as greedy decoding, and the number of all lines; `first_difference` is the number (from 1) of the first other line.
    """

    row: Row
    settings: dict[str, Any]
    quality: Mapping[str, float]
    iterations: float | None
    tokens_per_round: float | None
    block_size: float | None
    drafted: float | None
    median_ms: float | None
    p95_ms: float | None
    tokens_per_second: float
    spread: float | None
    speedup_vs_greedy: float | None
    speedup_vs_beam: float | None
    identical: tuple[int, int] | None
    first_difference: int | None
    peak_memory_mb: float | None


def summarise(measured: Sequence[RowRuns], score: Scorer) -> list[Result]:
    """The results of all rows; `score` computes the metrics of output lines, or returns None.

    Speedups and identical lines are relative to the first greedy or beam row with the same batch size and threads.
    """
    return [_summarise(one, baseline(one.row, measured, "greedy"), baseline(one.row, measured, "beam"), score) for one in measured]


def exactness_violations(results: Iterable[Result]) -> list[str]:
    """Descriptions of the exact rows whose output differs from greedy decoding."""
    return [
        f"row {result.row.name}: {result.identical[0]} of {result.identical[1]} lines equal those of greedy; "
        f"line {result.first_difference} does not"
        for result in results
        if result.row.exact and result.identical is not None and result.first_difference is not None
    ]


def baseline(row: Row, measured: Iterable[RowRuns], decoding: str) -> RowRuns | None:
    """The first row of `decoding` with the threads and the batch size of `row` (any batch size if `row` has the fastest one)."""
    rows = (one for one in measured if (one.row.decoding, one.row.threads) == (decoding, row.threads))
    return next((one for one in rows if row.variant == BEST or one.row.batch_size == row.batch_size), None)


def milliseconds_per_sentence(one: RowRuns) -> list[float]:
    """For each line with text: the median time over runs in milliseconds, divided by its sentences; empty if not timed."""
    times = []
    for outputs in zip(*(run.outputs for run in one.runs), strict=True):
        seconds = [output.seconds for output in outputs if output.seconds is not None]
        if seconds and outputs[0].sentences:
            times.append(1000 * median(seconds) / len(outputs[0].sentences))
    return times


def quantile(values: Sequence[float], share: float) -> float:
    """The quantile `share` (0 to 1) of `values`, interpolated linearly."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _summarise(one: RowRuns, greedy: RowRuns | None, beam: RowRuns | None, score: Scorer) -> Result:
    outputs, times, seconds = one.outputs, milliseconds_per_sentence(one), _wall_seconds(one)
    sentences, tokens = sum(len(output.sentences) for output in outputs), sum(output.tokens for output in outputs)
    rounds = sum(output.rounds or 0 for output in outputs)
    quality = score([output.text for output in outputs])
    differing = _differing_lines(one, greedy) if greedy else []
    peaks = [run.peak_memory_mb for run in one.runs if run.peak_memory_mb is not None]
    return Result(
        row=one.row,
        settings=one.settings,
        quality=quality.values if quality else {},
        iterations=rounds / sentences if rounds else None,
        tokens_per_round=tokens / rounds if rounds else None,
        block_size=one.runs[0].block_size if one.runs[0].drafted else None,
        drafted=one.runs[0].drafted / rounds if one.runs[0].drafted is not None and rounds else None,
        median_ms=median(times) if times else None,
        p95_ms=quantile(times, 0.95) if times else None,
        tokens_per_second=tokens / seconds,
        spread=_spread(one),
        speedup_vs_greedy=_wall_seconds(greedy) / seconds if greedy else None,
        speedup_vs_beam=_wall_seconds(beam) / seconds if beam else None,
        identical=(len(outputs) - len(differing), len(outputs)) if greedy else None,
        first_difference=differing[0] if differing else None,
        peak_memory_mb=max(peaks, default=None),
    )


def _wall_seconds(one: RowRuns) -> float:
    return median(run.seconds for run in one.runs)


def _spread(one: RowRuns) -> float | None:
    times = [run.seconds for run in one.runs]
    return (max(times) - min(times)) / median(times) if len(times) > 1 else None


def _differing_lines(one: RowRuns, other: RowRuns) -> list[int]:
    pairs = zip(one.outputs, other.outputs, strict=True)
    return [number for number, (ours, theirs) in enumerate(pairs, start=1) if ours.sentences != theirs.sentences]
