"""Bundles that several tests of bench measure."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig


@pytest.fixture(scope="module")
def folder(bundle: Bundle, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with an untrained drafter."""
    torch.manual_seed(0)
    drafter = BlockDrafter(DrafterConfig(layers=1, feed_forward=64, max_block=4), bundle.verifier)
    save_bundle(replace(bundle, drafter=drafter), path := tmp_path_factory.mktemp("models") / "drafting")
    return path
