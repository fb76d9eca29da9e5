"""The loop of training: updates in the order of a schedule, checkpoints, stop signals, and what is told of progress."""

import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, Protocol, Self, cast

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from specdec_cli.decoding.graphs import Capture, CudaCapture
from specdec_cli.errors import TrainingError, UsageError
from specdec_cli.model.flops import counting
from specdec_cli.process import PATIENCE
from specdec_cli.processors import ARENA_MAX, MMAP_MAX, TOP_PAD, TRIM_THRESHOLD, set_allocator_options
from specdec_cli.training.captured import CapturedUpdates, step
from specdec_cli.training.checkpoint import (
    FILE,
    MALFORMED,
    Beginning,
    TrainedModule,
    damaged,
    random_states,
    read_checkpoint,
    set_random_states,
    write_checkpoint,
)
from specdec_cli.training.data_parallel import BatchShare, shares, sum_over_processes
from specdec_cli.training.recipe import OptimizerSettings, RunSettings

_GIB = 1 << 30
COUNTED_BATCHES = 2
"""The number of batches whose floating-point operations are counted."""


def keep_freed_memory() -> None:
    """Keep glibc from returning freed memory to the kernel, so that the next training step reuses it.

    Without this call, page faults on new memory took a third of a training step on two cores. It does nothing on systems without
    Linux and glibc.
    """
    set_allocator_options({MMAP_MAX: 0, ARENA_MAX: 1, TRIM_THRESHOLD: 2 * _GIB - 1, TOP_PAD: _GIB // 4})


MOST_UPDATES = 10
"""A run has diverged if the losses of so many successive updates are not finite. In half precision, a single loss may overflow."""


class Divergence:
    """Raises TrainingError, which names `folder`, when the run in that folder has diverged."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._updates = 0

    def check_loss(self, loss: float, update: int) -> None:
        """Raise TrainingError if `loss`, that of update number `update`, and those of the nine updates before are not finite."""
        self._updates = 0 if math.isfinite(loss) else self._updates + 1
        if self._updates == MOST_UPDATES:
            raise self._error(f"the losses of {MOST_UPDATES} updates", update)

    def check_weights(self, weights: Mapping[str, Tensor], update: int) -> None:
        """Raise TrainingError if any of the weights after update number `update` is not finite."""
        if not all(bool(value.isfinite().all()) for value in weights.values()):
            raise self._error("weights", update)

    def _error(self, what: str, update: int) -> TrainingError:
        advice = "in another folder, try a smaller optimizer.learning_rate, or run.precision=32-true"
        return TrainingError(f"{self._folder}: the run has diverged: {what} are not finite after update {update:,}; {advice}")


@dataclass
class Progress:
    """Progress of a run, stored in its checkpoint.

    - `update`: the number of updates made.
    - `epoch`: the number of complete epochs.
    - `batch`: the number of batches of the current epoch that were used.
    - `batches`: the number of batches in the current epoch (0: a checkpoint of an older version).
    - `seconds`, `tokens`: totals over the run, earlier processes included.
    - `best`: the best value of the criterion so far, negated if lower is better (None: not evaluated yet).
    - `since_best`: the number of evaluations after the best one.
    """

    update: int = 0
    epoch: int = 0
    batch: int = 0
    batches: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best: float | None = None
    since_best: int = 0


@dataclass(frozen=True)
class Report:
    """What the training loop reports after each update.

    `loss` (nats per token), `learning_rate` and `tokens_per_second` are those of this update. `figures` is the result of
    `TrainingTask.evaluate` if an evaluation was due after it, else empty.
    """

    progress: Progress
    loss: float
    learning_rate: float
    tokens_per_second: float
    figures: Mapping[str, float] = field(default_factory=dict)


def learning_rate(settings: OptimizerSettings, update: int, max_updates: int) -> float:
    """The learning rate of update number `update` (from 1) in a run of `max_updates`; see OptimizerSettings."""
    if update <= settings.warmup:
        return settings.learning_rate * update / settings.warmup
    if settings.schedule == "inverse-sqrt":
        return settings.learning_rate * math.sqrt(max(settings.warmup, 1) / update)
    decay_start = settings.decay_from * max_updates
    if update <= decay_start:
        return settings.learning_rate
    return settings.learning_rate * max(0.0, (max_updates - update) / (max_updates - decay_start))


class StopSignal:
    """Context manager that records SIGINT and SIGTERM: `signal` is the number of the first one received, 0 until then.

    A further signal is ignored if it comes less than PATIENCE seconds after the first, else passed to the previous handler.
    Signals that the process ignored before stay ignored.
    """

    def __init__(self) -> None:
        self.signal = 0
        self._since = 0.0
        self._previous: dict[signal.Signals, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Self:
        for number in (signal.SIGINT, signal.SIGTERM):
            if signal.getsignal(number) is not signal.SIG_IGN:
                self._previous[number] = signal.signal(number, self._arrived)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._restore()

    def _arrived(self, number: int, _: FrameType | None) -> None:
        now = time.monotonic()
        if not self.signal:
            self.signal, self._since = number, now
        elif now - self._since >= PATIENCE:
            self._restore()
            signal.raise_signal(signal.Signals(number))

    def _restore(self) -> None:
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        self._previous.clear()


class TrainingTask(Protocol):
    """A model to train, with its data; its best state has the best `criterion`: the largest if `higher_is_better`, else the smallest.

    `objective` maps the tensors of a batch to (sum of losses in nats, weight of tokens); `criterion` is a key of `evaluate()`'s result.
    `capturable`: on a GPU it reads no value of a tensor, so that updates can be captured as CUDA graphs.
    """

    objective: nn.Module
    capturable: bool
    higher_is_better: bool
    criterion: str

    def batches(self, epoch: int) -> Sequence[Any]:
        """A key for each batch of epoch number `epoch` (from 0), in the order of training."""

    def batch(self, key: Any) -> tuple[Tensor, ...]:
        """The tensors of the batch with this key: the arguments of `objective`."""

    def evaluate(self) -> Mapping[str, float]:
        """Metrics on the dev data, by name."""

    def save(self, folder: Path) -> None:
        """Save the current weights as a bundle in `folder`."""


class Trainer:
    """Trains a TrainingTask, with checkpoints in `folder`; resumes from the checkpoint that is already there.

    `checkpoint.pt` holds weights, optimiser state, progress, random states, and what the run began with (`beginning`), which is compared
    with that of a run that resumes it; `changes` has the differences. `task.save` is called after each evaluation that is better than all
    before. After SIGINT or SIGTERM the current update is finished, a checkpoint is saved, and the run ends; a second signal more than a
    second later interrupts at once. With `capture` updates are captured as graphs, if the task and the run allow it; a single process on a
    GPU captures CUDA graphs. Raises ModelError for a damaged checkpoint, and UsageError for one of another model, and for one
    without initial weights if `run.keep_start` needs them.
    """

    def __init__(
        self,
        task: TrainingTask,
        run: RunSettings,
        optimizer: OptimizerSettings,
        folder: Path,
        fabric: Fabric,
        beginning: Beginning | None = None,
        capture: Capture | None = None,
    ) -> None:
        keep_freed_memory()
        self.task, self.run, self.optimizer_settings, self.folder, self.fabric = task, run, optimizer, folder, fabric
        self._beginning = beginning or Beginning()
        self.changes: list[str] = []
        self.progress = Progress()
        self._stop_signal = StopSignal()
        self._trained = TrainedModule(task.objective, optimizer, fabric, run.sharded and fabric.world_size > 1)
        self.objective, self.adam = self._trained.run, self._trained.optimizer
        self._snapshots: list[dict[str, Tensor]] = []
        self._loss = math.nan
        self._divergence = Divergence(folder)
        self._start = self._trained.weights() if run.keep_start else {}
        self._seed_process()
        self._resumed = self.checkpoint.exists()
        if self._resumed:
            self._resume()
        if capture is None and fabric.device.type == "cuda":
            capture = CudaCapture()
        self.captured: CapturedUpdates | None = None
        # A scaler of losses reads whether gradients are finite.
        if capture is not None and task.capturable and fabric.world_size == 1 and run.precision != "16-mixed":
            self.captured = CapturedUpdates(self._add, self._finish, capture, fabric.device)

    @property
    def stopped(self) -> int:
        """Number of the signal that ended the run; 0 if none did."""
        return self._stop_signal.signal

    @property
    def checkpoint(self) -> Path:
        """Path of the checkpoint file."""
        return self.folder / FILE

    def begin(self) -> None:
        """Write a checkpoint and a bundle of the initial model if they are missing, so that an interrupted run can resume.

        Raises InputError if the checkpoint cannot be written.
        """
        self.fabric.barrier()  # all processes have looked for a checkpoint
        if not self._resumed:
            self._save()
        if self.fabric.is_global_zero and not (self.folder / "bundle.json").exists():
            self.task.save(self.folder)

    def train(self, report: Callable[[Report], None]) -> None:
        """Train until the run's `max_updates` or `max_epochs`, `patience` evaluations without improvement, or SIGINT or SIGTERM.

        Calls `report` after each update. Raises InputError if the checkpoint cannot be written, and TrainingError if the run diverges: if
        weights are not finite at an evaluation or a checkpoint, or ten losses in a row.
        """
        last_saved = last_time = time.monotonic()
        with self._stop_signal:
            for share in self._updates():
                rate = learning_rate(self.optimizer_settings, self.progress.update + 1, self.run.max_updates)
                before = self.progress.tokens
                loss = self._count(*self._update(share, rate)) if self.captured is None else self._launch(self.captured, share, rate)
                now = time.monotonic()
                self.progress.seconds += now - last_time
                speed, last_time = (self.progress.tokens - before) / max(now - last_time, 1e-9), now
                figures = self._evaluate() if self._evaluation_is_due() else {}
                report(Report(self.progress, loss, rate, speed, figures))
                stop, due = self._agree(self.stopped, now - last_saved > 60 * self.run.checkpoint_minutes)
                if figures or stop or due:
                    self._save()
                    last_saved = last_time = time.monotonic()
                if stop or (self.run.patience and self.progress.since_best >= self.run.patience):
                    break

    def operations(self) -> float:
        """Floating-point operations of all updates so far, if each batch needs as many as those that are counted here, padding included."""
        keys = self.task.batches(self.progress.epoch)[:COUNTED_BATCHES]
        self.objective.train()
        with counting(self.fabric.device.type) as counter:
            for key in keys:
                self.fabric.backward(self.objective(*self.fabric.to_device(self.task.batch(key)))[0])
        self.adam.zero_grad()
        batches = self.progress.update * self.run.accumulation * self.fabric.world_size
        return counter.get_total_flops() / len(keys) * batches

    def _agree(self, signal: int, due: bool) -> tuple[bool, bool]:
        """Whether any process of the run has received a signal, and whether a checkpoint is due in any.

        All processes then stop, or save, after the same update.
        """
        if self.fabric.world_size > 1:
            largest = self.fabric.all_reduce(torch.tensor([signal, due], device=self.fabric.device), reduce_op="max")
            signal, due = cast(Tensor, largest).tolist()
            self._stop_signal.signal = signal
        return signal != 0, bool(due)

    def _updates(self) -> Iterator[BatchShare]:
        fabric, step = self.fabric, self.run.accumulation * self.fabric.world_size
        while self.progress.epoch < self.run.max_epochs:
            keys = self.task.batches(self.progress.epoch)
            self.progress.batches = len(keys)
            for share in shares(keys[self.progress.batch :], self.run.accumulation, fabric.global_rank, fabric.world_size):
                if self.progress.update >= self.run.max_updates:
                    return
                self.progress.batch += step
                yield share
            self.progress.epoch, self.progress.batch = self.progress.epoch + 1, 0

    def _update(self, share: BatchShare, rate: float) -> tuple[float, int]:
        """Make an update; return the loss a token and the number of tokens, of all processes."""
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.objective.train()
        total, tokens = 0.0, 0
        for i, key in enumerate(share.keys):
            batch = self.fabric.to_device(self.task.batch(key))
            with self.fabric.no_backward_sync(self.objective, enabled=i + 1 < len(share.keys)):
                loss, count = self.objective(*batch)
                self.fabric.backward(loss / max(int(count), 1) * share.weight)
            if share.weight:
                total, tokens = total + float(loss.detach()), tokens + int(count)
        loss_of_all, tokens_of_all = sum_over_processes(self.fabric, total, tokens)
        self._clip()
        self.adam.step()
        self.adam.zero_grad()
        self.progress.update += 1
        return loss_of_all / max(tokens_of_all, 1), int(tokens_of_all)

    def _launch(self, captured: CapturedUpdates, share: BatchShare, rate: float) -> float:
        """Start an update; return the loss a token of the last one whose loss is known."""
        self.objective.train()
        captured.update([self.task.batch(key) for key in share.keys], rate)
        self.progress.update += 1
        self._count_late(every=self._evaluation_is_due())
        return self._loss

    def _count_late(self, *, every: bool) -> None:
        """Count what captured updates computed since: all of them, or those that have certainly finished."""
        for total, tokens in () if self.captured is None else self.captured.losses(every=every):
            self._loss = self._count(total / max(int(tokens), 1), int(tokens))

    def _count(self, loss: float, tokens: int) -> float:
        """Count an update with this loss a token and number of tokens; return the loss."""
        self._divergence.check_loss(loss, self.progress.update)
        self.progress.tokens += tokens
        return loss

    def _add(self, batch: Sequence[Tensor], weight: Tensor) -> tuple[Tensor, Tensor]:
        """The first computation of CapturedUpdates."""
        loss, count = self.objective(*batch)
        self.fabric.backward(loss / count.long().clamp_min(1) * weight)
        return loss.detach(), count

    def _finish(self) -> None:
        """The second computation of CapturedUpdates."""
        assert self.captured is not None
        self._clip()
        step(self.adam, self.captured.rate)
        self.adam.zero_grad(set_to_none=False)

    def _clip(self) -> None:
        if self.optimizer_settings.clip:
            self.fabric.clip_gradients(self.objective, self.adam, max_norm=self.optimizer_settings.clip, error_if_nonfinite=False)

    def _weights(self) -> dict[str, Tensor]:
        """A copy of the current weights. Raises TrainingError if they are not finite."""
        weights = self._trained.weights()
        self._divergence.check_weights(weights, self.progress.update)
        return weights

    def _evaluation_is_due(self) -> bool:
        last_of_all = self.progress.epoch + 1 == self.run.max_epochs and self.progress.batch >= self.progress.batches
        return last_of_all or self.progress.update % self.run.evaluate_every == 0 or self.progress.update == self.run.max_updates

    def _evaluate(self) -> Mapping[str, float]:
        self.task.objective.eval()
        current = self._weights()
        self._snapshots = [*self._snapshots, current][-self.run.average :]
        self.task.objective.load_state_dict(self._averaged())
        with torch.no_grad():
            figures = dict(self.task.evaluate())
        # All processes take the figure of the first: figures that differ by rounding would end only some of them.
        value = self.fabric.broadcast(figures[self.task.criterion]) * (1 if self.task.higher_is_better else -1)
        better = not math.isnan(value) and (self.progress.best is None or value > self.progress.best)
        self.progress.since_best = 0 if better else self.progress.since_best + 1
        if better:
            self.progress.best = value
            if self.fabric.is_global_zero:
                self.task.save(self.folder)
        self.task.objective.load_state_dict(current)
        return figures

    def _averaged(self) -> Mapping[str, Tensor]:
        """The mean of the last `average` evaluated states, interpolated with the initial state by `keep_start`."""
        share = self.run.keep_start
        averaged = self._snapshots[-1] if len(self._snapshots) == 1 else _mean(self._snapshots)
        if not share:
            return averaged
        return {name: value.lerp(self._start[name], share) if value.is_floating_point() else value for name, value in averaged.items()}

    def _save(self) -> None:
        self._count_late(every=True)
        weights, optimizer = self._weights(), self._trained.optimizer_state() if self.progress.update else {}
        if not self.fabric.is_global_zero:
            return
        state = {
            "weights": weights,
            "optimizer": optimizer,
            "progress": vars(self.progress),
            **random_states(self.fabric.device),
            "snapshots": self._snapshots,
            "start": self._start,
        }
        write_checkpoint(self.checkpoint, state, self._beginning)

    def _seed_process(self) -> None:
        """Give each process but the first its own random numbers, so that their dropout differs."""
        if self.fabric.global_rank:
            torch.manual_seed(hash((self.run.seed, self.fabric.global_rank, self.progress.update)) % 2**63)

    def _resume(self) -> None:
        try:
            state, began = read_checkpoint(self.checkpoint)
            began.check(self._beginning, self._trained.fits(state["weights"]), self.checkpoint)
            self._trained.load(state["weights"], state["optimizer"])
            self.progress = Progress(**state["progress"])
            self._snapshots, self._start = state["snapshots"], state["start"]
            set_random_states(self.fabric.device, state)
        except MALFORMED as error:
            raise damaged(self.checkpoint, error) from error
        self._seed_process()
        self.changes, self._beginning = began.changes(self._beginning), began
        if self.run.keep_start and not self._start:
            raise UsageError(f"run.keep_start: {self.checkpoint} has no initial weights, because its run began with run.keep_start=0")


def _mean(snapshots: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    return {
        name: torch.stack([s[name].float() for s in snapshots]).mean(0).to(value.dtype) if value.is_floating_point() else value
        for name, value in snapshots[-1].items()
    }
