"""`specdec train-verifier`, and errors of both training commands."""

import csv
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from specdec_cli.model.bundle_info import read_info
from specdec_cli.text.tokenize.sentencepiece import Subwords
from specdec_cli.training.trainer import Report
from specdec_cli.work.training_view import TrainingView
from tests.command_line import done, run
from tests.commands.training.conftest import RUN, SMALL, settings, train_verifier
from tests.conftest import largest_file


def test_a_run_continues_from_its_checkpoint(trained: Path, text: Path, tokenizer: Subwords) -> None:
    assert train_verifier(trained, text, tokenizer, "run.max_updates=6").exit_code == 0
    with (trained / "metrics.csv").open(encoding="utf-8") as stream:
        updates = [int(row["update"]) for row in csv.DictReader(stream)]
    assert updates == [2, 4, 6]
    assert run("translate", "-m", trained, text, "--max-length", 4).exit_code == 0


def test_a_run_ends_with_its_floating_point_operations(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    counted = []
    for updates in (1, 3):
        result = done(train_verifier(tmp_path / str(updates), text, tokenizer, f"run.max_updates={updates}"))
        (found,) = re.findall(rf"update {updates} took (\S+) floating-point operations", result.stderr)
        counted.append(float(found))
    layers = load_bundle(tmp_path / "1").verifier.named_parameters()
    weights = sum(weight.numel() for name, weight in layers if "layer" in name and weight.ndim == 2)
    tokens = min(len(tokenizer.encode(line.split("\t")[0])) for line in text.read_text(encoding="utf-8").splitlines())
    assert counted[0] > 6 * weights * tokens
    assert counted[1] == pytest.approx(3 * counted[0], rel=0.01)


def test_an_evaluation_is_one_line_of_the_log(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    result = train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=2")
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("update 2")]
    assert re.search(r"  \d+ (s|min) left$", line)


def test_a_resumed_run_reports_its_start_and_repeats_no_log_row(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "killed")
    metrics = folder / "metrics.csv"
    rows = metrics.read_text(encoding="utf-8").splitlines(keepends=True)
    last = next(row for row in rows if ",4," in row)
    # A killed process leaves log rows after the checkpoint, the last one incomplete.
    metrics.write_text("".join([*rows, last.replace(",4,", ",100,", 1), last.replace(",4,", ",200,", 1)[:30]]), encoding="utf-8")
    result = done(train_verifier(folder, text, tokenizer, "run.max_updates=8"))
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
    resumed = done(train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=4"))
    assert "resuming after update 3 of 4" in resumed.stderr
    assert "warning" not in resumed.stderr


def test_a_run_that_stops_before_its_first_evaluation_leaves_a_bundle(
    text: Path, tokenizer: Subwords, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TrainingView, "__call__", lambda *_: signal.raise_signal(signal.SIGINT))
    stopped = train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=20")
    assert stopped.exit_code == 130
    assert "stopped after update 1, before the first evaluation; the same command resumes there" in stopped.stderr
    assert run("translate", "-m", tmp_path / "run", text, "--max-length", 4).exit_code == 0


@pytest.mark.parametrize("file", ["verifier/model.safetensors", "checkpoint.pt"])
def test_a_full_disk_is_an_error_that_names_the_file(file: str, trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    if file != "checkpoint.pt":  # otherwise the checkpoint, which is larger and written first, would be the first that does not fit
        shutil.copy(trained / "checkpoint.pt", tmp_path / "run")
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
    result = done(train_verifier(tmp_path / "some", mixed, tokenizer, *shape))
    assert re.search(r"mixed\.tsv: \d+ of 26 pairs are left out, longer than the model's 16 positions", result.stderr)


def test_pairs_with_a_blank_side_are_left_out_and_counted(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    mixed, half = tmp_path / "mixed.tsv", tmp_path / "half.tsv"
    mixed.write_text(text.read_text(encoding="utf-8") + "\tka lo\nka lo\t \n\t\n", encoding="utf-8")
    half.write_text("ka lo\t\n", encoding="utf-8")
    result = done(train_verifier(tmp_path / "some", mixed, tokenizer, "run.max_updates=2"))
    assert "mixed.tsv: 3 of 27 pairs are left out, blank on one side or both" in result.stderr
    none = train_verifier(tmp_path / "none", half, tokenizer, "run.max_updates=2")
    assert (none.exit_code, "half.tsv: all 1 pairs are blank on one side or both" in none.stderr) == (3, True)


def test_a_dev_set_without_a_usable_pair_is_named(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    long = tmp_path / "long.tsv"
    long.write_text("ka lo mi ta re su no pe di fo ka lo mi ta re su no\tka\n", encoding="utf-8")
    shape = settings(*SMALL, *RUN, "model.max_positions=16")
    result = run("train-verifier", tmp_path / "a", "--data", text, "--dev", long, "--tokenizer", tokenizer.path, "--device", "cpu", *shape)
    assert result.exit_code == 3
    assert "long.tsv: all 1 pairs are longer than the model's 16 positions" in result.stderr
    assert not (tmp_path / "a").exists()


def test_data_from_a_pipe_is_refused(tokenizer: Subwords, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.tsv")
    result = train_verifier(tmp_path / "run", tmp_path / "pipe.tsv", tokenizer)
    assert (result.exit_code, "pipe.tsv: not a regular file" in result.stderr) == (3, True)


@pytest.mark.parametrize(("content", "words"), [("", ": empty"), ("a\tb\nc\n", ", line 2: 1 tab-separated field, expected 2")])
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
    assert (result.exit_code, words in result.stderr) == (2, True)
    assert not (tmp_path / "run").exists()


def test_a_preset_that_contradicts_the_initial_model_is_named(text: Path, trained: Path, tmp_path: Path) -> None:
    arguments = ["--data", text, "--dev", text, "--threads", 1, "--init", trained]
    result = run("train-verifier", tmp_path / "run", *arguments, *settings(*RUN, "preset=big", "run.max_updates=1"))
    assert (result.exit_code, "preset big is not the shape of the initial model (width 32, not 1024" in result.stderr) == (2, True)


@pytest.mark.parametrize(("width", "words"), [(32, ""), (128, "the initial model has width 32, not 128; only encoder_layers")])
def test_a_shape_is_compared_with_that_of_the_initial_model(width: int, words: str, text: Path, trained: Path, tmp_path: Path) -> None:
    arguments = ["--data", text, "--dev", text, "--threads", 1, "--device", "cpu", "--init", trained]
    result = run("train-verifier", tmp_path / "run", *arguments, *settings(*RUN, f"model.width={width}", "run.max_updates=1"))
    assert (result.exit_code, words in result.stderr) == (2 if words else 0, True)


def test_a_shape_without_preset_and_initial_model_is_that_of_the_preset_small(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    arguments = ["--data", text, "--dev", text, "--tokenizer", tokenizer.path, "--threads", 1, "--device", "cpu"]
    result = run("train-verifier", tmp_path / "run", *arguments, *settings(*RUN, "model.width=64"))
    assert (result.exit_code, "preset small" in result.stderr, "multiple of 6 heads" in result.stderr) == (2, True, True)
    assert not (tmp_path / "run").exists()


def test_masked_models_are_refused_as_verifier_and_teacher(make_bundle: Callable[..., Bundle], text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "masked"
    save_bundle(make_bundle(order="masked"), folder)
    drafted = run("train-drafter", tmp_path / "drafter", "-m", folder, "--data", text, "--dev", text, "--threads", 1)
    assert (drafted.exit_code, "drafters are for models of order left-to-right, not masked" in drafted.stderr) == (2, True)
    alone = run("distill", folder, tmp_path / "alone", text, "--threads", 1)
    assert alone.exit_code == 3
    assert f"{folder}: CTranslate2 does not support this model: order 'masked' (supported: left-to-right)" in alone.stderr
    together = run("distill", folder, tmp_path / "together", text, "--with", folder, "--threads", 1)
    assert (together.exit_code, "beam search, which models of order masked cannot do" in together.stderr) == (3, True)


def test_missing_inputs_of_training_are_named(text: Path, tmp_path: Path, trained: Path) -> None:
    assert "no tokenizer.model beside" in run("train-verifier", tmp_path / "a", "--data", text, "--dev", text).stderr
    assert "no such file" in run("train-verifier", tmp_path / "a", "--data", tmp_path / "no.tsv", "--dev", text).stderr
    assert f"{tmp_path}: this folder has no train.tsv" in run("train-verifier", tmp_path / "a", "--data", tmp_path, "--dev", text).stderr
    tokenizer = run("train-verifier", tmp_path / "a", "--data", text, "--dev", text, "--tokenizer", tmp_path / "no.model")
    assert (tokenizer.exit_code, f"{tmp_path / 'no.model'}: no such file" in tokenizer.stderr) == (3, True)
    assert "give either --source" in run("train-drafter", tmp_path / "a", "-m", trained, "--dev", text).stderr
    unknown = run("train-verifier", tmp_path / "a", "--data", text, "--dev", text, "--recipe", "nothing")
    assert (unknown.exit_code, "gad-verifier" in unknown.stderr) == (2, True)


def test_the_task_is_that_of_the_initial_model(trained: Path, text: Path, tmp_path: Path) -> None:
    def train(name: str, *options: object) -> tuple[str, str, str]:
        arguments = ["--data", text, "--dev", text, "--threads", 1, "--device", "cpu", *settings(*RUN, "run.max_updates=1")]
        done(run("train-verifier", tmp_path / name, *arguments, *options))
        info = read_info(tmp_path / name)
        return info.task, info.source_language, info.target_language

    assert train("corrector", "--init", trained, "--task", "correct") == ("correct", "en", "en")
    assert train("further", "--init", tmp_path / "corrector") == ("correct", "en", "en")
    # A model that is trained on keeps rules of output and licence, but not what was chosen for its earlier weights.
    description = tmp_path / "further" / "bundle.json"
    chosen = {"most_copies": 2, "licence": "CC-BY-4.0", "block_size": 4, "modes": {"careful": [0.5, -1.0]}}
    description.write_text(json.dumps(json.loads(description.read_text()) | chosen))
    train("furthest", "--init", tmp_path / "further")
    info = read_info(tmp_path / "furthest")
    assert (info.most_copies, info.licence, info.block_size, info.modes) == (2, "CC-BY-4.0", 0, {})
    assert train("back", "--init", tmp_path / "corrector", "--task", "translate", "--target-language", "de") == ("translate", "en", "de")


def test_the_time_left_is_that_of_the_last_epoch(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    result = done(
        train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=1000000", "run.max_epochs=1", "run.evaluate_every=1000000")
    )
    assert result.stderr.splitlines()[-2].endswith("  0 s left")


def test_a_model_of_the_form_of_t5_is_trained_and_decodes_in_both_engines(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    sizes = [each for each in SMALL if each.startswith("model.")]
    done(train_verifier(tmp_path / "run", text, tokenizer, "preset=t5", *sizes, "run.max_updates=40"))
    shape = load_bundle(tmp_path / "run").shape
    assert (shape.positions, shape.norm_kind, shape.gated, shape.biases) == ("relative", "rms", True, False)
    with (tmp_path / "run" / "metrics.csv").open(encoding="utf-8") as stream:
        losses = [float(row["loss"]) for row in csv.DictReader(stream)]
    assert losses[-1] < losses[0]
    for engine in ("native", "reference"):
        done(run("translate", "-m", tmp_path / "run", text, "--engine", engine, "--max-length", 4, "--stats"))
