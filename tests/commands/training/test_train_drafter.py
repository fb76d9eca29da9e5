"""`specdec train-drafter`: from text to a bundle with a drafter."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle, load_bundle, read_info
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.recipe import load_recipe
from specdec_cli.training.data import SentencePair
from specdec_cli.training.recipe import DrafterRecipe
from specdec_cli.work.held_out import dev_names, tell_left_out
from specdec_cli.work.simulation import COLUMNS
from specdec_cli.work.training_drafters import with_new_drafter
from tests.command_line import done, run
from tests.commands.training.conftest import RUN, settings


def test_a_drafter_is_trained_and_simulated(trained: Path, text: Path, tmp_path: Path) -> None:
    folder = tmp_path / "drafter"
    shape = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    arguments = ["train-drafter", folder, "-m", trained, "--data", text, "--dev", text, "--threads", 1, "--device", "cpu"]
    result = done(run(*arguments, *settings(*RUN, *shape)))
    assert "tokens_per_round" in result.stderr
    counted = re.search(r"update 2 took (\S+) floating-point operations", result.stderr)
    assert counted is not None and float(counted[1]) > 1e5
    simulated = done(run("train-drafter", folder, "--dev", text, "--simulate", "--threads", 1, "--device", "cpu"))
    assert all(word in simulated.stdout for column in COLUMNS for word in column.split())
    assert "cpu, int8, 1 thread; native engine" in " ".join(simulated.stdout.split())  # what `translate` computes with
    greedy, specdec = (run("translate", "-m", folder, text, "--decoding", name, "--max-length", 8) for name in ("greedy", "specdec"))
    assert greedy.stdout_bytes == specdec.stdout_bytes


def test_heads_are_trained_and_simulated(trained: Path, text: Path, tmp_path: Path) -> None:
    folder, data = tmp_path / "heads", ("--data", text, "--dev", text, "--threads", 1, "--device", "cpu")
    shape = ["drafter.kind=heads", "drafter.max_block=3", "drafter.feed_forward=64", "run.max_updates=2"]
    done(run("train-drafter", folder, "-m", trained, *data, *settings(*RUN, *shape)))
    done(run("train-drafter", tmp_path / "again", "-m", trained, *data, "--init", folder, *settings(*RUN, *shape)))
    other = run("train-drafter", tmp_path / "other", "-m", trained, *data, "--init", folder, *settings(*RUN, "run.max_updates=2"))
    assert (other.exit_code, "a drafter of kind heads cannot initialise one of kind block" in other.stderr) == (2, True)
    simulated = done(run("train-drafter", folder, "--dev", text, "--simulate", "--threads", 1, "--device", "cpu"))
    rows = [line.split() for line in simulated.stdout.splitlines()]  # the title may be on several lines
    assert [row[0] for row in rows if len(row) == len(COLUMNS) and row[0].isdigit()] == ["1", "2", "3"]
    assert "cpu, int8, 1 thread; PyTorch over passes of the native engine" in " ".join(simulated.stdout.split())
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


def test_an_initial_drafter_of_another_width_is_wrong_use(bundle: Bundle, make_bundle: Callable[..., Bundle]) -> None:
    other = with_new_drafter(make_bundle(width=64), DrafterRecipe(), None)
    with pytest.raises(UsageError, match=r"--init: a drafter with .*64\) cannot initialise one of .*32\)"):
        with_new_drafter(bundle, DrafterRecipe(), other.drafter)


def test_the_tokens_that_a_shortlist_lacks_are_counted() -> None:
    said: list[str] = []
    held_out = {"chat": [SentencePair([5, 3], [8, 9, 12, 3]), SentencePair([6, 3], [7, 7, 7, 3])], "news": [SentencePair([5, 3], [8, 3])]}
    tell_left_out(held_out, 9, said.append)
    tell_left_out(held_out, 0, said.append)
    assert said == ["tokens that a shortlist of 9 cannot draft: 25.0% in chat, 0.0% in news"]


@pytest.mark.parametrize("change", ["drafter.shortlist=99999", "drafter.feed_forward=100"])
def test_a_shape_that_does_not_fit_the_verifier_is_wrong_use(bundle: Bundle, change: str) -> None:
    recipe = load_recipe(DrafterRecipe, None, ["drafter.encoder=own", change])
    with pytest.raises(UsageError, match=f"drafter of the recipe: .*{change.split('=')[1]}"):
        with_new_drafter(bundle, recipe, None)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
def test_drafters_are_trained_on_texts_of_hundreds_of_tokens(bart_folder: Path, lines: list[str], tmp_path: Path) -> None:
    long, tsv = " ".join(2 * lines), tmp_path / "long.tsv"
    longer = " ".join(6 * [long])
    tsv.write_text(f"{long}\t{long}\n{longer}\t{long}\n{lines[0]}\t{lines[0]}\n", encoding="utf-8")
    shape = ["drafter.prefix=own", "drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    arguments = ["train-drafter", tmp_path / "out", "-m", bart_folder, "--data", tsv, "--dev", tsv, "--threads", 1, "--device", "cpu"]
    result = done(run(*arguments, *settings(*RUN, *shape)))
    assert "long.tsv: 1 of 3 pairs are left out, longer than the model's 1,024 positions" in result.stderr
    assert "long.tsv: 1 of 3 lines are left out" in result.stderr
    assert 256 < len(load_bundle(tmp_path / "out").tokenizer.encode(long)) < 1024


@pytest.mark.sampled(3)
@pytest.mark.parametrize("recipe", ["gad-drafter", "gad-big-drafter", "report-drafter"])
def test_the_drafter_of_the_paper_is_trained_by_its_recipe(
    recipe: str, trained: Path, text: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(BlockDrafter, "initialize_from_verifier")  # it starts from random weights
    folder = tmp_path / "drafter"
    shape = ["drafter.layers=2", "drafter.feed_forward=64", "drafter.max_block=3", "run.max_updates=2", "run.accumulation=1"]
    model = ["drafter.model.width=48", "drafter.model.heads=3", "drafter.model.encoder_layers=1"]
    arguments = ["train-drafter", folder, "-m", trained, "--recipe", recipe, "--data", text, "--dev", text, "--threads", 1]
    done(run(*arguments, "--device", "cpu", *settings(*RUN, *shape, *model)))
    greedy, specdec = (run("translate", "-m", folder, text, "--decoding", name, "--max-length", 8) for name in ("greedy", "specdec"))
    assert greedy.stdout_bytes == specdec.stdout_bytes


def test_a_drafter_is_trained_on_text_in_one_language(bundle_folder: Path, lines: list[str], tmp_path: Path) -> None:
    (tmp_path / "mono.txt").write_text("\n".join(lines), encoding="utf-8")
    (tmp_path / "dev.txt").write_text("\n".join([*lines[:4], ""]), encoding="utf-8")
    assert run("convert", bundle_folder, tmp_path / "verifier", "--set", "block_size=10").exit_code == 0
    arguments = ["--verifier", tmp_path / "verifier", "--source", tmp_path / "mono.txt", "--dev", tmp_path / "dev.txt", "--threads", 1]
    shape = ["drafter.max_block=3", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=2"]
    done(run("train-drafter", tmp_path / "drafter", *arguments, "--device", "cpu", *settings(*RUN, *shape)))
    assert read_info(tmp_path / "drafter").block_size == 3  # no longer than the new drafter's blocks
    outputs = (tmp_path / "drafter" / "outputs" / "distilled.tsv").read_text(encoding="utf-8").splitlines()
    assert 0 < len(outputs) <= len(lines)
    own = run("translate", "-m", tmp_path / "verifier", "--decoding", "greedy", "--raw", tmp_path / "mono.txt").stdout.splitlines()
    assert {line.split("\t")[1] for line in outputs} <= set(own)  # decoded by the engine that translates
    settings_made = (tmp_path / "drafter" / "outputs" / "manifest.json").read_text(encoding="utf-8")
    assert '"compute_type": "auto"' in settings_made
    translate = ["translate", "-m", tmp_path / "drafter", tmp_path / "dev.txt", "--max-length", 6]
    assert run(*translate, "--decoding", "specdec").stdout == run(*translate, "--decoding", "greedy").stdout


def test_options_of_training_do_not_go_with_simulate(text: Path, tmp_path: Path) -> None:
    ignored = ["-m", "en-de", "--data", text, "--source", text, "--recipe", "quick-drafter", "--set", "cuts=2", "--init", "en-de"]
    result = run("train-drafter", tmp_path, "--dev", text, "--simulate", *ignored, "--devices", 2)
    words = "does not go with --model, --data, --source, --recipe, --set, --init, --devices"
    assert (result.exit_code, words in result.stderr) == (2, True)


def test_the_speed_is_simulated_without_the_verifier_of_training(text: Path, tmp_path: Path) -> None:
    result = run("train-drafter", tmp_path, "--dev", text, "--simulate", "--threads", 1)
    assert (result.exit_code, f"{tmp_path}: contains neither bundle.json" in result.stderr) == (3, True)
    trained = run("train-drafter", tmp_path, "--dev", text, "--data", text)
    assert (trained.exit_code, "give --model" in trained.stderr) == (2, True)


def test_dev_sets_of_files_with_the_same_name_are_all_used(bundle_folder: Path, text: Path, lines: list[str], tmp_path: Path) -> None:
    names = ["a/dev.tsv", "b/dev.tsv", "c/chat.tsv", "c/dev.chat.tsv", "c/dev_2.tsv"]
    files = [tmp_path / name for name in names]
    assert dev_names(files) == ["dev", "dev_2", "chat", "chat_4", "dev_2_5"]
    for number, path in enumerate(files):
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{lines[number]}\n", encoding="utf-8")
    dev = [part for path in files for part in ("--dev", path)]
    shape = ["drafter.max_block=2", "drafter.chain=16", "drafter.feed_forward=64", "run.max_updates=1", "run.evaluate_every=1"]
    arguments = ["-m", bundle_folder, "--data", text, *dev, "--threads", 1, "--device", "cpu", *settings(*shape)]
    result = done(run("train-drafter", tmp_path / "drafter", *arguments))
    assert all(f"tokens_per_round_{name} " in result.stderr for name in dev_names(files))


@pytest.mark.parametrize("command", ["train-drafter", "train-verifier"])
def test_an_unknown_setting_is_refused_before_anything_is_loaded(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"specdec_cli.commands.{command.replace('-', '_')}.require_training", lambda: pytest.fail("loaded"))
    options = ["--data", tmp_path / "none.tsv", "--dev", tmp_path / "none.txt", "--set", "run.colour=red"]
    result = run(command, tmp_path / "out", *options)
    assert result.exit_code == 2
    assert "colour" in result.stderr
