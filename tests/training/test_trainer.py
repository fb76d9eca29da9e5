"""The training loop: evaluation, checkpoints, signals and resumed runs."""

import pickle
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from lightning_fabric import Fabric
from torch import Tensor, nn

from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.training.checkpoint import random_states, set_random_states
from specdec_cli.training.recipe import RunSettings
from specdec_cli.training.trainer import Report, Trainer
from specdec_cli.training.verifier import VerifierTask
from tests.training.conftest import OPTIMIZER, RUN, make_pairs, train


def stop_at(update: int, number: signal.Signals = signal.SIGTERM) -> Callable[[Report], None]:
    """Make a listener that raises a signal after an update."""

    def listen(report: Report) -> None:
        if report.progress.update == update:
            signal.raise_signal(number)

    return listen


def copying(bundle: Bundle, run: RunSettings) -> VerifierTask:
    return VerifierTask(bundle, make_pairs(60, seed=0), make_pairs(8, seed=1), run)


@pytest.mark.parametrize("changes", [{}, {"average": 4}, {"accumulation": 2}, {"keep_start": 0.3}])
def test_a_resumed_run_ends_with_equal_weights(make_copier: Callable[..., Bundle], changes: dict[str, Any], tmp_path: Path) -> None:
    run = replace(RUN, max_updates=14, evaluate_every=4, batch_tokens=128, dropout=0.3, **changes)
    bundles = [make_copier(seed, dropout=0.3) for seed in (1, 1, 2)]
    reports: list[Report] = []
    torch.manual_seed(7)
    train(copying(bundles[0], run), run, tmp_path / "through", reports.append)
    torch.manual_seed(7)
    stopped = train(copying(bundles[1], run), run, tmp_path / "stopped", stop_at(6))
    assert stopped.progress.update == 6
    assert stopped.progress.batch not in (0, stopped.progress.update)  # within a later epoch
    torch.manual_seed(8)
    resumed = train(copying(bundles[2], run), run, tmp_path / "stopped", lambda _: None)
    assert resumed.progress.update == 14
    assert resumed.progress.best == reports[-1].progress.best
    first, second = (load_bundle(tmp_path / name).verifier.state_dict() for name in ("through", "stopped"))
    assert all(torch.equal(value, second[name]) for name, value in first.items())
    for one, other in zip(bundles[0].verifier.parameters(), bundles[2].verifier.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_checkpoint_has_the_random_state_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    generators = {torch.device("cuda", number): torch.Generator().manual_seed(number) for number in (0, 1)}
    monkeypatch.setattr(torch.cuda, "get_rng_state", lambda device: generators[device].get_state())
    monkeypatch.setattr(torch.cuda, "set_rng_state", lambda state, device: generators[device].set_state(state))
    gpu, cpu = torch.device("cuda", 1), torch.device("cpu")

    def draw() -> list[float]:
        return [float(torch.rand(())), *(float(torch.rand((), generator=generator)) for generator in generators.values())]

    states, of_cpu = random_states(gpu), random_states(cpu)
    first = draw()
    set_random_states(gpu, states)
    second = draw()
    assert (second[0], second[2]) == (first[0], first[2]) and second[1] != first[1]
    set_random_states(gpu, of_cpu)  # a checkpoint of a run on a CPU, or of an older version
    third = draw()
    assert third[0] == first[0] and third[2] != first[2]


class Line(nn.Module):
    """A model of one weight, whose loss is the squared distance to the numbers of a batch."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(1))

    def forward(self, numbers: Tensor) -> tuple[Tensor, Tensor]:
        return ((self.weight - numbers) ** 2).sum(), torch.tensor(len(numbers))


class Toy:
    """A task with given results of evaluation; it records the weights that were evaluated and saved."""

    criterion, capturable = "score", False

    def __init__(self, scores: Sequence[float], *, batches: int = 1000, higher_is_better: bool = True) -> None:
        self.objective: nn.Module = Line()
        self.higher_is_better = higher_is_better
        self._scores: Iterator[float] = iter(scores)
        self._batches = batches
        self.evaluated: list[float] = []
        self.saved: list[float] = []

    @property
    def weight(self) -> float:
        return float(self.objective.get_parameter("weight").detach())

    def batches(self, epoch: int) -> Sequence[int]:
        return range(epoch + 1, epoch + 1 + self._batches)

    def batch(self, key: int) -> tuple[Tensor, ...]:
        return (torch.tensor([float(key), key + 1.0]),)

    def evaluate(self) -> Mapping[str, float]:
        self.evaluated.append(self.weight)
        return {"score": next(self._scores, 0.0)}

    def save(self, folder: Path) -> None:  # noqa: ARG002
        self.saved.append(self.weight)


def follow(task: Toy, folder: Path, **changes: Any) -> tuple[Trainer, list[float]]:
    """Train `task`; return the trainer and the weight after each update."""
    weights: list[float] = []
    run = replace(RUN, **{"max_updates": 6, "evaluate_every": 1} | changes)
    return train(task, run, folder, lambda _: weights.append(task.weight)), weights


def test_only_better_states_are_saved(tmp_path: Path) -> None:
    task = Toy([float("nan"), 1.0, 1.0, 4.0, float("nan"), 5.0])
    _, weights = follow(task, tmp_path)
    assert task.saved == [weights[1], weights[3], weights[5]]


def test_a_lower_criterion_can_be_better(tmp_path: Path) -> None:
    task = Toy([3.0, 1.0, 2.0, 0.5, 4.0, 0.5], higher_is_better=False)
    _, weights = follow(task, tmp_path)
    assert task.saved == [weights[0], weights[1], weights[3]]


def test_patience_ends_a_run_without_improvement(tmp_path: Path) -> None:
    trainer, _ = follow(Toy([1.0, 2.0, 1.0, 3.0, 3.0, 1.0, 2.0, 9.0]), tmp_path, patience=3, max_updates=100)
    assert trainer.progress.update == 7


def test_all_processes_decide_by_the_figure_of_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = iter([1.0, 2.0, 1.0, 1.0, 1.0])
    monkeypatch.setattr(Fabric, "broadcast", lambda *_: next(figures))
    trainer, _ = follow(Toy([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), tmp_path, patience=3, max_updates=100)
    assert (trainer.progress.update, trainer.progress.best) == (5, 2.0)


def test_the_average_is_evaluated_but_not_trained_further(tmp_path: Path) -> None:
    averaged, plain = Toy([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]), Toy([])
    _, weights = follow(averaged, tmp_path / "averaged", average=3)
    assert follow(plain, tmp_path / "plain")[1] == weights
    means = [sum(weights[max(0, i - 2) : i + 1]) / len(weights[max(0, i - 2) : i + 1]) for i in range(6)]
    assert averaged.evaluated == averaged.saved == pytest.approx(means)


def test_evaluated_weights_include_a_share_of_the_initial_ones(tmp_path: Path) -> None:
    kept = Toy([1.0, 2.0, 3.0, 4.0])
    kept.objective.get_parameter("weight").data.fill_(0.25)
    _, weights = follow(kept, tmp_path, keep_start=0.5, max_updates=2)
    follow(kept, tmp_path, keep_start=0.5, max_updates=4)
    assert kept.saved[:2] == pytest.approx([0.5 * (weight + 0.25) for weight in weights])
    assert len(kept.saved) == 4


def test_accumulated_batches_make_one_update(tmp_path: Path) -> None:
    trainer, _ = follow(Toy([], batches=6), tmp_path, accumulation=3, max_epochs=2)
    assert (trainer.progress.update, trainer.progress.epoch) == (4, 2)


def test_the_last_epoch_ends_with_an_evaluation_and_a_checkpoint(tmp_path: Path) -> None:
    task = Toy([1.0, 2.0, 3.0], batches=5)
    trainer, weights = follow(task, tmp_path, max_epochs=2, max_updates=100, evaluate_every=4)
    assert len(weights) == trainer.progress.update == 10
    assert task.evaluated == [weights[3], weights[7], weights[9]]
    assert follow(Toy([], batches=5), tmp_path, max_epochs=2, max_updates=100)[0].progress.update == 10


def test_a_finished_run_is_not_continued(tmp_path: Path) -> None:
    first, _ = follow(Toy([1.0] * 6), tmp_path)
    task = Toy([2.0] * 6)
    again, weights = follow(task, tmp_path)
    assert (weights, task.saved, again.progress) == ([], [], first.progress)
    assert follow(Toy([]), tmp_path, max_updates=8)[0].progress.update == 8


def test_a_resumed_run_has_its_own_optimizer_settings(tmp_path: Path) -> None:
    follow(Toy([]), tmp_path, max_updates=2)
    changed = replace(OPTIMIZER, betas=(0.5, 0.6), epsilon=0.25, weight_decay=0.5)
    trainer = Trainer(Toy([]), replace(RUN, max_updates=4), changed, tmp_path, Fabric(accelerator="cpu", precision="32-true"))
    assert trainer.progress.update == 2
    (group,) = trainer.adam.param_groups
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.5, 0.6), 0.25, 0.5)


def test_sigterm_writes_a_checkpoint_and_ends_the_run(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGTERM)
    task = Toy([])
    run = replace(RUN, max_updates=50, evaluate_every=50)
    trainer = train(task, run, tmp_path, stop_at(3))
    assert trainer.progress.update == 3
    assert signal.getsignal(signal.SIGTERM) is before
    stored = torch.load(trainer.checkpoint, weights_only=True)
    assert stored["progress"]["update"] == 3
    assert float(stored["weights"]["weight"]) == task.weight
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.pt"]


def test_a_first_interrupt_ends_the_run_after_its_update(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    trainer = train(Toy([]), replace(RUN, max_updates=50, evaluate_every=50), tmp_path, stop_at(3, signal.SIGINT))
    assert (trainer.progress.update, trainer.stopped) == (3, signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before
    assert torch.load(trainer.checkpoint, weights_only=True)["progress"]["update"] == 3


def test_a_later_second_interrupt_ends_the_run_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt_twice(_: Report) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    run = replace(RUN, max_updates=50, evaluate_every=50)
    assert train(Toy([]), run, tmp_path, interrupt_twice).progress.update == 1
    monkeypatch.setattr("specdec_cli.training.trainer.PATIENCE", 0.0)
    with pytest.raises(KeyboardInterrupt):
        train(Toy([]), run, tmp_path, interrupt_twice)


@pytest.mark.parametrize(
    "damage",
    [
        lambda stored: stored[: len(stored) // 2],
        lambda _: b"",
        lambda _: b"no checkpoint",
        lambda _: pickle.dumps({"weights": 1}, protocol=2),
    ],
    ids=["half", "empty", "text", "pickle"],
)
def test_a_damaged_checkpoint_is_named(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    trainer, _ = follow(Toy([]), tmp_path, max_updates=2)
    trainer.checkpoint.write_bytes(damage(trainer.checkpoint.read_bytes()))
    with pytest.raises(ModelError, match=r"checkpoint\.pt: damaged, or not a checkpoint of specdec .*; name another folder"):
        follow(Toy([]), tmp_path)


def test_a_checkpoint_of_another_model_is_named(make_copier: Callable[..., Bundle], tmp_path: Path) -> None:
    follow(Toy([]), tmp_path, max_updates=2)
    with pytest.raises(UsageError, match=r"checkpoint\.pt: cannot be resumed, its run began with another model; name another folder"):
        train(copying(make_copier(), RUN), RUN, tmp_path, lambda _: None)


def test_checkpoints_are_written_at_intervals(tmp_path: Path) -> None:
    seen: list[bool] = []
    run = replace(RUN, max_updates=3, evaluate_every=50, checkpoint_minutes=0.0)
    train(Toy([]), run, tmp_path, lambda _: seen.append((tmp_path / "checkpoint.pt").exists()))
    assert seen == [False, True, True]
