"""Training commands in a folder that has a checkpoint or a bundle already."""

import shutil
import signal
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.text.tokenize.sentencepiece import Subwords
from specdec_cli.work.training_view import TrainingView
from tests.command_line import done, run
from tests.commands.training.conftest import RUN, SMALL, settings, train_verifier

DRAFTER = ["drafter.max_block=2", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]


def train_drafter(folder: Path, text: Path, model: Path, *changes: str, options: tuple[object, ...] = ()) -> Any:
    data = ["-m", model, "--data", text, "--dev", text, "--threads", 1, "--device", "cpu"]
    return run("train-drafter", folder, *data, *options, *settings(*RUN, *DRAFTER, *changes))


def change_checkpoint(folder: Path, **values: Any) -> None:
    stored = torch.load(folder / "checkpoint.pt", weights_only=True)
    torch.save(stored | values, folder / "checkpoint.pt")


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory, trained: Path, text: Path) -> Path:
    folder = tmp_path_factory.mktemp("run") / "drafter"
    done(train_drafter(folder, text, trained))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_with_another_bundle_is_refused(trained: Path, drafted: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(drafted, tmp_path / "own", ignore=shutil.ignore_patterns("checkpoint.pt"))
    before = contents(folder)
    for result in (train_verifier(folder, text, tokenizer), train_drafter(folder, text, trained)):
        words = f"{folder}: already has a bundle, and no checkpoint.pt from which training resumes; name another folder"
        assert (result.exit_code, words in result.stderr) == (2, True)
    assert contents(folder) == before


def test_a_drafter_can_be_trained_in_the_folder_of_its_verifier(
    drafted: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "own"
    assert run("convert", drafted, folder, "--storage", "float16").exit_code == 0
    before = contents(folder)
    with monkeypatch.context() as patch:
        patch.setattr(TrainingView, "__call__", lambda *_: signal.raise_signal(signal.SIGINT))
        assert train_drafter(folder, text, folder).exit_code == 130
    after = contents(folder)
    assert {name: after[name] for name in before} == before  # the earlier bundle stays until a drafter is evaluated
    for updates in (2, 3):
        resumed = train_drafter(folder, text, folder, f"run.max_updates={updates}")
        assert (resumed.exit_code, "resuming" in resumed.stderr, "began" in resumed.stderr) == (0, True, False), resumed.output
        assert "training on cpu in " in resumed.stderr and "in batches of up to " in resumed.stderr
    assert contents(folder)["drafter/model.safetensors"] != before["drafter/model.safetensors"]


def test_a_verifier_is_not_fine_tuned_in_its_own_folder(trained: Path, text: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "own", ignore=shutil.ignore_patterns("checkpoint.pt"))
    heads = settings("drafter.kind=heads", "verifier=fine-tuned")
    result = run("train-drafter", folder, "-m", folder, "--data", text, "--dev", text, *heads)
    assert (result.exit_code, f"{folder}: is the verifier itself" in result.stderr) == (2, True)


def test_a_run_that_is_killed_before_its_first_checkpoint_resumes(
    text: Path, tokenizer: Subwords, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def kill(*_: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(TrainingView, "__call__", kill)
        assert isinstance(train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=2").exception, RuntimeError)
    assert (tmp_path / "run" / "bundle.json").exists()
    assert train_verifier(tmp_path / "run", text, tokenizer, "run.max_updates=2").exit_code == 0
    assert train_verifier(tmp_path / "whole", text, tokenizer, "run.max_updates=2").exit_code == 0
    name = "verifier/model.safetensors"
    assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_a_run_that_continues_with_other_data_says_so(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    same = train_verifier(folder, text, tokenizer, "run.max_updates=5")
    assert (same.exit_code, "warning" in same.stderr) == (0, False)
    (other := tmp_path / "other.tsv").write_text(text.read_text(encoding="utf-8") * 3, encoding="utf-8")
    data = ["--data", other, "--dev", other, "--tokenizer", tokenizer.path, "--init", trained, "--task", "correct"]
    shape = settings(*SMALL[1:], *RUN, "run.max_updates=6")
    result = done(run("train-verifier", folder, *data, "--source-language", "de", "--threads", 1, "--device", "cpu", *shape))
    (warning,) = [line for line in result.stderr.splitlines() if "warning" in line]
    options = '--task="translate" (now "correct"), --source-language="en" (now "de"), preset="small" (now null)'
    expected = f"its run began with {options}, another --data, another --dev, another --init; to train from the start, name another folder"
    assert warning == f"specdec: warning: {folder}: {expected}"


def test_a_run_that_continues_with_other_data_of_a_drafter_says_so(
    trained: Path, drafted: Path, text: Path, lines: list[str], tmp_path: Path
) -> None:
    folder = shutil.copytree(drafted, tmp_path / "run")
    (other := tmp_path / "other.tsv").write_text(f"{lines[0]}\t{lines[0]}\n", encoding="utf-8")
    result = done(train_drafter(folder, text, trained, "run.max_updates=3", options=("--dev", other, "--init", drafted)))
    assert f"warning: {folder}: its run began with another --dev, another --init; to train" in result.stderr


def test_a_run_that_continues_with_other_settings_names_them(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    result = done(
        train_verifier(folder, text, tokenizer, "run.max_updates=6", "run.seed=3", "run.dropout=0.2", "optimizer.betas=[0.8, 0.9]")
    )
    (warning,) = [line for line in result.stderr.splitlines() if "warning" in line]
    changes = "optimizer.betas=[0.9, 0.98] (now [0.8, 0.9]), run.dropout=0.1 (now 0.2), run.seed=1 (now 3)"
    assert warning == f"specdec: warning: {folder}: its run began with {changes}; to train from the start, name another folder"


def test_the_settings_of_the_first_run_are_kept(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    changed = train_verifier(folder, text, tokenizer, "run.max_updates=6", "optimizer.learning_rate=0.1")
    assert "its run began with optimizer.learning_rate=0.001 (now 0.1);" in changed.stderr
    as_before = train_verifier(folder, text, tokenizer, "run.max_updates=8")
    assert (as_before.exit_code, "resuming after update 6" in as_before.stderr, "warning" in as_before.stderr) == (0, True, False)


def test_checkpoints_of_older_versions_are_resumed(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    stored = torch.load(folder / "checkpoint.pt", weights_only=True)
    old = {name: value for name, value in stored.items() if name not in ("settings", "inputs")}
    torch.save(old, folder / "checkpoint.pt")
    for updates in (6, 8):
        result = train_verifier(folder, text, tokenizer, f"run.max_updates={updates}", "run.seed=3")
        assert (result.exit_code, "resuming" in result.stderr, "warning" in result.stderr) == (0, True, False)
    torch.save(old | {"settings": {"run.seed": 1, "model.width": 32, "preset": "small"}}, folder / "checkpoint.pt")
    result = train_verifier(folder, text, tokenizer, "run.max_updates=6", "run.seed=3")
    assert (result.exit_code, "its run began with run.seed=1 (now 3)" in result.stderr) == (0, True)


def test_the_initial_weights_cannot_be_kept_later(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    result = train_verifier(folder, text, tokenizer, "run.max_updates=6", "run.keep_start=0.3")
    assert (result.exit_code, "because its run began with run.keep_start=0" in result.stderr) == (2, True)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["drafter.feed_forward=128"], "drafter.feed_forward=64 (now 128)"),
        (["drafter.kind=heads", "drafter.max_block=3"], 'drafter.kind="block" (now "heads"), '),
    ],
)
def test_another_shape_of_a_drafter_is_named(
    changes: list[str], words: str, trained: Path, drafted: Path, text: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(drafted, tmp_path / "run")
    before = contents(folder)
    result = train_drafter(folder, text, trained, *changes)
    expected = f"{folder / 'checkpoint.pt'}: cannot be resumed, its run began with {words}"
    assert (result.exit_code, expected in result.stderr, "; name another folder" in result.stderr) == (2, True, True)
    assert contents(folder) == before


def test_another_shape_of_a_verifier_is_named(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    result = train_verifier(folder, text, tokenizer, "model.width=64", "model.norm=post")
    words = 'cannot be resumed, its run began with model.width=32 (now 64), model.norm=null (now "post"); name another folder'
    assert (result.exit_code, words in result.stderr) == (2, True)
    change_checkpoint(folder, settings={}, inputs={})  # as those of older versions
    result = train_verifier(folder, text, tokenizer, "model.width=64")
    assert (result.exit_code, "began with another model; name another folder" in result.stderr) == (2, True)


def test_a_checkpoint_of_the_other_command_is_named(trained: Path, text: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    result = train_drafter(folder, text, folder)
    words = 'cannot be resumed, its run began with command="train-verifier" (now "train-drafter"); name another folder'
    assert (result.exit_code, words in result.stderr) == (2, True)
    other = train_drafter(folder, text, trained)
    assert (other.exit_code, words.partition(";")[0] in other.stderr) == (2, True)


def test_a_drafter_is_not_resumed_with_another_verifier(
    trained: Path, drafted: Path, text: Path, tokenizer: Subwords, tmp_path: Path
) -> None:
    folder = shutil.copytree(drafted, tmp_path / "run")
    assert train_verifier(tmp_path / "other", text, tokenizer, "run.max_updates=1", "run.seed=7").exit_code == 0
    result = train_drafter(folder, text, tmp_path / "other", "run.max_updates=3")
    words = f"{folder / 'checkpoint.pt'}: cannot be resumed, its run began with another --model; name another folder"
    assert (result.exit_code, words in result.stderr) == (2, True)
    moved = shutil.copytree(trained, tmp_path / "moved")
    assert train_drafter(folder, text, moved, "run.max_updates=3").exit_code == 0


def test_a_verifier_is_not_resumed_with_another_tokenizer(trained: Path, text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    folder = shutil.copytree(trained, tmp_path / "run")
    stored = torch.load(folder / "checkpoint.pt", weights_only=True)
    change_checkpoint(folder, inputs=stored["inputs"] | {"--tokenizer": "0123456789abcdef"})
    result = train_verifier(folder, text, tokenizer, "run.max_updates=6")
    assert (result.exit_code, "its run began with another --tokenizer; name another folder" in result.stderr) == (2, True)


def test_a_run_that_diverges_ends_with_advice(text: Path, tokenizer: Subwords, tmp_path: Path) -> None:
    changes = ["run.max_updates=40", "run.evaluate_every=4", "optimizer.learning_rate=100.0", "optimizer.warmup=0", "run.precision=16-true"]
    result = train_verifier(tmp_path / "run", text, tokenizer, *changes)
    assert result.exit_code == 1, result.output
    assert f"specdec: error: {tmp_path / 'run'}: the run has diverged: weights are not finite after update 4; " in result.stderr
    assert "try a smaller optimizer.learning_rate, or run.precision=32-true" in result.stderr
    stored = torch.load(tmp_path / "run" / "checkpoint.pt", weights_only=True)
    assert all(value.isfinite().all() for value in stored["weights"].values())
