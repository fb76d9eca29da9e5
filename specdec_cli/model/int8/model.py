"""From a model in floating point to one in bytes."""

import torch
from torch import Tensor, nn

from specdec_cli.kernels.build import LOOKING, Kernels, load_kernels
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.int8.chain import Int8Chain
from specdec_cli.model.int8.embedding import FusedEmbedding
from specdec_cli.model.int8.encoder import Int8Encoder
from specdec_cli.model.int8.layers import Int8Layers
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.transformer import Transformer


def _kernels_for(logits: Tensor) -> Kernels | None:
    return load_kernels() if logits.dtype == torch.float32 and logits.device.type == "cpu" else None


def first_choices(logits: Tensor) -> Tensor:
    """The best id (...) by logits (..., V), the first of equal ones; the same function wherever tokens are chosen."""
    kernels = _kernels_for(logits)
    if kernels is None:
        return logits.argmax(-1)
    logits = logits.contiguous()  # torch's argmax takes five times as long as this
    ids = torch.empty(logits.shape[:-1], dtype=torch.int64)
    threads = kernels.threads(LOOKING * logits.numel())
    kernels.largest(logits.data_ptr(), ids.numel(), logits.shape[-1], ids.data_ptr(), threads)
    return ids


def log_probabilities(logits: Tensor, ids: Tensor) -> Tensor:
    """Natural log probabilities (...) of `ids` (...) by logits (..., V)."""
    kernels = _kernels_for(logits)
    if kernels is None:
        logits = logits.float()
        return logits.gather(-1, ids[..., None])[..., 0] - logits.logsumexp(-1)
    logits, ids = logits.contiguous(), ids.contiguous()
    found = logits.new_empty(ids.shape)
    threads = kernels.threads(LOOKING * logits.numel())
    kernels.log_probabilities(logits.data_ptr(), ids.numel(), logits.shape[-1], ids.data_ptr(), found.data_ptr(), threads)
    return found


def quantize(model: Transformer, drafter: BlockDrafter | None = None) -> None:
    """Turn every linear layer of `model`, and of the `drafter` that drafts for it, to bytes; embeddings stay as they are.

    Weights round to 127 steps either side of zero, per output; inputs to 255 steps, per row. Attention, norms and sums stay
    in floating point. What a token's logits are depends on nothing but its own prefix and source.
    """
    output = Int8Linear(model.output)
    if drafter is not None:
        _quantize_drafter(drafter, output)
    _quantize_layers(model)
    model.register_module("encoder", Int8Encoder(model.encoder))
    output.weight = model.output.weight if drafter is not None and drafter.chain is not None else None
    model.register_module("output", output)
    if all(layers.kernels is not None for layers in (model.encoder.layers, model.layers)):
        model.row_multiple = 1


def _quantize_layers(owner: Transformer | BlockDrafter) -> None:
    owner.register_module("layers", Int8Layers(owner.layers, owner.norm))
    owner.norm = nn.Identity()
    if isinstance(owner, Transformer) or owner.config.embeddings == "own":
        owner.register_module("embedding", FusedEmbedding(owner.embedding))


def _quantize_drafter(drafter: BlockDrafter, output: Int8Linear) -> None:
    _quantize_layers(drafter)
    if drafter.config.embeddings == "own":
        weight, output = drafter.output.weight, Int8Linear(drafter.output)
        output.weight = weight if drafter.chain is not None else None
        drafter.register_module("output", output)
    if drafter.config.encoder == "own":
        drafter.register_module("encoder", Int8Encoder(drafter.encoder))
    for name in ("prefix_keys_values", "previous_state", "copy_query"):
        if hasattr(drafter, name):
            setattr(drafter, name, Int8Linear(getattr(drafter, name)))
    chain, candidates = drafter.chain, drafter.config.candidates
    if chain is None:
        return
    if output.kernels is not None and Int8Chain.fits(chain, candidates):
        drafter.register_module("chain", Int8Chain(chain, drafter.vocabulary, output.kernels, candidates))
    else:
        for name in ("from_state", "from_token", "output"):
            setattr(chain, name, Int8Linear(getattr(chain, name)))
