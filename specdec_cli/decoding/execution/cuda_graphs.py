"""CUDA graphs: what was computed once on tensors that stay where they are, launched again with a single call; and streams."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import torch

from specdec_cli.model.rows import tensors

T = TypeVar("T")


class Graph(Protocol):
    """A computation that was captured, and what it leaves: always the same tensors."""

    outputs: Any

    def replay(self) -> None:
        """Compute anew, from what its inputs hold now."""


class Capture(Protocol):
    """How computations are captured. All must have been warmed up before."""

    def warm_up(self, compute: Callable[[], Any]) -> Any:
        """Compute, and hand back what it gives."""

    def capture(self, kind: str, compute: Callable[[], Any]) -> Graph:
        """A graph of what `compute` does, which is not done yet.

        Outputs are valid until another graph of this `kind` is replayed.
        """


class Side(Protocol):
    """Where something is computed while the rest goes on."""

    def run(self, compute: Callable[[], T]) -> T:
        """Begin to compute. Nobody may look at what comes of it before it was joined."""

    def join(self, result: Any) -> None:
        """Wait for what was begun; from now on `result`, which came of it, is like any other."""


class CudaSide:
    """A stream of its own on the current GPU."""

    def __init__(self) -> None:
        self._stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]

    def run(self, compute: Callable[[], T]) -> T:
        """Begin to compute, after all that was asked for so far."""
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream):
            return compute()

    def join(self, result: Any) -> None:
        """Let the current stream wait, and keep the memory of `result` until that is done with it."""
        current = torch.cuda.current_stream()
        current.wait_stream(self._stream)
        for tensor in tensors(result):
            tensor.record_stream(current)


class CudaGraph:
    """A `torch.cuda.CUDAGraph`; it shares its memory with `beside`."""

    def __init__(self, compute: Callable[[], Any], beside: "CudaGraph | None") -> None:
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=None if beside is None else beside._graph.pool()):
            self.outputs = compute()

    def replay(self) -> None:
        """Launch all of it."""
        self._graph.replay()


class CudaCapture:
    """Captures on the current GPU.

    Graphs of a kind share memory: of each kind one is at work in a round, and its outputs are not needed in the next.
    Graphs of different kinds do not, since the one reads what the other leaves.
    """

    def __init__(self) -> None:
        self._side = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        # Shared memory lives as long as a graph does that uses it, so the first of each kind is kept.
        self._first: dict[str, CudaGraph] = {}

    def warm_up(self, compute: Callable[[], Any]) -> Any:
        """Compute on a side stream, as torch's notes on CUDA graphs ask for."""
        main = torch.cuda.current_stream()
        self._side.wait_stream(main)
        with torch.cuda.stream(self._side):
            outputs = compute()
        main.wait_stream(self._side)
        return outputs

    def capture(self, kind: str, compute: Callable[[], Any]) -> CudaGraph:
        """A graph of what `compute` does."""
        graph = CudaGraph(compute, self._first.get(kind))
        self._first.setdefault(kind, graph)
        return graph
