"""The decodings that the native engine supports, and the numbers of rows that it decodes together; without PyTorch."""

from dataclasses import replace

from specdec_cli.decoding.methods import DRAFT_MODEL, LONGEST_DRAFT, SHORT_DRAFT
from specdec_cli.decoding.options import Decoding, Exact, FixedPoint, Sampled, Tolerant, check_block_size
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleDescription
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig
from specdec_cli.native.library import HEADER

_LANES, _MOST_BEAM, _MOST_CANDIDATES = (HEADER.constants[name] for name in ("LANES", "MOST_BEAM", "MOST_CANDIDATES"))
_BLOCK = ("specdec", "specdec++")
_EXACT = {"greedy": 0, "lookup": LONGEST_DRAFT, "ngram-memory": SHORT_DRAFT}
"""Exact decodings without a network, and the block size of each if none is given."""
_FEW = 4
"""The largest number of tokens that `lookup` drafts in a round when `auto` uses it in place of greedy decoding."""
JACOBI = ("jacobi", "gs-jacobi", "hybrid-jacobi")
LEAST_SENTENCES = 4
"""Fewest sentences per thread for which each of several threads decodes a batch; with fewer, all share the work of one sentence."""
FEWEST_ROWS, MOST_ROWS = 6, 24
"""Rows that a thread decodes together at most: as many as kernels multiply at once where a step's weights stay in the caches, and more, the
longer weights take to arrive from memory.
"""
IN_CACHES = 16 * 2**20
"""Bytes of weights that stay in the caches from step to step."""
_BYTES_PER_ROW = 28 * 2**20
"""Bytes of a step's weights for which one more row is worth its time. Rows more than these wait for the product of the others."""


class Unsupported(UsageError):
    """An error for settings or a bundle that the native engine does not support but the reference engine does."""


def native_decoding(bundle: BundleDescription, decoding: Decoding, *, shows_rounds: bool, has_draft_model: bool = False) -> Decoding:
    """Return `decoding` as the native engine runs it: the method is one of the library's, and has a block size; with `shows_rounds`,
    each round must be reported; with `has_draft_model`, another model can draft.

    If drafts may be skipped and there is no drafter that is supported, this is greedy decoding, which has the same output; or for sentences
    that are decoded one by one with weights that come from memory, lookup, whose drafts take no time.
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
    if method == DRAFT_MODEL and has_draft_model and isinstance(rule, Exact | Sampled):
        return replace(decoding, block_size=decoding.block_size or LONGEST_DRAFT, may_skip=decoding.adaptive and decoding.may_skip)
    if method in _EXACT and isinstance(rule, Exact | Sampled):
        return replace(plain, block_size=decoding.block_size or _EXACT[method])
    if method in JACOBI and not decoding.adaptive and isinstance(rule, Exact | FixedPoint | Sampled):
        return plain
    if method == "input-guided" and not isinstance(rule, FixedPoint):
        return replace(plain, acceptance=rule)
    if decoding.may_skip:  # any exact decoding has the same output
        if decoding.batch_size == 1 and step_bytes(bundle.shape) > IN_CACHES:
            return replace(plain, method="lookup", block_size=_FEW)
        return replace(plain, method="greedy", block_size=0)
    raise Unsupported(f"the native engine does not do decoding {method} with these options; the reference engine does")


def _check_bundle(bundle: BundleDescription) -> None:
    order = bundle.shape.order
    if order != "left-to-right":
        raise Unsupported(f"the native engine does not write in the order {order}; the reference engine does")


def _problem(drafter: AnyDrafterConfig | None) -> str | None:
    """Return the name of a property of the drafter that the native engine does not support, or None if it supports the drafter."""
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


def step_bytes(shape: TransformerConfig) -> int:
    """The size in bytes of the int8 weights that one decoding step reads: the decoder layers and the output projection."""
    attention, inner = 6 * shape.width * shape.heads_width, (3 if shape.gated else 2) * shape.width * shape.feed_forward
    return shape.decoder_layers * (attention + inner) + shape.vocabulary_size * shape.width


def rows_of_pass(shape: TransformerConfig) -> int:
    """The number of sentences that a thread decodes together at most with a model of this shape: 6 to 24."""
    step = step_bytes(shape)
    if step <= IN_CACHES:
        return FEWEST_ROWS
    return min((8 + step // _BYTES_PER_ROW) // 4 * 4, MOST_ROWS)


def cached_floats(shape: TransformerConfig, layers: int | None = None) -> int:
    """The number of floats that `layers` layers (None: those of the decoder) cache for one position, keys and values together."""
    padded = -(-shape.head_width // _LANES) * _LANES
    return 2 * shape.heads * padded * (shape.decoder_layers if layers is None else layers)
