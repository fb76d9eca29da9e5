"""`specdec bench --check-device`: its plan, played on a CPU with a tiny model, and what it refuses."""

import json
import time
from math import inf
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.benchmark import check_gpu
from specdec_cli.benchmark.checked_model import CheckedModel
from specdec_cli.commands.bench import bench
from specdec_cli.errors import MissingLibraryError, SpecdecError, UsageError
from specdec_cli.model.bundle import Bundle
from tests.command_line import Result, done, run_function


def run(*arguments: object) -> Result:
    return run_function(bench, "--check-device", *arguments)


@pytest.fixture
def triton(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if Triton were installed, with its interpreter; parts that compute by kernels are computed by eager operators."""
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    monkeypatch.setattr(check_gpu, "find_spec", lambda _: object())
    eager = CheckedModel.bundle
    monkeypatch.setattr(CheckedModel, "bundle", lambda model, _: eager(model, "float32"))
    monkeypatch.setattr(check_gpu, "card", lambda _, text: {"name": text})
    monkeypatch.setattr(check_gpu, "kernels", lambda _: {})
    for name in ("BESIDE", "TRAINED", "BEAM_ROWS"):
        monkeypatch.setattr(check_gpu, name, ())
    monkeypatch.setattr(check_gpu, "DRAWN", 4)


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    result = run("--json", tmp_path / "a.json")
    assert isinstance(result.exception, UsageError) and result.exception.exit_code == 2
    assert str(result.exception) == "--check-device: there is no GPU here; nothing was checked"
    assert not (tmp_path / "a.json").exists()


def test_the_text_is_not_overwritten(tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("a\tb\n")
    assert "a.tsv: is both input and output" in str(run(tmp_path / "a.tsv", "--json", tmp_path / "a.tsv").exception)
    assert (tmp_path / "a.tsv").read_text() == "a\tb\n"


def test_without_triton_it_names_the_extra(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(check_gpu, "find_spec", lambda _: None)
    assert isinstance(run("--device", "cpu", "--json", tmp_path / "a.json").exception, MissingLibraryError)


def test_on_a_cpu_it_needs_the_interpreter(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(check_gpu, "find_spec", lambda _: object())
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    error = run("--device", "cpu", "--json", tmp_path / "a.json").exception
    assert isinstance(error, UsageError) and "set TRITON_INTERPRET=1" in str(error)
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("arguments", "words"), [(["--row", "greedy"], "chooses its rows; --row cannot"), (["-m", "en-de", "-m", "de-en"], "give --model once")]
)
def test_other_options_are_refused(arguments: list[str], words: str) -> None:
    error = run(*arguments).exception
    assert isinstance(error, UsageError) and words in str(error)


@pytest.mark.usefixtures("triton")
def test_all_batches_block_sizes_and_bursts_are_planned(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(check_gpu, "result_of", lambda *_: {})
    out = tmp_path / "a.json"
    assert check_gpu.run_parts(CheckedModel(folder, ["ka"], out, "cpu"), "text", 1e9)
    planned = json.loads(out.read_text()).keys()
    assert {f"kernels, block size {size}" for size in range(64)} <= planned
    assert {f"kernels, bursts of {rounds} rounds" for rounds in range(1, 9)} <= planned
    assert set(check_gpu.OF_SIZES) == {1, 7, 32, 128, 512} and set(check_gpu.OF_BURSTS) == {1, 32}
    assert check_gpu.OF_SIZES[512] is None  # all lines
    assert len(planned) < 120


@pytest.mark.usefixtures("triton")
def test_long_blocks_and_bursts_give_greedys_tokens_and_a_later_run_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, values in (("TIMED", ((1, 3),)), ("OTHERS", ()), ("OF_SIZES", {7: None, 1: 1}), ("SIZES", (0, 4, 5, 63)), ("BURSTS", (1, 8))):
        monkeypatch.setattr(check_gpu, name, values)
    (tmp_path / "dev").mkdir()
    (text := tmp_path / "dev" / "a.tsv").write_text("ka lo mi\tta\nno pe\tka\nlo\tmi\n")
    asked = (text, "-m", folder, "--device", "cpu", "--limit", 2, "--json", out := tmp_path / "out.json")
    done(run(*asked))
    found: dict[str, Any] = json.loads(out.read_text())
    assert found["card"]["name"] == "DATA/dev/a.tsv"
    checked = [f"kernels, block size {size}" for size in (0, 4, 5, 63)]
    checked += [f"kernels, bursts of {rounds} rounds" for rounds in (1, 8)]
    assert [found[name].get("same") for name in checked] == [3] * 4 + [4] * 2
    assert found[checked[0]]["lines"] == {"batch 7": "2 of lines 0 to 1", "batch 1": "1 of lines 0 to 0"}
    assert found["kernels, greedy alone"]["lines"] == "2 of lines 0 to 1"
    del found[checked[0]]
    found[checked[1]] = {"different": 1}
    out.write_text(json.dumps(found))
    again = run(*asked)
    assert isinstance(again.exception, SpecdecError) and again.exception.exit_code == 1
    assert checked[0] in again.stdout and f"not as they should be: {checked[1]}" in again.stdout
    assert f"{checked[2]}:" not in again.stdout


@pytest.fixture
def model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, triton: None) -> CheckedModel:  # noqa: ARG001
    """The bundle; the check of its memory draws twelve sentences in windows of three."""
    for name, value in (("DRAWN", 12), ("DRAWN_ROWS", 2), ("WINDOW", 3)):
        monkeypatch.setattr(check_gpu, name, value)
    return CheckedModel(folder, ["ka lo mi", "no pe", "lo"], tmp_path / "out.json", "cpu")


@pytest.mark.parametrize(("taken", "grows"), [((5, 9, 9, 9), False), ((5, 6, 7, 8), True)])
def test_memory_that_grows_with_the_sentences_is_an_error(
    model: CheckedModel, taken: tuple[int, ...], grows: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter(each << 20 for each in taken)
    monkeypatch.setattr(model, "reserved", lambda: next(values))
    found = check_gpu.memory(model, inf)
    assert (found["sentences"], found["same"], found["second_mb"]) == (12, 12, taken[-1])
    assert found.get("error") == ("memory grows" if grows else None)


def test_drawn_sentences_have_many_lengths_and_repeat() -> None:
    sources = [(5, 6, 7, 8, 3), (9, 10, 3)]
    drawn = [tuple(each.source) for each in next(check_gpu.drawn_windows(sources, 3, 6))[:200]]
    assert {len(each) for each in drawn} == {2, 3, 4, 5, 6}
    assert all(each[-1] == 3 and 3 not in each[:-1] for each in drawn)
    assert len(set(drawn)) < 100
    assert drawn == [tuple(each.source) for each in next(check_gpu.drawn_windows(sources, 3, 6))[:200]]


def test_windows_have_all_drawn_sentences_once(model: CheckedModel) -> None:
    windows = list(check_gpu.drawn_windows([(5, 6, 3)], 3, 6))
    assert [[each.number for each in window] for window in windows] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert check_gpu.memory(model, 0.0)["sentences"] == 3  # no further window begins after the time is up


@pytest.mark.parametrize(("forms", "different", "words"), [(25, 0, "too many forms of batches are kept"), (24, 2, None), (24, 0, None)])
def test_windows_are_judged(forms: int, different: int, words: str | None) -> None:
    windows = [check_gpu.Window(4, different if number == 1 else 0, 9, 1 << 20) for number in range(3)]
    found = check_gpu.bounded(windows, forms)
    assert (found.get("error"), found.get("different", 0)) == (words, different)
    assert found.get("same", 12) == 12


@pytest.mark.usefixtures("triton")
def test_parts_that_do_not_begin_in_time_are_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TIMED", "OTHERS", "SIZES", "BURSTS"):
        monkeypatch.setattr(check_gpu, name, ())
    model = CheckedModel(folder, ["ka lo"], tmp_path / "a.json", "cpu")

    def alone(_: str) -> dict[str, Any]:
        monkeypatch.setattr(time, "perf_counter", lambda: 1e12)
        return {}

    monkeypatch.setattr(model, "alone", alone)
    assert check_gpu.run_parts(model, "text", 1e9)
    names = ["memory over 4 sentences", *(f"operators, batch {rows}, block size {size}" for rows, size in ((1, 0), (1, 4), (128, 4)))]
    names += ["float32, eager operators", "kernels, drafter alone", "kernels, sampling"]
    last = f"the time was up before {len(names)} parts, which the same command goes on with: {'; '.join(names)}"
    assert capsys.readouterr().out.splitlines()[-1] == last


def test_beams_in_batches_are_compared_with_those_alone(model: CheckedModel) -> None:
    check_gpu.beam(model, "kernels", 1)
    assert check_gpu.beam(model, "kernels", 2)["same"] == 3
    kept = model.out.with_suffix(".kernels-beam.tokens")
    kept.write_text(json.dumps(json.loads(kept.read_text()) | {"1": [3]}))
    found = check_gpu.beam(model, "kernels", 2)
    assert (found["different"], found["first"]) == (1, [1])


def test_ctranslate2_has_the_weights_in_the_same_precision(model: CheckedModel) -> None:
    found = [check_gpu.ctranslate2(model, rows, beam) for rows, beam in ((1, 1), (2, 2))]
    assert [each["compute_type"] for each in found] == ["float32"] * 2
    assert all(each["tokens"] > 0 for each in found)


def test_training_is_measured_with_the_greedy_outputs(model: CheckedModel, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def measured(_: Bundle, *given: Any, **options: Any) -> dict[str, Any]:
        seen.append((*given, options))
        return {"x": 1}

    monkeypatch.setattr(check_gpu, "training_speed", measured)
    greedy = model.greedy("kernels")
    assert check_gpu.training(model, "verifier", captured=True, results={}) == {"x": 1}
    ((pairs, trained, device, options),) = seen
    assert [pair.target for pair in pairs] == [ids for ids in greedy.values() if ids[-1] == pairs[0].source[-1]]
    assert (trained, device, options) == ("verifier", "cpu", {"captured": True})
