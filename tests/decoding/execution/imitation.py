"""Imitations of CUDA graphs and streams that run on a CPU and overwrite values that real ones leave undefined."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from specdec_cli.decoding.execution.cuda_execution import GraphExecution
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.options import Constraints
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.rows import map_tensors, tensors
from specdec_cli.model.transformer import Transformer

T = TypeVar("T")


@dataclass
class ImitatedGraph:
    """An imitated graph: replay writes to the same output tensors, and overwrites the outputs of other graphs of its kind."""

    compute: Callable[[], Any]
    others: list["ImitatedGraph"]
    outputs: Any = None

    def replay(self) -> None:
        """Compute again, and overwrite the outputs of graphs that share the memory."""
        for other in self.others:
            if other is not self:
                spoil(other.outputs)
        found = self.compute()
        if self.outputs is None:
            self.outputs = map_tensors(torch.clone, found)
        for here, new in zip(tensors(self.outputs), tensors(found), strict=True):
            here.copy_(new)


def spoil(outputs: Any) -> None:
    """Overwrite all output tensors."""
    for tensor in tensors(outputs):
        tensor.fill_(torch.nan if tensor.is_floating_point() else 1)


@dataclass
class ImitatedCapture:
    """Captures imitated graphs, and keeps them by kind."""

    graphs: dict[str, list[ImitatedGraph]] = field(default_factory=lambda: defaultdict(list))

    def warm_up(self, compute: Callable[[], Any]) -> Any:
        """Call `compute` and return its result."""
        return compute()

    def capture(self, kind: str, compute: Callable[[], Any]) -> ImitatedGraph:
        """An imitated graph of `compute`, not yet replayed."""
        self.graphs[kind].append(ImitatedGraph(compute, self.graphs[kind]))
        return self.graphs[kind][-1]

    @property
    def count(self) -> int:
        """The number of captured graphs."""
        return sum(map(len, self.graphs.values()))


class ImitatedStream:
    """An imitated stream: results are overwritten until they are joined."""

    def __init__(self) -> None:
        self.started: list[tuple[object, list[Tensor]]] = []
        self.joined = 0

    def run(self, compute: Callable[[], T]) -> T:
        """Call `compute`, keep its result, and return it overwritten."""
        result = compute()
        self.started.append((result, [tensor.clone() for tensor in tensors(result)]))
        for tensor in tensors(result):
            tensor.fill_(1)
        return result

    def join(self, result: object) -> None:
        """Restore the values of `result`."""
        for started, kept in self.started:
            if started is result:
                self.joined += 1
                for here, what in zip(tensors(result), kept, strict=True):
                    here.copy_(what)


@dataclass
class Imitation:
    """A verifier whose steps are captured by `capture`, and whose sources are encoded on `stream`."""

    verifier: Verifier
    execution: GraphExecution
    capture: ImitatedCapture
    stream: ImitatedStream


def imitated(model: Transformer, forced: int | None = None, constraints: Constraints | None = None) -> Imitation:
    """A verifier of `model` with imitated graphs and an imitated stream."""
    verifier, capture, stream = Verifier(model, forced, constraints), ImitatedCapture(), ImitatedStream()
    verifier.execution = execution = GraphExecution(OperatorExecution(model.choices, model.config.eos), capture, stream)
    return Imitation(verifier, execution, capture, stream)
