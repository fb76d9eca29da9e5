"""The rows of a benchmark table: decodings with their settings, and the parser of their names."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from specdec_cli.decoding.methods import (
    BEAM_SIZE,
    DRAFTING,
    METHODS,
    OPTIONS,
    SEARCHES,
    TOLERANT,
    DrafterKind,
    methods_of,
    parts,
)
from specdec_cli.decoding.options import DecodingOptions, ranges, words
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
"""The variant of a CTranslate2 row that stands for the number format, threads and batch size with which it is fastest."""
SWEEP_ROWS = ("greedy", "beam", "specdec", "specdec++", "blockwise")
REWRITING_SWEEP_ROWS = ("greedy", "beam", "input-guided:unique", "input-guided:nearest")
MASKED_ROWS = ("mask-predict:4", "mask-predict:10")
"""The default rows for masked models."""
LENGTH_AWARE = ("jacobi", "gs-jacobi")
"""The decodings that can be given the length of the output beforehand."""


USUAL = DecodingOptions(beam_size=BEAM_SIZE, length_penalty=1.0)
"""The options of rows of which nothing is known of the bundle."""


@dataclass(frozen=True)
class Row:
    """A row of the benchmark's table: a decoding and its settings.

    - `decoding`: the name of a decoding of specdec, several joined by commas, `auto`, or a name in CTRANSLATE2.
    - `variant`: the part of the row's name after the colon: a preset, a value of the decoding's own option, or a number format
      of CTranslate2; None without a colon.
    - `options`: the options of the decoding but its name and preset, the value of the variant included. Those that the decoding does
      not have are ignored. With a batch size of 1, lines are decoded, and timed, one by one.
    - `min_score`: edits with a lower score are rejected; searches and CTranslate2 ignore it.
    - `oracle_length`: whether the decoding gets the lengths of the greedy outputs beforehand.
    - `threads`: the number of threads of the row.
    - `fastest_type`: for the variant "best", the number format that is fastest; None before it is chosen, and for other variants.
    - `workers`, `worker_threads`: the workers of CTranslate2, and the threads of each (0: `threads`).
    - `model`: the name of the bundle, as the user gave it; "" if only one is measured.
    """

    decoding: str
    variant: str | None = None
    options: DecodingOptions = USUAL
    min_score: float | None = None
    oracle_length: bool = False
    threads: int = 1
    fastest_type: str | None = None
    workers: int = 1
    worker_threads: int = 0
    model: str = ""

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `dataclasses.asdict`."""
        return cls(**{**values, "options": DecodingOptions(**values["options"])})

    def changed(self, **values: Any) -> Self:
        """Return a copy in which fields of the row or of its options have other values."""
        own = {field.name for field in fields(self)}
        options = replace(self.options, **{name: value for name, value in values.items() if name not in own})
        return replace(self, **{"options": options} | {name: value for name, value in values.items() if name in own})

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
        return (self.fastest_type or self.variant or "float32") if self.decoding in CTRANSLATE2 else None

    @property
    def drafts(self) -> bool:
        """Whether the decoding uses drafts, which `auto` is assumed to do."""
        return any(part in (*DRAFTING, "auto") for part in parts(self.decoding))

    @property
    def searches(self) -> bool:
        """Whether the decoding is a search, by specdec or CTranslate2."""
        return self.decoding in (*SEARCHES, "ctranslate2-beam")

    @property
    def profiled(self) -> bool:
        """Whether the row can be profiled, which decodings with drafts and searches such as beam search can."""
        return self.drafts or self.decoding in SEARCHES

    @property
    def exact(self) -> bool:
        """Whether the output of the row, by its decoding and settings, must equal that of greedy decoding."""
        methods = methods_of(self.decoding)
        exact = bool(methods) and all(method.exact for method in methods)
        preset = self.decoding == "blockwise" and self.variant not in (None, "exact")
        return exact and not preset and self.options.top_beta is None and self.options.tolerance is None

    @property
    def drafters(self) -> set[DrafterKind]:
        """The kinds of trained drafters ("block", "heads") that the decoding needs; empty if it needs none."""
        return {method.trained for method in methods_of(self.decoding) if method.trained is not None}


def parse_row(text: str, base: Row, decodings: Sequence[str], presets: Sequence[str]) -> Row:
    """Parse `decoding[:preset]`, `input-guided[:match]`, `jacobi[:stop]`, `mask-predict[:iterations]` or `ctranslate2-...[:type]`.

    A decoding is one of `decodings`, `auto`, or several joined by commas; `presets` are the names of presets. The other settings of
    the row are those of `base`. Raises UsageError for an unknown decoding, and for a variant that the decoding does not have.
    """
    decoding, colon, variant = text.partition(":")
    if decoding not in CTRANSLATE2:
        unknown = [part for part in parts(decoding) if part not in decodings and decoding != "auto"]
        if unknown:
            raise UsageError(f"row {text}: {unknown[0]!r} is not known; known are {', '.join((*decodings, 'auto', *CTRANSLATE2))}")
        if colon:
            _check_variant(text, decoding, variant, presets)
    own = METHODS[decoding].options if decoding in METHODS else ()
    changes: dict[str, Any] = {name: None for name in OPTIONS if name not in own}
    if variant and (named := variant_option(decoding)) is not None:
        changes[named] = int(variant) if named in ranges() else variant
    oracle_length = base.oracle_length and decoding in LENGTH_AWARE
    return base.changed(decoding=decoding, variant=variant or None, oracle_length=oracle_length, **changes)


def variant_option(decoding: str) -> str | None:
    """The option of `decoding` whose values can follow the colon in a row's name, such as `match` of input-guided.

    It is the decoding's first option whose values are words, else its first option. None for a decoding without options, whose
    variants are presets.
    """
    own = METHODS[decoding].options if decoding in METHODS else ()
    return next((name for name in own if name not in ranges()), own[0] if own else None)


def _check_variant(text: str, decoding: str, variant: str, presets: Sequence[str]) -> None:
    """Raise UsageError for a variant that the decoding does not have."""
    own = variant_option(decoding)
    if own is not None and own in ranges():
        if not (variant.isascii() and variant.isdigit() and int(variant) > 0):
            raise UsageError(f"row {text}: after the colon a number of {own} is expected")
        return
    known = _variants(decoding, presets)
    if variant not in known:
        what = f"known after the colon are {', '.join(known)}" if known else f"{decoding} has no presets"
        raise UsageError(f"row {text}: {what}")


def _variants(decoding: str, presets: Sequence[str]) -> Sequence[str]:
    """The variants of a decoding: values of its own option, or presets if it is a trained drafter's or a chain."""
    if (own := variant_option(decoding)) is not None:
        return words(own)
    return presets if "," in decoding or decoding in ("specdec", *TOLERANT) else ()
