"""Bundles that several tests of bench measure."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
from tests.commands.bench.in_process import InProcess


@pytest.fixture
def real_processes() -> None:
    """For tests of the processes themselves: workers are processes, as for users."""


@pytest.fixture(autouse=True)
def in_process(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run workers in the process of the test, without pauses for other processes."""
    if "real_processes" not in request.fixturenames:
        for module in ("measure", "synthetic"):
            monkeypatch.setattr(f"specdec_cli.benchmark.{module}.Process", InProcess)
        for name in ("_IDLE_SECONDS", "_TURN_SECONDS"):
            monkeypatch.setattr(f"specdec_cli.benchmark.measure.{name}", 0.0)


@pytest.fixture(scope="module")
def folder(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with an untrained drafter."""
    torch.manual_seed(0)
    drafter = BlockDrafter(DrafterConfig(layers=1, feed_forward=64, max_block=4), bundle.verifier)
    save_bundle(replace(bundle, drafter=drafter), path := tmp_path_factory.mktemp("models") / "drafting")
    return path
