"""Which rows `specdec bench` compares: those asked for, those that a sweep changes, or the usual ones."""

from collections.abc import Sequence
from typing import get_args

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
from specdec_cli.commands.options.decoding import Preset
from specdec_cli.decoding.names import DECODINGS, JACOBI_LENGTH, OPTIONS, having, order_problem, parts, search_of
from specdec_cli.errors import UsageError
from specdec_cli.text.folding import Order


def parse_sweeps(texts: Sequence[str]) -> Sweep:
    """The keys of a sweep with their values. Raises UsageError."""
    pairs = [parse_sweep(text) for text in texts]
    sweep = dict(pairs)
    if len(sweep) < len(pairs):
        raise UsageError("--sweep: a key was given twice; its values go in one list, with commas between")
    return sweep


def choose_rows(asked: Sequence[str], sweep: Sweep, base: Row, order: Order, *, rewriting: bool) -> tuple[Row, ...]:
    """The rows for a bundle whose model writes in `order`; a sweep has greedy to compare with, where the model can do it.

    Raises UsageError for a row that the order rules out, and for an option that is for none of the rows.
    """
    names = list(asked) or _usual(sweep, order, rewriting)
    if sweep and order == "left-to-right" and "greedy" not in names:
        names = ["greedy", *names]
    rows = tuple(dict.fromkeys(parse_row(name, base, DECODINGS, get_args(Preset)) for name in names))
    for row in rows:
        problems = (order_problem(part, order) for part in parts(row.decoding) if part not in ("auto", *CTRANSLATE2))
        if problem := next(filter(None, problems), None):
            raise UsageError(f"--row {row.name}: {problem}")
    _check_options(base, rows)
    return rows


def _usual(sweep: Sweep, order: Order, rewriting: bool) -> list[str]:
    """The rows where none was asked for: in another order than from left to right, the only decoding that there is."""
    own = search_of(order)
    if own is not None:
        return list(MASKED_ROWS) if order == "masked" and not sweep else [own]
    usual, swept = (REWRITING_ROWS, REWRITING_SWEEP_ROWS) if rewriting else (DEFAULT_ROWS, SWEEP_ROWS)
    return sweep_defaults(sweep, swept) if sweep else list(usual)


def _check_options(base: Row, rows: Sequence[Row]) -> None:
    """Raises UsageError for an option that no row has."""
    given = dict(base.options)
    if base.oracle_length and not any(row.oracle_length for row in rows):
        raise UsageError(f"--oracle-length is for rows of {' and '.join(LENGTH_AWARE)}")
    if base.oracle_length and any(row.oracle_length and JACOBI_LENGTH.name in dict(row.options) for row in rows):
        raise UsageError("--oracle-length and --jacobi-length contradict each other in a row of jacobi")
    for option in OPTIONS:
        if option.name in given and not any(option.name in dict(row.options) for row in rows):
            raise UsageError(f"--{option.name.replace('_', '-')} is for rows of {' and '.join(having(option))}")
