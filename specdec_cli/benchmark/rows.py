"""The rows of a benchmark table: decodings with their settings, the parser of their names, and sweeps over settings."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import product
from typing import Any, Self

from specdec_cli.decoding.methods import (
    BEAM_SIZE,
    DECODINGS,
    DRAFT_MODEL,
    METHODS,
    MODES,
    NO_DRAFT_MODEL,
    OPTIONS,
    SEARCHES,
    DrafterKind,
    having,
    methods_of,
    order_problem,
    parts,
    search_of,
)
from specdec_cli.decoding.options import DECODINGS_WITH, DecodingOptions, has_option, presets_for, ranges, words
from specdec_cli.errors import UsageError
from specdec_cli.model.order import Order

CTRANSLATE2 = ("ctranslate2-greedy", "ctranslate2-beam")
TRANSFORMERS = ("transformers-greedy", "transformers-beam", "transformers-lookup")
"""Decodings by `generate` of transformers, for models of the Hugging Face hub: greedy, beam search, and prompt lookup."""
FORMATS = ("float32", "int8", "bfloat16", "int8_bfloat16", "float16", "int8_float16")
"""The number formats of CTranslate2 that are tried, if it supports them on the machine."""
OTHER_TOOLKITS = (*CTRANSLATE2, *TRANSFORMERS)
_TOLERANT_ROWS = ("specdec++:high-quality", "specdec++:high-efficiency")
_HEADS_ROWS = ("blockwise", "blockwise:high-quality", "blockwise:high-efficiency")
DEFAULT_ROWS = ("greedy", "beam", "specdec", *_TOLERANT_ROWS, "drafter", *_HEADS_ROWS, *CTRANSLATE2)
SWEEP_ROWS = ("greedy", "beam", "specdec", "specdec++", "blockwise")
REWRITING_SWEEP_ROWS = ("greedy", "beam", "input-guided:unique", "input-guided:nearest")
REWRITING_ROWS = (*REWRITING_SWEEP_ROWS, *CTRANSLATE2)
MASKED_ROWS = ("mask-predict:4", "mask-predict:10")
"""The default rows for masked models."""
BEST = "best"
"""The variant of a CTranslate2 row that stands for the number format, threads and batch size with which it is fastest."""
SAME = "auto"
"""The number format of a CTranslate2 row whose name has none, until it is known: that of specdec's rows."""
LENGTH_AWARE = ("jacobi", "gs-jacobi")
"""The decodings that can be given the length of the output beforehand."""

Value = int | float | str
Sweep = Mapping[str, Sequence[Value]]
"""The values to try for each setting that is varied, by the key of the setting (such as "block-size")."""
BASELINES = ("greedy", "beam")
"""The rows that speedups are relative to: greedy decoding, and beam search (as in Xia et al. 2022 and Ge et al. 2022)."""
_SWEPT_OPTIONS = {name.replace("_", "-"): name for name in OPTIONS if name in ranges() and not words(name)}
SWEEP_KEYS = ("block-size", "top-beta", "tolerance", "batch-size", "threads", "beam-size", "min-score", "mode", *_SWEPT_OPTIONS)
_SWEEP_VALUES: Mapping[str, tuple[Callable[[str], Value], float, str]] = {
    "block-size": (lambda size: size if size == "auto" else int(size), 1, "whole numbers from 1, or auto,"),
    "tolerance": (float, 0, "numbers from 0"),
    "min-score": (float, -math.inf, "numbers"),
    "mode": (lambda mode: MODES[MODES.index(mode)], 0, f"some of {', '.join(MODES)}"),
}
"""How values of a key are parsed, the least one, and what is expected, where these are not whole numbers from 1."""
_SEARCHING = ("ctranslate2-beam", "transformers-beam")
_ALSO = {"beam_size": _SEARCHING, "length_penalty": _SEARCHING, "block_size": ("auto", "transformers-lookup")}
"""Rows that have an option besides the decodings of specdec that have it, where not all have it."""
USUAL = DecodingOptions(beam_size=BEAM_SIZE, length_penalty=1.0)
"""The options of rows of which nothing is known of the bundle."""


@dataclass(frozen=True)
class Row:
    """A row of the benchmark's table: a decoding and its settings.

    - `decoding`: the name of a decoding of specdec, several joined by commas, `auto`, or a name in OTHER_TOOLKITS.
    - `variant`: the part of the row's name after the colon: a preset, a value of the decoding's own option, or a number format
      of CTranslate2; None without a colon.
    - `options`: the options of the decoding but its name and preset, the value of the variant included. Those that the decoding does
      not have are ignored. With a batch size of 1, lines are decoded, and timed, one by one.
    - `min_score`: edits with a lower score are rejected; searches and CTranslate2 ignore it.
    - `oracle_length`: whether the decoding gets the lengths of the greedy outputs beforehand.
    - `threads`: the number of threads of the row.
    - `chosen_format`: the number format of a CTranslate2 row whose variant is none: for "best" the fastest one, without a variant that of
      specdec's rows; None before it is chosen, and for other rows.
    - `workers`, `worker_threads`: the workers of CTranslate2, and the threads of each (0: `threads`).
    - `model`: the name of the bundle, as the user gave it; "" if only one is measured.
    """

    decoding: str
    variant: str | None = None
    options: DecodingOptions = USUAL
    min_score: float | None = None
    oracle_length: bool = False
    threads: int = 1
    chosen_format: str | None = None
    workers: int = 1
    worker_threads: int = 0
    model: str = ""

    def changed(self, **values: Any) -> Self:
        """Return a copy in which fields of the row or of its options have other values."""
        names = {field.name for field in fields(self)}
        options = replace(self.options, **{name: value for name, value in values.items() if name not in names})
        return replace(self, **{"options": options} | {name: value for name, value in values.items() if name in names})

    @property
    def name(self) -> str:
        """The name of the row, as `bench --row` takes it: decoding, and variant after a colon."""
        return f"{self.decoding}:{self.variant}" if self.variant else self.decoding

    @property
    def label(self) -> str:
        """The name of the row, preceded by that of its bundle if several bundles are measured."""
        return f"{self.model} {self.name}" if self.model else self.name

    @property
    def compute_type(self) -> str | None:
        """The number format of a CTranslate2 row; None for decodings of specdec."""
        return (self.chosen_format or self.variant or SAME) if self.decoding in CTRANSLATE2 else None

    @property
    def formats(self) -> Sequence[str]:
        """The number formats of CTranslate2 in which the row can be decoded: all formats for the fastest, none for other toolkits."""
        return FORMATS if self.compute_type == BEST else [self.compute_type] if self.compute_type else []

    @property
    def toolkit(self) -> str:
        """What decodes: specdec, ctranslate2 or transformers."""
        return self.decoding.partition("-")[0] if self.decoding in OTHER_TOOLKITS else "specdec"

    def has(self, option: str) -> bool:
        """Whether the decoding has `option`, a field of DecodingOptions."""
        if self.decoding in (*OTHER_TOOLKITS, "auto"):
            return option not in DECODINGS_WITH or self.decoding in _ALSO.get(option, ())
        return has_option(self.decoding, option)

    @property
    def drafts(self) -> bool:
        """Whether the decoding uses drafts, which `auto` is assumed to do."""
        return self.has("block_size") and self.toolkit == "specdec"

    @property
    def searches(self) -> bool:
        """Whether the decoding is a beam search, by any toolkit."""
        return self.has("beam_size")

    @property
    def profiled(self) -> bool:
        """Whether the row can be profiled, which decodings with drafts and searches such as beam search can."""
        return self.drafts or self.decoding in SEARCHES

    @property
    def exact(self) -> bool:
        """Whether the output of the row, by its decoding and settings, must equal that of greedy decoding."""
        methods = methods_of(self.decoding)
        return bool(methods) and all(method.exact for method in methods) and not replace(self.options, preset=self.preset).tolerant

    @property
    def preset(self) -> str | None:
        """The preset that the variant names; None for other variants, and without one."""
        return self.variant if self.toolkit == "specdec" and variant_option(self.decoding) is None else None

    @property
    def drafters(self) -> set[DrafterKind]:
        """The kinds of trained drafters ("block", "heads") that the decoding needs; empty if it needs none."""
        return {method.trained for method in methods_of(self.decoding) if method.trained is not None}


def parse_row(text: str, base: Row) -> Row:
    """Parse `decoding[:preset]`, `input-guided[:match]`, `jacobi[:stop]`, `mask-predict[:iterations]` or `ctranslate2-...[:type]`.

    A decoding is one of DECODINGS, `auto`, or several joined by commas. The other settings of the row are those of `base`. Raises
    UsageError for an unknown decoding, and for a variant that the decoding does not have.
    """
    decoding, colon, variant = text.partition(":")
    if decoding in TRANSFORMERS and colon:
        raise UsageError(f"row {text}: {decoding} has no presets")
    if decoding not in OTHER_TOOLKITS:
        unknown = [part for part in parts(decoding) if part not in DECODINGS and decoding != "auto"]
        if unknown:
            raise UsageError(f"row {text}: {unknown[0]!r} is not known; known are {', '.join((*DECODINGS, 'auto', *OTHER_TOOLKITS))}")
        if colon:
            _check_variant(text, decoding, variant)
    options_of_decoding = METHODS[decoding].options if decoding in METHODS else ()
    changes: dict[str, Any] = {name: None for name in OPTIONS if name not in options_of_decoding}
    if not {"auto", DRAFT_MODEL} & set(parts(decoding)):
        changes["draft_model"] = None
    if variant and (named := variant_option(decoding)) is not None:
        changes[named] = int(variant) if named in ranges() else variant
    oracle_length = base.oracle_length and decoding in LENGTH_AWARE
    return base.changed(decoding=decoding, variant=variant or None, oracle_length=oracle_length, **changes)


def variant_option(decoding: str) -> str | None:
    """The option of `decoding` whose values can follow the colon in a row's name, such as `match` of input-guided.

    It is the decoding's first option whose values are words, else its first option. None for a decoding without options, whose
    variants are presets.
    """
    options = METHODS[decoding].options if decoding in METHODS else ()
    return next((name for name in options if name not in ranges()), options[0] if options else None)


def _check_variant(text: str, decoding: str, variant: str) -> None:
    """Raise UsageError for a variant that the decoding does not have: a value of its own option, or a preset."""
    option = variant_option(decoding)
    if option is not None and option in ranges():
        if not (variant.isascii() and variant.isdigit() and int(variant) > 0):
            raise UsageError(f"row {text}: after the colon a number of {option} is expected")
        return
    known = presets_for(decoding) if option is None else words(option)
    if variant not in known:
        what = f"known after the colon are {', '.join(known)}" if known else f"{decoding} has no presets"
        raise UsageError(f"row {text}: {what}")


def choose_rows(asked: Sequence[str], sweep: Sweep, base: Row, order: Order, *, rewriting: bool) -> tuple[Row, ...]:
    """The rows for a bundle of the generation order `order`: those named in `asked` or, if that is empty, the default ones.

    If `sweep` is not empty, the row greedy is added as the baseline, if the order is left-to-right. All rows have the settings of
    `base` that their decodings support. `rewriting`: the task is correction or simplification, which has other default
    rows. Raises UsageError for a row that the order does not allow.
    """
    names = list(asked) or _usual(sweep, order, rewriting)
    if sweep and order == "left-to-right" and "greedy" not in names:
        names = ["greedy", *names]
    if base.options.draft_model not in (None, NO_DRAFT_MODEL) and not asked:
        names.append(DRAFT_MODEL)
    rows = tuple(dict.fromkeys(parse_row(name, base) for name in names))
    for row in rows:
        problems = (order_problem(part, order) for part in parts(row.decoding) if part not in ("auto", *OTHER_TOOLKITS))
        if problem := next(filter(None, problems), None):
            raise UsageError(f"--row {row.label}: {problem}")
    return rows


def _usual(sweep: Sweep, order: Order, rewriting: bool) -> list[str]:
    """The default rows; for an order other than left to right, its only decoding."""
    search = search_of(order)
    if search is not None:
        return list(MASKED_ROWS) if order == "masked" and not sweep else [search]
    usual, swept = (REWRITING_ROWS, REWRITING_SWEEP_ROWS) if rewriting else (DEFAULT_ROWS, SWEEP_ROWS)
    return sweep_defaults(sweep, swept) if sweep else list(usual)


def check_settings(given: Iterable[str], rows: Sequence[Row]) -> None:
    """Raise UsageError if an option that was given changes nothing in any of `rows`. `given` are names of fields, such as "beam_size"."""
    applies: dict[str, tuple[Callable[[Row], bool], str]] = {
        "block_size": (lambda row: row.has("block_size"), "that draft"),
        "beam_size": (lambda row: row.searches, "of beam search"),
        "length_penalty": (lambda row: row.searches, "of beam search"),
        "draft_model": (lambda row: row.options.draft_model is not None, f"{DRAFT_MODEL} and auto"),
        "oracle_length": (lambda row: row.oracle_length, f"of {' and '.join(LENGTH_AWARE)}"),
    }
    for name in given:
        has, which = applies.get(name, (lambda row, name=name: getattr(row.options, name) is not None, f"of {' and '.join(having(name))}"))
        if not any(map(has, rows)):
            raise UsageError(f"--{name.replace('_', '-')} is for rows {which}")
    if any(row.oracle_length and row.options.jacobi_length is not None for row in rows):
        raise UsageError("--oracle-length and --jacobi-length contradict each other in a row of jacobi")


def parse_sweeps(texts: Sequence[str]) -> Sweep:
    """Parse the values of all --sweep options into one Sweep. Raises UsageError for a malformed value, and a key that is given twice."""
    pairs = [parse_sweep(text) for text in texts]
    sweep = dict(pairs)
    if len(sweep) < len(pairs):
        raise UsageError("--sweep: a key was given twice; join its values by commas")
    return sweep


def parse_sweep(text: str) -> tuple[str, tuple[Value, ...]]:
    """Parse `KEY=V1,V2,...`, a value of --sweep, into the key and its distinct values.

    Raises UsageError for an unknown key, and for values that are malformed or out of range.
    """
    key, _, listed = text.partition("=")
    if key not in SWEEP_KEYS:
        raise UsageError(f"sweep {text}: {key!r} is not known; known are {', '.join(SWEEP_KEYS)}")
    kind, least, expected = _SWEEP_VALUES.get(key, (int, 1, "whole numbers from 1"))
    try:
        values = tuple(dict.fromkeys(kind(value) for value in listed.split(",")))
    except ValueError:
        values = ()
    if not values or any(not (isinstance(value, str) or (value >= least and math.isfinite(value))) for value in values):
        raise UsageError(f"sweep {text}: expected {key}= and {expected} with commas between")
    return key, values


def check_sweep(rows: Sequence[Row], sweep: Sweep) -> None:
    """Raise UsageError for a key of `sweep` that applies to none of `rows`, and for keys that exclude each other."""
    if {"mode", "min-score"} <= set(sweep):
        raise UsageError("sweep of mode and of min-score: a mode has scores of its own; give one")
    for key in sweep:
        if not any(_applies(key, row) for row in rows):
            raise UsageError(f"sweep of {key}: none of the rows depends on it ({', '.join(row.label for row in rows)})")


def sweep_rows(rows: Sequence[Row], sweep: Sweep) -> list[Row]:
    """Copies of each row with every combination of the values of those keys of `sweep` that apply to its decoding."""
    varied: list[Row] = []
    for row in rows:
        keys = [key for key in sweep if _applies(key, row)]
        names = [key.replace("-", "_") for key in keys]
        varied += [row.changed(**dict(zip(names, values, strict=True))) for values in product(*(sweep[key] for key in keys))]
    return list(dict.fromkeys(varied))


def sweep_defaults(sweep: Sweep, usual: Sequence[str] = SWEEP_ROWS) -> list[str]:
    """The names of the default rows of a sweep: of `usual`, the baselines and the rows to which a key of `sweep` applies."""
    return [name for name in usual if name in BASELINES or any(_applies(key, Row(name.partition(":")[0])) for key in sweep)]


def swept_label(row: Row, sweep: Sweep) -> str:
    """The label of `row`, followed by its values of those keys of `sweep` that apply to it, such as "beam, beam size 4"."""
    option = variant_option(row.decoding) if row.variant else None
    keys = [key for key in sweep if _has(key, row) and (option is None or _SWEPT_OPTIONS.get(key) != option)]
    values = vars(row) | vars(row.options)
    named = ((key.replace("-", " "), values.get(key.replace("-", "_"))) for key in keys)
    return ", ".join([row.label, *(f"{name} {value}" for name, value in named if value not in (None, ""))])


def _applies(key: str, row: Row) -> bool:
    """Whether values of `key` are tried for `row`: its decoding has the setting, and its name does not give the value."""
    return _has(key, row) and not (key in _SWEPT_OPTIONS and getattr(row.options, _SWEPT_OPTIONS[key]) is not None)


def _has(key: str, row: Row) -> bool:
    """Whether the decoding of `row` has the setting `key`."""
    if row.variant == "exact" and key in ("top-beta", "tolerance"):
        return False
    if key in ("min-score", "mode"):
        return row.drafts or row.decoding == "greedy"
    return row.has(key.replace("-", "_"))
