"""The network of a verifier in int8 on a CPU: passes of the native engine for PyTorch's decoding loops."""

import ctypes
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from specdec_cli.decoding.accept import accept_predicted, cut_at_end
from specdec_cli.decoding.options import Constraints, Exact, FixedPoint, Rule
from specdec_cli.decoding.rounds import advance
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.attention import PrefixMask
from specdec_cli.model.cache import Cache, steps
from specdec_cli.model.choices import Choices, suppressed, without_suppression
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import LengthHead, Memory
from specdec_cli.native.library import HEADER
from specdec_cli.native.model import NativeModel, set_constraints


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
    _known_rules: dict[Constraints, Any] = field(default_factory=dict, repr=False, compare=False)

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

    def can_judge(self, rule: Rule, constraints: Constraints) -> bool:  # noqa: ARG002
        return isinstance(rule, Exact | FixedPoint) and self.config.order == "left-to-right"

    def judge(self, state: State, draft: Draft, rule: Rule, constraints: Constraints, *, with_scores: bool = False) -> Verdict:
        rows, width = draft.ids.shape
        states, chosen = torch.empty(rows, width + 1, self.config.width), torch.empty(rows, width + 1, dtype=torch.long)
        scores = torch.empty(rows, width + 1) if with_scores else None
        written = {"states": states, "chosen": chosen} | ({} if scores is None else {"scores": scores})
        self.model.verify(self._verification(state, draft, constraints, **written))
        accepted = accept_predicted(draft, chosen, rule)
        counts, ended = cut_at_end(self.config.eos, state, accepted.ids, accepted.counts)
        return Verdict(replace(accepted, counts=counts), ended, states, scores)

    def extend(self, state: State, draft: Draft, count: int, constraints: Constraints) -> Tensor:
        written = torch.empty(len(draft.ids), count, dtype=torch.long)
        self.model.extend(self._verification(state, draft, constraints), count, written.data_ptr())
        return written

    def _verification(self, state: State, draft: Draft, constraints: Constraints, **written: Tensor) -> Any:
        """The C structure of a pass over the last accepted token and the draft of each row, whose results are `written`."""
        (memories,), cache, (rows, width) = state.memory.keys_values, state.cache, draft.ids.shape
        arrays = {"tokens": state.tokens, "lengths": state.lengths, "limits": state.limits, "drafts": draft.ids, "drafted": draft.counts}
        sources = {"sources": state.source, "source_lengths": state.memory.mask.ends[:, 0], "memories": memories}
        prefix = {} if draft.prefix is None else {"prefix": draft.prefix}
        struct = HEADER.structs["verification"](threads=self.threads, count=rows, width=width)
        struct.capacity, struct.source_width = cache.capacity, state.source.shape[1]
        struct.constraints = ctypes.addressof(self._rules(constraints))
        return _with_arrays(struct, rows, **arrays, **sources, **prefix, caches=cache.whole, **written)

    def append(self, state: State, verdict: Verdict) -> None:
        advance(state, verdict)

    def repeats(self, source: Tensor, constraints: Constraints) -> None:  # noqa: ARG002
        return None

    def _rules(self, constraints: Constraints) -> Any:
        """The C structure of constraints, and what it points to."""
        if constraints not in self._known_rules:
            self._known_rules[constraints] = set_constraints(HEADER.structs["constraints"](), constraints)
        return self._known_rules[constraints]

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
    given = {name: each for name, each in arrays.items() if each is not None}
    ids = given["ids"]
    return _with_arrays(HEADER.structs["rows"](threads=threads, count=len(ids), width=ids.shape[1], capacity=capacity), len(ids), **given)


def _with_arrays(struct: Any, rows: int, **arrays: Tensor) -> Any:
    """Set the addresses of arrays of `rows` rows, and the sizes of the rows of those that hold keys and values. Raises ValueError."""
    read = {name: _checked(name, each) for name, each in arrays.items()}
    for name, tensor in read.items():
        if tensor.shape[0] != rows:
            raise ValueError(f"{name} has {tensor.shape[0]} rows, ids has {rows}")
        setattr(struct, name, tensor.data_ptr())
    struct.arrays = read  # they live as long as the structure
    for name, size in (("memories", "memory_size"), ("caches", "cache_size")):
        if name in read:
            setattr(struct, size, read[name][0].numel())
    return struct


_FLOATS = ("states", "memories", "caches", "scores")
_WRITTEN = (*_FLOATS, "chosen")


def _checked(name: str, tensor: Tensor) -> Tensor:
    """The tensor as the library reads it: of int64, or float32 for states, keys and values; contiguous. Raises ValueError."""
    kind = torch.float32 if name in _FLOATS else torch.int64
    if tensor.dtype != kind or tensor.device.type != "cpu" or (name in _WRITTEN and not tensor.is_contiguous()):
        raise ValueError(f"{name}: a tensor of {tensor.dtype} on {tensor.device}, strides {tensor.stride()}; wanted is {kind}, contiguous")
    return tensor.contiguous()
