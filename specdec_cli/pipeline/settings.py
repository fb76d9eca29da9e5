"""Resolved settings of a decoding: the user's options, then the bundle's defaults, then `auto`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from specdec_cli.decoding.acceptance_rules import Exact, FixedPoint, Reluctant, Rule, Tolerant
from specdec_cli.decoding.names import (
    BEAM_SIZE,
    DECODINGS,
    DRAFTING,
    DRAFTS_OF,
    METHODS,
    REWRITING,
    SEARCHES,
    STOP,
    UNTRAINED,
    OptionValue,
    methods_of,
    order_problem,
    parts,
    search_of,
)
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle_info import BeamStop, BundleInfo
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.pipeline.request import DecodingRequest, check_ranges
from specdec_cli.pipeline.rules import check_known, check_settings
from specdec_cli.text.folding import Order
from specdec_cli.text.spelling.ngrams import NgramModel
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.tokenizer import Tokenizer

PRESETS: dict[str, tuple[int, float]] = {"high-quality": (3, 1.0), "high-efficiency": (5, 3.0)}
"""Top-beta and tolerance in nats of each preset, unless the bundle has presets of these names."""


class Described(Protocol):
    """Protocol of the parts of a bundle on which settings depend; Bundle and BundleDescription implement it."""

    @property
    def info(self) -> BundleInfo:
        """The bundle's task, languages and defaults of decoding."""

    @property
    def tokenizer(self) -> Tokenizer:
        """The bundle's tokenizer."""

    @property
    def shape(self) -> TransformerConfig:
        """The configuration of the verifier."""

    @property
    def drafter_config(self) -> AnyDrafterConfig | None:
        """The configuration of the drafter; None for a bundle without a drafter."""

    @property
    def ngrams(self) -> NgramModel | None:
        """The counts of word n-grams with which edits are scored; None for a bundle without them."""

    @property
    def lexicon(self) -> Lexicon | None:
        """The words with which spelling is corrected; None for a bundle without them."""

    @property
    def path(self) -> Path | None:
        """The bundle's file bundle.json; None for a bundle in memory."""


@dataclass(frozen=True)
class Settings:
    """Settings of a decoding, after the bundle's defaults and `auto` were filled in.

    `decoding` may be a chain, joined by commas; `options` are the values of the options that only this decoding has.
    A `block_size` of 0 leaves the size of drafts to the drafter, if the decoding has one. With `adaptive_length`,
    the number of drafted tokens is chosen in each round, up to the block size. With `may_skip_drafting`, nothing is
    drafted where that is faster. `max_length` is the largest number of tokens of an output (None: what fits the
    model); `memory` limits the size of batches, in bytes (0: no limit). `given_block_size` bounds the drafts that
    come with sentences (0: no bound). Sentences of more than `longest_sentence` tokens are cut (0: what fits the
    model). `order` is the one in which the model generates tokens. With `copies_tidied`, input-guided decoding copies the
    source after `text.tidying.tidied`.
    """

    decoding: str
    rule: Rule
    block_size: int = 0
    adaptive_length: bool = False
    may_skip_drafting: bool = False
    options: Mapping[str, OptionValue] = field(default_factory=dict)
    beam_size: int = 1
    length_penalty: float = 1.0
    beam_stop: BeamStop = "heuristic"
    n_best: int = 1
    max_length: int | None = None
    order: Order = "left-to-right"
    batch_size: int = 1
    memory: int = 0
    with_scores: bool = False
    given_block_size: int = 0
    longest_sentence: int = 0
    copies_tidied: bool = False


def resolve(request: DecodingRequest, bundle: Described) -> Settings:
    """Return the settings for a request: its options, else the bundle's defaults, else `auto`; check them.

    Raises UsageError for options out of range or not valid together, for an unknown decoding, and for a decoding
    that the bundle does not support. Raises ModelError if the bundle's default decoding is unknown.
    """
    check_ranges(request)
    decoding = _resolve_decoding(request, bundle)
    if problem := order_problem(decoding, bundle.shape.order):
        raise UsageError(f"decoding {decoding}: {problem}")
    check_settings(request, decoding)
    _check_bundle(decoding, bundle)
    beam_size = request.beam_size or bundle.info.beam_size or BEAM_SIZE
    if request.n_best > beam_size:
        raise UsageError(f"n-best {request.n_best}: more than the beam size of {beam_size}")
    rule = _resolve_rule(decoding, request, bundle)
    # With a tolerant rule the output depends on the drafts, and would change with their length.
    adapts = rule == Exact() and decoding != "drafter" and bool(set(parts(decoding)) & set(DRAFTING))
    adaptive_length = adapts and _wants_adaptive_length(decoding, request)
    return Settings(
        decoding=decoding,
        rule=rule,
        block_size=_resolve_block_size(decoding, request, bundle),
        adaptive_length=adaptive_length,
        may_skip_drafting=adapts and request.decoding == "auto" and not request.always_draft,
        options=_resolve_options(decoding, request),
        beam_size=beam_size if decoding in SEARCHES else 1,
        length_penalty=bundle.info.length_penalty if request.length_penalty is None else request.length_penalty,
        beam_stop=bundle.info.beam_stop,
        n_best=request.n_best,
        max_length=request.max_length or bundle.info.max_length or None,
        order=bundle.shape.order,
        batch_size=request.batch_size,
        memory=request.memory,
        with_scores=request.with_scores,
        given_block_size=request.block_size if isinstance(request.block_size, int) else 0,
        longest_sentence=0 if request.whole else bundle.info.longest_sentence,
        copies_tidied=adaptive_length and decoding == "input-guided",
    )


def _resolve_decoding(request: DecodingRequest, bundle: Described) -> str:
    """The requested decoding, else the one that its other options ask for, else the bundle's, else the fastest exact one.

    Raises UsageError or ModelError.
    """
    if request.decoding != "auto":
        check_known(request.decoding)
        return request.decoding
    decoding = _automatic(bundle)
    try:
        check_known(decoding)
    except UsageError as error:
        raise ModelError(f"{bundle.path or 'the bundle'}: {error}") from error
    if request.searching and decoding not in SEARCHES and bundle.shape.order == "left-to-right":
        return "beam"
    return "specdec++" if request.tolerant and decoding == "specdec" else decoding


def _automatic(bundle: Described) -> str:
    """The bundle's own decoding, else the fastest exact one for it."""
    if bundle.info.decoding != "auto":
        return bundle.info.decoding
    if (own := search_of(bundle.shape.order)) is not None:
        return own
    if bundle.info.task in REWRITING and bundle.tokenizer.shared:
        return "input-guided"
    return UNTRAINED if bundle.drafter_config is None else DRAFTS_OF[bundle.drafter_config.kind]


def _check_bundle(decoding: str, bundle: Described) -> None:
    """Raise UsageError if the bundle lacks the drafter of the decoding, or the shared vocabulary that copying needs."""
    kind = None if bundle.drafter_config is None else bundle.drafter_config.kind
    if any(method.trained not in (None, kind) for method in methods_of(decoding)):
        lacks = {None: "no drafter", "block": "a block drafter, not heads", "heads": "heads, not a block drafter"}[kind]
        possible = [method.name for method in METHODS.values() if method.trained in (None, kind) and method.order == "left-to-right"]
        raise UsageError(f"decoding {decoding}: this bundle has {lacks}; it supports {', '.join(possible)}")
    if "input-guided" in parts(decoding) and not bundle.tokenizer.shared:
        raise UsageError(f"decoding {decoding}: source and target have different vocabularies, so that nothing can be copied")


def _wants_adaptive_length(decoding: str, request: DecodingRequest) -> bool:
    """Whether the length of drafts adapts: on request, or if neither a length nor a decoding with its own length is requested."""
    if request.block_size is not None or request.always_draft:
        return request.block_size == "auto"
    return request.decoding == "auto" or not (decoding in DECODINGS and METHODS[decoding].unbounded)


def _resolve_rule(decoding: str, request: DecodingRequest, bundle: Described) -> Rule:
    if request.options.get(STOP.name) == "fixed-point":
        return FixedPoint()
    if request.preset == "exact":
        return Exact()
    if not (request.tolerant or decoding == "specdec++"):
        margin = bundle.info.margins.get(request.mode, 0.0) if decoding == "input-guided" else 0.0
        return Reluctant(margin) if margin else Exact()
    name = request.preset or "high-quality"
    presets = PRESETS | bundle.info.presets
    if name not in presets:
        raise UsageError(f"preset {name}: not known; known are exact, {', '.join(presets)}")
    top_beta, tolerance = presets[name]
    return Tolerant(request.top_beta or top_beta, tolerance if request.tolerance is None else request.tolerance)


def _resolve_block_size(decoding: str, request: DecodingRequest, bundle: Described) -> int:
    if isinstance(request.block_size, int):
        return request.block_size
    if bundle.drafter_config is None or all(method.trained is None for method in methods_of(decoding)):
        return 0
    return bundle.info.block_size or bundle.drafter_config.max_block


def _resolve_options(decoding: str, request: DecodingRequest) -> dict[str, OptionValue]:
    """The values of a decoding's own options, defaults included; the parts of a chain always have their defaults."""
    own = METHODS[decoding].options if decoding in METHODS else ()
    values = {option.name: request.options.get(option.name, option.default) for option in own}
    return {name: value for name, value in values.items() if value is not None}
