"""Runs of training commands in the tests, their text, and a trained bundle."""

from pathlib import Path

import pytest

from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.command_line import Result, run

SMALL = ["preset=small", "model.width=32", "model.feed_forward=64", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=1"]
RUN = ["run.batch_tokens=128", "run.evaluate_every=2", "run.precision=32-true"]


def settings(*changes: str) -> list[str]:
    return [part for change in changes for part in ("--set", change)]


def train_verifier(folder: Path, text: Path, tokenizer: Subwords, *changes: str) -> Result:
    data = ["--data", f"{text}*2", "--dev", text, "--tokenizer", tokenizer.path]
    return run("train-verifier", folder, *data, "--threads", 1, "--device", "cpu", *settings(*SMALL, *RUN, *changes))


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> Path:
    path = tmp_path_factory.mktemp("text") / "copy.tsv"
    path.write_text("".join(f"{line}\t{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory, text: Path, tokenizer: Subwords) -> Path:
    folder = tmp_path_factory.mktemp("run") / "verifier"
    result = train_verifier(folder, text, tokenizer, "run.max_updates=4")
    assert result.exit_code == 0, result.output
    return folder
