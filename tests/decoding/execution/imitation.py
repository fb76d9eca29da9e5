"""Imitations of CUDA graphs that run on a CPU and overwrite values that real ones leave undefined."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from specdec_cli.decoding.execution.cuda_execution import GraphExecution
from specdec_cli.decoding.options import Constraints
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.rows import map_tensors, tensors
from specdec_cli.model.transformer import Transformer


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


@dataclass
class Imitation:
    """A verifier whose steps are captured by `capture`."""

    verifier: Verifier
    graphs: GraphExecution
    capture: ImitatedCapture


def imitated(model: Transformer, forced: int | None = None, constraints: Constraints | None = None) -> Imitation:
    """A verifier of `model` with imitated graphs."""
    verifier, capture = Verifier(model, forced, constraints), ImitatedCapture()
    verifier.graphs = graphs = GraphExecution(capture)
    return Imitation(verifier, graphs, capture)
