"""The training loop: updates, evaluation, selection, and checkpoints that lose nothing."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Protocol, cast

import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import write_atomically
from specdec_cli.training.allocator import keep_freed_memory
from specdec_cli.training.recipe import OptimizerSettings, RunSettings
from specdec_cli.training.schedule import learning_rate
from specdec_cli.training.stopping import Stopping


class Task(Protocol):
    """What is trained: its objective, its data, how it is judged and stored."""

    objective: nn.Module
    """Called with a batch; the loss summed over its tokens and the number of them."""
    higher_is_better: bool
    criterion: str
    """The key of `evaluate()`'s result that selects the best state."""

    def batches(self, epoch: int) -> Sequence[Any]:
        """What identifies each batch of an epoch, in order."""

    def batch(self, key: Any) -> tuple[Tensor, ...]:
        """The tensors of a batch."""

    def evaluate(self) -> Mapping[str, float]:
        """Figures on dev."""

    def save(self, folder: Path) -> None:
        """Store the current state as a bundle that can be used."""


@dataclass
class Progress:
    """Where a run stands; all of it is in the checkpoint."""

    update: int = 0
    epoch: int = 0
    batch: int = 0
    seconds: float = 0.0
    tokens: int = 0
    best: float | None = None
    since_best: int = 0


@dataclass(frozen=True)
class Report:
    """What the command line may show after an update or an evaluation."""

    progress: Progress
    loss: float
    learning_rate: float
    tokens_per_second: float
    figures: Mapping[str, float] = field(default_factory=dict)


class Trainer:
    """Trains a Task in `folder`; started again there, it goes on where the last checkpoint stands.

    `checkpoint.pt` holds weights, optimiser, progress and random state. The bundle that `task.save` writes
    always holds the best state so far. SIGINT or SIGTERM stores a checkpoint after the current update and ends the
    run; a second signal after a second interrupts at once. Raises ModelError for a checkpoint that is damaged or of another model.
    """

    def __init__(self, task: Task, run: RunSettings, optimizer: OptimizerSettings, folder: Path, fabric: Fabric) -> None:
        keep_freed_memory()
        self.task, self.run, self.optimizer_settings, self.folder, self.fabric = task, run, optimizer, folder, fabric
        self.progress = Progress()
        self._stopping = Stopping()
        self._batches = 0
        weights = [p for p in task.objective.parameters() if p.requires_grad]
        adam = torch.optim.AdamW(
            weights, lr=1e-9, betas=optimizer.betas, eps=optimizer.epsilon, weight_decay=optimizer.weight_decay, fused=True
        )
        self.objective, self.adam = fabric.setup(task.objective, adam)
        self._snapshots: list[dict[str, Tensor]] = []
        self._start = self._weights() if run.keep_start else {}
        self._resume()

    @property
    def stopped(self) -> int:
        """The signal that ended the run; 0 where none did."""
        return self._stopping.signal

    @property
    def checkpoint(self) -> Path:
        """The file that a stopped run goes on from."""
        return self.folder / "checkpoint.pt"

    def train(self, report: Callable[[Report], None]) -> None:
        """Run to `max_updates`, `max_epochs`, the end of patience, or a signal to stop."""
        last_saved = last_time = time.monotonic()
        with self._stopping:
            for keys in self._updates():
                rate = learning_rate(self.optimizer_settings, self.progress.update + 1, self.run.max_updates)
                loss, tokens = self._update(keys, rate)
                now = time.monotonic()
                self.progress.seconds += now - last_time
                self.progress.tokens += tokens
                speed, last_time = tokens / max(now - last_time, 1e-9), now
                figures = self._evaluate() if self._evaluation_is_due() else {}
                report(Report(self.progress, loss, rate, speed, figures))
                stop = self._must_stop()
                if figures or stop or now - last_saved > 60 * self.run.checkpoint_minutes:
                    self._save()
                    last_saved = last_time = time.monotonic()
                if stop or (self.run.patience and self.progress.since_best >= self.run.patience):
                    break

    def _must_stop(self) -> bool:
        """Whether a signal has reached any process of the run, so that all of them stop after the same update."""
        if self.fabric.world_size > 1:
            largest = self.fabric.all_reduce(torch.tensor(self.stopped, device=self.fabric.device), reduce_op="max")
            self._stopping.signal = int(cast(Tensor, largest))
        return self.stopped != 0

    def _updates(self) -> Iterator[list[Any]]:
        step = self.run.accumulation * self.fabric.world_size
        while self.progress.epoch < self.run.max_epochs:
            keys = self.task.batches(self.progress.epoch)
            self._batches = len(keys)
            while self.progress.batch < len(keys):
                if self.progress.update >= self.run.max_updates:
                    return
                chosen = keys[self.progress.batch : self.progress.batch + step]
                self.progress.batch += step
                yield list(chosen[self.fabric.global_rank :: self.fabric.world_size]) or [chosen[0]]
            self.progress.epoch, self.progress.batch = self.progress.epoch + 1, 0

    def _update(self, keys: list[Any], rate: float) -> tuple[float, int]:
        for group in self.adam.param_groups:
            group["lr"] = rate
        self.objective.train()
        total, tokens = 0.0, 0
        for i, key in enumerate(keys):
            batch = self.fabric.to_device(self.task.batch(key))
            with self.fabric.no_backward_sync(self.objective, enabled=i + 1 < len(keys)):
                loss, count = self.objective(*batch)
                self.fabric.backward(loss / max(int(count), 1) / len(keys))
            total, tokens = total + float(loss.detach()), tokens + int(count)
        if self.optimizer_settings.clip:
            self.fabric.clip_gradients(self.objective, self.adam, max_norm=self.optimizer_settings.clip, error_if_nonfinite=False)
        self.adam.step()
        self.adam.zero_grad()
        self.progress.update += 1
        return total / max(tokens, 1), tokens * self.fabric.world_size

    def _evaluation_is_due(self) -> bool:
        last_of_all = self.progress.epoch + 1 == self.run.max_epochs and self.progress.batch >= self._batches
        return last_of_all or self.progress.update % self.run.evaluate_every == 0 or self.progress.update == self.run.max_updates

    def _evaluate(self) -> Mapping[str, float]:
        self.objective.eval()
        current = self._weights()
        self._snapshots = [*self._snapshots, current][-self.run.average :]
        self.task.objective.load_state_dict(self._averaged())
        with torch.no_grad():
            figures = dict(self.task.evaluate())
        value = figures[self.task.criterion] * (1 if self.task.higher_is_better else -1)
        better = not math.isnan(value) and (self.progress.best is None or value > self.progress.best)
        self.progress.since_best = 0 if better else self.progress.since_best + 1
        if better:
            self.progress.best = value
            if self.fabric.is_global_zero:
                self.task.save(self.folder)
        self.task.objective.load_state_dict(current)
        return figures

    def _weights(self) -> dict[str, Tensor]:
        return {name: value.detach().clone() for name, value in self.task.objective.state_dict().items()}

    def _averaged(self) -> Mapping[str, Tensor]:
        """The state that is judged and stored: the mean of the last ones, and a share of the one that training began from."""
        share = self.run.keep_start
        averaged = self._snapshots[-1] if len(self._snapshots) == 1 else _mean(self._snapshots)
        if not share:
            return averaged
        return {name: value.lerp(self._start[name], share) if value.is_floating_point() else value for name, value in averaged.items()}

    def _save(self) -> None:
        if not self.fabric.is_global_zero:
            return
        state = {
            "weights": self.task.objective.state_dict(),
            "optimizer": self.adam.state_dict(),
            "progress": vars(self.progress),
            "random": torch.get_rng_state(),
            "snapshots": self._snapshots,
            "start": self._start,
        }
        try:
            write_atomically(self.checkpoint, lambda partial: torch.save(state, partial))
        except RuntimeError as error:  # what torch raises where the disk is full
            raise InputError(f"{self.checkpoint}: cannot be written ({_first_line(error)})") from error

    def _resume(self) -> None:
        if not self.checkpoint.exists():
            return
        try:
            state = torch.load(self.checkpoint, map_location="cpu", weights_only=True)
            self.task.objective.load_state_dict(state["weights"])
            self.adam.load_state_dict(state["optimizer"])
            self.progress = Progress(**state["progress"])
            self._snapshots, self._start = state["snapshots"], state["start"]
            torch.set_rng_state(state["random"])
        except (OSError, RuntimeError, ValueError, TypeError, KeyError, EOFError, UnpicklingError) as error:
            # torch.load raises any of these for a damaged file, load_state_dict RuntimeError for other shapes.
            raise ModelError(f"{self.checkpoint}: damaged, or of another model ({_first_line(error)}); delete it to begin anew") from error


def _first_line(error: Exception) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__


def _mean(snapshots: Sequence[Mapping[str, Tensor]]) -> dict[str, Tensor]:
    return {
        name: torch.stack([s[name].float() for s in snapshots]).mean(0).to(value.dtype) if value.is_floating_point() else value
        for name, value in snapshots[-1].items()
    }


def start(run: RunSettings, device: str, devices: int) -> Fabric:
    """Begin a run on `devices` processes: seed it, and settle the precision."""
    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # it tells the precision, which the recipe says
    fabric = Fabric(accelerator=device, devices=devices, precision=run.precision)  # type: ignore[arg-type]
    fabric.launch()
    fabric.seed_everything(run.seed, verbose=False)
    return fabric
