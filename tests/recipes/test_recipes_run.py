"""Every shipped recipe runs from end to end, with tiny models and tiny text."""

import csv
import json
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.model.bundle import load_bundle
from specdec_cli.model.order import Order
from specdec_cli.text.tokenize.sentencepiece import Subwords
from tests import command_line
from tests.command_line import Result, done
from tests.recipes.sentences import english_sentences
from tests.source import ROOT

FOLDER = ROOT / "specdec_cli" / "recipes"

SHAPE = ["model.width=32", "model.feed_forward=64", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=1"]
HEADS = ["drafter.feed_forward=64", "drafter.max_block=3"]
BLOCK = ["drafter.feed_forward=64", "drafter.layers=1", "drafter.max_block=3"]
OWN = ["drafter.model.width=32", "drafter.model.heads=2", "drafter.model.encoder_layers=1"]
RUN = ["run.max_updates=2", "run.evaluate_every=2", "run.batch_tokens=64", "run.precision=32-true"]

SCRATCH = ("double-token", "en-de-verifier", "gad-verifier", "mask-predict", "quick-verifier", "report-gec-pretrain", "report-gec-scratch")
FURTHER = (
    "en-de-distilled",
    "en-gec-careful",
    "en-gec-constructions",
    "en-gec-finetuned",
    "en-gec-learners",
    "en-gec-verifier",
    "en-gec-whole",
    "en-simple",
)
DRAFTERS = ("blockwise", "en-de-drafter", "gad-big-drafter", "gad-drafter", "gad-drafter-quick", "quick-drafter", "report-drafter")
ORDERED = ("double-token-quick",)
MASKED = ("mask-predict-quick",)
SCRIPTS = ("de-en.sh", "en-de.sh", "en-gec.sh", "papers.sh", "zh-gec.sh")
OTHERS = ("en-gec-corrupt", "en-gec-corrupt-learners", "zh-gec-corrupt", "report-gec-finetune", "report-gec-12-2")


def run(*arguments: object) -> Result:
    return done(command_line.run(*arguments))


def train(command: str, folder: Path, recipe: str, text: Path, *arguments: object, changes: list[str]) -> list[int]:
    """Train by a recipe with a few changes; return the updates listed in metrics.csv."""
    data = ["--data", text, "--dev", text, "--recipe", recipe, "--threads", 1, "--device", "cpu"]
    run(command, folder, *data, *arguments, *(part for change in [*RUN, *changes] for part in ("--set", change)))
    with (folder / "metrics.csv").open(encoding="utf-8") as stream:
        return [int(row["update"]) for row in csv.DictReader(stream)]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> Path:
    path = tmp_path_factory.mktemp("text") / "pairs.tsv"
    path.write_text("".join(f"{line}\t{line}\n" for line in 4 * lines), encoding="utf-8")
    return path


def test_every_recipe_has_a_test() -> None:
    shipped = {path.name.removesuffix(".toml") for path in FOLDER.iterdir() if path.suffix in (".toml", ".sh")}
    assert shipped == {*SCRATCH, *FURTHER, *ORDERED, *MASKED, *DRAFTERS, *SCRIPTS, *OTHERS}


@pytest.mark.parametrize("recipe", SCRATCH)
def test_a_verifier_is_trained_from_scratch(recipe: str, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    assert train("train-verifier", tmp_path / "out", recipe, text, "--tokenizer", tokenizer.path, changes=SHAPE) == [2]
    config = load_bundle(tmp_path / "out").verifier.config
    assert (config.width, config.norm) == (32, "pre" if recipe in ("en-de-verifier", "quick-verifier") else "post")


@pytest.mark.parametrize("recipe", FURTHER)
def test_a_further_stage_is_trained(recipe: str, text: Path, bundle_folder: Path, tmp_path: Path) -> None:
    assert train("train-verifier", tmp_path / "out", recipe, text, "--init", bundle_folder, changes=[]) == [2]
    assert load_bundle(tmp_path / "out").verifier.config == load_bundle(bundle_folder).verifier.config


@pytest.mark.parametrize("recipe", ORDERED)
@pytest.mark.parametrize("order", ["bidirectional", "right-to-left"])
def test_another_order_is_trained_from_a_left_to_right_model(
    recipe: str, order: Order, text: Path, bundle_folder: Path, tmp_path: Path
) -> None:
    assert train("train-verifier", tmp_path / "out", recipe, text, "--init", bundle_folder, "--order", order, changes=[]) == [2]
    assert load_bundle(tmp_path / "out").verifier.config == replace(load_bundle(bundle_folder).verifier.config, order=order)
    said = run("translate", "-m", tmp_path / "out", text, "--json", "--max-length", 6, "--threads", 1).stdout.splitlines()
    assert {json.loads(line)["decoding"] for line in said} == {"bidirectional" if order == "bidirectional" else "beam"}
    refused = command_line.run("translate", "-m", tmp_path / "out", text, "--decoding", "greedy")
    assert (refused.exit_code, f"order is {order}" in refused.stderr) == (2, True)


@pytest.mark.parametrize("recipe", MASKED)
def test_a_masked_model_is_trained_from_a_left_to_right_one(recipe: str, text: Path, bundle_folder: Path, tmp_path: Path) -> None:
    assert train("train-verifier", tmp_path / "out", recipe, text, "--init", bundle_folder, changes=[]) == [2]
    assert load_bundle(tmp_path / "out").verifier.config == replace(load_bundle(bundle_folder).verifier.config, order="masked")
    for passes, chosen in ((10, []), (4, ["--iterations", 4, "--length-beam", 2, "--precision", "float32"])):
        said = run("translate", "-m", tmp_path / "out", text, "--no-split", "--json", "--threads", 1, *chosen).stdout.splitlines()
        records = [json.loads(line) for line in said]
        assert {record["decoding"] for record in records} == {"mask-predict"}
        assert all(record["rounds"] % passes == 0 < record["rounds"] and record["score"] < 0 for record in records)
    refused = command_line.run("translate", "-m", tmp_path / "out", text, "--decoding", "greedy")
    assert (refused.exit_code, "order is masked, which only decoding mask-predict writes in" in refused.stderr) == (2, True)


@pytest.mark.parametrize("recipe", DRAFTERS)
def test_a_drafter_is_trained(recipe: str, text: Path, bundle_folder: Path, tmp_path: Path) -> None:
    changes = HEADS if recipe == "blockwise" else BLOCK + (OWN if recipe in ("gad-big-drafter", "gad-drafter", "report-drafter") else [])
    assert train("train-drafter", tmp_path / "out", recipe, text, "--model", bundle_folder, changes=changes) == [2]
    names = ("greedy", "blockwise" if recipe == "blockwise" else "specdec")
    decoded = [run("translate", "-m", tmp_path / "out", text, "--decoding", name, "--max-length", 6) for name in names]
    assert decoded[0].stdout == decoded[1].stdout


def test_the_stages_of_the_report_are_trained(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    task = ("--task", "correct", "--target-language", "en")
    train("train-verifier", tmp_path / "first", "report-gec-pretrain", text, "--tokenizer", tokenizer.path, *task, changes=SHAPE)
    assert train("train-verifier", tmp_path / "second", "report-gec-finetune", text, "--init", tmp_path / "first", *task, changes=[]) == [2]
    first, second = (load_bundle(tmp_path / name) for name in ("first", "second"))
    assert first.verifier.config == second.verifier.config
    assert second.info.task == "correct"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_few_decoder_layers_are_trained_from_a_pretrained_model(text: Path, bart_folder: Path, tmp_path: Path) -> None:
    layers = ["model.encoder_layers=2", "model.decoder_layers=1"]
    train("train-verifier", tmp_path / "first", "report-gec-12-2", text, "--init", bart_folder, "--task", "correct", changes=layers)
    assert train("train-verifier", tmp_path / "second", "report-gec-finetune", text, "--init", tmp_path / "first", changes=[]) == [2]
    config = load_bundle(tmp_path / "second").verifier.config
    assert (config.encoder_layers, config.decoder_layers, config.max_positions) == (2, 1, 1024)


@pytest.mark.parametrize("recipe", ["en-gec-corrupt", "en-gec-corrupt-learners"])
def test_the_recipes_of_errors_are_applied(recipe: str, tmp_path: Path) -> None:
    (tmp_path / "clean.txt").write_text("".join(f"{line}\n" for line in english_sentences(40)), encoding="utf-8")
    run("corrupt", tmp_path / "clean.txt", "--recipe", recipe, "-o", tmp_path / "pairs.tsv", "--processes", 1)
    pairs = [line.split("\t") for line in (tmp_path / "pairs.tsv").read_text(encoding="utf-8").splitlines()]
    assert [clean for _, clean in pairs] == english_sentences(40)
    assert any(corrupted != clean for corrupted, clean in pairs)
