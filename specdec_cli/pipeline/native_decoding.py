"""The decodings that the native engine supports, chosen without importing PyTorch."""

from dataclasses import replace

from specdec_cli.decoding.names import LONGEST_DRAFT, SHORT_DRAFT
from specdec_cli.decoding.options import Decoding, Exact, FixedPoint, Sampled, Tolerant, check_block_size
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_description import BundleDescription
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.native.library import HEADER

_LANES, _MOST_BEAM, _MOST_CANDIDATES = (HEADER.constants[name] for name in ("LANES", "MOST_BEAM", "MOST_CANDIDATES"))
_BLOCK = ("specdec", "specdec++")
_EXACT = {"greedy": 0, "lookup": LONGEST_DRAFT, "ngram-memory": SHORT_DRAFT}
"""Exact decodings without a network, and the block size of each if none is given."""


class Unsupported(UsageError):
    """An error for settings or a bundle that the native engine does not support but the reference engine does."""


def native_decoding(bundle: BundleDescription, decoding: Decoding, *, shows_rounds: bool) -> Decoding:
    """Return `decoding` as the native engine runs it: the method is one of the library's, and has a block size; with `shows_rounds`,
    each round must be reported.

    If drafts may be skipped and the drafter is not supported, this is greedy decoding, which has the same output.
    Raises Unsupported, with a message that names the option or property of the bundle that only the reference
    engine supports, and UsageError for a block size that the drafter was not trained for.
    """
    if shows_rounds and isinstance(decoding.acceptance, Tolerant):  # it does not report what the verifier would have chosen
        raise Unsupported("the native engine does not show rounds of tolerant decodings; the reference engine does")
    _check_bundle(bundle)
    method, rule, drafter = decoding.method, decoding.acceptance, bundle.drafter_config
    plain = replace(decoding, adaptive=False, may_skip=False)
    if isinstance(rule, Tolerant):
        rule = replace(rule, top_beta=min(rule.top_beta, bundle.shape.vocabulary_size))
    if method == "beam":
        if decoding.search.beam_size > _MOST_BEAM:
            raise Unsupported(f"the native engine has beams of at most {_MOST_BEAM} hypotheses; the reference engine has larger ones")
        return plain
    if method in _BLOCK and isinstance(rule, Exact | Tolerant | Sampled):
        problem = _problem(drafter)
        if problem is None:
            assert isinstance(drafter, DrafterConfig)
            check_block_size(decoding.block_size, drafter.max_block)
            return replace(decoding, method="specdec", acceptance=rule, may_skip=decoding.adaptive and decoding.may_skip)
        if not decoding.may_skip:
            raise Unsupported(f"the native engine does not run a drafter with {problem}; the reference engine does")
    if method in _EXACT and isinstance(rule, Exact | Sampled):
        return replace(plain, block_size=decoding.block_size or _EXACT[method])
    if method == "input-guided" and not isinstance(rule, FixedPoint):
        return replace(plain, acceptance=rule)
    if decoding.may_skip:
        return replace(plain, method="greedy", block_size=0)  # the same output
    raise Unsupported(f"the native engine does not do decoding {method} with these options; the reference engine does")


def _check_bundle(bundle: BundleDescription) -> None:
    order = bundle.shape.order
    if order != "left-to-right":
        raise Unsupported(f"the native engine does not write in the order {order}; the reference engine does")


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
