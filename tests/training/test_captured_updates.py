"""Updates that are captured as graphs have the losses and weights of computed ones, wait for no value, and can be resumed; graphs are
imitated.
"""

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy
import pytest
import torch
from lightning_fabric import Fabric

from specdec_cli.decoding import graphs
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.text.tokenize.sentencepiece import EOS, MASK, PADDING, Subwords
from specdec_cli.training import captured
from specdec_cli.training import trainer as trainer_module
from specdec_cli.training.data import SentencePair, pad
from specdec_cli.training.device_text import DeviceRows
from specdec_cli.training.drafter import DrafterTask
from specdec_cli.training.loss import projected_cross_entropy
from specdec_cli.training.recipe import DrafterRecipe, RunSettings
from specdec_cli.training.trainer import Report, Trainer, TrainingTask, learning_rate
from specdec_cli.training.verifier import MaskedTask, VerifierTask
from tests.decoding.imitation import ImitatedCapture, WaitError
from tests.fakes import tiny_drafter, tiny_heads, tiny_transformer
from tests.training.conftest import OPTIMIZER, RUN, make_pairs, train
from tests.training.test_trainer import stop_at

SHORT = replace(RUN, max_updates=9, evaluate_every=4, batch_tokens=32, dropout=0.3, smoothing=0.1)


@pytest.fixture(autouse=True)
def like_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compute as on a GPU, whose optimiser reads its learning rate in float32."""
    monkeypatch.setattr(graphs, "can_branch", lambda _: False)
    monkeypatch.setattr(trainer_module, "learning_rate", lambda *each: float(numpy.float32(learning_rate(*each))))


def pairs() -> list[SentencePair]:
    """Pairs of two widths."""
    short = make_pairs(30, seed=0)
    long = [SentencePair([*one.source[:-1], *other.source[:-1], 9, 9, *one.source], other.target) for one, other in pairwise(short)]
    return short + [pair for pair in long if 12 < len(pair.source) <= 16]


def run_captured(
    task: TrainingTask, run: RunSettings, folder: Path, listen: Callable[[Report], None], precision: Any = "32-true"
) -> tuple[Trainer, ImitatedCapture]:
    capture = ImitatedCapture()
    trainer = Trainer(task, run, OPTIMIZER, folder, Fabric(accelerator="cpu", precision=precision), capture=capture)
    trainer.train(listen)
    return trainer, capture


def compare(make: Callable[[], tuple[TrainingTask, RunSettings]], folder: Path) -> None:
    """Assert that captured and computed updates of the same run give equal losses of evaluations, and equal weights."""
    results = []
    for name in ("computed", "captured"):
        torch.manual_seed(7)
        task, run = make()
        torch.manual_seed(8)
        seen: list[Report] = []
        if name == "computed":
            trainer = train(task, run, folder / name, seen.append)
        else:
            trainer, capture = run_captured(task, run, folder / name, seen.append)
            assert capture.count and trainer.captured is not None and trainer.captured.counts.replays > 1
        figures = [report.figures for report in seen if report.figures]
        weights = {key: value.clone() for key, value in task.objective.state_dict().items()}
        results.append((figures, trainer.progress.tokens, trainer.progress.best, weights, trainer._trained.optimizer_state()["state"]))
    computed, found = results
    assert len(computed[0]) == 3
    assert computed[:3] == found[:3]
    assert all(torch.equal(value, found[3][name]) for name, value in computed[3].items())
    for number, moments in computed[4].items():
        assert all(torch.equal(value, found[4][number][name]) for name, value in moments.items())


@pytest.mark.parametrize("changes", [{}, {"accumulation": 2}, {"edit_weight": 3.0}])
def test_updates_of_a_verifier(make_copier: Callable[..., Bundle], changes: dict[str, Any], tmp_path: Path) -> None:
    run = replace(SHORT, **changes)
    others = [replace(pair, target=[*pair.target[:-1], MASK + 3, EOS]) for pair in pairs()]

    def make() -> tuple[TrainingTask, RunSettings]:
        return VerifierTask(make_copier(1, dropout=0.3), others, make_pairs(8, seed=1), run), run

    compare(make, tmp_path)


def test_updates_of_a_masked_verifier(tokenizer: Subwords, tmp_path: Path) -> None:
    def make() -> tuple[TrainingTask, RunSettings]:
        model = tiny_transformer(vocabulary_size=len(tokenizer), order="masked")
        bundle = Bundle(BundleInfo(decoding="mask-predict"), tokenizer, model)
        return MaskedTask(bundle, pairs(), make_pairs(8, seed=1), SHORT), SHORT

    compare(make, tmp_path)


@pytest.mark.parametrize("kind", ["block", "own prefix", "heads"])
def test_updates_of_a_drafter(kind: str, tokenizer: Subwords, tmp_path: Path) -> None:
    run = replace(SHORT, max_updates=9, batch_tokens=48)

    def make() -> tuple[TrainingTask, RunSettings]:
        model = tiny_transformer(vocabulary_size=len(tokenizer))
        changes: dict[str, Any] = {"prefix": "own"} if kind == "own prefix" else {}
        drafter = tiny_heads(model) if kind == "heads" else tiny_drafter(model, **changes)
        config: Any = HeadsConfig() if kind == "heads" else DrafterConfig()
        bundle = Bundle(BundleInfo(decoding="specdec"), tokenizer, model, drafter)
        return DrafterTask(bundle, pairs(), {"dev": make_pairs(6, seed=1)}, DrafterRecipe(drafter=config, run=run)), run

    compare(make, tmp_path)


def test_bfloat16(make_copier: Callable[..., Bundle], tmp_path: Path) -> None:
    run = replace(SHORT, precision="bf16-mixed")
    bundle = make_copier(1)
    before = {name: value.clone() for name, value in bundle.verifier.state_dict().items()}
    task = VerifierTask(bundle, pairs(), make_pairs(8, seed=1), run)
    trainer, capture = run_captured(task, run, tmp_path, lambda _: None, "bf16-mixed")
    assert capture.count and trainer.progress.update == 9
    assert any(not torch.equal(value, before[name]) for name, value in bundle.verifier.state_dict().items())


def test_a_resumed_run_ends_with_equal_weights(make_copier: Callable[..., Bundle], tmp_path: Path) -> None:
    run = replace(SHORT, max_updates=14)

    def end(folder: Path, listen: Callable[[Report], None], seed: int) -> tuple[int, int, dict[str, Any]]:
        bundle = make_copier(seed, dropout=0.3)
        torch.manual_seed(7 + seed)
        trainer, _ = run_captured(VerifierTask(bundle, pairs(), make_pairs(8, seed=1), run), run, folder, listen)
        return trainer.progress.update, trainer.progress.tokens, dict(bundle.verifier.state_dict())

    through = end(tmp_path / "through", lambda _: None, 1)
    stopped = end(tmp_path / "stopped", stop_at(6), 1)
    resumed = end(tmp_path / "stopped", lambda _: None, 2)
    assert (stopped[0], resumed[0]) == (6, 14)
    assert through[:2] == resumed[:2]
    assert all(torch.equal(value, resumed[2][name]) for name, value in through[2].items())


def test_the_host_waits_for_old_losses_only(make_copier: Callable[..., Bundle], tmp_path: Path) -> None:
    run = replace(SHORT, max_updates=30, evaluate_every=30)
    seen: list[Report] = []
    task = VerifierTask(make_copier(1), pairs(), make_pairs(8, seed=1), run)
    losses = []

    def listen(report: Report) -> None:
        losses.append(report.loss)
        assert trainers[0].captured is not None
        waits.append(trainers[0].captured.counts.waits)

    trainers: list[Trainer] = []
    waits: list[int] = []
    trainer = Trainer(task, run, OPTIMIZER, tmp_path, Fabric(accelerator="cpu", precision="32-true"), capture=ImitatedCapture())
    trainers.append(trainer)
    trainer.train(listen)
    assert waits[:-1] == [max(1, update - captured.LATE) for update in range(1, 30)]
    assert waits[-1] == 30
    assert not seen and all(loss > 0 for loss in losses)


@pytest.mark.filterwarnings("error")
def test_the_optimiser_of_captured_updates_does_not_warn(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a GPU it refuses to be captured unless its parameter groups are capturable, and warns of those that are and compute at once."""
    capturing: list[bool] = []
    stream = SimpleNamespace(is_capturing=lambda: capturing[-1])
    monkeypatch.setattr(torch.accelerator, "current_accelerator", lambda **_: torch.device("cuda"))
    monkeypatch.setattr(torch.accelerator, "current_stream", lambda: stream)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", stream.is_capturing)
    weight, rate = torch.ones(3, requires_grad=True), torch.tensor(0.1)
    adam = torch.optim.AdamW([weight], fused=True)
    seen = []
    for is_capturing in (False, True, False):
        capturing.append(is_capturing)
        weight.grad = torch.ones(3)
        captured.step(adam, rate)
        seen.append(weight.detach()[0].item())
    assert seen == sorted(set(seen), reverse=True)


def test_an_objective_that_reads_values_cannot_be_captured(tokenizer: Subwords, tmp_path: Path) -> None:
    model = tiny_transformer(vocabulary_size=len(tokenizer))
    bundle = Bundle(BundleInfo(decoding="specdec"), tokenizer, model, tiny_drafter(model))
    recipe = DrafterRecipe(run=SHORT, glancing=(0.5, 0.3))
    task = DrafterTask(bundle, pairs(), {"dev": make_pairs(6, seed=1)}, recipe)
    assert not task.capturable
    task.capturable = True
    with pytest.raises(WaitError):
        run_captured(task, SHORT, tmp_path, lambda _: None)


def test_texts_on_the_device_give_the_batches_of_the_host(make_copier: Callable[..., Bundle]) -> None:
    others = [SentencePair(pair.source, [*pair.target[:-1], MASK + 3, EOS]) for pair in pairs()]
    run = replace(SHORT, edit_weight=2.5)
    task = VerifierTask(make_copier(1), others, others, run)
    for key in task.batches(0):
        found = task.batch(key)
        with mock.patch.object(graphs, "can_branch", lambda _: True):
            expected = task.batch(key)
        assert all(torch.equal(one, other) and one.dtype is other.dtype for one, other in zip(found, expected, strict=True))
    rows = [[1, 2, 3], [], [4]]
    found_rows = DeviceRows(rows, torch.device("cpu")).padded(torch.tensor([2, 1, 0, 0]), 4, PADDING)
    assert torch.equal(found_rows, pad([rows[2], rows[1], rows[0], rows[0]], 4, PADDING))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_of_all_positions_is_that_of_the_chosen_ones(smoothing: float) -> None:
    torch.manual_seed(1)
    values = torch.randn(700, 16), torch.randn(40, 16), torch.randn(40)
    targets, weights = torch.randint(40, (700,)), torch.rand(700) * (torch.rand(700) < 0.6)
    results = []
    for branches in (True, False):
        states, weight, bias = (value.clone().requires_grad_() for value in values)
        with mock.patch.object(graphs, "can_branch", lambda _, answer=branches: answer):
            loss = projected_cross_entropy(states, weight, targets, weights, smoothing, bias)
        loss.backward()  # type: ignore[no-untyped-call]
        results.append([loss.detach(), states.grad, weight.grad, bias.grad])
    for one, other in zip(*results, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
