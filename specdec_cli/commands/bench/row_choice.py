"""Choice of the rows of `specdec bench`: those of --row, else the default rows, or those of a sweep."""

from collections.abc import Sequence

from specdec_cli.benchmark.rows import (
    CTRANSLATE2,
    DEFAULT_ROWS,
    LENGTH_AWARE,
    MASKED_ROWS,
    REWRITING_ROWS,
    REWRITING_SWEEP_ROWS,
    SWEEP_ROWS,
    Row,
    parse_row,
)
from specdec_cli.benchmark.sweeps import Sweep, parse_sweep, sweep_defaults
from specdec_cli.decoding.methods import DECODINGS, OPTIONS, having, order_problem, parts, search_of
from specdec_cli.decoding.options import words
from specdec_cli.errors import UsageError
from specdec_cli.text.folding import Order


def parse_sweeps(texts: Sequence[str]) -> Sweep:
    """Parse the values of all --sweep options into one Sweep. Raises UsageError for a malformed value, and a key that is given twice."""
    pairs = [parse_sweep(text) for text in texts]
    sweep = dict(pairs)
    if len(sweep) < len(pairs):
        raise UsageError("--sweep: a key was given twice; join its values by commas")
    return sweep


def choose_rows(asked: Sequence[str], sweep: Sweep, base: Row, order: Order, *, rewriting: bool) -> tuple[Row, ...]:
    """The rows for a bundle of the generation order `order`: those named in `asked` or, if that is empty, the default ones.

    If `sweep` is not empty, the row greedy is added as the baseline, if the order is left-to-right. All rows have the settings of
    `base` that their decodings support. `rewriting`: the task is correction or simplification, which has other default
    rows. Raises UsageError for a row that the order does not allow, and for an option in `base` that applies to no row.
    """
    names = list(asked) or _usual(sweep, order, rewriting)
    if sweep and order == "left-to-right" and "greedy" not in names:
        names = ["greedy", *names]
    rows = tuple(dict.fromkeys(parse_row(name, base, DECODINGS, words("preset")) for name in names))
    for row in rows:
        problems = (order_problem(part, order) for part in parts(row.decoding) if part not in ("auto", *CTRANSLATE2))
        if problem := next(filter(None, problems), None):
            raise UsageError(f"--row {row.label}: {problem}")
    _check_options(base, rows)
    return rows


def _usual(sweep: Sweep, order: Order, rewriting: bool) -> list[str]:
    """The default rows; for an order other than left to right, its only decoding."""
    own = search_of(order)
    if own is not None:
        return list(MASKED_ROWS) if order == "masked" and not sweep else [own]
    usual, swept = (REWRITING_ROWS, REWRITING_SWEEP_ROWS) if rewriting else (DEFAULT_ROWS, SWEEP_ROWS)
    return sweep_defaults(sweep, swept) if sweep else list(usual)


def _check_options(base: Row, rows: Sequence[Row]) -> None:
    """Raise UsageError for an option that applies to no row."""
    if base.oracle_length and not any(row.oracle_length for row in rows):
        raise UsageError(f"--oracle-length is for rows of {' and '.join(LENGTH_AWARE)}")
    if base.oracle_length and any(row.oracle_length and row.options.jacobi_length is not None for row in rows):
        raise UsageError("--oracle-length and --jacobi-length contradict each other in a row of jacobi")
    for name in OPTIONS:
        if getattr(base.options, name) is not None and all(getattr(row.options, name) is None for row in rows):
            raise UsageError(f"--{name.replace('_', '-')} is for rows of {' and '.join(having(name))}")
