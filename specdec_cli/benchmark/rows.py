"""What is compared: rows of a table, and sweeps as many rows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal

from specdec_cli.decoding.names import (
    DRAFTING,
    ITERATIONS,
    JACOBI_LENGTH,
    LENGTH_BEAM,
    METHODS,
    SEARCHES,
    TOLERANT,
    DecodingOption,
    DrafterKind,
    having,
    methods_of,
    parts,
)
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
MASKED_ROWS = ("mask-predict:4", "mask-predict:10")
"""For masked models."""
BASELINES = ("greedy", "beam")
"""What speedups are over: greedy in this project, beam search in the papers."""
SWEEP_KEYS = ("block-size", "top-beta", "tolerance", "batch-size", "threads", "beam-size", "min-score", "iterations", "length-beam")

_SWEEP_VALUES = {
    "tolerance": (float, 0, math.inf, "numbers from 0"),
    "min-score": (float, -math.inf, 0, "numbers up to 0"),
}
LENGTH_KNOWN = ("jacobi", "gs-jacobi")
"""What can be told the length of the output beforehand."""
_ONLY_FOR = {
    "beam-size": (*SEARCHES, "ctranslate2-beam"),
    "block-size": DRAFTING,
    "top-beta": TOLERANT,
    "tolerance": TOLERANT,
    "min-score": ("greedy", *DRAFTING),
    "iterations": having(ITERATIONS),
    "length-beam": having(LENGTH_BEAM),
}
_OF_A_TOLERANT_RULE = ("top-beta", "tolerance")

Value = int | float
Sweep = Mapping[str, Sequence[Value]]


@dataclass(frozen=True)
class Row:
    """A decoding and what was asked for it; None leaves it to the preset or the bundle.

    `variant` is what stood after the colon: a preset, a rule of matching or of stopping, the `iterations` of Mask-Predict, or
    CTranslate2's number format.
    Where that was chosen for being the fastest, it is `compute`; then there are `workers` of `each` so many threads.
    `jacobi_length` and `oracle_length` are None and False where they do not matter to the decoding.
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
    iterations: int | None = None
    length_beam: int | None = None
    max_length: int | None = None
    batch_size: int = 1
    threads: int = 1
    compute: str | None = None
    workers: int = 1
    each: int = 0

    @property
    def name(self) -> str:
        """The row as it is written on the command line."""
        return f"{self.decoding}:{self.variant}" if self.variant else self.decoding

    @property
    def compute_type(self) -> str | None:
        """The number format of a CTranslate2 row; None for our own decodings."""
        return (self.compute or self.variant or "float32") if self.decoding in CTRANSLATE2 else None

    @property
    def drafts(self) -> bool:
        """Whether tokens are proposed."""
        return any(part in (*DRAFTING, "auto") for part in parts(self.decoding))

    @property
    def profiled(self) -> bool:
        """Whether a profile tells something: where tokens are proposed, or where a search chooses among hypotheses."""
        return self.drafts or self.decoding in SEARCHES

    @property
    def exact(self) -> bool:
        """Whether the row promises greedy's output."""
        methods = methods_of(self.decoding)
        exact = bool(methods) and all(method.exact for method in methods)
        preset = self.decoding == "blockwise" and self.variant not in (None, "exact")
        return exact and not preset and self.top_beta is None and self.tolerance is None

    @property
    def drafters(self) -> set[DrafterKind]:
        """The kinds of trained drafters that the bundle must have."""
        return {method.trained for method in methods_of(self.decoding) if method.trained is not None}


def parse_row(text: str, base: Row, decodings: Sequence[str], presets: Sequence[str]) -> Row:
    """The row `decoding[:preset]`, `input-guided[:match]`, `jacobi[:stop]`, `mask-predict[:iterations]` or
    `ctranslate2-...[:type]`, the rest as in `base`.

    A decoding is one of `decodings` or `auto`, or several of them with commas between. Raises UsageError.
    """
    decoding, colon, variant = text.partition(":")
    if decoding not in CTRANSLATE2:
        unknown = [part for part in parts(decoding) if part not in decodings and decoding != "auto"]
        if unknown:
            raise UsageError(f"row {text}: {unknown[0]!r} is not known; known are {', '.join((*decodings, 'auto', *CTRANSLATE2))}")
        known, own = _variants(decoding, presets), variant_option(decoding)
        if colon and own is not None and own.numeric and not (variant.isascii() and variant.isdigit() and int(variant) > 0):
            raise UsageError(f"row {text}: after the colon a number of {own.name} is expected")
        if colon and variant not in known and not (own is not None and own.numeric):
            what = f"known after the colon are {', '.join(known)}" if known else f"{decoding} has no presets"
            raise UsageError(f"row {text}: {what}")
    return replace(
        base,
        decoding=decoding,
        variant=variant or None,
        jacobi_length=base.jacobi_length if decoding in having(JACOBI_LENGTH) else None,
        oracle_length=base.oracle_length and decoding in LENGTH_KNOWN,
        iterations=int(variant) if variant and decoding in having(ITERATIONS) else None,
    )


def variant_option(decoding: str) -> DecodingOption | None:
    """The option that a row's variant is a value of: one of words, else the first; None if the variants are presets."""
    own = METHODS[decoding].options if decoding in METHODS else ()
    return next((option for option in own if not option.numeric), own[0] if own else None)


def _variants(decoding: str, presets: Sequence[str]) -> Sequence[str]:
    """What may stand after the colon: the words of the decoding's own option, or else presets where it is trained, or a chain."""
    if (own := variant_option(decoding)) is not None:
        return own.choices
    return presets if "," in decoding or decoding in ("specdec", *TOLERANT) else ()


def parse_sweep(text: str) -> tuple[str, tuple[Value, ...]]:
    """A key and its values from `KEY=V1,V2,...`. Raises UsageError."""
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
    """Each row with every combination of the values that matter to it. Raises UsageError for a key that matters to none."""
    for key in sweep:
        if not any(_matters(key, row) for row in rows):
            raise UsageError(f"sweep of {key}: none of the rows depends on it ({', '.join(row.name for row in rows)})")
    return list(dict.fromkeys(varied for row in rows for varied in _combinations(row, sweep)))


def sweep_defaults(sweep: Sweep, usual: Sequence[str] = SWEEP_ROWS) -> list[str]:
    """The rows that a sweep is of if none was asked for: greedy and beam as baselines, and those of the `usual` ones that it changes."""
    return [name for name in usual if name in BASELINES or any(_matters(key, Row(name.partition(":")[0])) for key in sweep)]


def _matters(key: str, row: Row) -> bool:
    if row.variant == "exact" and key in _OF_A_TOLERANT_RULE:
        return False
    names = _ONLY_FOR.get(key)
    if key == "iterations" and row.iterations is not None:
        return False
    return names is None or any(part in names for part in parts(row.decoding))


def _combinations(row: Row, sweep: Sweep) -> list[Row]:
    keys = [key for key in sweep if _matters(key, row)]
    changes = [dict(zip(keys, values, strict=True)) for values in product(*(sweep[key] for key in keys))]
    return [_with_values(row, change) for change in changes]


def _with_values(row: Row, change: Mapping[str, Value]) -> Row:
    for key, value in change.items():
        row = replace(row, **{key.replace("-", "_"): value})  # type: ignore[arg-type]
    return row
