"""Sweeps: rows for every combination of the values of some settings."""

import math
from collections.abc import Mapping, Sequence
from itertools import product

from specdec_cli.benchmark.rows import SWEEP_ROWS, Row, variant_option
from specdec_cli.decoding.methods import DRAFTING, MODES, OPTIONS, SEARCHES, TOLERANT, having, parts
from specdec_cli.decoding.options import ranges, words
from specdec_cli.errors import UsageError

Value = int | float | str
Sweep = Mapping[str, Sequence[Value]]
"""The values to try for each setting that is varied, by the key of the setting (such as "block-size")."""
BASELINES = ("greedy", "beam")
"""The rows that speedups are relative to: greedy decoding, and beam search (as in Xia et al. 2022 and Ge et al. 2022)."""
_SWEPT_OPTIONS = {name.replace("_", "-"): name for name in OPTIONS if name in ranges() and not words(name)}
SWEEP_KEYS = ("block-size", "top-beta", "tolerance", "batch-size", "threads", "beam-size", "min-score", "mode", *_SWEPT_OPTIONS)
_SWEEP_VALUES = {
    "tolerance": (float, 0, math.inf, "numbers from 0"),
    "min-score": (float, -math.inf, math.inf, "numbers"),
}
_ONLY_FOR = {
    "beam-size": (*SEARCHES, "ctranslate2-beam"),
    "block-size": DRAFTING,
    "top-beta": TOLERANT,
    "tolerance": TOLERANT,
    "min-score": ("greedy", "auto", *DRAFTING),
    "mode": ("greedy", "auto", *DRAFTING),
    **{key: having(name) for key, name in _SWEPT_OPTIONS.items()},
}
_TOLERANCE_KEYS = ("top-beta", "tolerance")


def parse_sweep(text: str) -> tuple[str, tuple[Value, ...]]:
    """Parse `KEY=V1,V2,...`, a value of --sweep, into the key and its distinct values.

    Raises UsageError for an unknown key, and for values that are malformed or out of range.
    """
    key, _, listed = text.partition("=")
    if key not in SWEEP_KEYS:
        raise UsageError(f"sweep {text}: {key!r} is not known; known are {', '.join(SWEEP_KEYS)}")
    if key == "mode":
        return key, _modes(text, listed.split(","))
    kind, least, most, numbers = _SWEEP_VALUES.get(key, (int, 1, math.inf, "whole numbers from 1"))
    try:
        values = tuple(kind(value) for value in listed.split(","))
    except ValueError:
        values = ()
    if not values or any(not (least <= value <= most) or math.isinf(value) for value in values):
        raise UsageError(f"sweep {text}: expected {key}= and {numbers} with commas between")
    return key, tuple(dict.fromkeys(values))


def _modes(text: str, listed: Sequence[str]) -> tuple[str, ...]:
    """The distinct modes of the sweep `text`. Raises UsageError for one that is not known."""
    if not set(listed) <= set(MODES):
        raise UsageError(f"sweep {text}: expected mode= and some of {', '.join(MODES)} with commas between")
    return tuple(dict.fromkeys(listed))


def check_sweep(rows: Sequence[Row], sweep: Sweep) -> None:
    """Raise UsageError for a key of `sweep` that applies to none of `rows`, and for keys that exclude each other."""
    if {"mode", "min-score"} <= set(sweep):
        raise UsageError("sweep of mode and of min-score: a mode has scores of its own; give one")
    for key in sweep:
        if not any(_applies(key, row) for row in rows):
            raise UsageError(f"sweep of {key}: none of the rows depends on it ({', '.join(row.label for row in rows)})")


def sweep_rows(rows: Sequence[Row], sweep: Sweep) -> list[Row]:
    """Copies of each row with every combination of the values of those keys of `sweep` that apply to its decoding."""
    return list(dict.fromkeys(varied for row in rows for varied in _combinations(row, sweep)))


def sweep_defaults(sweep: Sweep, usual: Sequence[str] = SWEEP_ROWS) -> list[str]:
    """The names of the default rows of a sweep: of `usual`, the baselines and the rows to which a key of `sweep` applies."""
    return [name for name in usual if name in BASELINES or any(_applies(key, Row(name.partition(":")[0])) for key in sweep)]


def swept_label(row: Row, sweep: Sweep) -> str:
    """The label of `row`, followed by its values of those keys of `sweep` that apply to it, such as "beam, beam size 4"."""
    own = variant_option(row.decoding) if row.variant else None
    keys = [key for key in sweep if _has(key, row) and (own is None or _SWEPT_OPTIONS.get(key) != own)]
    values = vars(row) | vars(row.options)
    named = ((key.replace("-", " "), values.get(key.replace("-", "_"))) for key in keys)
    return ", ".join([row.label, *(f"{name} {value}" for name, value in named if value not in (None, ""))])


def _applies(key: str, row: Row) -> bool:
    """Whether values of `key` are tried for `row`: its decoding has the setting, and its name does not give the value."""
    return _has(key, row) and not (key in _SWEPT_OPTIONS and getattr(row.options, _SWEPT_OPTIONS[key]) is not None)


def _has(key: str, row: Row) -> bool:
    """Whether the decoding of `row` has the setting `key`."""
    if row.variant == "exact" and key in _TOLERANCE_KEYS:
        return False
    names = _ONLY_FOR.get(key)
    return names is None or any(part in names for part in parts(row.decoding))


def _combinations(row: Row, sweep: Sweep) -> list[Row]:
    keys = [key for key in sweep if _applies(key, row)]
    changes = [dict(zip(keys, values, strict=True)) for values in product(*(sweep[key] for key in keys))]
    return [row.changed(**{key.replace("-", "_"): value for key, value in change.items()}) for change in changes]
