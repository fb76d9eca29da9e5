"""Floating-point operations of networks, computed from their configurations (Santilli et al. 2023, Tables 3 and 5).

Only matrix products are counted; a multiplication with its addition counts as two operations. A product of queries with
keys counts all keys of the pass, also those that a mask hides, as dense attention computes them.
"""

from dataclasses import dataclass

from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import AnyDrafterConfig, DrafterConfig, HeadsConfig

UPDATE = 3
"""Operations of an update over those of its forward pass: the backward pass computes two products for each one."""


def encode(config: TransformerConfig, source: int) -> int:
    """Operations of the encoder for a source of `source` tokens."""
    width = config.width
    a_layer = source * (8 * width**2 + 4 * width * config.feed_forward) + 4 * source**2 * width
    return config.encoder_layers * a_layer


def read_memory(config: TransformerConfig, source: int) -> int:
    """Operations that compute the keys and values of cross-attention, in all decoder layers, for a source of `source` tokens."""
    return config.decoder_layers * source * 4 * config.width**2


def decode(config: TransformerConfig, source: int, positions: int, keys: int) -> int:
    """Operations of the decoder layers for a pass over `positions` positions that attend to `keys` positions, their own included."""
    width = config.width
    a_position = 12 * width**2 + 4 * width * config.feed_forward + 4 * width * (keys + source)
    return config.decoder_layers * positions * a_position


def project(config: TransformerConfig, positions: int) -> int:
    """Operations of the output projection of `positions` positions."""
    return 2 * config.width * config.vocabulary_size * positions


def link(width: int, drafter: AnyDrafterConfig, slots: int) -> int:
    """Operations of the slot link of `drafter`, whose states have `width` units, for a block of `slots`, without the output projection; 0
    without a link.
    """
    if not drafter.chain:
        return 0
    a_product = 2 * width * drafter.chain
    later = 2 * a_product + recurrence(drafter) + 2 * width * drafter.candidates
    return a_product * (1 + 2 * slots) + later * (slots - 1)


def recurrence(drafter: AnyDrafterConfig) -> int:
    """Operations by which a recurrent slot link multiplies the hidden units of one slot, for the next; 0 if the link is not recurrent."""
    is_recurrent = isinstance(drafter, DrafterConfig) and drafter.recurrent
    return 2 * drafter.chain**2 if is_recurrent else 0


@dataclass(frozen=True)
class DraftPass:
    """What a drafter computes in a round: a block of `slots` tokens after a prefix of `prefix` tokens.

    `fed` of the prefix's tokens were not in the cache of a drafter with layers of its own. `source` is the number of source
    tokens.
    """

    source: int
    slots: int
    prefix: int
    fed: int


def draft(verifier: TransformerConfig, drafter: AnyDrafterConfig, one: DraftPass) -> int:
    """Operations of a drafter in a round."""
    shape = _shape(verifier, drafter)
    vocabulary = drafter.shortlist or shape.vocabulary_size
    chosen = 2 * shape.width * vocabulary * one.slots + link(shape.width, drafter, one.slots)
    if isinstance(drafter, HeadsConfig):
        return chosen + one.slots * 4 * shape.width * drafter.feed_forward
    return chosen + _blocks(verifier, drafter, shape, one)


def read_states(verifier: TransformerConfig, drafter: AnyDrafterConfig, positions: int) -> int:
    """Operations of a drafter's keys and values of the verifier's states at `positions` positions; 0 if it reads no states."""
    if isinstance(drafter, HeadsConfig) or drafter.prefix != "states":
        return 0
    return positions * 4 * verifier.width * drafter.layers * _shape(verifier, drafter).width


def read_source(verifier: TransformerConfig, drafter: AnyDrafterConfig, source: int) -> int:
    """Operations of a drafter once for a source of `source` tokens, those of an encoder of its own included."""
    shape = _shape(verifier, drafter)
    if isinstance(drafter, HeadsConfig):
        return 4 * shape.width**2 if drafter.start else 0
    return own_encoder(verifier, drafter, source) + read_memory(shape, source)


def own_encoder(verifier: TransformerConfig, drafter: AnyDrafterConfig, source: int) -> int:
    """Operations of a drafter's own encoder for a source of `source` tokens; 0 if it has none."""
    if isinstance(drafter, HeadsConfig) or drafter.encoder != "own":
        return 0
    return encode(_shape(verifier, drafter) if drafter.embeddings == "own" else verifier, source)


def forward(config: TransformerConfig, source: int, target: int) -> int:
    """Operations of a forward pass with teacher forcing over a pair of `source` and `target` tokens."""
    return encode(config, source) + read_memory(config, source) + decode(config, source, target, target) + project(config, target)


def _blocks(verifier: TransformerConfig, drafter: DrafterConfig, shape: TransformerConfig, one: DraftPass) -> int:
    width, keys = shape.width, one.prefix + one.slots
    copied = one.slots * (2 * width**2 + 4 * width * one.source) if drafter.source_copy else 0
    if drafter.prefix == "states":
        return copied + 2 * verifier.width * width + decode(shape, one.source, one.slots, keys)
    positions = keys if drafter.attention == "bidirectional" else one.fed + one.slots
    return copied + decode(shape, one.source, positions, keys)


def _shape(verifier: TransformerConfig, drafter: AnyDrafterConfig) -> TransformerConfig:
    return verifier if isinstance(drafter, HeadsConfig) else drafter.shape(verifier)


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
    states = forward(verifier, one.source, one.target) - project(verifier, one.target)
    shape = verifier if isinstance(drafter, HeadsConfig) else drafter.shape(verifier)
    own = one.tuned or (isinstance(drafter, DrafterConfig) and drafter.embeddings == "own")
    read, run = _passes(verifier, drafter, one)
    slots = one.blocks * drafter.max_block
    linked = 2 * shape.width * drafter.chain * slots
    once = (UPDATE if one.tuned else 1) * states + (project(verifier, one.target) * UPDATE if one.tuned else 0)
    first = (read + run + project(shape, slots)) if one.glancing else 0
    projected = 2 * shape.width * (drafter.shortlist or shape.vocabulary_size) * one.predicted
    return (
        once
        + first
        + (UPDATE if one.tuned else CONSTANT) * read
        + UPDATE * (run + 2 * linked + one.blocks * (drafter.max_block - 1) * recurrence(drafter))
        + (UPDATE if own else CONSTANT) * (projected + linked)
    )


def _passes(verifier: TransformerConfig, drafter: AnyDrafterConfig, one: DrafterUpdate) -> tuple[int, int]:
    """Operations of a forward pass, as two numbers: those that read the verifier's states, which need no gradient unless the verifier
    is trained too, and all others.
    """
    slots = one.blocks * drafter.max_block
    if isinstance(drafter, HeadsConfig):
        layer = slots * 2 * verifier.width * drafter.feed_forward
        # With `start`, the heads read states that a trained layer makes, so gradients of these states are computed too.
        return read_source(verifier, drafter, one.source) + (0 if drafter.start else layer), layer * (2 if drafter.start else 1)
    shape = drafter.shape(verifier)
    memory, encoder = read_memory(shape, one.source), own_encoder(verifier, drafter, one.source)
    # The queries of a source copy are made of constant positions.
    queries, copied = (slots * 2 * shape.width**2, slots * 4 * shape.width * one.source) if drafter.source_copy else (0, 0)
    if drafter.prefix == "states":
        read = read_states(verifier, drafter, one.target) + one.blocks * 2 * verifier.width * shape.width
        run = decode(shape, one.source, slots, one.target + slots)
    elif drafter.attention == "causal":
        read, run = 0, decode(shape, one.source, one.target + slots, one.target + slots)
    else:
        width = one.target + drafter.max_block
        read, run = 0, one.blocks * decode(shape, one.source, width, width)
    read, run = (read + queries, run + copied) if drafter.embeddings == "own" else (read + queries + copied, run)
    return (read, run + encoder + memory) if drafter.encoder == "own" else (read + memory, run)
