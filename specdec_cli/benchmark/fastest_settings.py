"""Search for the number format, threads and batch size with which CTranslate2 is fastest on this machine."""

from collections.abc import Mapping, Sequence

from specdec_cli.benchmark.measure import Conditions, Pool, measure
from specdec_cli.benchmark.rows import BEST, Row

FORMATS = ("float32", "int8", "bfloat16", "int8_bfloat16", "float16", "int8_float16")
"""The number formats of CTranslate2 that are tried, if it supports them on the machine."""
_TRIAL_LINES, _TRIAL_RUNS = 12, 2
_TRIAL_BATCHES = 6


def choose_fastest_settings(worker: str, rows: Sequence[Row], conditions: Conditions, lines: Sequence[str]) -> list[Row]:
    """A copy of `rows` in which rows of the variant "best" have the settings (see `candidates`) with which they are fastest.

    They are tried on the first 12 of `lines` or, with batches, on the first 6 * `batch_size`. `worker` is the Python module of
    the processes that run the trials, under `conditions`.
    """
    return [_fastest(worker, row, conditions, lines) if row.variant == BEST else row for row in rows]


def needed_formats(rows: Sequence[Row]) -> list[str]:
    """The number formats of CTranslate2 that rows need; all formats if a row asks for the fastest."""
    needed = {row.compute_type for row in rows if row.compute_type}
    return sorted((needed - {BEST}) | set(FORMATS)) if BEST in needed else sorted(needed)


def refusal(row: Row, refused: Mapping[str, str]) -> str | None:
    """The reason why CTranslate2 cannot decode `row`, from those by number format; None if it can."""
    reasons = [refused.get(kind or "") for kind in (FORMATS if row.compute_type == BEST else (row.compute_type,))]
    return reasons[0] if all(reasons) else None


def candidates(row: Row, conditions: Conditions) -> list[Row]:
    """Copies of `row` with all settings to try: each number format with each split of the threads and each batch size.

    On a CPU, the splits are one worker with all threads, and one worker with one thread or, for batches, a worker for each thread.
    The batch sizes are that of `row` and, for batches, twice that.
    """
    splits = {(1, row.threads)}
    if conditions.device == "cpu":
        splits.add((1, 1) if row.options.batch_size == 1 else (row.threads, 1))
    batches = {row.options.batch_size} if row.options.batch_size == 1 else {row.options.batch_size, 2 * row.options.batch_size}
    return [
        row.changed(fastest_type=kind, workers=workers, worker_threads=each, batch_size=batch)
        for kind in conditions.converted
        for workers, each in sorted(splits)
        for batch in sorted(batches)
    ]


def _fastest(worker: str, row: Row, conditions: Conditions, lines: Sequence[str]) -> Row:
    tried = candidates(row, conditions)
    trial_lines = lines[: _TRIAL_LINES if row.options.batch_size == 1 else _TRIAL_BATCHES * row.options.batch_size]
    with Pool(worker, tried, {row.model: conditions}, shared=True) as pool:
        measured = measure(pool, tried, trial_lines, _TRIAL_RUNS, lambda: None)
    return min(measured, key=lambda one: min(run.seconds for run in one.runs)).row
