"""`specdec convert`: the result, its proof, and what is refused."""

from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner, Result

from specdec_cli.commands.convert import convert
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import read_info

app = typer.Typer()
app.command()(convert)


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def test_to_ctranslate2_with_proof(bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "model", "--to", "ctranslate2", "--quantization", "int8")
    assert result.exit_code == 0, result.output
    assert "This is a short sentence. -> " in result.stderr
    assert result.stdout == ""
    assert (tmp_path / "model" / "model.bin").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--from", "word2vec"), "known are bundle, huggingface, marian, fairseq"),
        (("--to", "ctranslate2", "--quantization", "int3"), "int3"),
    ],
)
def test_what_is_not_there_is_said(arguments: tuple[str, ...], words: str, bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "model", *arguments)
    assert isinstance(result.exception, UsageError)
    assert words in str(result.exception)


def test_a_bundle_can_be_stored_anew(bundle_folder: Path, tmp_path: Path) -> None:
    result = run(bundle_folder, tmp_path / "small", "--storage", "float16", "--set", "licence=CC0")
    assert result.exit_code == 0, result.output
    assert read_info(tmp_path / "small").licence == "CC0"
    weights = Path("verifier", "model.safetensors")
    assert (tmp_path / "small" / weights).stat().st_size < 0.6 * (bundle_folder / weights).stat().st_size
    assert isinstance(run(bundle_folder, tmp_path / "small").exception, UsageError)


def test_other_folders_are_refused(tmp_path: Path) -> None:
    result = run(tmp_path, tmp_path / "model", "--to", "ctranslate2")
    assert isinstance(result.exception, ModelError)
    assert "neither a bundle nor a model of" in str(result.exception)
