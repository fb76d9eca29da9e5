"""Training of verifiers on a copy task."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from specdec_cli.model.bundle import Bundle, load_bundle
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.training.data import SentencePair
from specdec_cli.training.trainer import learning_rate
from specdec_cli.training.verifier import VerifierTask, edited_positions
from tests.training.conftest import OPTIMIZER, RUN, Copier


def test_a_copy_task_is_learnt(copier: Copier) -> None:
    losses = [report.loss for report in copier.reports]
    assert len(losses) == RUN.max_updates
    assert losses[0] > 3.0
    assert losses[-1] < 0.5
    assert copier.reports[-1].figures["dev_loss"] < 0.8


def test_the_bundle_contains_the_best_state(copier: Copier) -> None:
    best = min(report.figures["dev_loss"] for report in copier.reports if report.figures)
    task = VerifierTask(load_bundle(copier.folder), [], copier.dev, RUN)
    with torch.no_grad():
        task.objective.eval()
        assert task.evaluate()["dev_loss"] == pytest.approx(best, rel=1e-5)


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        ([7, 8, 9], [7, 8, 9], []),
        ([7, 8, 9], [7, 5, 9], [1]),
        ([7, 9], [7, 5, 6, 9], [1, 2]),
        ([7, 8, 9], [7, 9], [1]),  # the token after the gap, where 8 was left out
        ([5, 7, 8, 9], [7, 8, 6, 9], [0, 2]),
    ],
)
def test_edited_positions_of_a_target_are_found(source: list[int], target: list[int], expected: list[int]) -> None:
    assert edited_positions(SentencePair(source, target)) == expected


def test_edited_tokens_have_more_weight(make_copier: Callable[..., Bundle]) -> None:
    pairs = [SentencePair([7, 8, 9, EOS], [7, 5, 9, EOS])]
    plain, weighted = (VerifierTask(make_copier(), pairs, pairs, replace(RUN, edit_weight=weight)) for weight in (1.0, 3.0))
    losses = []
    for task in (plain, weighted):
        (key,) = task.batches(0)
        weights = task.batch(key)[2]
        losses.append(float(task.objective(*task.batch(key))[0].detach()))
        assert weights[0, :5].tolist() == [1.0, 1.0 if task is plain else 3.0, 1.0, 1.0, 0.0]
    assert losses[1] > losses[0]
    with torch.no_grad():
        assert plain.evaluate() == weighted.evaluate()  # evaluation does not use the weights


def test_the_learning_rate_follows_the_schedule(copier: Copier) -> None:
    rates = [report.learning_rate for report in copier.reports]
    assert rates == [learning_rate(OPTIMIZER, update, RUN.max_updates) for update in range(1, RUN.max_updates + 1)]
