"""`specdec train-verifier` and `train-drafter`: from text to a bundle that translates."""

import csv
import re
import shutil
import signal
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from specdec_cli.app import app
from specdec_cli.commands.machine import resolve_machine
from specdec_cli.commands.simulation_view import COLUMNS
from specdec_cli.commands.train_drafter import with_new_drafter
from specdec_cli.commands.training_view import TrainingView
from specdec_cli.model.bundle import Bundle, load_bundle, read_info, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.recipe import load_recipe
from specdec_cli.text.subwords import Subwords
from specdec_cli.training.loop import Report
from specdec_cli.training.recipe import DrafterRecipe
from tests.conftest import largest_file

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


def test_a_run_continues_from_its_checkpoint(trained: Path, text: Path, tokenizer: Subwords) -> None:
    assert train_verifier(trained, text, tokenizer, "run.max_updates=6").exit_code == 0
    with (trained / "metrics.csv").open(encoding="utf-8") as stream:
        updates = [int(row["update"]) for row in csv.DictReader(stream)]
    assert updates == [2, 4, 6]
    assert run("translate", "-m", trained, text, "--max-length", 4).exit_code == 0


def test_a_resumed_run_reports_its_start_and_repeats_no_log_row(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "killed")
    metrics = folder / "metrics.csv"
    rows = metrics.read_text(encoding="utf-8").splitlines(keepends=True)
    last = next(row for row in rows if ",4," in row)
    # A killed process leaves log rows after the checkpoint, the last one incomplete.
    metrics.write_text("".join([*rows, last.replace(",4,", ",100,", 1), last.replace(",4,", ",200,", 1)[:30]]), encoding="utf-8")
    result = train_verifier(folder, text, tokenizer, "run.max_updates=8")
    assert result.exit_code == 0, result.output
    resumed = re.search(r"checkpoint\.pt: resuming after update (\d) of 8", result.stderr)
    assert resumed is not None
    with metrics.open(encoding="utf-8") as stream:
        updates = [int(row["update"]) for row in csv.DictReader(stream)]
    assert updates == [2, 4, 6, 8]


def test_ctrl_c_stores_a_checkpoint_and_names_the_way_to_resume(
    text: Path, tokenizer: Subwords, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hear = TrainingView.__call__

    def interrupt(view: TrainingView, report: Report) -> None:
        hear(view, report)
        if report.progress.update == 3:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(TrainingView, "__call__", interrupt)
    stopped = train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=20")
    assert stopped.exit_code == 130
    assert "stopped after update 3; the same command resumes there" in stopped.stderr
    resumed = train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=4")
    assert resumed.exit_code == 0
    assert "resuming after update 3 of 4" in resumed.stderr


@pytest.mark.parametrize("file", ["verifier/model.safetensors", "checkpoint.pt"])
def test_a_full_disk_is_an_error_that_names_the_file(file: str, trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    # A checkpoint is larger than the bundle, so that each can be the first that does not fit.
    with largest_file((trained / file).stat().st_size - 1000):
        result = train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=2")
    assert result.exit_code == 3
    assert f"specdec: error: {tmp_path / 'run' / file}: " in result.stderr
    assert not list((tmp_path / "run").rglob("*.partial"))


def test_pairs_beyond_the_positions_are_counted(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    mixed = tmp_path / "mixed.tsv"
    mixed.write_text(text.read_text(encoding="utf-8") + 2 * "ka lo mi ta re su no pe di fo ka lo mi ta re su no\tka\n", encoding="utf-8")
    shape = ["model.max_positions=64", "run.max_updates=2"]
    assert "left out" not in train_verifier(tmp_path / "all", mixed, tokenizer, *shape).stderr
    shape[0] = "model.max_positions=16"
    result = train_verifier(tmp_path / "some", mixed, tokenizer, *shape)
    assert result.exit_code == 0, result.output
    assert re.search(r"mixed\.tsv: \d+ of 26 pairs are left out, longer than the model's 16 positions", result.stderr)


def test_a_dev_set_without_a_usable_pair_is_named(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    long = tmp_path / "long.tsv"
    long.write_text("ka lo mi ta re su no pe di fo ka lo mi ta re su no\tka\n", encoding="utf-8")
    shape = settings(*SMALL, *RUN, "model.max_positions=16")
    result = run("train-verifier", tmp_path / "a", "--data", text, "--dev", long, "--tokenizer", tokenizer.path, "--device", "cpu", *shape)
    assert result.exit_code == 3
    assert "long.tsv: all 1 pairs are longer than the model's 16 positions" in result.stderr
    assert not (tmp_path / "a").exists()


@pytest.mark.parametrize(("content", "words"), [("", ": empty"), ("a\tb\nc\n", ", line 2: 1 tab-separated fields, expected 2")])
@pytest.mark.parametrize("command", ["train-verifier", "train-drafter", "train-drafter --source"])
def test_input_is_checked_before_a_model_is_loaded(content: str, words: str, command: str, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.tsv", tmp_path / "bad.tsv"
    good.write_text("ka\tlo\n", encoding="utf-8")
    bad.write_text(content, encoding="utf-8")
    name, *kind = command.split()
    model = "--init" if name == "train-verifier" else "--model"
    for data, dev in ((bad, good), (good, bad)):
        result = run(name, tmp_path / "a", *kind or ["--data"], data, "--dev", dev, model, "no/model/here")
        assert result.exit_code == 3
        assert f"{bad}{words}" in result.stderr


def test_the_missing_extra_of_training_is_named(text: Path, trained: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightning_fabric", None)
    commands = (["train-verifier", tmp_path / "a", "--data", text], ["train-drafter", tmp_path / "a", "-m", trained, "--data", text])
    for command in commands:
        result = run(*command, "--dev", text)
        assert result.exit_code == 2
        assert "pip install 'specdec[training]'" in result.stderr


def test_a_drafter_is_trained_and_simulated(trained: Path, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    shape = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    arguments = ["train-drafter", folder, "-m", trained, "--data", text, "--dev", text, "--threads", 1, "--device", "cpu"]
    result = run(*arguments, *settings(*RUN, *shape))
    assert result.exit_code == 0, result.output
    assert "tokens_per_round" in result.stderr
    simulated = run("train-drafter", folder, "-m", folder, "--dev", text, "--simulate", "--threads", 1, "--device", "cpu")
    assert simulated.exit_code == 0, simulated.output
    assert all(word in simulated.stdout for column in COLUMNS for word in column.split())
    assert f"precision {resolve_machine('cpu', 'auto', 1).precision}" in simulated.stdout
    greedy, specdec = (run("translate", "-m", folder, text, "--decoding", name, "--max-length", 8) for name in ("greedy", "specdec"))
    assert greedy.stdout_bytes == specdec.stdout_bytes


def test_heads_are_trained_and_simulated(trained: Path, text: Path, tmp_path: Path) -> None:
    folder, data = tmp_path / "heads", ("--data", text, "--dev", text, "--threads", 1, "--device", "cpu")
    shape = ["drafter.kind=heads", "drafter.max_block=3", "drafter.feed_forward=64", "run.max_updates=2"]
    result = run("train-drafter", folder, "-m", trained, *data, *settings(*RUN, *shape))
    assert result.exit_code == 0, result.output
    again = run("train-drafter", tmp_path / "again", "-m", trained, *data, "--init", folder, *settings(*RUN, *shape))
    assert again.exit_code == 0, again.output
    other = run("train-drafter", tmp_path / "other", "-m", trained, *data, "--init", folder, *settings(*RUN, "run.max_updates=2"))
    assert (other.exit_code, "a drafter of kind heads cannot be the start of one of kind block" in other.stderr) == (2, True)
    simulated = run("train-drafter", folder, "-m", folder, "--dev", text, "--simulate", "--threads", 1, "--device", "cpu")
    assert simulated.exit_code == 0, simulated.output
    assert [line.split()[0] for line in simulated.stdout.splitlines() if line.strip()[:1].isdigit()] == ["1", "2", "3"]
    translate = ("translate", "-m", folder, text, "--max-length", 8)
    greedy, blockwise = (run(*translate, "--trace", "--decoding", name) for name in ("greedy", "blockwise"))
    assert greedy.stdout_bytes == blockwise.stdout_bytes
    assert len(blockwise.stderr.splitlines()) > 3  # the rounds
    refused = run(*translate, "--decoding", "specdec")
    assert (refused.exit_code, "this bundle has heads, not a block drafter" in refused.stderr) == (2, True)


def test_a_new_drafter_of_another_kind_replaces_the_old_one(bundle: Bundle) -> None:
    asked = replace(bundle, info=replace(bundle.info, decoding="specdec"))
    heads = load_recipe(DrafterRecipe, None, ["drafter.kind=heads"])
    assert with_new_drafter(asked, heads, None).info.decoding == "blockwise"
    assert with_new_drafter(asked, DrafterRecipe(), None).info.decoding == "specdec"
    assert with_new_drafter(bundle, heads, None).info.decoding == bundle.info.decoding == "greedy"


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_drafters_are_trained_on_texts_of_hundreds_of_tokens(bart_folder: Path, lines: list[str], tmp_path: Path) -> None:
    long, tsv = " ".join(2 * lines), tmp_path / "long.tsv"
    longer = " ".join(6 * [long])
    tsv.write_text(f"{long}\t{long}\n{longer}\t{long}\n{lines[0]}\t{lines[0]}\n", encoding="utf-8")
    shape = ["drafter.prefix=own", "drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    arguments = ["train-drafter", tmp_path / "out", "-m", bart_folder, "--data", tsv, "--dev", tsv, "--threads", 1, "--device", "cpu"]
    result = run(*arguments, *settings(*RUN, *shape))
    assert result.exit_code == 0, result.output
    assert "long.tsv: 1 of 3 pairs are left out, longer than the model's 1,024 positions" in result.stderr
    assert "long.tsv: 1 of 3 lines are left out" in result.stderr
    assert 256 < len(load_bundle(tmp_path / "out").tokenizer.encode(long)) < 1024


@pytest.mark.parametrize("recipe", ["gad-drafter", "gad-big-drafter", "report-drafter"])
def test_the_drafter_of_the_paper_is_trained_by_its_recipe(
    recipe: str, trained: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(BlockDrafter, "initialize_from_verifier")  # it starts from random weights
    folder = tmp_path / "drafter"
    shape = ["drafter.layers=2", "drafter.feed_forward=64", "drafter.max_block=3", "run.max_updates=2", "run.accumulation=1"]
    model = ["drafter.model.width=48", "drafter.model.heads=3", "drafter.model.encoder_layers=1"]
    arguments = ["train-drafter", folder, "-m", trained, "--recipe", recipe, "--data", text, "--dev", text, "--threads", 1]
    result = run(*arguments, "--device", "cpu", *settings(*RUN, *shape, *model))
    assert result.exit_code == 0, result.output
    greedy, specdec = (run("translate", "-m", folder, text, "--decoding", name, "--max-length", 8) for name in ("greedy", "specdec"))
    assert greedy.stdout_bytes == specdec.stdout_bytes


def test_a_drafter_is_trained_on_text_in_one_language(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "dev.txt").write_text("\n".join([*lines[:4], ""]), encoding="utf-8")
    assert run("convert", bundle_folder, tmp_path / "verifier", "--set", "block_size=10").exit_code == 0
    arguments = ["--verifier", tmp_path / "verifier", "--source", tmp_path / "mono.txt", "--dev", tmp_path / "dev.txt", "--threads", 1]
    shape = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    result = run("train-drafter", tmp_path / "drafter", *arguments, "--device", "cpu", *settings(*RUN, *shape))
    assert result.exit_code == 0, result.output
    assert read_info(tmp_path / "drafter").block_size == 3  # no longer than the new drafter's blocks
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
def test_an_unknown_setting_is_named(changes: tuple[str, ...], words: str, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    result = train_verifier(tmp_path / "run", text, tokenizer, *changes)
    assert result.exit_code == 3
    assert words in result.stderr


def test_a_preset_that_contradicts_the_initial_model_is_named(text: Path, trained: Path, tmp_path: Path) -> None:
    arguments = ["--data", text, "--dev", text, "--threads", 1, "--init", trained]
    result = run("train-verifier", tmp_path / "run", *arguments, *settings(*RUN, "preset=big", "run.max_updates=1"))
    assert (result.exit_code, "preset big is not the shape of the initial model (width 32, not 1024" in result.stderr) == (2, True)


def test_masked_models_are_refused_as_verifier_and_teacher(make_bundle: Callable[..., Bundle], text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "masked"
    save_bundle(make_bundle(order="masked"), folder)
    drafted = run("train-drafter", tmp_path / "drafter", "-m", folder, "--data", text, "--dev", text, "--threads", 1)
    assert (drafted.exit_code, "drafters are for models of order left-to-right, not masked" in drafted.stderr) == (2, True)
    alone = run("distill", folder, tmp_path / "alone", text, "--threads", 1)
    assert (alone.exit_code, "order 'masked' (supported: left-to-right)" in alone.stderr) == (3, True)
    together = run("distill", folder, tmp_path / "together", text, "--with", folder, "--threads", 1)
    assert (together.exit_code, "beam search, which models of order masked cannot do" in together.stderr) == (3, True)


def test_missing_inputs_of_training_are_named(text: Path, tmp_path: Path, trained: Path) -> None:
    assert "no tokenizer.model beside" in run("train-verifier", tmp_path / "a", "--data", text, "--dev", text).stderr
    assert "no such file" in run("train-verifier", tmp_path / "a", "--data", tmp_path / "no.tsv", "--dev", text).stderr
    assert "give either --source" in run("train-drafter", tmp_path / "a", "-m", trained, "--dev", text).stderr
    unknown = run("train-verifier", tmp_path / "a", "--data", text, "--dev", text, "--recipe", "nothing")
    assert unknown.exit_code == 2
    assert "gad-verifier" in unknown.stderr
