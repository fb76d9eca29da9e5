"""How to decode: what the user asked for, then the bundle's defaults, then `auto`."""

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from specdec_cli.decoding.accept import Exact, FixedPoint, Rule, Tolerant
from specdec_cli.decoding.names import (
    BEAM_SIZE,
    CHAINABLE,
    DRAFTER_OF,
    DRAFTING,
    DRAFTS_OF,
    JACOBI,
    NEEDS_DRAFTER,
    REWRITING,
    SEARCHES,
    TO_A_LENGTH,
    TOLERANT,
    UNTRAINED,
    Decoding,
    Match,
    Stop,
    parts,
)
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import BeamStop, Bundle
from specdec_cli.text.folding import Order

Number = int | Literal["auto"] | None
Length = int | Literal["max"] | None
UNBOUNDED = ("input-guided", *JACOBI)
"""Decodings whose drafts have a length of their own."""
RANGES: dict[str, tuple[float, float]] = {
    "block_size": (1, 1024),
    "top_beta": (1, 1024),
    "tolerance": (0.0, inf),
    "beam_size": (1, 1024),
    "length_penalty": (-10.0, 10.0),
}
"""What is possible: beyond it numbers overflow, or no memory is large enough."""
PRESETS: dict[str, tuple[int, float]] = {"high-quality": (3, 1.0), "high-efficiency": (5, 3.0)}


@dataclass(frozen=True)
class DecodingRequest:
    """What the user asked for; None and "auto" leave it to the bundle.

    `always_draft` keeps drafts of the full block size where they do not pay, for those who want to see them.
    """

    decoding: str = "auto"
    block_size: Number = None
    top_beta: int | None = None
    tolerance: float | None = None
    preset: str | None = None
    beam_size: int | None = None
    length_penalty: float | None = None
    n_best: int = 1
    match: Match | None = None
    stop: Stop | None = None
    jacobi_length: Length = None
    max_length: int | None = None
    batch_size: int = 1
    memory: int = 0
    with_scores: bool = False
    always_draft: bool = False


@dataclass(frozen=True)
class Settings:
    """What is done: every value settled. A `block_size` of 0 is no bound, or no draft at all; `memory` bounds batches (bytes;
    0: no bound).

    `decoding` may be a chain, with commas between. With `adaptive_length`, the number of drafted tokens adapts to what
    pays, up to the block size. With `may_skip_drafting`, nothing is drafted while drafts do not pay. Jacobi and hybrid
    decoding draft up to `jacobi_length` tokens of output; None: up to the length expected from the source.
    """

    decoding: str
    rule: Rule
    block_size: int = 0
    adaptive_length: bool = False
    may_skip_drafting: bool = False
    match: Match = "nearest"
    jacobi_length: Length = None
    beam_size: int = 1
    length_penalty: float = 1.0
    beam_stop: BeamStop = "heuristic"
    n_best: int = 1
    max_length: int | None = None
    batch_size: int = 1
    memory: int = 0
    with_scores: bool = False


def resolve(request: DecodingRequest, bundle: Bundle) -> Settings:
    """Fill in the bundle's defaults. Raises UsageError for what contradicts itself or asks for what the bundle lacks."""
    _check_ranges(request)
    decoding = _automatic(bundle) if request.decoding == "auto" else request.decoding
    known = get_args(Decoding)
    for part in parts(decoding):
        if part not in known and request.decoding == "auto":
            raise ModelError(f"{bundle.path or 'the bundle'}: decoding {part!r} is not known; known are {', '.join(known)}")
        if part not in known:
            raise UsageError(f"--decoding {decoding}: {part!r} is not known; known are {', '.join(known)}")
        if part != decoding and part not in CHAINABLE:
            raise UsageError(f"--decoding {decoding}: a chain is of {', '.join(CHAINABLE)}, not of {part}")
    _check_order(decoding, bundle.verifier.config.order)
    tolerant = request.top_beta is not None or request.tolerance is not None or request.preset not in (None, "exact")
    if tolerant and request.decoding == "auto" and decoding == "specdec":
        decoding = "specdec++"
    if tolerant and decoding not in TOLERANT:
        raise UsageError(f"--top-beta, --tolerance and --preset are for --decoding {', '.join(TOLERANT)}, not for {decoding}")
    _check_drafter(decoding, bundle)
    if "input-guided" in parts(decoding) and not bundle.tokenizer.shared:
        raise UsageError(f"--decoding {decoding}: source and target differ in vocabulary, so that nothing can be copied")
    if isinstance(request.block_size, int) and not set(parts(decoding)) & set(DRAFTING):
        raise UsageError(f"--block-size is for decodings that draft, not for {decoding}")
    if request.match is not None and decoding != "input-guided":
        raise UsageError(f"--match is for --decoding input-guided, not for {decoding}")
    if request.stop is not None and decoding not in JACOBI:
        raise UsageError(f"--stop is for --decoding {', '.join(JACOBI)}, not for {decoding}")
    if request.jacobi_length is not None and decoding not in TO_A_LENGTH:
        raise UsageError(f"a Jacobi length is for {' and '.join(TO_A_LENGTH)}, not for {decoding}")
    if request.preset == "exact" and (request.top_beta is not None or request.tolerance is not None):
        raise UsageError("--preset exact accepts the verifier's first choice alone; --top-beta and --tolerance contradict it")
    beam_size = request.beam_size or bundle.info.beam_size or BEAM_SIZE
    if request.n_best > 1 and (decoding not in SEARCHES or request.n_best > beam_size):
        raise UsageError("--n-best N needs --decoding beam or bidirectional and a --beam-size of at least N")
    rule, automatic = _rule(decoding, tolerant, request, bundle), request.decoding == "auto"
    # What a tolerant rule lets pass depends on the draft: there it may not come and go.
    drafting = rule == Exact() and decoding != "drafter" and bool(set(parts(decoding)) & set(DRAFTING))
    return Settings(
        decoding=decoding,
        rule=rule,
        block_size=_block_size(decoding, request.block_size, bundle),
        adaptive_length=drafting and _adapts(decoding, request),
        may_skip_drafting=drafting and automatic and not request.always_draft,
        match=request.match or "nearest",
        jacobi_length=request.jacobi_length,
        beam_size=beam_size if decoding in SEARCHES else 1,
        length_penalty=bundle.info.length_penalty if request.length_penalty is None else request.length_penalty,
        beam_stop=bundle.info.beam_stop,
        n_best=request.n_best,
        max_length=request.max_length or bundle.info.max_length or None,
        batch_size=request.batch_size,
        memory=request.memory,
        with_scores=request.with_scores,
    )


def _check_drafter(decoding: str, bundle: Bundle) -> None:
    """Raises UsageError where the bundle has no drafter, or not of the kind that `decoding` needs."""
    kind = None if bundle.drafter is None else bundle.drafter.config.kind
    if all(DRAFTER_OF.get(part, kind) == kind for part in parts(decoding)):
        return
    lacks = {None: "no drafter", "block": "a block drafter, not heads", "heads": "heads, not a block drafter"}[kind]
    others = (name for name in get_args(Decoding) if name != "bidirectional")  # which is for another order
    there = ", ".join(name for name in others if DRAFTER_OF.get(name, kind) == kind)
    raise UsageError(f"--decoding {decoding}: this bundle has {lacks}; there are {there}")


def _adapts(decoding: str, request: DecodingRequest) -> bool:
    """Whether the block size is adapted to what pays: if that was asked for, or nothing was said that speaks against it."""
    if request.block_size is not None or request.always_draft:
        return request.block_size == "auto"
    return request.decoding == "auto" or decoding not in UNBOUNDED


def _check_ranges(request: DecodingRequest) -> None:
    """Raises UsageError for a number out of its range, or none at all (NaN)."""
    for name, (low, high) in RANGES.items():
        value = getattr(request, name)
        if isinstance(value, int | float) and not low <= value <= high:
            raise UsageError(f"--{name.replace('_', '-')} {value}: a number from {low} to {high} is expected")


def _check_order(decoding: str, order: Order) -> None:
    """Raises UsageError for a decoding that does not write in the order of the model."""
    if order == "masked":
        raise UsageError(f"--decoding {decoding}: this bundle's order is masked, which no decoding writes in yet")
    own = _search_of(order)
    if own is not None and decoding != own:
        raise UsageError(f"--decoding {decoding}: this bundle's order is {order}, which only --decoding {own} writes in")
    if own is None and decoding == "bidirectional":
        raise UsageError("--decoding bidirectional: this bundle's order is left-to-right; specdec train-verifier --order trains others")


def _search_of(order: Order) -> Decoding | None:
    """The only decoding of models of an order; None for left to right, which every other decoding is for."""
    if order == "left-to-right":
        return None
    return "bidirectional" if order == "bidirectional" else "beam"


def _automatic(bundle: Bundle) -> str:
    """What the bundle says, else what it can do best."""
    if bundle.info.decoding != "auto":
        return bundle.info.decoding
    if (own := _search_of(bundle.verifier.config.order)) is not None:
        return own
    if bundle.info.task in REWRITING and bundle.tokenizer.shared:
        return "input-guided"
    return UNTRAINED if bundle.drafter is None else DRAFTS_OF[bundle.drafter.config.kind]


def _rule(decoding: str, tolerant: bool, request: DecodingRequest, bundle: Bundle) -> Rule:
    if request.stop == "fixed-point":
        return FixedPoint()
    if request.preset == "exact" or not (tolerant or decoding == "specdec++"):
        return Exact()
    name = request.preset or "high-quality"
    presets = PRESETS | bundle.info.presets
    if name not in presets:
        raise UsageError(f"--preset {name}: not known; known are exact, {', '.join(presets)}")
    top_beta, tolerance = presets[name]
    return Tolerant(request.top_beta or top_beta, tolerance if request.tolerance is None else request.tolerance)


def _block_size(decoding: str, asked: Number, bundle: Bundle) -> int:
    if isinstance(asked, int):
        return asked
    if bundle.drafter is None or not set(parts(decoding)) & set(NEEDS_DRAFTER):
        return 0
    return bundle.info.block_size or bundle.drafter.config.max_block
