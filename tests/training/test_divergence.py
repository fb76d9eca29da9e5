"""Runs whose losses or weights are not finite."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from specdec_cli.errors import TrainingError
from tests.training.test_trainer import Toy, follow


class Overflowing(Toy):
    """A training task whose loss is infinity at chosen updates."""

    def __init__(self, updates: Sequence[int]) -> None:
        super().__init__([])
        self._overflowing = updates

    def batch(self, key: int) -> tuple[Tensor, ...]:
        return (torch.tensor([float("inf")] * (key in self._overflowing) + [0.0]),)


@pytest.mark.parametrize(("updates", "diverges"), [([*range(3, 12), 14], False), (range(3, 13), True)])
def test_losses_that_stay_infinite_end_a_run(
    updates: Sequence[int], diverges: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Overflowing(updates)
    monkeypatch.setattr(torch.optim.AdamW, "step", lambda *_, **__: None)  # as a loss scaler does after an overflow
    if not diverges:
        assert follow(task, tmp_path, max_updates=20)[0].progress.update == 20
        return
    with pytest.raises(
        TrainingError, match=r"the losses of 10 updates are not finite after update 12; .* smaller optimizer\.learning_rate"
    ):
        follow(task, tmp_path, max_updates=20)


@pytest.mark.parametrize(
    "changes", [{"evaluate_every": 4}, {"evaluate_every": 50, "checkpoint_minutes": 0.0}], ids=["evaluation", "checkpoint"]
)
def test_weights_that_are_not_finite_are_not_stored(changes: dict[str, Any], tmp_path: Path) -> None:
    task = Overflowing([4])
    with pytest.raises(TrainingError, match="weights are not finite after update 4"):
        follow(task, tmp_path, max_updates=20, **changes)
    assert task.evaluated == task.saved == []
    checkpoint = tmp_path / "checkpoint.pt"
    assert not checkpoint.exists() or torch.load(checkpoint, weights_only=True)["progress"]["update"] == 3
