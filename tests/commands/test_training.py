"""`specdec train-verifier` and `train-drafter`: from text to a bundle that translates."""

import csv
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specdec_cli.app import app
from specdec_cli.text.subwords import Subwords

SMALL = ["preset=small", "model.width=32", "model.feed_forward=64", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=1"]
RUN = ["run.batch_tokens=128", "run.evaluate_every=2", "run.precision=32-true"]


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, list(map(str, arguments)))


def settings(*changes: str) -> list[str]:
    return [part for change in changes for part in ("--set", change)]


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


def train_verifier(folder: Path, text: Path, tokenizer: Subwords, *changes: str) -> Result:
    data = ["--data", f"{text}*2", "--dev", text, "--tokenizer", tokenizer.path]
    return run("train-verifier", folder, *data, "--threads", 1, "--device", "cpu", *settings(*SMALL, *RUN, *changes))


def test_a_run_goes_on_where_it_stopped(trained: Path, text: Path, tokenizer: Subwords) -> None:
    assert train_verifier(trained, text, tokenizer, "run.max_updates=6").exit_code == 0
    with (trained / "metrics.csv").open(encoding="utf-8") as stream:
        updates = [int(row["update"]) for row in csv.DictReader(stream)]
    assert updates == [2, 4, 6]
    assert run("translate", "-m", trained, text, "--max-length", 4).exit_code == 0


def test_a_drafter_is_trained_and_simulated(trained: Path, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    shape = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    arguments = ["train-drafter", folder, "-m", trained, "--data", text, "--dev", text, "--threads", 1, "--device", "cpu"]
    result = run(*arguments, *settings(*RUN, *shape))
    assert result.exit_code == 0, result.output
    assert "tokens_per_round" in result.stderr
    simulated = run("train-drafter", folder, "-m", folder, "--dev", text, "--simulate", "--threads", 1, "--device", "cpu")
    assert simulated.exit_code == 0, simulated.output
    assert "break-even" in simulated.stdout
    greedy, specdec = (run("translate", "-m", folder, text, "--decoding", name, "--max-length", 8) for name in ("greedy", "specdec"))
    assert greedy.stdout_bytes == specdec.stdout_bytes


def test_text_in_one_language_is_enough_for_a_drafter(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "dev.txt").write_text("\n".join([*lines[:4], ""]), encoding="utf-8")
    arguments = ["--verifier", bundle_folder, "--source", tmp_path / "mono.txt", "--dev", tmp_path / "dev.txt", "--threads", 1]
    shape = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    result = run("train-drafter", tmp_path / "drafter", *arguments, "--device", "cpu", *settings(*RUN, *shape))
    assert result.exit_code == 0, result.output
    outputs = (tmp_path / "drafter" / "outputs" / "distilled.tsv").read_text(encoding="utf-8").splitlines()
    assert 0 < len(outputs) <= len(lines)
    translate = ["translate", "-m", tmp_path / "drafter", tmp_path / "dev.txt", "--max-length", 6]
    assert run(*translate, "--decoding", "specdec").stdout == run(*translate, "--decoding", "greedy").stdout


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (("run.sede=2",), "unknown key 'sede'"),
        (("model.width=30",), "multiples of 16"),
        (("preset=huge",), "unknown preset 'huge'"),
    ],
)
def test_a_wrong_setting_is_named(changes: tuple[str, ...], words: str, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    result = train_verifier(tmp_path / "run", text, tokenizer, *changes)
    assert result.exit_code == 3
    assert words in result.stderr


def test_missing_things_are_named(text: Path, tmp_path: Path, trained: Path) -> None:
    assert "no tokenizer.model beside" in run("train-verifier", tmp_path / "a", "--data", text, "--dev", text).stderr
    assert "no such file" in run("train-verifier", tmp_path / "a", "--data", tmp_path / "no.tsv", "--dev", text).stderr
    assert "give --source" in run("train-drafter", tmp_path / "a", "-m", trained, "--dev", text).stderr
    unknown = run("train-verifier", tmp_path / "a", "--data", text, "--dev", text, "--recipe", "nothing")
    assert unknown.exit_code == 2
    assert "gad-verifier" in unknown.stderr
