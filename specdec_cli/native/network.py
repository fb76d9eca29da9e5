"""The network of a verifier in int8 on a CPU: passes of the native engine for PyTorch's decoding loops."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import Cache, steps
from specdec_cli.model.choices import Choices, suppressed, without_suppression
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import LengthHead, Memory
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import NativeModel


@dataclass(frozen=True)
class NativeNetwork:
    """The network of `model`, computed by the kernels of the native engine with `threads` threads.

    Results have the bits of the native engine, whatever the batch and the number of threads. `length_head` is computed by PyTorch.
    The memory of a row has the layout of the library: `Memory.keys_values` is one tensor (B, M, F), and `Cache.whole` is (B, S, F), with
    the F numbers of a position spread over the row.
    """

    model: NativeModel
    threads: int = 1
    length_head: LengthHead | None = None

    row_multiple = 1
    batch_invariant = True
    value_bytes = 4
    device = torch.device("cpu")

    @property
    def config(self) -> TransformerConfig:
        return self.model.config

    @property
    def description(self) -> str:
        return f"PyTorch over passes of the native engine ({self.model.instructions})"

    @property
    def fingerprint(self) -> tuple[str, ...]:
        return "native", self.model.instructions, str(self.threads)

    @cached_property
    def choices(self) -> Choices:
        return NativeChoices(self.model)

    def encode(self, source: Tensor, *, for_decoder: bool = True) -> Memory:
        rows, width = source.shape
        lengths = ((source != self.config.padding) * steps(width, source.device).add(1)).amax(1)
        states = torch.empty(rows, width, self.config.width)
        keys_values = torch.empty(rows, width, self._floats) if for_decoder else None
        self.model.encode(_rows(self.threads, ids=source, lengths=lengths, states=states, memories=keys_values))
        return Memory(states, PrefixMask(lengths[:, None], width, states.dtype), [] if keys_values is None else [keys_values])

    def new_cache(self, memory: Memory, capacity: int) -> Cache:
        return Cache(torch.empty(len(memory.states), capacity, self._floats))

    def decode(self, ids: Tensor, positions: Tensor, ends: Tensor, memory: Memory, cache: Cache) -> Tensor:
        (memories,) = memory.keys_values
        rows, count = ids.shape
        states = torch.empty(rows, count, self.config.width)
        arrays = {"ids": ids, "lengths": torch.full((rows,), count), "states": states, "memories": memories, "caches": cache.whole}
        seen = {"source_lengths": memory.mask.ends[:, 0], "indices": positions, "ends": ends.expand(rows, count)}
        self.model.run_decoder(_rows(self.threads, capacity=cache.capacity, **arrays, **seen))
        return states

    def teach(self, memory: Memory, target: Tensor) -> Tensor:
        rows, length = target.shape
        positions = steps(length, target.device).expand(rows, length)
        if self.config.order == "masked":
            ends = (target != self.config.padding).sum(1, keepdim=True)
        else:
            ends = (positions // self.config.step + 1) * self.config.step
        return self.decode(target, positions, ends.clamp_max(length), memory, self.new_cache(memory, length))

    def project(self, states: Tensor) -> Tensor:
        states = states.contiguous()
        logits = torch.empty(*states.shape[:-1], self.config.vocabulary_size)
        self.model.project(self.threads, states[..., 0].numel(), states.data_ptr(), logits.data_ptr())
        return logits

    @cached_property
    def _floats(self) -> int:
        """Numbers of a position in a cache."""
        return self.model.keys_size(1)


@dataclass(frozen=True)
class NativeChoices(Choices):
    """Chooses tokens by logits; log probabilities have the bits of the native engine."""

    model: NativeModel

    def log_probabilities(self, logits: Tensor, ids: Tensor) -> Tensor:
        logits, ids = logits.contiguous(), ids.contiguous()
        found = torch.empty(ids.shape)
        self.model.log_probabilities(ids.numel(), logits.shape[-1], logits.data_ptr(), ids.data_ptr(), found.data_ptr())
        return found

    def log_softmax(self, logits: Tensor) -> Tensor:
        logits = logits.contiguous()
        tops, log_totals = torch.empty(2, *logits.shape[:-1], 1)
        self.model.normalizers(tops.numel(), logits.shape[-1], logits.data_ptr(), tops.data_ptr(), log_totals.data_ptr())
        found: Tensor = (without_suppression(logits) - tops - log_totals).masked_fill_(suppressed(logits), -torch.inf)
        return found


def _rows(threads: int, capacity: int = 0, **arrays: Tensor | None) -> Any:
    """The C structure for a pass over `arrays`, which are those of its fields. Those that are written must be contiguous: the call reads
    copies of others.
    """
    given = {name: _checked(name, each) for name, each in arrays.items() if each is not None}
    ids = given["ids"]
    rows = HEADER.structs["rows"](threads=threads, count=len(ids), width=ids.shape[1], capacity=capacity)
    for name, tensor in given.items():
        if len(tensor) != len(ids):
            raise ValueError(f"{name} has {len(tensor)} rows, ids has {len(ids)}")
        setattr(rows, name, tensor.data_ptr())
    rows.arrays = given  # they live as long as the structure
    for name, size in (("memories", "memory_size"), ("caches", "cache_size")):
        if name in given:
            setattr(rows, size, given[name][0].numel())
    return rows


_WRITTEN = ("states", "memories", "caches")


def _checked(name: str, tensor: Tensor) -> Tensor:
    """The tensor as the library reads it: contiguous, of int64 or, if it is written, float32. Raises ValueError."""
    kind = torch.float32 if name in _WRITTEN else torch.int64
    if tensor.dtype != kind or tensor.device.type != "cpu" or (name in _WRITTEN and not tensor.is_contiguous()):
        raise ValueError(f"{name}: a tensor of {tensor.dtype} on {tensor.device}, strides {tensor.stride()}; wanted is {kind}, contiguous")
    return tensor.contiguous()
