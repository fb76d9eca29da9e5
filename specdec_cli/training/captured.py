"""Updates as CUDA graphs: one for each shape of a batch, launched without a wait for the loss."""

from collections import deque
from collections.abc import Callable, Hashable, Sequence

import torch
from torch import Tensor
from torch.optim import Optimizer

from specdec_cli.decoding.graphs import Capture, Counts, Event, Replays
from specdec_cli.model.rows import form

LATE = 8
"""Updates whose losses may still be computed while the next one is launched."""


class CapturedUpdates:
    """Makes updates by `add` and `finish`, which are captured together for each shape of a batch.

    `add` computes the tensors of a batch: it returns the sum of the losses (nats) and the weight of the tokens, both scalar tensors, and
    adds to the gradients those of the mean loss times a scalar tensor. `finish` updates the weights and sets the gradients to zero. Neither
    may read a value of a tensor, or make a new tensor of weights, gradients or moments after its first call. The optimiser has to read its
    learning rate from the tensor `rate`.
    """

    def __init__(
        self,
        add: Callable[[Sequence[Tensor], Tensor], tuple[Tensor, Tensor]],
        finish: Callable[[], None],
        capture: Capture,
        device: torch.device,
    ) -> None:
        self._add, self._finish, self._capture = add, finish, capture
        self.rate = torch.zeros((), device=device)
        self.counts = Counts()
        self._weight = torch.zeros((), device=device)
        self._sums = torch.zeros(2, device=device)
        self._replays = Replays(capture, self.counts)
        self._inputs: dict[Hashable, list[Tensor]] = {}
        self._boards = deque(capture.host((2,), torch.float32) for _ in range(LATE + 1))
        self._pending: deque[tuple[Tensor, Event]] = deque()
        self._has_seen = False

    def update(self, batches: Sequence[Sequence[Tensor]], rate: float) -> None:
        """Launch an update by the mean gradient of `batches`."""
        self.rate.fill_(rate)
        self._weight.fill_(1 / len(batches))
        for number, batch in enumerate(batches):
            shape, is_last = form(list(batch)), number + 1 == len(batches)
            if shape not in self._inputs:
                self._inputs[shape] = [torch.empty_like(tensor, device=self.rate.device) for tensor in batch]
            inputs = self._inputs[shape]
            for here, tensor in zip(inputs, batch, strict=True):
                if tensor.device.type == "cpu":
                    self._capture.send(tensor, here)
                else:
                    here.copy_(tensor)
            self._replays.run((shape, is_last), self._computation(inputs, is_last))
        board = self._boards.popleft()
        board.copy_(self._sums, non_blocking=True)
        self._sums.zero_()
        self._pending.append((board, self._capture.event()))

    def losses(self, *, every: bool = False) -> list[tuple[float, float]]:
        """The sum of losses and the weight of tokens of the updates that were not returned before: of all but the last LATE ones, or of
        every one. The first update of a run is waited for.
        """
        losses = []
        while len(self._pending) > (0 if every or not self._has_seen else LATE):
            board, event = self._pending.popleft()
            event.synchronize()
            self.counts.waits += 1
            loss, weight = board.tolist()
            losses.append((loss, weight))
            self._boards.append(board)
            self._has_seen = True
        return losses

    def _computation(self, inputs: Sequence[Tensor], is_last: bool) -> Callable[[], None]:
        def compute() -> None:
            self._sums += torch.stack(self._add(inputs, self._weight)).float()
            if is_last:
                self._finish()

        return compute


def step(optimizer: Optimizer, rate: Tensor) -> None:
    """Update the weights by `optimizer` with the learning rate in the tensor `rate`, as a part of what CapturedUpdates captures.

    Parameter groups are "capturable" only while a graph is captured: PyTorch warns of such an update that is computed at once, as the one
    before each capture is.
    """
    is_captured = torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()
    for group in optimizer.param_groups:
        group["lr"], group["capturable"] = rate, is_captured
    optimizer.step()
