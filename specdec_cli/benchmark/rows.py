"""Rows of a benchmark table, and sweeps, which expand to many rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from specdec_cli.decoding.names import DRAFTING, JACOBI_LENGTH, METHODS, SEARCHES, TOLERANT, DrafterKind, having, methods_of, parts
from specdec_cli.errors import UsageError

DEFAULT_ROWS = (
    "greedy",
    "beam",
    "specdec",
    "specdec++:high-quality",
    "specdec++:high-efficiency",
    "drafter",
    "blockwise",
    "blockwise:high-quality",
    "blockwise:high-efficiency",
    "ctranslate2-greedy",
    "ctranslate2-greedy:int8",
    "ctranslate2-beam",
    "ctranslate2-beam:int8",
)
REWRITING_ROWS = (
    "greedy",
    "beam",
    "input-guided:unique",
    "input-guided:nearest",
    "ctranslate2-greedy",
    "ctranslate2-greedy:int8",
    "ctranslate2-beam",
    "ctranslate2-beam:int8",
)
CTRANSLATE2 = ("ctranslate2-greedy", "ctranslate2-beam")
BEST = "best"
"""After the colon of a CTranslate2 row: in the format, and with the threads and batches, that are fastest for it."""
SWEEP_ROWS = ("greedy", "beam", "specdec", "specdec++", "blockwise")
REWRITING_SWEEP_ROWS = ("greedy", "beam", "input-guided:unique", "input-guided:nearest")
BASELINES = ("greedy", "beam")
"""Rows that speedups are relative to: greedy decoding in this project, beam search in the papers."""
SWEEP_KEYS = ("block-size", "top-beta", "tolerance", "batch-size", "threads", "beam-size", "min-score")

_SWEEP_VALUES = {
    "tolerance": (float, 0, math.inf, "numbers from 0"),
    "min-score": (float, -math.inf, 0, "numbers up to 0"),
}
LENGTH_AWARE = ("jacobi", "gs-jacobi")
"""Decodings that can be given the length of the output."""
_ONLY_FOR = {
    "beam-size": (*SEARCHES, "ctranslate2-beam"),
    "block-size": DRAFTING,
    "top-beta": TOLERANT,
    "tolerance": TOLERANT,
    "min-score": ("greedy", *DRAFTING),
}
_TOLERANCE_KEYS = ("top-beta", "tolerance")

Value = int | float
Sweep = Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class Row:
    """A row of the table: a decoding and its settings; None stands for the default of the preset or the bundle.

    `variant` is the part of the row's name after the colon: a preset, a matching or stopping rule, or a number format of
    CTranslate2. For the variant "best", `fastest_type` is the fastest number format, and there are `workers` workers with
    `worker_threads` threads each. `jacobi_length` and `oracle_length` apply to Jacobi decodings only.
    """

    decoding: str
    variant: str | None = None
    block_size: int | Literal["auto"] | None = None
    top_beta: int | None = None
    tolerance: float | None = None
    min_score: float | None = None
    jacobi_length: int | Literal["max"] | None = None
    oracle_length: bool = False
    beam_size: int = 5
    length_penalty: float = 1.0
    max_length: int | None = None
    batch_size: int = 1
    threads: int = 1
    fastest_type: str | None = None
    workers: int = 1
    worker_threads: int = 0

    @property
    def name(self) -> str:
        """The name of the row, as on the command line."""
        return f"{self.decoding}:{self.variant}" if self.variant else self.decoding

    @property
    def compute_type(self) -> str | None:
        """The number format of a CTranslate2 row; None for decodings of specdec."""
        return (self.fastest_type or self.variant or "float32") if self.decoding in CTRANSLATE2 else None

    @property
    def drafts(self) -> bool:
        """Whether the decoding uses drafts."""
        return any(part in (*DRAFTING, "auto") for part in parts(self.decoding))

    @property
    def profiled(self) -> bool:
        """Whether the row can be profiled: decodings with drafts, and searches."""
        return self.drafts or self.decoding in SEARCHES

    @property
    def exact(self) -> bool:
        """Whether the output must equal that of greedy decoding."""
        methods = methods_of(self.decoding)
        exact = bool(methods) and all(method.exact for method in methods)
        preset = self.decoding == "blockwise" and self.variant not in (None, "exact")
        return exact and not preset and self.top_beta is None and self.tolerance is None

    @property
    def drafters(self) -> set[DrafterKind]:
        """The kinds of trained drafters that the decoding needs."""
        return {method.trained for method in methods_of(self.decoding) if method.trained is not None}


def parse_row(text: str, base: Row, decodings: Sequence[str], presets: Sequence[str]) -> Row:
    """Parse `decoding[:preset]`, `input-guided[:match]`, `jacobi[:stop]` or `ctranslate2-...[:type]`; other settings are those of `base`.

    A decoding is one of `decodings`, `auto`, or several joined by commas. Raises UsageError.
    """
    decoding, colon, variant = text.partition(":")
    if decoding not in CTRANSLATE2:
        unknown = [part for part in parts(decoding) if part not in decodings and decoding != "auto"]
        if unknown:
            raise UsageError(f"row {text}: {unknown[0]!r} is not known; known are {', '.join((*decodings, 'auto', *CTRANSLATE2))}")
        known = _variants(decoding, presets)
        if colon and variant not in known:
            what = f"known after the colon are {', '.join(known)}" if known else f"{decoding} has no presets"
            raise UsageError(f"row {text}: {what}")
    return replace(
        base,
        decoding=decoding,
        variant=variant or None,
        jacobi_length=base.jacobi_length if decoding in having(JACOBI_LENGTH) else None,
        oracle_length=base.oracle_length and decoding in LENGTH_AWARE,
    )


def variant_option(decoding: str) -> str | None:
    """The option that the variants of a decoding are values of; None if its variants are presets."""
    return next((option.name for option in METHODS[decoding].options if not option.numeric), None) if decoding in METHODS else None


def _variants(decoding: str, presets: Sequence[str]) -> Sequence[str]:
    """The variants of a decoding: values of its own option, or presets if it is a trained drafter's or a chain."""
    if (name := variant_option(decoding)) is not None:
        return next(option.choices for option in METHODS[decoding].options if option.name == name)
    return presets if "," in decoding or decoding in ("specdec", *TOLERANT) else ()


def parse_sweep(text: str) -> tuple[str, tuple[Value, ...]]:
    """Parse `KEY=V1,V2,...` into the key and its values. Raises UsageError."""
    key, _, listed = text.partition("=")
    if key not in SWEEP_KEYS:
        raise UsageError(f"sweep {text}: {key!r} is not known; known are {', '.join(SWEEP_KEYS)}")
    kind, least, most, numbers = _SWEEP_VALUES.get(key, (int, 1, math.inf, "whole numbers from 1"))
    try:
        values = tuple(kind(value) for value in listed.split(","))
    except ValueError:
        values = ()
    if not values or any(not (least <= value <= most) or math.isinf(value) for value in values):
        raise UsageError(f"sweep {text}: expected {key}= and {numbers} with commas between")
    return key, tuple(dict.fromkeys(values))


def sweep_rows(rows: Sequence[Row], sweep: Sweep) -> list[Row]:
    """Each row with every combination of the values of `sweep` that apply to it. Raises UsageError for a key that applies to no row."""
    for key in sweep:
        if not any(_applies(key, row) for row in rows):
            raise UsageError(f"sweep of {key}: none of the rows depends on it ({', '.join(row.name for row in rows)})")
    return list(dict.fromkeys(varied for row in rows for varied in _combinations(row, sweep)))


def sweep_defaults(sweep: Sweep, usual: Sequence[str] = SWEEP_ROWS) -> list[str]:
    """The default rows of a sweep: the baselines, and those of `usual` to which one of its keys applies."""
    return [name for name in usual if name in BASELINES or any(_applies(key, Row(name.partition(":")[0])) for key in sweep)]


def _applies(key: str, row: Row) -> bool:
    if row.variant == "exact" and key in _TOLERANCE_KEYS:
        return False
    names = _ONLY_FOR.get(key)
    return names is None or any(part in names for part in parts(row.decoding))


def _combinations(row: Row, sweep: Sweep) -> list[Row]:
    keys = [key for key in sweep if _applies(key, row)]
    changes = [dict(zip(keys, values, strict=True)) for values in product(*(sweep[key] for key in keys))]
    return [_with_values(row, change) for change in changes]


def _with_values(row: Row, change: Mapping[str, Value]) -> Row:
    for key, value in change.items():
        row = replace(row, **{key.replace("-", "_"): value})  # type: ignore[arg-type]
    return row
