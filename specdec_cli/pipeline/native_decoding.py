"""The decodings that the native engine supports, chosen without importing PyTorch."""

from dataclasses import dataclass

from specdec_cli.decoding.acceptance_rules import Exact, Reluctant, Tolerant
from specdec_cli.decoding.block_sizes import check_block_size
from specdec_cli.decoding.names import LONGEST_DRAFT, SHORT_DRAFT
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_description import BundleDescription
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.native.library import HEADER
from specdec_cli.pipeline.settings import Settings

FIRST_COPY = 11
"""Tokens of the first draft of input-guided decoding at most, where the length of drafts adapts. A rejected token costs about a
fourth of a round here, so that a sentence with errors takes less time if it is not copied as a whole.
"""
_LANES, _MOST_BEAM, _MOST_CANDIDATES = (HEADER.constants[name] for name in ("LANES", "MOST_BEAM", "MOST_CANDIDATES"))
_BLOCK = ("specdec", "specdec++")
_EXACT = {"greedy": 0, "lookup": LONGEST_DRAFT, "ngram-memory": SHORT_DRAFT}
"""Exact decodings without a network, and the block size of each if none is given."""


class Unsupported(UsageError):
    """An error for settings or a bundle that the native engine does not support but the reference engine does."""


class UnsupportedOrder(Unsupported):
    """Raised for a model whose generation order is not left to right: the native engine has no decoding for it."""


@dataclass(frozen=True)
class NativeDecoding:
    """How the native engine decodes: the name of its decoding, the largest number of drafted tokens, and the
    acceptance rule.

    `top_beta` 0 and `margin` 0 stand for the exact rule. `drafter` is the configuration of the network that drafts, None without
    one. With `adaptive`, the number of drafted tokens is chosen in each round, up to `block_size`; with `may_skip`,
    nothing is drafted where that is faster. `first_draft` bounds the first copy of a source, in tokens (0: no bound);
    later ones grow while they are accepted as a whole.
    """

    decoding: str
    block_size: int = 0
    top_beta: int = 0
    tolerance: float = 0.0
    drafter: DrafterConfig | None = None
    adaptive: bool = False
    may_skip: bool = False
    first_draft: int = 0
    margin: float = 0.0


def native_decoding(bundle: BundleDescription, settings: Settings, *, shows_rounds: bool) -> NativeDecoding:
    """Return how the native engine decodes by `settings`; with `shows_rounds`, each round must be reported.

    If drafts may be skipped and the drafter is not supported, this is greedy decoding, which has the same output.
    Raises Unsupported, with a message that names the setting or property of the bundle that only the reference
    engine supports, and UsageError for a block size that the drafter was not trained for.
    """
    if shows_rounds:
        raise Unsupported("the native engine does not show rounds; the reference engine does")
    _check_bundle(bundle)
    decoding, drafter = settings.decoding, bundle.drafter_config
    if decoding == "beam":
        return _beam(settings)
    if decoding in _BLOCK and isinstance(settings.rule, Exact | Tolerant):
        problem = _problem(drafter)
        if problem is None:
            assert isinstance(drafter, DrafterConfig)
            check_block_size(settings.block_size, drafter.max_block)
            adapts = settings.adaptive_length
            may_skip = adapts and settings.may_skip_drafting
            return NativeDecoding("specdec", settings.block_size, *_rule(settings), drafter, adapts, may_skip)
        if not settings.may_skip_drafting:
            raise Unsupported(f"the native engine does not run a drafter with {problem}; the reference engine does")
    if decoding in _EXACT and settings.rule == Exact():
        return NativeDecoding(decoding, settings.block_size or _EXACT[decoding])
    if decoding == "input-guided" and isinstance(settings.rule, Reluctant):
        return NativeDecoding(decoding, settings.block_size, margin=settings.rule.margin)
    if decoding == "input-guided" and isinstance(settings.rule, Exact | Tolerant):
        first = FIRST_COPY if settings.adaptive_length else 0
        return NativeDecoding(decoding, settings.block_size, *_rule(settings), first_draft=first)
    if settings.may_skip_drafting:
        return NativeDecoding("greedy")  # the same output
    raise Unsupported(f"the native engine does not do decoding {decoding} with these options; the reference engine does")


def _beam(settings: Settings) -> NativeDecoding:
    if settings.beam_size > _MOST_BEAM:
        raise Unsupported(f"the native engine has beams of at most {_MOST_BEAM} hypotheses; the reference engine has larger ones")
    return NativeDecoding("beam")


def _check_bundle(bundle: BundleDescription) -> None:
    order = bundle.shape.order
    if order != "left-to-right":
        raise UnsupportedOrder(f"the native engine does not write in the order {order}; the reference engine does")


def _rule(settings: Settings) -> tuple[int, float]:
    """Top-beta and tolerance; a top-beta of 0 stands for the exact rule."""
    return (settings.rule.top_beta, settings.rule.tolerance) if isinstance(settings.rule, Tolerant) else (0, 0.0)


def _problem(drafter: AnyDrafterConfig | None) -> str | None:
    """The property of a drafter that the engine does not support; None if it supports all."""
    if not isinstance(drafter, DrafterConfig):
        return "heads"
    unsupported = {
        f'attention "{drafter.attention}"': drafter.attention != "causal",
        f'layout "{drafter.layout}"': drafter.layout != "shifted",
        "source_copy": drafter.source_copy,
        "an encoder of its own": drafter.encoder != "shared",
        "embeddings of its own": drafter.embeddings != "shared",
        f'positions "{drafter.positions}"': drafter.positions != "input",
        f"feed_forward {drafter.feed_forward}, not a multiple of {_LANES}": drafter.feed_forward % _LANES,
        f"chain {drafter.chain}, not a multiple of {_LANES}": drafter.chain % _LANES,
        f"more than {_MOST_CANDIDATES} candidates": drafter.candidates > _MOST_CANDIDATES,
    }
    return next((name for name, applies in unsupported.items() if applies), None)
