"""Batches at fixed addresses, so that the steps of a round can be captured as CUDA graphs and replayed."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from torch import Tensor

from specdec_cli.decoding.execution.cuda_graphs import Capture, Graph
from specdec_cli.decoding.state import Batch, State
from specdec_cli.model.rows import map_tensors, tensors

R = TypeVar("R")
WARM_UP_CALLS = 3
"""Calls of a step that run eagerly; the next call captures it as a CUDA graph."""
MOST_STEPS = 32
"""Largest number of captured steps that the buffers of a batch keep."""
MOST_FREE = 16
"""Largest number of BatchBuffers that the pool keeps while no decoding uses them."""
MOST_FREE_BYTES = 1 << 30
"""Largest total size in bytes of the batches in the BatchBuffers that the pool keeps."""


@dataclass
class _CapturedStep:
    """A captured step and its input tensors. `compute` keeps alive all tensors that the graph reads."""

    graph: Graph
    inputs: Sequence[Tensor]
    compute: Callable[[], Any]


class BatchBuffers:
    """Tensors at fixed addresses for batches of the same form as `like`, and the steps that were captured on them as
    CUDA graphs.

    A step reads and writes the batch in place. An input tensor that belongs to the batch, or that another captured
    step returned, is read at its own address. Any other input is copied to the address with which the step was
    captured.
    """

    def __init__(self, like: Batch, capture: Capture) -> None:
        self._capture = capture
        self._batch = map_tensors(lambda tensor: tensor.new_empty(tensor.shape), like)
        self._calls: Counter[Hashable] = Counter()
        self._steps: OrderedDict[Hashable, _CapturedStep] = OrderedDict()
        self._fixed = set(map(id, tensors(self._batch)))

    @property
    def key(self) -> int:
        """Identifies a batch whose tensors are these buffers: the `id()` of its `tokens`."""
        return id(self._batch.state.tokens)

    @property
    def bytes(self) -> int:
        """The size of the batch in bytes."""
        return sum(tensor.nbytes for tensor in tensors(self._batch))

    def store(self, batch: Batch) -> Batch:
        """Copy `batch` to these buffers and return a batch of the buffers; tensors that are already in them are not
        copied.
        """
        for here, new in zip(tensors(self._batch), tensors(batch), strict=True):
            if here is not new:
                here.copy_(new)
        return _new_records(self._batch)

    def run(self, name: tuple[Hashable, ...], step: Callable[..., Any], rows: State | Batch, inputs: Sequence[Tensor]) -> Any:
        """Return the result of `step(rows, *inputs)`. The first 3 calls (WARM_UP_CALLS) of a step with inputs of
        the same shapes and types call it; later ones replay a CUDA graph of it, captured when it is first needed.

        `name` identifies the step; `name[0]` is its kind, and graphs of one kind share their memory. So the result
        of a graph is valid until a graph of this kind is replayed.
        """
        kind = (name, *((each.shape, each.dtype) for each in inputs))
        if self._calls[kind] < WARM_UP_CALLS:
            self._calls[kind] += 1
            return self._capture.warm_up(lambda: step(_new_records(rows), *inputs))
        key = (kind, *(id(each) if id(each) in self._fixed else None for each in inputs))
        if key not in self._steps:
            self._steps[key] = self._captured(str(name[0]), step, rows, inputs)
        captured = self._steps[key]
        for here, new in zip(captured.inputs, inputs, strict=True):
            if here is not new:
                here.copy_(new)
        captured.graph.replay()
        self._mark_used(key, captured)
        return captured.graph.outputs

    def _captured(self, kind: str, step: Callable[..., Any], rows: State | Batch, inputs: Sequence[Tensor]) -> _CapturedStep:
        placed = [each if id(each) in self._fixed else each.clone() for each in inputs]
        kept = _new_records(rows)

        def compute() -> Any:
            return step(_new_records(kept), *placed)

        return _CapturedStep(self._capture.capture(kind, compute), placed, compute)

    def _mark_used(self, key: Hashable, step: _CapturedStep) -> None:
        """Make the step the most recently used one; remove the least recently used one if there are too many."""
        self._fixed.update(map(id, tensors(step.graph.outputs)))
        self._steps.move_to_end(key)
        if len(self._steps) > MOST_STEPS:
            _, oldest = self._steps.popitem(last=False)
            self._fixed -= {*map(id, tensors(oldest.graph.outputs))} - {*map(id, tensors(self._batch))}


class BufferPool:
    """Free BatchBuffers by the form of their batch (see `form` in model/rows.py); a decoding removes buffers from
    the pool while it uses them.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._free: OrderedDict[Hashable, BatchBuffers] = OrderedDict()

    def take(self, form: Hashable, like: Batch) -> BatchBuffers:
        """Remove and return buffers for batches of the form `form`; new ones, made after the example `like`, if the
        pool has none.
        """
        return self._free.pop(form, None) or BatchBuffers(like, self._capture)

    def give_back(self, form: Hashable, buffers: BatchBuffers) -> None:
        """Add `buffers` to the pool. If it then has more than MOST_FREE (16) buffers or MOST_FREE_BYTES (1 GiB),
        free those that were given back first.
        """
        self._free[form] = buffers
        while len(self._free) > MOST_FREE or sum(each.bytes for each in self._free.values()) > MOST_FREE_BYTES:
            self._free.popitem(last=False)

    def __len__(self) -> int:
        return len(self._free)


def _new_records(rows: R) -> R:
    """`rows` in new dataclass instances around the same tensors: a mask caches what it computes from its tensors."""
    return map_tensors(lambda tensor: tensor, rows)
