"""The Transformer, and the network that predicts the length of its target."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from specdec_cli.model.attention import Mask, PrefixMask, additive_mask, relative_bias, step_mask
from specdec_cli.model.cache import KeyStore, LayerCache, steps
from specdec_cli.model.choices import Choices
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.layers import DecoderLayer, DecoderLayers, Embedding, EncoderLayer, EncoderLayers, make_norm
from specdec_cli.model.linear import ROW_MULTIPLE, Linear


class LengthHead(nn.Module):
    """Predicts how many tokens the target has more than the source, from -`reach` to `reach`.

    It reads the mean of the encoder's states, as fairseq's CMLM does. Mask-Predict (Ghazvininejad et al. 2019,
    Section 3.3) instead reads the encoder's state of an additional token.
    """

    def __init__(self, width: int, reach: int) -> None:
        super().__init__()
        self.reach = reach
        self.output = nn.Linear(width, 2 * reach + 1)

    def mean(self, states: Tensor, ends: Tensor) -> Tensor:
        """The mean (B, W), for each row, of the first `ends` (B, 1) of the encoder's states (B, S, W)."""
        own = torch.arange(states.shape[1], device=states.device) < ends
        return states.masked_fill(~own[..., None], 0.0).sum(1) / ends

    def forward(self, states: Tensor, ends: Tensor) -> Tensor:
        """Logits (B, 2 * reach + 1) of the differences of lengths, from the encoder's states (B, S, W) and their
        numbers `ends` (B, 1).
        """
        logits: Tensor = self.output(self.mean(states, ends))
        return logits

    def classes(self, differences: Tensor) -> Tensor:
        """The indices (...) of `differences` (...) of lengths in the logits; differences beyond `reach` are clamped
        to it.
        """
        return differences.clamp(-self.reach, self.reach) + self.reach

    def differences(self, classes: Tensor) -> Tensor:
        """The differences (...) of lengths that belong to indices `classes` (...) in the logits."""
        return classes - self.reach


@dataclass
class Memory:
    """The encoded source: states (B, S, W), a mask that hides padding, and keys and values (B, S, 2, H, D) for each
    decoder layer.
    """

    states: Tensor
    mask: PrefixMask
    keys_values: list[Tensor]


class Encoder(nn.Module):
    """The encoder of a Transformer: embeddings, encoder layers and, with pre-norm, a final layer norm."""

    def __init__(self, config: TransformerConfig, tokens: nn.Embedding, dropout: float = 0.0) -> None:
        super().__init__()
        self.padding = config.padding
        self.embedding = Embedding(config, tokens, dropout)
        self.layers = EncoderLayers(EncoderLayer(config, dropout) for _ in range(config.encoder_layers))
        self.norm = make_norm(config) if config.norm == "pre" else nn.Identity()
        self.bias = relative_bias(config, config.encoder_layers, ahead=True)

    def forward(self, source: Tensor) -> tuple[Tensor, PrefixMask]:
        """States (B, S, W) of `source` ids (B, S), padded on the right, and the mask that hides padding."""
        positions = torch.arange(source.shape[1], device=source.device)
        x = self.embedding(source, positions)
        mask = PrefixMask(((source != self.padding) * (positions + 1)).amax(1, keepdim=True), source.shape[1], x.dtype)
        biases = None if self.bias is None else self.bias(positions, positions)
        return self.norm(self.layers(x, mask, biases=biases)), mask


class Transformer(nn.Module):
    """A Transformer with encoder, decoder and output projection: the architecture of verifiers and teachers."""

    def __init__(self, config: TransformerConfig, dropout: float = 0.0) -> None:
        super().__init__()
        self.config = config
        tokens = nn.Embedding(config.vocabulary_size, config.width)
        source_tokens = tokens if config.shared_embeddings else nn.Embedding(config.source_size, config.width)
        self.encoder = Encoder(config, source_tokens, dropout)
        self.embedding = Embedding(config, tokens, dropout)
        self.layers = DecoderLayers(DecoderLayer(config, dropout) for _ in range(config.decoder_layers))
        self.norm = make_norm(config) if config.norm == "pre" else nn.Identity()
        self.bias = relative_bias(config, config.decoder_layers, ahead=False)
        self.output: nn.Linear = Linear(config.width, config.vocabulary_size, bias=config.output_bias)
        if config.tied_output:
            self.output.weight = tokens.weight
        self.length_head = LengthHead(config.width, config.length_reach) if config.order == "masked" else None
        self.row_multiple = ROW_MULTIPLE
        self.choices = Choices()
        self.apply(_initialize)

    @property
    def batch_invariant(self) -> bool:
        """Whether a row's results depend neither on the other rows of a batch nor on the number of threads; true for
        int8 models.
        """
        return self.row_multiple == 1

    def encode(self, source: Tensor) -> Memory:
        """Encode `source` ids (B, S), padded on the right, and compute the keys and values for every decoder layer."""
        states, mask = self.encoder(source)
        return Memory(states, mask, self.layers.project_memory(states))

    def decode(self, ids: Tensor, positions: Tensor, mask: Mask, memory: Memory, cache: Sequence[KeyStore] | None = None) -> Tensor:
        """Top states (B, Q, W) of `ids` (B, Q) at `positions` (B, Q) or (Q,).

        The keys and values of `ids` are written to `cache`, and self-attention is over its positions that `mask`
        shows; without a cache it is over `ids` only. A mask that is a tensor is additive, (B, 1, Q, S).
        """
        x = self.embedding(ids, positions)
        biases = self._biases(positions, mask, cache)
        states: Tensor = self.norm(self.layers(x, mask, memory.keys_values, memory.mask, cache, biases=biases))
        return states

    def _biases(self, positions: Tensor, mask: Mask, cache: Sequence[KeyStore] | None) -> Tensor | None:
        """The numbers that self-attention adds to the scores of queries at `positions`; None if the model has none."""
        if self.bias is None:
            return None
        keys = steps(mask.keys if isinstance(mask, PrefixMask) else mask.shape[-1], positions.device)
        first = cache[0] if cache else None
        if isinstance(first, LayerCache) and first.orders is not None:  # keys of the hypotheses in turn
            keys = keys // first.orders.shape[1]
        biases: Tensor = self.bias(positions, keys)
        return biases

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V) for the tokens one step after each of `target` (B, T), which begins with the decoder
        start (and EOS for pairs).
        """
        logits: Tensor = self.output(self.teach(self.encode(source), target))
        return logits

    def teach(self, memory: Memory, target: Tensor) -> Tensor:
        """Top states (B, T, W) of `target` ids (B, T), which are in generation order; a token attends to its own
        step and those before it.

        In the order "masked" a token attends to its whole row except padding on the right.
        """
        length, device, dtype = target.shape[1], target.device, memory.states.dtype
        if self.config.order == "masked":
            mask: Mask = PrefixMask((target != self.config.padding).sum(1, keepdim=True), length, dtype)
        else:
            mask = additive_mask(step_mask(length, self.config.step, device)[None, None], dtype)
        return self.decode(target, torch.arange(length, device=device), mask, memory)


def _initialize(module: nn.Module) -> None:
    if isinstance(module, nn.Linear):
        nn.init.xavier_uniform_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)
    elif isinstance(module, nn.Embedding):
        nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
