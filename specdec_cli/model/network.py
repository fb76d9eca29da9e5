"""The network of a verifier: what computes the passes of encoder and decoder."""

import hashlib
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor, nn

from specdec_cli.model.cache import Cache
from specdec_cli.model.choices import Choices
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import LengthHead, Memory, Transformer

KEY_MULTIPLE = 16
"""On a CPU, attention reads keys in multiples of this number, because the order of float additions depends on the number of keys."""


def can_read(device: torch.device) -> bool:
    """Whether a pass may depend on a value of a tensor; one that is captured as a CUDA graph cannot."""
    return device.type == "cpu"


class Network(Protocol):
    """Protocol: computes encoder, decoder and output projection of a Transformer for rows that are decoded together."""

    @property
    def config(self) -> TransformerConfig:
        """The shape of the model."""

    @property
    def device(self) -> torch.device:
        """The device of all tensors."""

    @property
    def value_bytes(self) -> int:
        """The size of a number of keys, values and states in bytes."""

    @property
    def row_multiple(self) -> int:
        """The number of positions of a pass has to be a multiple of this."""

    @property
    def batch_invariant(self) -> bool:
        """Whether a row's results depend neither on the other rows of a batch nor on the number of threads."""

    @property
    def description(self) -> str:
        """A text that names what computes."""

    @property
    def fingerprint(self) -> tuple[str, ...]:
        """Texts that name the arithmetic and the weights, for keys of measurements."""

    @property
    def choices(self) -> Choices:
        """Chooses tokens by logits, and computes log probabilities."""

    @property
    def length_head(self) -> LengthHead | None:
        """The head that predicts output lengths; None for a model that writes step by step."""

    def encode(self, source: Tensor, *, for_decoder: bool = True) -> Memory:
        """Encode `source` ids (B, M), padded on the right; keys and values for the decoder only if `for_decoder`."""

    def new_cache(self, memory: Memory, capacity: int) -> Cache:
        """A cache without keys of `capacity` positions for the rows of `memory`."""

    def decode(self, ids: Tensor, positions: Tensor, ends: Tensor, memory: Memory, cache: Cache) -> Tensor:
        """Top states (B, Q, W) of `ids` (B, Q) at `positions` (B, Q), whose keys and values are written to `cache`; each
        query sees the first `ends` (B, Q) positions of its row.
        """

    def teach(self, memory: Memory, target: Tensor) -> Tensor:
        """Top states (B, T, W) of `target` ids (B, T), without a cache; see `Transformer.teach`."""

    def project(self, states: Tensor) -> Tensor:
        """Logits (..., V) of top states (..., W)."""


@dataclass(frozen=True)
class TorchNetwork:
    """The network of `model`, computed by PyTorch's operators."""

    model: Transformer

    @property
    def config(self) -> TransformerConfig:
        return self.model.config

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device

    @property
    def value_bytes(self) -> int:
        return next(self.model.parameters()).element_size()

    @property
    def row_multiple(self) -> int:
        return 1 if self.device.type == "cpu" else self.model.row_multiple  # on a CPU, `Linear` adds the rows that are missing

    @property
    def batch_invariant(self) -> bool:
        return self.model.batch_invariant

    @property
    def description(self) -> str:
        return "PyTorch's operators"

    @property
    def fingerprint(self) -> tuple[str, ...]:
        return type(self.model.layers).__name__, str(next(self.model.parameters()).dtype), fingerprint_of(self.model)

    @property
    def choices(self) -> Choices:
        return self.model.choices

    @property
    def length_head(self) -> LengthHead | None:
        return self.model.length_head

    def encode(self, source: Tensor, *, for_decoder: bool = True) -> Memory:
        if for_decoder:
            return self.model.encode(source)
        states, mask = self.model.encoder(source)
        return Memory(states, mask, [])

    def new_cache(self, memory: Memory, capacity: int) -> Cache:
        config, rows = self.config, len(memory.states)
        shape = (config.decoder_layers, rows, capacity, config.heads, config.head_width)
        return Cache.empty(*shape, memory.states, masked=not self.batch_invariant)

    def decode(self, ids: Tensor, positions: Tensor, ends: Tensor, memory: Memory, cache: Cache) -> Tensor:
        keys = cache.capacity
        if can_read(ends.device):  # keys that no query sees change nothing, and take time
            keys = min(keys, -(-int(ends.max()) // KEY_MULTIPLE) * KEY_MULTIPLE)
        return self.model.decode(ids, positions, cache.mask(ends, memory.states.dtype, keys), memory, cache.at(positions, keys))

    def teach(self, memory: Memory, target: Tensor) -> Tensor:
        return self.model.teach(memory, target)

    def project(self, states: Tensor) -> Tensor:
        logits: Tensor = self.model.output(states)
        return logits


def fingerprint_of(module: nn.Module) -> str:
    """A fingerprint of a model: names and shapes of its weights, and the first values of each."""
    digest = hashlib.sha256()
    for name, weight in module.named_parameters():
        digest.update(f"{name} {tuple(weight.shape)}".encode())
        digest.update(weight.detach().flatten()[:16].float().cpu().numpy().tobytes())
    return digest.hexdigest()


def network_of(model: Transformer | Network) -> Network:
    """The network of a model, in evaluation mode; a network itself."""
    return TorchNetwork(model.eval()) if isinstance(model, Transformer) else model
