"""Text and a trained bundle for the tests of training commands."""

from pathlib import Path

import pytest

from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests.commands.training.runs import train_verifier


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
