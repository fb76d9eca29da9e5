"""A model trained on a copy task, and its data."""

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric

from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, MASK, Subwords
from specdec_cli.training.data import SentencePair
from specdec_cli.training.recipe import OptimizerSettings, RunSettings
from specdec_cli.training.trainer import Report, Trainer, TrainingTask
from specdec_cli.training.verifier import VerifierTask

WORDS = range(MASK + 1, MASK + 21)
RUN = RunSettings(max_updates=140, batch_tokens=256, evaluate_every=70, precision="32-true", smoothing=0.0, dropout=0.0)
OPTIMIZER = OptimizerSettings(learning_rate=1e-2, warmup=20, decay_from=0.5)


@dataclass(frozen=True)
class Copier:
    """A trained bundle, the folder and the reports of its run, and held-out pairs."""

    bundle: Bundle
    folder: Path
    reports: list[Report]
    dev: list[SentencePair]


def make_pairs(count: int, seed: int) -> list[SentencePair]:
    """Random sentences of 2 to 7 words, each paired with itself."""
    generator = random.Random(seed)
    sentences = [[*generator.choices(WORDS, k=generator.randint(2, 7)), EOS] for _ in range(count)]
    return [SentencePair(ids, ids) for ids in sentences]


@pytest.fixture(scope="session")
def make_copier(tokenizer: Subwords) -> Callable[..., Bundle]:
    """Makes an untrained bundle."""

    def make(seed: int = 1, dropout: float = 0.0) -> Bundle:
        torch.set_num_threads(1)
        torch.manual_seed(seed)
        shape = TransformerConfig(len(tokenizer), 32, 64, 2, encoder_layers=1, decoder_layers=1, max_positions=32)
        return Bundle(BundleInfo(decoding="greedy"), tokenizer, Transformer(shape, dropout))

    return make


def train(task: TrainingTask, run: RunSettings, folder: Path, listen: Callable[[Report], None]) -> Trainer:
    """Train `task` in `folder` on the CPU; call `listen` with every report."""
    trainer = Trainer(task, run, OPTIMIZER, folder, Fabric(accelerator="cpu", precision="32-true"))
    trainer.train(listen)
    return trainer


@pytest.fixture(scope="session")
def copier(make_copier: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory) -> Copier:
    """A verifier trained to copy."""
    made, dev, folder = make_copier(), make_pairs(40, seed=1), tmp_path_factory.mktemp("copier")
    reports: list[Report] = []
    train(VerifierTask(made, make_pairs(400, seed=0), dev, RUN), RUN, folder, reports.append)
    made.verifier.eval().requires_grad_(False)
    return Copier(made, folder, reports, dev)
