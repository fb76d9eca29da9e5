"""CUDA graphs."""

from collections.abc import Callable
from typing import Any, Protocol

import torch


class Graph(Protocol):
    """A computation that was captured as a CUDA graph. Its outputs are the same tensors after every replay."""

    outputs: Any

    def replay(self) -> None:
        """Compute the outputs again from the present values of the input tensors."""


class Capture(Protocol):
    """Captures computations as graphs; each computation must have been warmed up before."""

    def warm_up(self, compute: Callable[[], Any]) -> Any:
        """Call `compute` without capturing it, and return its result."""

    def capture(self, kind: str, compute: Callable[[], Any]) -> Graph:
        """Return a graph of `compute`, whose outputs have no values before the first replay.

        Its outputs are valid until another graph of this `kind` is replayed.
        """


class CudaGraph:
    """A `torch.cuda.CUDAGraph` captured from `compute`; it uses the memory pool of the graph `shares_with`, if that
    is not None.
    """

    def __init__(self, compute: Callable[[], Any], shares_with: "CudaGraph | None") -> None:
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, pool=None if shares_with is None else shares_with._graph.pool()):
            self.outputs = compute()

    def replay(self) -> None:
        self._graph.replay()


class CudaCapture:
    """Captures computations as CUDA graphs on the current GPU.

    Graphs of a kind share a memory pool: a round replays one of each kind, and the next round does not need its
    outputs. Graphs of different kinds have different pools, because they read each other's outputs.
    """

    def __init__(self) -> None:
        self._warm_up_stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        # A memory pool lives as long as a graph that uses it, so the first graph of each kind is kept.
        self._first: dict[str, CudaGraph] = {}

    def warm_up(self, compute: Callable[[], Any]) -> Any:
        main = torch.cuda.current_stream()
        self._warm_up_stream.wait_stream(main)
        with torch.cuda.stream(self._warm_up_stream):
            outputs = compute()
        main.wait_stream(self._warm_up_stream)
        return outputs

    def capture(self, kind: str, compute: Callable[[], Any]) -> CudaGraph:
        """Return a graph of `compute`, whose outputs have no values before the first replay."""
        graph = CudaGraph(compute, self._first.get(kind))
        self._first.setdefault(kind, graph)
        return graph
