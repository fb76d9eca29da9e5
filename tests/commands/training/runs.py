"""Runs of training commands in the tests."""

from pathlib import Path

from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.command_line import Result, run

SMALL = ["preset=small", "model.width=32", "model.feed_forward=64", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=1"]


RUN = ["run.batch_tokens=128", "run.evaluate_every=2", "run.precision=32-true"]


def settings(*changes: str) -> list[str]:
    return [part for change in changes for part in ("--set", change)]


def train_verifier(folder: Path, text: Path, tokenizer: Subwords, *changes: str) -> Result:
    data = ["--data", f"{text}*2", "--dev", text, "--tokenizer", tokenizer.path]
    return run("train-verifier", folder, *data, "--threads", 1, "--device", "cpu", *settings(*SMALL, *RUN, *changes))
