"""The layers of int8 models: linear ones, fused with the layer norm before and the activation after them; embeddings; encoder and decoder
layers; and the link between neighbouring slots.
"""

from collections.abc import Sequence
from typing import cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from specdec_cli.model.attention import PrefixMask, layer_masks
from specdec_cli.model.cache import LayerCache
from specdec_cli.model.int8.arithmetic import ACTIVATIONS, Floats, attend, dot, fused, multiply, normalize, normalize_rms, to_bytes
from specdec_cli.model.layers import DecoderLayer, Embedding, EncoderLayer, Sublayer, Vocabulary
from specdec_cli.model.slot_link import SlotLink
from specdec_cli.model.storage import Uninitialized


class Int8Linear(nn.Module):
    """The layer activation(norm(x) W + b) with W in int8, a scale per output, and norm(x) quantized to 255 steps
    between the row's extremes.

    The product is exact in integers, so results are batch-invariant.
    """

    def __init__(self, linear: nn.Linear, norm: nn.Module | None = None, activation: str = "none", gated: bool = False) -> None:
        super().__init__()
        self.norm = None if isinstance(norm, nn.Identity) else norm
        self.activation, self.gated = activation, gated
        self.outputs, self.inputs = linear.weight.shape
        weight = linear.weight.detach().float()
        scales = (weight.abs().amax(1) / 127).clamp_min(1e-12)
        integers = (weight / scales[:, None]).round_().to(torch.int8)
        bias = torch.zeros_like(scales) if linear.bias is None else linear.bias.detach()
        sums = integers.sum(1, dtype=torch.int32)
        # Integer products are exact in float32 too, and faster on a processor without int8 dot products.
        self._weights, self._sums, self._scales, self._bias = integers.t().float().contiguous(), sums, scales, bias

    def forward(self, x: Tensor) -> Tensor:
        """Map `x` (..., inputs) to (..., outputs)."""
        integers, low, step = to_bytes(normed(self.norm, x.numpy()))
        sums, scales, bias = (values.numpy() for values in (self._sums.float(), self._scales, self._bias))
        product = fused(multiply(integers, self._weights, self._sums), step, low * sums)
        output = fused(product, scales, bias)
        if self.gated:
            units, factors = np.split(output, 2, -1)
            return torch.from_numpy(ACTIVATIONS[self.activation](units) * factors)
        return torch.from_numpy(ACTIVATIONS[self.activation](output))


def normed(norm: nn.Module | None, x: Floats) -> Floats:
    """The norm of `x` (..., W) if `norm` is one, else `x`."""
    if isinstance(norm, nn.RMSNorm):
        assert norm.eps is not None
        return normalize_rms(x, norm.weight.detach().numpy(), norm.eps)
    if not isinstance(norm, nn.LayerNorm):
        return x
    return normalize(x, norm.weight.detach().numpy(), norm.bias.detach().numpy(), norm.eps)


class FusedEmbedding(nn.Module):
    """The token and position embeddings of `embedding` in float32, each scaled token and its position added with one
    rounding.
    """

    def __init__(self, embedding: Embedding) -> None:
        super().__init__()
        self.tokens, self.positions, self.norm = embedding.tokens, embedding.positions, embedding.norm
        self.scale, self.offset = embedding.scale, embedding.offset
        self._plain = (embedding,)

    def forward(self, ids: Tensor, positions: Tensor) -> Tensor:
        """Embeddings (..., T, W) of `ids` (..., T) at `positions` (..., T) or (T,)."""
        tokens = F.embedding(ids, self.tokens.weight.detach()).numpy()
        if not len(self.positions):
            return torch.from_numpy(normed(self.norm, tokens * np.float32(self.scale)))
        places = F.embedding(positions + self.offset, self.positions.detach()).numpy()
        x = fused(tokens, np.float32(self.scale), places)
        return torch.from_numpy(normed(self.norm, x))

    def place(self, vectors: Tensor, positions: Tensor) -> Tensor:
        """Add the embeddings of `positions`, (..., T) or (T,), to scaled token embeddings `vectors` (..., T, W), and
        normalise the sums.
        """
        return self._plain[0].place(vectors, positions)

    def at(self, positions: Tensor) -> Tensor:
        """Position embeddings (..., W) for integer `positions` (...)."""
        return self._plain[0].at(positions)


class Int8Layer(nn.Module):
    """The int8 version of an encoder or decoder layer: self-attention, in a decoder cross-attention, and
    feed-forward.
    """

    def __init__(self, layer: EncoderLayer | DecoderLayer) -> None:
        super().__init__()
        self.heads, self.width, self.scale = layer.attention.heads, layer.attention.head_width, layer.attention.scale
        self.query_key_value = _entering(layer.attention.query_key_value, layer.attention_residual)
        self.output = Int8Linear(layer.attention.output)
        self.after_attention = _after(layer.attention_residual)
        self.query = self.cross_output = None
        self.after_cross_attention: nn.Module = nn.Identity()
        if isinstance(layer, DecoderLayer):
            self.query = _entering(layer.cross_attention.query, layer.cross_attention_residual)
            self.cross_output = Int8Linear(layer.cross_attention.output)
            self.after_cross_attention = _after(layer.cross_attention_residual)
        feed_forward = layer.feed_forward
        self.inner = _entering(feed_forward.inner, feed_forward.residual, feed_forward.activation_name, feed_forward.gated)
        self.outer = Int8Linear(feed_forward.outer)
        self.after_feed_forward = _after(feed_forward.residual)

    def forward(
        self, x: Tensor, mask: PrefixMask, memory: Tensor | None, memory_mask: PrefixMask | None, store: LayerCache | None
    ) -> Tensor:
        """States (B, Q, W) of the next layer from `x` (B, Q, W).

        With a `store`, the keys and values of `x` are written to it and self-attention is over the store; without,
        over `x`. With the source's keys and values `memory` (B, M, 2, H, D), cross-attention follows; an encoder has
        none.
        """
        fused = self.query_key_value(x).unflatten(-1, (3, self.heads, self.width))
        keys_values = fused[:, :, 1:] if store is None else store.write(fused[:, :, 1:])
        x = _normed(self.after_attention, x + self.output(_attend(fused[:, :, 0], keys_values, mask, self.scale)))
        if memory is not None and memory_mask is not None:
            assert self.query is not None and self.cross_output is not None
            queries = self.query(x).unflatten(-1, (self.heads, self.width))
            x = _normed(self.after_cross_attention, x + self.cross_output(_attend(queries, memory, memory_mask, self.scale)))
        return _normed(self.after_feed_forward, x + self.outer(self.inner(x)))


class Int8Layers(nn.Module):
    """The int8 version of the layers of an encoder or a decoder and of the final `norm`."""

    def __init__(self, layers: nn.ModuleList, norm: nn.Module) -> None:
        super().__init__()
        own = [Int8Layer(cast(EncoderLayer | DecoderLayer, layer)) for layer in layers]
        self.layers, self.norm = nn.ModuleList(own), norm
        self.key_value = _join([layer.cross_attention.key_value for layer in layers if isinstance(layer, DecoderLayer)])

    def project_memory(self, states: Tensor) -> list[Tensor]:
        """For each layer, the keys and values (B, M, 2, H, D) of the encoder's states (B, M, W), computed with one
        matrix product.
        """
        assert self.key_value is not None
        first = cast(Int8Layer, self.layers[0])
        return list(self.key_value(states).unflatten(-1, (len(self.layers), 2, first.heads, first.width)).unbind(2))

    def forward(
        self,
        x: Tensor,
        mask: PrefixMask,
        memory: Sequence[Tensor] = (),
        memory_mask: PrefixMask | None = None,
        stores: Sequence[LayerCache | None] | None = None,
        between: Tensor | None = None,
        biases: Tensor | None = None,
    ) -> Tensor:
        """States (B, Q, W) after the last layer and the final norm, from `x` (B, Q, W), which may be overwritten.

        `stores` has a cache for each layer, to which the keys and values of its input are written; without one a
        layer attends to its input only. `mask` is for self-attention. `memory` has the source's keys and values for
        each decoder layer, and `memory_mask` hides the source's padding; an encoder has neither. `between` (B, Q,
        W), if given, is added to the input of every layer but the first, and `biases` (T, B, H, Q, S) to the scores of self-attention.
        """
        masks = layer_masks(mask, biases, len(self.layers))
        for i, layer in enumerate(self.layers):
            x = x if between is None or i == 0 else x + between
            x = layer(x, cast(PrefixMask, masks[i]), memory[i] if memory else None, memory_mask, stores[i] if stores else None)
        return _normed(self.norm, x)


def _normed(norm: nn.Module, x: Tensor) -> Tensor:
    return torch.from_numpy(normed(norm, x.numpy()))


def _attend(queries: Tensor, keys_values: Tensor, mask: PrefixMask, scale: float | None) -> Tensor:
    bias = None if mask.bias is None else mask.bias.numpy()
    return torch.from_numpy(attend(queries.numpy(), keys_values.numpy(), mask.ends.numpy(), scale, bias))


def _entering(linear: nn.Linear, residual: Sublayer, activation: str = "none", gated: bool = False) -> Int8Linear:
    return Int8Linear(linear, residual.norm if residual.pre else None, activation, gated)


def _after(residual: Sublayer) -> nn.Module:
    return nn.Identity() if residual.pre else residual.norm


def _join(linears: Sequence[nn.Linear]) -> Int8Linear | None:
    """One linear layer that computes several with the same input."""
    if not linears:
        return None
    biased = linears[0].bias is not None
    with Uninitialized():
        joined = nn.Linear(linears[0].in_features, sum(linear.out_features for linear in linears), bias=biased)
    joined.weight.data = torch.cat([linear.weight.data for linear in linears])
    if biased:
        joined.bias.data = torch.cat([linear.bias.data for linear in linears])
    return Int8Linear(joined)


class Int8SlotLink(nn.Module):
    """The int8 version of the slot link `chain`, which chooses drafts.

    In the first slot the token before is known. In a later slot the candidates are the best tokens when the token
    before is unknown; the slot's state is then conditioned on the token that was chosen before it, and multiplied
    with the candidates' output projection in float32. A recurrent link also reads the hidden units of the slot before.
    """

    def __init__(self, chain: SlotLink, vocabulary: Vocabulary, candidates: int) -> None:
        super().__init__()
        self.from_state, self.output = Int8Linear(chain.from_state), Int8Linear(chain.output)
        self.from_token = Int8Linear(chain.from_token)
        self.recurrent = None if chain.recurrent is None else Int8Linear(chain.recurrent)
        self.unknown = chain.unknown.detach().clone()
        self._tokens, self._scale = vocabulary.embedding.tokens.weight.detach(), vocabulary.embedding.scale
        # The output projection becomes an int8 layer later.
        self._rows = vocabulary.output.weight.detach()
        self._bias = None if vocabulary.output.bias is None else vocabulary.output.bias.detach()
        self._candidates = candidates

    def choose(self, states: Tensor, last: Tensor, vocabulary: Vocabulary, candidates: int, shortlist: int = 0) -> Tensor:  # noqa: ARG002
        """The drafted ids (N, k): from left to right, in each slot, the best of its candidates after the token
        chosen before it.

        `states` are (N, k, W), and `last` (N,) are the tokens before the first slot. Ids are below `shortlist` if
        that is not 0. The argument `candidates` is ignored: their number was given to the constructor.
        """
        narrow = self.from_state(states)
        units = narrow + self.unknown
        units[:, 0] = narrow[:, 0] + self._project(last)
        units.relu_()
        logits = cast(Tensor, vocabulary.output(states + self.output(units)))[..., : shortlist or None]
        return self._walk(logits, states, narrow, units[:, 0])

    def _project(self, ids: Tensor) -> Tensor:
        projected: Tensor = self.from_token(F.embedding(ids, self._tokens) * self._scale)
        return projected

    def _walk(self, logits: Tensor, states: Tensor, narrow: Tensor, hidden: Tensor) -> Tensor:
        """Choose all ids (N, k); `hidden` (N, R) are the hidden units of the first slot. On ties the first candidate is better."""
        best = logits.sort(dim=-1, descending=True, stable=True).indices[..., : self._candidates]
        chosen = [best[:, 0, 0]]
        for slot in range(1, logits.shape[1]):
            own = best[:, slot]
            inputs = narrow[:, slot] + self._project(chosen[-1])
            hidden = (inputs if self.recurrent is None else inputs + self.recurrent(hidden)).relu_()
            state = states[:, slot] + self.output(hidden)
            scores = dot(state[:, None].numpy(), self._rows[own].numpy())
            scores = scores if self._bias is None else scores + self._bias[own].numpy()
            chosen.append(own.gather(1, torch.from_numpy(np.argmax(scores, 1, keepdims=True)))[:, 0])
        return torch.stack(chosen, 1)
