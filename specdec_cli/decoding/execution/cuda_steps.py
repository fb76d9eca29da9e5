"""On a GPU: batches whose tensors stay where they are, so that the steps of a round can be captured and replayed."""

from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from specdec_cli.decoding.execution.cuda_graphs import Capture, Graph
from specdec_cli.decoding.state import VACANT, State
from specdec_cli.model.rows import form, map_tensors, select_rows, tensors

WARM_UP = 3
"""Times that a step is run as it is before it is captured; what is rare never is."""
STEPS = 32
"""Most steps of a stage that are kept captured."""
STAGES = 16
STAGE_BYTES = 1 << 30
"""Most stages, and most bytes of their batches, that are kept beside those in use."""

Place = Callable[[State | None], State | None]


@dataclass
class _Step:
    """A step that was captured, where it finds its inputs, and what it computes: all that it reads lives as long as the graph."""

    graph: Graph
    inputs: Sequence[Tensor]
    compute: Callable[[], Any]


class Stage:
    """The place of one batch after another, all of one form, with the steps that were captured on it.

    A step reads and writes the batch in place. Its inputs are tensors. What belongs to the batch, or was left by another
    step here, is read where it lies; all else is copied to where the step was captured with it.
    """

    def __init__(self, like: State, capture: Capture) -> None:
        self._capture = capture
        self._batch = map_tensors(lambda tensor: tensor.new_empty(tensor.shape), replace(like, stage=None))
        self._runs: Counter[Hashable] = Counter()
        self._steps: OrderedDict[Hashable, _Step] = OrderedDict()
        self._own = set(map(id, tensors(self._batch)))

    @property
    def bytes(self) -> int:
        """What the batch takes."""
        return sum(tensor.nbytes for tensor in tensors(self._batch))

    def hold(self, state: State, vacant: int) -> State:
        """`state` in the tensors of this place; those that are here already are left alone."""
        for here, new in zip(tensors(self._batch), tensors(state), strict=True):
            if here is not new:
                here.copy_(new)
        # Records anew: a mask keeps what it has once computed.
        return replace(_anew(self._batch), stage=self, vacant=vacant)

    def run(self, name: tuple[Hashable, ...], function: Callable[..., Any], state: State, inputs: Sequence[Tensor]) -> Any:
        """`function` of the batch and of `inputs`; the first part of `name` says which kind of step it is."""
        kind = (name, *((each.shape, each.dtype) for each in inputs))
        if self._runs[kind] < WARM_UP:
            self._runs[kind] += 1
            return self._capture.warm_up(lambda: function(_anew(state), *inputs))
        key = (kind, *(id(each) if id(each) in self._own else None for each in inputs))
        if key not in self._steps:
            self._steps[key] = self._captured(str(name[0]), function, state, inputs)
        step = self._steps[key]
        for here, new in zip(step.inputs, inputs, strict=True):
            if here is not new:
                here.copy_(new)
        step.graph.replay()
        self._use(key, step)
        return step.graph.outputs

    def _captured(self, kind: str, function: Callable[..., Any], state: State, inputs: Sequence[Tensor]) -> _Step:
        placed = [each if id(each) in self._own else each.clone() for each in inputs]
        batch = replace(_anew(state), stage=None)

        def compute() -> Any:
            return function(_anew(batch), *placed)

        return _Step(self._capture.capture(kind, compute), placed, compute)

    def _use(self, key: Hashable, step: _Step) -> None:
        """Remember that this was the last step; the one that was not used for longest goes if they are too many."""
        self._own.update(map(id, tensors(step.graph.outputs)))
        self._steps.move_to_end(key)
        if len(self._steps) > STEPS:
            _, oldest = self._steps.popitem(last=False)
            self._own -= {*map(id, tensors(oldest.graph.outputs))} - {*map(id, tensors(self._batch))}


class Stages:
    """The stages of a verifier. Each is used by one decoding at a time."""

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._free: OrderedDict[Hashable, Stage] = OrderedDict()

    @contextmanager
    def placing(self, most: int) -> Iterator[Place]:
        """What puts a batch of at most `most` rows into its place, one after the other, inside a `with` block.

        There are few numbers of rows: powers of two, and `most`. What is missing is filled with rows that are finished,
        the last `vacant` ones.
        """
        used: list[tuple[Hashable, Stage]] = []

        def place(state: State | None) -> State | None:
            if state is None:
                return None
            rows = len(state.lengths)
            vacant = min(1 << (rows - 1).bit_length(), most) - rows
            filled = _filled(state, vacant) if vacant else state
            key = form(replace(filled, stage=None, vacant=0))
            if not used or used[0][0] != key:
                self._keep(used)
                used.append((key, self._free.pop(key) if key in self._free else Stage(filled, self._capture)))
            return used[0][1].hold(filled, vacant)

        try:
            yield place
        finally:
            self._keep(used)

    def _keep(self, used: list[tuple[Hashable, Stage]]) -> None:
        self._free.update(used)
        used.clear()
        while len(self._free) > STAGES or sum(stage.bytes for stage in self._free.values()) > STAGE_BYTES:
            self._free.popitem(last=False)


def _filled(state: State, vacant: int) -> State:
    rows = len(state.lengths)
    filled = select_rows(state, torch.arange(rows + vacant, device=state.lengths.device).clamp_max(rows - 1))
    filled.finished[rows:] = True
    filled.numbers[rows:] = VACANT
    return filled


def _anew(state: State) -> State:
    return map_tensors(lambda tensor: tensor, state)
