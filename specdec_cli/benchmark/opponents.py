"""CTranslate2 at its best: the number format, the threads and the batches that are fastest for it on this machine."""

from collections.abc import Sequence
from dataclasses import replace

from specdec_cli.benchmark.measure import Conditions, Pool, measure
from specdec_cli.benchmark.rows import BEST, Row

FORMATS = ("float32", "int8", "bfloat16", "int8_bfloat16", "float16", "int8_float16")
"""Number formats that are tried, where CTranslate2 can compute in them on the machine."""
_LINES, _TIMES = 12, 2
_BATCHES = 6


def settle_opponents(worker: str, rows: Sequence[Row], conditions: Conditions, lines: Sequence[str]) -> list[Row]:
    """`rows`, those whose variant is "best" with the settings that are fastest over the first of `lines`."""
    return [_fastest(worker, row, conditions, lines) if row.variant == BEST else row for row in rows]


def candidates(row: Row, conditions: Conditions) -> list[Row]:
    """`row` in each format; on a CPU one translator with all threads or one, or for batches several of one thread; and larger batches."""
    splits = {(1, row.threads)}
    if conditions.device == "cpu":
        splits.add((1, 1) if row.batch_size == 1 else (row.threads, 1))
    batches = {row.batch_size} if row.batch_size == 1 else {row.batch_size, 2 * row.batch_size}
    return [
        replace(row, compute=kind, workers=workers, each=each, batch_size=batch)
        for kind in conditions.converted
        for workers, each in sorted(splits)
        for batch in sorted(batches)
    ]


def _fastest(worker: str, row: Row, conditions: Conditions, lines: Sequence[str]) -> Row:
    tried = candidates(row, conditions)
    few = lines[: _LINES if row.batch_size == 1 else _BATCHES * row.batch_size]
    with Pool(worker, tried, conditions, shared=True) as pool:
        measured = measure(pool, tried, few, _TIMES, lambda: None)
    return min(measured, key=lambda one: min(run.seconds for run in one.runs)).row
