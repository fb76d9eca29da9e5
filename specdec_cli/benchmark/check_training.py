"""The speed of training on a device: updates of batches of one shape, as CUDA graphs or launched operator by operator."""

import math
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from typing import Any, Literal

import torch

from specdec_cli.decoding.graphs import Capture
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.config import preset
from specdec_cli.model.drafter_config import HeadsConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.training.data import SentencePair, group_by_shape
from specdec_cli.training.data_parallel import launch_fabric
from specdec_cli.training.drafter import DrafterTask
from specdec_cli.training.recipe import DrafterRecipe, OptimizerSettings, RunSettings
from specdec_cli.training.trainer import Report, Trainer
from specdec_cli.training.verifier import VerifierTask

TOKENS = 16384
"""The number of token positions in a batch, padding included."""
FIRST, UPDATES = 20, 60
"""The number of the first updates, which are not timed because graphs are captured in them, and the number of all updates."""
SHAPE: dict[str, Any] = {}
"""How the verifier that is trained differs from the preset "base"."""
Trained = Literal["verifier", "drafter"]


class _Enough(Exception):
    """Raised after the last timed update, to leave the training loop without an evaluation or a checkpoint."""


def training_speed(
    bundle: Bundle, pairs: Sequence[SentencePair], trained: Trained, device: str, *, captured: bool, capture: Capture | None = None
) -> dict[str, Any]:
    """The speed of updates of a new verifier of the preset "base", or of the drafter of `bundle`, which is on the CPU in float32 and is
    changed: by `pairs` of the most frequent shape, which are repeated; and the loss of the last one. `capture` takes the place of CUDA
    graphs.

    Raises ValueError if a loss is not finite, or if updates were to be `captured` and are not.
    """
    run = RunSettings(batch_tokens=TOKENS, max_updates=10 * UPDATES, max_epochs=10 * UPDATES, evaluate_every=10 * UPDATES)
    pairs = alike(pairs, TOKENS, bundle.shape.max_positions)
    torch.manual_seed(run.seed)
    task: VerifierTask | DrafterTask
    if trained == "verifier":
        config = preset("base", bundle.shape.vocabulary_size, **(_special(bundle) | SHAPE))
        bundle = Bundle(bundle.info, bundle.tokenizer, Transformer(config, run.dropout))
        task = VerifierTask(bundle, pairs, pairs[:1], run)
    else:
        if bundle.drafter is None or isinstance(bundle.drafter.config, HeadsConfig):
            return {"left_out": "the bundle has no block drafter"}
        task = DrafterTask(bundle, pairs, {"dev": pairs[:1]}, DrafterRecipe(drafter=bundle.drafter.config, run=run))
    if not captured:
        task.capturable = False
    reports: list[tuple[float, int, float]] = []

    def listen(report: Report) -> None:
        reports.append((time.perf_counter(), report.progress.tokens, report.loss))
        if len(reports) == UPDATES:
            raise _Enough

    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(task, run, OptimizerSettings(), Path(folder), launch_fabric(run, device, 1), capture=capture)
        if captured and trainer.captured is None:
            raise ValueError("updates are not captured")
        with suppress(_Enough):
            trainer.train(listen)
    (begun, before, _), (ended, tokens, loss) = reports[FIRST - 1], reports[-1]
    if trainer.captured is not None:  # the losses of the last updates were not waited for
        total, weight = trainer.captured.losses(every=True)[-1]
        loss = total / max(int(weight), 1)
    if not math.isfinite(loss):
        raise ValueError(f"the loss is {loss}")
    graphs = {"graphs": trainer.captured.counts.graphs} if trainer.captured is not None else {}
    return {
        "target_tokens_per_s": round((tokens - before) / (ended - begun)),
        "loss": round(loss, 3),
        "shape": list(shape_of(pairs)),
    } | graphs


def _special(bundle: Bundle) -> dict[str, Any]:
    return {name: getattr(bundle.shape, name) for name in ("padding", "eos", "decoder_start")}


def shape_of(pairs: Sequence[SentencePair]) -> tuple[int, int]:
    """The longest source and target of `pairs` in tokens."""
    return max(len(pair.source) for pair in pairs), max(len(pair.target) for pair in pairs)


def alike(pairs: Sequence[SentencePair], tokens: int, longest: int) -> list[SentencePair]:
    """Those of `pairs` whose batches have the most frequent shape, repeated until they are eight batches of `tokens` positions."""
    group = max(group_by_shape(pairs, 1, longest), key=lambda each: len(each.indices))
    rows = 8 * max(1, tokens // max(group.source_width, group.target_width))
    return list(islice(cycle([pairs[index] for index in group.indices]), rows))
