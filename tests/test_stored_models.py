"""A bundle and a checkpoint that an earlier version stored are read, with the output and the weights that they had."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric

from specdec_cli.model.bundle import load_bundle
from specdec_cli.training.checkpoint import Beginning
from specdec_cli.training.trainer import Trainer
from tests import command_line
from tests.conftest import make_lines
from tests.training.conftest import OPTIMIZER, RUN
from tests.training.test_trainer import Toy

STORED = Path(__file__).parent / "golden" / "stored"
OUTPUTS: dict[str, list[str]] = json.loads((STORED / "outputs.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("decoding", ["greedy", "specdec", "auto", "beam"])
def test_a_stored_bundle_decodes_as_before(decoding: str, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("".join(f"{line}\n" for line in make_lines(4, seed=9)), encoding="utf-8")
    arguments = ["translate", "--model", str(STORED / "bundle"), "--decoding", decoding, "--quiet", str(tmp_path / "lines")]
    run = command_line.run(*arguments)
    assert (run.exit_code, run.stderr) == (0, "")
    assert run.stdout.split("\n") == [*OUTPUTS.get(decoding, OUTPUTS["greedy"]), ""]


def test_a_stored_bundle_has_its_settings() -> None:
    info = load_bundle(STORED / "bundle").info
    assert (info.block_size, info.length_ratio, info.longest_sentence, info.max_length, info.min_length) == (4, 1.1, 30, 20, 2)
    assert (info.no_repeat_ngram_size, info.repetition_penalty, info.most_copies, info.forced_end) == (3, 1.1, 2, True)
    assert (info.beam_size, info.length_penalty, info.beam_stop, info.presets) == (3, 0.7, "never", {"high-quality": (2, 0.5)})


def test_a_run_resumes_from_a_stored_checkpoint(tmp_path: Path) -> None:
    shutil.copy(STORED / "checkpoint.pt", tmp_path)
    run = replace(RUN, max_updates=6, evaluate_every=2, average=2, keep_start=0.25)
    task, weights = Toy([2.0, 3.0], batches=4), []
    beginning = Beginning({"command": "train-verifier", "run.seed": 2, "run.max_updates": 6}, {"--data": "abd", "--model": None})
    trainer = Trainer(task, run, OPTIMIZER, tmp_path, Fabric(accelerator="cpu", precision="32-true"), beginning)
    assert trainer.changes == ["run.seed=1 (now 2)", "another --data"]
    assert (trainer.progress.update, trainer.progress.batch, trainer.progress.best) == (3, 3, 2.0)
    trainer.train(lambda _: weights.append(task.weight))
    assert weights == pytest.approx([0.005, 0.0075, 0.0105], rel=1e-4)
    assert task.saved == pytest.approx([0.0058125], rel=1e-4)
    assert float(torch.rand(())) == pytest.approx(0.55963862)
