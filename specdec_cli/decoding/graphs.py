"""CUDA graphs: computations that were recorded once, and that the GPU repeats without the host launching each operator."""

import gc
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, Protocol, TypeVar

import torch
from torch import Tensor

from specdec_cli.decoding.state import State
from specdec_cli.model.rows import map_tensors, tensors

R = TypeVar("R")

MOST_FORMS = 24
"""Largest number of Buffers that are kept while no decoding uses them."""
MOST_BYTES = 4 << 30
"""Largest size in bytes of the Buffers that are kept while no decoding uses them."""
KEPT_SHARE = 16
"""These Buffers may also take at most the GPU's memory divided by this number."""


def can_branch(device: torch.device) -> bool:
    """Whether a computation may depend on a value that it reads; a CUDA graph cannot."""
    return device.type == "cpu"


def to_device(values: Sequence[Any], device: torch.device) -> Tensor:
    """A tensor on `device` of numbers, or of equally long lists of numbers, without a wait for the work of a GPU."""
    numbers = torch.tensor(values)
    return numbers.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else numbers.to(device)


class Event(Protocol):
    """A point in the GPU's work."""

    def synchronize(self) -> None:
        """Wait until the GPU has reached the event."""


class Capture(Protocol):
    """Captures computations as graphs, and carries values between the CPU and the device."""

    def warm_up(self, compute: Callable[[], None]) -> None:
        """Run `compute` as it has to run once before it is captured."""

    def capture(self, compute: Callable[[], None]) -> Callable[[], None]:
        """Return a function that repeats `compute` on the tensors that it reads and writes now; `compute` itself has no effect."""

    def host(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        """An uninitialized tensor on the CPU, to which the device can copy while the CPU works."""

    def send(self, values: Tensor, to: Tensor) -> None:
        """Copy `values` on the CPU to the tensor `to` of the device, without a wait."""

    def event(self) -> Event:
        """The point behind all work that was given to the device so far."""

    @property
    def memory(self) -> int:
        """The bytes of the device's memory."""


class CudaCapture:
    """Captures CUDA graphs, which all share one memory pool.

    Graphs run one after the other and write results to tensors outside of the pool. Only what `Buffers.kept` refers to is in the pool; this
    reference keeps it from being overwritten by another graph.
    """

    def __init__(self) -> None:
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        # A pool lives as long as a graph that uses it.
        self._first: torch.cuda.CUDAGraph | None = None
        # What another thread does on the stream would be captured too.
        self._lock = Lock()

    def warm_up(self, compute: Callable[[], None]) -> None:
        main = torch.cuda.current_stream()
        with self._lock:
            self._stream.wait_stream(main)
            with torch.cuda.stream(self._stream):
                compute()
            main.wait_stream(self._stream)

    def capture(self, compute: Callable[[], None]) -> Callable[[], None]:
        graph, main = torch.cuda.CUDAGraph(), torch.cuda.current_stream()
        with self._lock:
            self._stream.wait_stream(main)
            with torch.cuda.stream(self._stream), _without_collection():
                graph.capture_begin(pool=None if self._first is None else self._first.pool(), capture_error_mode="thread_local")
                try:
                    compute()
                except BaseException:
                    with suppress(RuntimeError):  # the capture is invalid, which would hide the reason
                        graph.capture_end()
                    raise
                graph.capture_end()
            self._first = self._first or graph
        return graph.replay

    def host(self, shape: Sequence[int], dtype: torch.dtype) -> Tensor:
        return torch.empty(shape, dtype=dtype, pin_memory=True)

    def send(self, values: Tensor, to: Tensor) -> None:
        to.copy_(values.pin_memory(), non_blocking=True)

    def event(self) -> Event:
        event = torch.cuda.Event()  # type: ignore[no-untyped-call]
        event.record()
        return event

    @property
    def memory(self) -> int:
        return int(torch.cuda.get_device_properties(self._stream.device).total_memory)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Do not collect garbage: freeing a tensor or an event may be an operation that cannot be captured."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@dataclass
class Counts:
    """What the players of a Graphs did: bursts, forms of batches, captured graphs, their replays, and waits for the GPU."""

    bursts: int = 0
    forms: int = 0
    graphs: int = 0
    replays: int = 0
    waits: int = 0


class Replays:
    """Computations on tensors at fixed addresses: the first call of one runs it, the second captures it."""

    def __init__(self, capture: Capture, counts: Counts) -> None:
        self._capture, self._counts = capture, counts
        self._known: set[Hashable] = set()
        self._graphs: dict[Hashable, Callable[[], None]] = {}

    def run(self, name: Hashable, compute: Callable[[], None]) -> None:
        """Run `compute`, which `name` identifies, or replay its graph."""
        if name not in self._known:
            self._capture.warm_up(compute)
            self._known.add(name)
            return
        if name not in self._graphs:
            self._graphs[name] = self._capture.capture(compute)
            self._counts.graphs += 1
        self._graphs[name]()
        self._counts.replays += 1


class Buffers(Replays, Generic[R]):
    """A batch at fixed addresses, a record of tensors, and the computations on it."""

    def __init__(self, batch: R, capture: Capture, counts: Counts) -> None:
        super().__init__(capture, counts)
        self.batch, self._extra, self._boards = batch, dict[Hashable, Tensor](), dict[Hashable, Tensor]()
        self.kept: dict[Hashable, State] = {}
        """States that captured computations leave for work that is not captured, by the name of the computation."""

    def extra(self, name: Hashable, shape: Sequence[int]) -> Tensor:
        """A further tensor of integers at a fixed address, which computations read or write beside the batch."""
        if name not in self._extra:
            self._extra[name] = next(tensors(self.batch)).new_zeros(tuple(shape), dtype=torch.long)
        return self._extra[name]

    def board(self, name: Hashable, capture: Capture, shape: Sequence[int], dtype: torch.dtype = torch.long) -> Tensor:
        """A tensor on the CPU at a fixed address, to which computations copy results."""
        if name not in self._boards:
            self._boards[name] = capture.host(shape, dtype)
        return self._boards[name]

    @property
    def bytes(self) -> int:
        """The size of the tensors in bytes."""
        return sum(tensor.nbytes for tensor in (*tensors(self.batch), *self._extra.values()))

    def records(self) -> R:
        """The batch in new records: a mask caches what it computes from its tensors."""
        return map_tensors(lambda tensor: tensor, self.batch)


@dataclass
class Graphs:
    """The graphs of a model: Buffers by the form of their batch.

    A player takes Buffers out while it uses them. Of those that are not in use, the least recently used ones are freed first.
    """

    capture: Capture
    counts: Counts = field(default_factory=Counts)
    _free: OrderedDict[Hashable, Buffers[Any]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def take(self, form: Hashable, make: Callable[[], R]) -> Buffers[R]:
        """Return Buffers for batches of `form`, kept ones if there are any; otherwise `make` allocates the batch of new ones."""
        with self._lock:
            buffers = self._free.pop(form, None)
        if buffers is None:
            buffers = Buffers(make(), self.capture, self.counts)
            self.counts.forms += 1
        return buffers

    def give_back(self, form: Hashable, buffers: Buffers[Any]) -> None:
        """Keep `buffers` for a later player; free those that were given back first if there are more than MOST_FORMS, or if they are larger
        than MOST_BYTES or than the device's memory divided by KEPT_SHARE.

        Nothing is freed before the device has done its work: the last burst of a player may still write to its boards.
        """
        with self._lock:
            self._free[form] = buffers
            if self._are_too_many():
                self.capture.event().synchronize()
            while self._are_too_many():
                self._free.popitem(last=False)

    def _are_too_many(self) -> bool:
        kept, most = len(self._free), min(MOST_BYTES, self.capture.memory // KEPT_SHARE)
        return kept > MOST_FORMS or (kept > 1 and sum(each.bytes for each in self._free.values()) > most)

    def __len__(self) -> int:
        return len(self._free)
