"""Quantization of models to int8."""

import torch
from torch import Tensor, nn

from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import steps
from specdec_cli.model.choices import Choices, suppressed, without_suppression
from specdec_cli.model.drafter import AnyDrafter, BlockDrafter, Head, Heads
from specdec_cli.model.int8.arithmetic import log_probabilities
from specdec_cli.model.int8.layers import FusedEmbedding, Int8Layers, Int8Linear, Int8SlotLink
from specdec_cli.model.transformer import Encoder, Transformer


def quantize(model: Transformer, drafter: AnyDrafter | None = None) -> None:
    """Quantize in place every linear layer of `model`, and of the `drafter` that drafts for it, to int8; embeddings
    stay in float32.

    Weights have 127 steps on either side of zero, with a scale per output; inputs have 255 steps, with a range per
    row. Attention, norms and sums are in float32 in a fixed order (`arithmetic.py`), so the logits of a token depend
    only on its prefix and source.
    """
    if isinstance(drafter, Heads):
        _quantize_heads(drafter)
    elif drafter is not None:
        _quantize_drafter(drafter)
    _quantize_layers(model)
    model.register_module("encoder", Int8Encoder(model.encoder))
    model.register_module("output", Int8Linear(model.output))
    model.choices = Int8Choices()
    model.row_multiple = 1


def _quantize_layers(owner: Transformer | BlockDrafter) -> None:
    owner.register_module("layers", Int8Layers(owner.layers, owner.norm))
    owner.norm = nn.Identity()
    if isinstance(owner, Transformer) or owner.config.embeddings == "own":
        owner.register_module("embedding", FusedEmbedding(owner.embedding))


def _quantize_drafter(drafter: BlockDrafter) -> None:
    _quantize_layers(drafter)
    if drafter.config.encoder == "own":
        drafter.register_module("encoder", Int8Encoder(drafter.encoder))
    for name in ("prefix_keys_values", "previous_state", "copy_query"):
        if hasattr(drafter, name):
            setattr(drafter, name, Int8Linear(getattr(drafter, name)))
    _quantize_chain(drafter)
    if drafter.config.embeddings == "own":
        drafter.register_module("output", Int8Linear(drafter.output))


def _quantize_heads(drafter: Heads) -> None:
    for head in drafter.heads:
        assert isinstance(head, Head)
        for name in ("inner", "outer"):
            head.register_module(name, Int8Linear(getattr(head, name)))
    if drafter.start is not None:
        drafter.register_module("start", Int8Linear(drafter.start))
    _quantize_chain(drafter)


def _quantize_chain(drafter: AnyDrafter) -> None:
    if drafter.chain is not None:
        drafter.register_module("chain", Int8SlotLink(drafter.chain, drafter.vocabulary, drafter.config.candidates))


class Int8Choices(Choices):
    """Chooses tokens by logits; log probabilities have the bits of the native engine."""

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        return torch.from_numpy(log_probabilities(logits.numpy(), ids.numpy()))

    def log_softmax(self, logits: Tensor) -> Tensor:
        released = without_suppression(logits)
        first = self.first(released)[..., None]
        # The log probability of a token with the largest logit is 0 minus the logarithm of the sum.
        largest, total = released.gather(-1, first), -self.log_probabilities(released, first[..., 0])[..., None]
        return (released - largest - total).masked_fill_(suppressed(logits), -torch.inf)


class Int8Encoder(Encoder):
    """The int8 version of `encoder`; its states are 0 at padding."""

    def __init__(self, encoder: Encoder) -> None:
        nn.Module.__init__(self)
        self.padding = encoder.padding
        self.register_module("embedding", FusedEmbedding(encoder.embedding))
        self.register_module("layers", Int8Layers(encoder.layers, encoder.norm))
        self.norm, self.bias = nn.Identity(), encoder.bias

    def forward(self, source: Tensor) -> tuple[Tensor, PrefixMask]:
        states, mask = super().forward(source)
        behind = steps(source.shape[1], source.device) >= mask.ends
        return states.masked_fill(behind[..., None], 0.0), mask
