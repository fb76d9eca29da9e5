"""Every shipped recipe runs from end to end, with tiny models and tiny text."""

import csv
import json
import lzma
import os
import random
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specdec_cli.app import app
from specdec_cli.model.bundle import load_bundle
from specdec_cli.text.folding import Order
from specdec_cli.text.subwords import Subwords

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "specdec_cli" / "recipes"

SHAPE = ["model.width=32", "model.feed_forward=64", "model.heads=2", "model.encoder_layers=1", "model.decoder_layers=1"]
HEADS = ["drafter.feed_forward=64", "drafter.max_block=3"]
BLOCK = ["drafter.feed_forward=64", "drafter.layers=1", "drafter.max_block=3"]
OWN = ["drafter.model.width=32", "drafter.model.heads=2", "drafter.model.encoder_layers=1"]
RUN = ["run.max_updates=2", "run.evaluate_every=2", "run.batch_tokens=64", "run.precision=32-true"]

SCRATCH = ("double-token", "en-de-verifier", "gad-verifier", "mask-predict", "report-gec-pretrain", "report-gec-scratch")
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
SCRIPTS = ("en-de.sh", "en-gec.sh", "papers.sh", "zh-gec.sh")
OTHERS = ("en-gec-corrupt", "en-gec-corrupt-learners", "zh-gec-corrupt", "report-gec-finetune", "report-gec-12-2")


def run(*arguments: object) -> Result:
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    return result


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
    assert (config.width, config.norm) == (32, "pre" if recipe == "en-de-verifier" else "post")


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
    refused = CliRunner().invoke(app, ["translate", "-m", str(tmp_path / "out"), str(text), "--decoding", "greedy"])
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
    refused = CliRunner().invoke(app, ["translate", "-m", str(tmp_path / "out"), str(text), "--decoding", "greedy"])
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
    (tmp_path / "clean.txt").write_text("".join(f"{line}\n" for line in _sentences(40)), encoding="utf-8")
    run("corrupt", tmp_path / "clean.txt", "--recipe", recipe, "-o", tmp_path / "pairs.tsv", "--processes", 1)
    pairs = [line.split("\t") for line in (tmp_path / "pairs.tsv").read_text(encoding="utf-8").splitlines()]
    assert [clean for _, clean in pairs] == _sentences(40)
    assert any(corrupted != clean for corrupted, clean in pairs)


def test_the_script_of_the_translator_runs(tmp_path: Path) -> None:
    generator = random.Random(0)
    english, german = ("red green house river old new man sun", "rot gruen haus fluss alt neu mann sonne")
    words = dict(zip(english.split(), german.split(), strict=True))
    sources = sorted({tuple(generator.choices(list(words), k=generator.randint(1, 4))) for _ in range(400)})
    pairs = [f"{' '.join(source)}\t{' '.join(words[word] for word in source)}\n" for source in generator.sample(sources, len(sources))]
    (tmp_path / "text").mkdir()
    for name, domain, some in (("train", "tatoeba", pairs[5::2]), ("train2", "manual-one", pairs[:5] + pairs[6::2])):
        with lzma.open(tmp_path / "text" / f"{name}.tsv.xz", "wt", encoding="utf-8") as stream:
            stream.writelines(f"{domain}\t{pair}" for pair in some)
    for name in ("tatoeba", "chat"):
        (tmp_path / "text" / f"dev.{name}.tsv").write_text("".join(pairs[:5]), encoding="utf-8")
    _run_script("en-de.sh", tmp_path)
    counts = json.loads((tmp_path / "work" / "data" / "prepare.json").read_text(encoding="utf-8"))["pairs"]
    assert counts["dropped"] == {"held out": 5} and counts["kept"] == len(pairs) - 5
    made = load_bundle(tmp_path / "work" / "en-de")
    assert made.drafter is not None
    assert made.info.decoding == "specdec"


def test_the_script_of_the_corrector_runs(bundle_folder: Path, tmp_path: Path) -> None:
    sentences = _sentences(60) + [f"I agree that she is {n} years old, and I want to see her." for n in range(20, 40)]
    (tmp_path / "text").mkdir()
    with lzma.open(tmp_path / "text" / "clean.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"{'tatoeba' if place % 3 else 'wikinews'}\t{line}\n" for place, line in enumerate(sentences))
    edited = (f"{line.replace('the', 'teh')}\t{line}\n" for line in sentences[:20])
    (tmp_path / "text" / "pairs.eracond.tsv").write_text("".join(edited), encoding="utf-8")
    (tmp_path / "text" / "dev.web.m2").write_text(
        "S The old dog drive .\nA 0 5|||R|||" + sentences[3].replace(".", " .") + "|||-|||-|||0\n"
    )
    (tmp_path / "text" / "dev.essays").mkdir()
    (tmp_path / "text" / "dev.essays" / "reference0").write_text(sentences[4].upper() + "\n")
    (tmp_path / "other.txt").write_text(sentences[62] + "\n")
    (tmp_path / "more.txt").write_text("Only the n-grams have this.\n" * 2)
    further = {"HELD_OUT": str(tmp_path / "other.txt"), "NGRAM_TEXT": str(tmp_path / "more.txt")}
    _run_script("en-gec.sh", tmp_path, INIT=str(bundle_folder), **further)
    for name, dropped in (("data", {3, 4, 62}), ("chat", {3, 4}), ("learners", {3, 4, 62}), ("few", {3, 4, 62}), ("text", {3, 4, 62})):
        trained = [line.split("\t")[-1] for line in (tmp_path / "work" / name / "train.tsv").read_text(encoding="utf-8").splitlines()]
        assert trained and not {sentences[place] for place in dropped} & set(trained), name
    assert sentences[5] in (tmp_path / "work" / "data" / "train.tsv").read_text(encoding="utf-8")
    made = load_bundle(tmp_path / "work" / "en-gec")
    assert (made.info.task, made.info.decoding, made.info.modes["balanced"]) == ("correct", "input-guided", (-0.19, -2.0))
    assert made.ngrams is not None
    assert made.ngrams.log_ratio("Only the n-grams has this.", "Only the n-grams have this.") > 0


def test_the_script_of_the_chinese_corrector_runs(bundle_folder: Path, tmp_path: Path) -> None:
    generator = random.Random(0)
    clean = ["".join(generator.choices("我你他在家学校看书买菜的了很好天早晚", k=generator.randint(5, 12))) + "。" for _ in range(80)]
    references = ("没有错误" if i % 5 == 0 else f"{line}\t{line}好" for i, line in enumerate(clean))
    pairs = [
        f"{line if i % 5 == 0 else line[1:]}\t{reference}\n" for i, (line, reference) in enumerate(zip(clean, references, strict=True))
    ]
    (tmp_path / "text").write_text("".join(pairs), encoding="utf-8")
    _run_script("zh-gec.sh", tmp_path, INIT=str(bundle_folder))
    work = tmp_path / "work"
    trained, held_out = ((work / name).read_text(encoding="utf-8").splitlines() for name in ("clean.txt", "test.tsv"))
    assert {clean[0], clean[2], f"{clean[2]}好", clean[10]} <= set(trained) and not set(trained) & set(clean[1::2])
    assert held_out[0] == pairs[1].rstrip("\n") and held_out[7] == f"{clean[15]}\t{clean[15]}"
    assert load_bundle(work / "zh-gec").info.target_language == "zh"
    rows = json.loads((work / "zh-gec.json").read_text(encoding="utf-8"))["rows"]
    assert [row["decoding"] for row in rows] == ["greedy", "beam", "input-guided"]
    assert rows[0]["identical"] == rows[2]["identical"] == [40, 40] and rows[0]["f05"] is not None


def test_the_script_of_the_papers_runs_and_continues(tmp_path: Path) -> None:
    text = tmp_path / "text"
    (text / "en-de").mkdir(parents=True)
    (text / "en-gec").mkdir()
    sentences = _sentences(400)
    with lzma.open(text / "en-de" / "train.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"news\t{line}\t{line.replace('the', 'das')}\n" for line in sentences)
    (text / "en-de" / "dev.news.tsv").write_text("A b.\tC d.\n", encoding="utf-8")
    (text / "en-gec" / "dev.web.m2").write_text(f"S {sentences[1]}\n", encoding="utf-8")
    with lzma.open(text / "en-gec" / "clean.tsv.xz", "wt", encoding="utf-8") as stream:
        stream.writelines(f"news\t{line}\n" for line in sentences)
    _run_script("papers.sh", tmp_path, STAGES="left-to-right raw deep-shallow")
    trained = tmp_path / "work" / "raw" / "verifier" / "model.safetensors"
    before = trained.stat().st_mtime_ns
    _run_script("papers.sh", tmp_path)
    assert trained.stat().st_mtime_ns == before
    gec = (tmp_path / "work" / "gec-data" / "train.tsv").read_text(encoding="utf-8")
    assert sentences[2] in gec and sentences[1] not in gec
    folders = {path.parent.name for path in (tmp_path / "work").glob("*/bundle.json")}
    assert folders == {path.stem for path in (tmp_path / "work" / "done").iterdir()}
    assert {"bidirectional", "masked", "blockwise", "gad", "gad-quick", "gad-big", "gec-deep", "vocabulary-4000-bidirectional"} <= folders


def _sentences(count: int) -> list[str]:
    """English sentences to which most kinds of errors apply."""
    generator = random.Random(0)
    choices = (("man", "girl", "teacher", "dog"), ("walks", "goes", "runs", "drives"), ("house", "school", "river", "city"))
    made = [[generator.choice(words) for words in choices] for _ in range(count)]
    return [f"The old {who} {does} to the {where} every {n}th day." for n, (who, does, where) in enumerate(made)]


def _run_script(name: str, folder: Path, **variables: str) -> None:
    """Run a recipe script with TRIAL=1, from `folder`/text to `folder`/work."""
    if missing := [tool for tool in ("bash", "xzcat", "awk") if shutil.which(tool) is None]:
        pytest.skip(f"{', '.join(missing)} not installed")
    command = folder / "bin" / "specdec"
    command.parent.mkdir(exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m specdec_cli "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    paths = {"PATH": f"{command.parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    environment = {**os.environ, **paths, **variables, "TRIAL": "1", "OMP_NUM_THREADS": "1"}
    arguments = ["bash", str(FOLDER / name), str(folder / "text"), str(folder / "work")]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
