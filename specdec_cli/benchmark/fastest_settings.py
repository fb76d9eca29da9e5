"""Search for the number format, threads and batch size with which CTranslate2 is fastest on this machine."""

from collections.abc import Sequence
from dataclasses import replace

from specdec_cli.benchmark.measure import Conditions, Pool, measure
from specdec_cli.benchmark.rows import BEST, Row

FORMATS = ("float32", "int8", "bfloat16", "int8_bfloat16", "float16", "int8_float16")
"""Number formats to try, if CTranslate2 supports them on the machine."""
_TRIAL_LINES, _TRIAL_RUNS = 12, 2
_TRIAL_BATCHES = 6


def choose_fastest_settings(worker: str, rows: Sequence[Row], conditions: Conditions, lines: Sequence[str]) -> list[Row]:
    """`rows`, with the variant "best" replaced by the settings that are fastest on the first of `lines`."""
    return [_fastest(worker, row, conditions, lines) if row.variant == BEST else row for row in rows]


def candidates(row: Row, conditions: Conditions) -> list[Row]:
    """The settings to try for `row`: every number format with several divisions of threads and, for batches, two batch sizes.

    On a CPU, one worker has all threads. The alternative is one worker of one thread or, for batches, a worker for each thread.
    """
    splits = {(1, row.threads)}
    if conditions.device == "cpu":
        splits.add((1, 1) if row.batch_size == 1 else (row.threads, 1))
    batches = {row.batch_size} if row.batch_size == 1 else {row.batch_size, 2 * row.batch_size}
    return [
        replace(row, fastest_type=kind, workers=workers, worker_threads=each, batch_size=batch)
        for kind in conditions.converted
        for workers, each in sorted(splits)
        for batch in sorted(batches)
    ]


def _fastest(worker: str, row: Row, conditions: Conditions, lines: Sequence[str]) -> Row:
    tried = candidates(row, conditions)
    trial_lines = lines[: _TRIAL_LINES if row.batch_size == 1 else _TRIAL_BATCHES * row.batch_size]
    with Pool(worker, tried, {row.model: conditions}, shared=True) as pool:
        measured = measure(pool, tried, trial_lines, _TRIAL_RUNS, lambda: None)
    return min(measured, key=lambda one: min(run.seconds for run in one.runs)).row
