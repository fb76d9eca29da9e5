"""From runs to the numbers of a table."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from specdec_cli.benchmark.records import Measured
from specdec_cli.benchmark.rows import BEST, Row
from specdec_cli.metrics.repetition import repetition_rate
from specdec_cli.metrics.scoring import Score

Scorer = Callable[[Sequence[str]], Score | None]


@dataclass(frozen=True)
class Result:
    """A row of the table; None, or no value in `quality` (by metric), is what was not measured.

    `iterations` are mean rounds a sentence, `tokens_per_round` is summed over the corpus before dividing.
    `repetition` is the share of tokens that repeat the one before them.
    `median_ms` and `p95_ms` are over lines, for a line of several sentences its time divided by their number.
    `spread` is how far the repetitions lie apart: the longest minus the shortest wall time, over the median.
    `block_size` is that of a row which chose it as it went, on average, and `drafted` the share of rounds that drafted.
    `identical` lines have greedy's tokens; `first_difference` is the first line, from 1, that has not.
    """

    row: Row
    settings: dict[str, Any]
    quality: Mapping[str, float]
    iterations: float | None
    tokens_per_round: float | None
    repetition: float
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


def summarise(measured: Sequence[Measured], score: Scorer) -> list[Result]:
    """The numbers of every row; `score` tells the quality of a row's lines, if it can be told.

    Speedups and identity are against the first greedy or beam row with the same batch size and threads.
    """
    return [_summarise(one, reference(one.row, measured, "greedy"), reference(one.row, measured, "beam"), score) for one in measured]


def broken_promises(results: Iterable[Result]) -> list[str]:
    """Of the decodings that promise greedy's output, those that did not give it, in words."""
    return [
        f"row {result.row.name}: {result.identical[0]} of {result.identical[1]} lines are greedy's; line {result.first_difference} is not"
        for result in results
        if result.row.exact and result.identical is not None and result.first_difference is not None
    ]


def reference(row: Row, measured: Iterable[Measured], decoding: str) -> Measured | None:
    """The first row of `decoding` under the same conditions: threads, and batch size unless that was chosen for the row."""
    rows = (one for one in measured if (one.row.decoding, one.row.threads) == (decoding, row.threads))
    return next((one for one in rows if row.variant == BEST or one.row.batch_size == row.batch_size), None)


def milliseconds_per_sentence(one: Measured) -> list[float]:
    """Of each line with text, in order: its median time over all runs by its sentences; empty if lines were not timed."""
    times = []
    for outputs in zip(*(run.outputs for run in one.runs), strict=True):
        seconds = [output.seconds for output in outputs if output.seconds is not None]
        if seconds and outputs[0].sentences:
            times.append(1000 * median(seconds) / len(outputs[0].sentences))
    return times


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` of `values` lie, interpolated linearly between neighbours."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def _summarise(one: Measured, greedy: Measured | None, beam: Measured | None, score: Scorer) -> Result:
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
        repetition=repetition_rate(sentence for output in outputs for sentence in output.sentences),
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


def _wall_seconds(one: Measured) -> float:
    return median(run.seconds for run in one.runs)


def _spread(one: Measured) -> float | None:
    times = [run.seconds for run in one.runs]
    return (max(times) - min(times)) / median(times) if len(times) > 1 else None


def _differing_lines(one: Measured, other: Measured) -> list[int]:
    pairs = zip(one.outputs, other.outputs, strict=True)
    return [number for number, (ours, theirs) in enumerate(pairs, start=1) if ours.sentences != theirs.sentences]
