"""A corrector of text without spaces, from training pairs to corrected lines."""
# ruff: noqa: RUF001

import json
import random
from pathlib import Path

import pytest
import torch
from lightning_fabric import Fabric

from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, Subwords, train_subwords
from specdec_cli.training.data import SentencePair
from specdec_cli.training.recipe import OptimizerSettings, RunSettings
from specdec_cli.training.trainer import Trainer
from specdec_cli.training.verifier import VerifierTask
from tests import command_line
from tests.command_line import Result, done

CHARACTERS = "我你他们在家学习工作今天明天很好不是有书看。！ "
WRONG, RIGHT = "门", "们"


def make_lines(count: int) -> list[str]:
    """Made-up sentences of 3 to 9 characters; most have the character of the error to be learnt."""
    generator = random.Random(3)
    return ["".join(generator.choices(CHARACTERS + 3 * RIGHT, k=generator.randint(3, 9))).strip() for _ in range(count)]


@pytest.fixture(scope="module")
def corrector(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle trained to replace 门 by 们 and to copy everything else."""
    torch.set_num_threads(1)
    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("chinese")
    clean = make_lines(1500)
    tokenizer = train_subwords([*clean, WRONG * 30], folder / "tokenizer.model", 290, threads=1)
    pairs = [_pair(tokenizer, line.replace(RIGHT, WRONG) if i % 2 else line, line) for i, line in enumerate(clean)]
    shape = TransformerConfig(len(tokenizer), 32, 64, 2, encoder_layers=1, decoder_layers=1, max_positions=64)
    info = BundleInfo(task="correct", source_language="zh", target_language="zh", decoding="input-guided")
    run = RunSettings(max_updates=400, batch_tokens=384, evaluate_every=400, precision="32-true", smoothing=0.0, dropout=0.0)
    task = VerifierTask(Bundle(info, tokenizer, Transformer(shape)), pairs, pairs[:40], run)
    optimizer = OptimizerSettings(learning_rate=1e-2, warmup=40, decay_from=0.5)
    Trainer(task, run, optimizer, folder / "bundle", Fabric(accelerator="cpu", precision="32-true")).train(lambda _: None)
    return folder / "bundle"


def _pair(tokenizer: Subwords, source: str, target: str) -> SentencePair:
    return SentencePair([*tokenizer.encode(source), EOS], [*tokenizer.encode(target), EOS])


def run(bundle: Path, text: str, *arguments: str) -> Result:
    return done(command_line.run("correct", "-m", bundle, "--threads", "1", *arguments, text=text.encode()))


def test_correct_lines_are_unchanged(corrector: Path) -> None:
    text = "　今天他们在家。 我看书！\n\n你们 很好\t\r\n"
    assert run(corrector, text).stdout_bytes == text.encode()


def test_errors_are_corrected_in_place(corrector: Path) -> None:
    text = "今天我门在家。他很好。\n"
    assert run(corrector, text).stdout == "今天我们在家。他很好。\n"
    (edit,) = json.loads(run(corrector, text, "--json").stdout)["edits"]
    assert (edit["start"], edit["end"], edit["source"], edit["text"]) == (3, 4, WRONG, RIGHT)
    assert run(corrector, text, "--diff").stdout == "今天我[-门-]{+们+}在家。他很好。\n"


def test_source_copies_take_few_rounds_with_greedy_output(corrector: Path) -> None:
    text = "".join(f"{line}\n" for line in make_lines(40))
    copied, greedy = (run(corrector, text, "--json", "--decoding", name) for name in ("input-guided", "greedy"))
    records = [[json.loads(line) for line in result.stdout.splitlines()] for result in (copied, greedy)]
    assert [record["text"] for record in records[0]] == [record["text"] for record in records[1]]
    rounds = [sum(record["rounds"] for record in of_one) for of_one in records]
    assert 3 * rounds[0] < rounds[1]
