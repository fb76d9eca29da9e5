"""Floating-point operations of an update of a drafter, computed from configurations (see flops.py)."""

from dataclasses import dataclass

from specdec_cli.model import flops
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.model.drafter_configs import AnyDrafterConfig
from specdec_cli.model.heads_config import HeadsConfig

CONSTANT = 2
"""Operations of an update over those of the forward pass for a product with a constant: its other factor has the only gradient."""


@dataclass(frozen=True)
class DrafterUpdate:
    """A sentence in the training of a drafter: its `source` and `target` tokens, and the `blocks` that are trained.

    `predicted` slots of all blocks have a loss. `glancing`: whether a first pass without gradients chooses what the drafter sees.
    `tuned`: whether the verifier is trained too.
    """

    source: int
    target: int
    blocks: int
    predicted: int
    glancing: bool = False
    tuned: bool = False


def update_drafter(verifier: TransformerConfig, drafter: AnyDrafterConfig, one: DrafterUpdate) -> int:
    """Operations of an update for one sentence: the verifier's states, and forward and backward pass of the drafter."""
    states = flops.forward(verifier, one.source, one.target) - flops.project(verifier, one.target)
    shape = verifier if isinstance(drafter, HeadsConfig) else drafter.shape(verifier)
    own = one.tuned or (isinstance(drafter, DrafterConfig) and drafter.embeddings == "own")
    read, run = _passes(verifier, drafter, one)
    slots = one.blocks * drafter.max_block
    linked = 2 * shape.width * drafter.chain * slots
    once = (flops.UPDATE if one.tuned else 1) * states + (flops.project(verifier, one.target) * flops.UPDATE if one.tuned else 0)
    first = (read + run + flops.project(shape, slots)) if one.glancing else 0
    projected = 2 * shape.width * (drafter.shortlist or shape.vocabulary_size) * one.predicted
    return (
        once
        + first
        + (flops.UPDATE if one.tuned else CONSTANT) * read
        + flops.UPDATE * (run + 2 * linked + one.blocks * (drafter.max_block - 1) * flops.recurrence(drafter))
        + (flops.UPDATE if own else CONSTANT) * (projected + linked)
    )


def _passes(verifier: TransformerConfig, drafter: AnyDrafterConfig, one: DrafterUpdate) -> tuple[int, int]:
    """Operations of a forward pass, as two numbers: those that read the verifier's states, which need no gradient unless the verifier
    is trained too, and all others.
    """
    slots = one.blocks * drafter.max_block
    if isinstance(drafter, HeadsConfig):
        layer = slots * 2 * verifier.width * drafter.feed_forward
        # With `start`, the heads read states that a trained layer makes, so gradients of these states are computed too.
        return flops.read_source(verifier, drafter, one.source) + (0 if drafter.start else layer), layer * (2 if drafter.start else 1)
    shape = drafter.shape(verifier)
    memory, encoder = flops.read_memory(shape, one.source), flops.own_encoder(verifier, drafter, one.source)
    # The queries of a source copy are made of constant positions.
    queries, copied = (slots * 2 * shape.width**2, slots * 4 * shape.width * one.source) if drafter.source_copy else (0, 0)
    if drafter.prefix == "states":
        read = flops.read_states(verifier, drafter, one.target) + one.blocks * 2 * verifier.width * shape.width
        run = flops.decode(shape, one.source, slots, one.target + slots)
    elif drafter.attention == "causal":
        read, run = 0, flops.decode(shape, one.source, one.target + slots, one.target + slots)
    else:
        width = one.target + drafter.max_block
        read, run = 0, one.blocks * flops.decode(shape, one.source, width, width)
    read, run = (read + queries, run + copied) if drafter.embeddings == "own" else (read + queries + copied, run)
    return (read, run + encoder + memory) if drafter.encoder == "own" else (read + memory, run)
