"""Measurements are cached by all that they depend on, and repeated if the cached values are unusable."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines import measurements, reference_costs
from specdec_cli.engines.measurements import RUNS
from specdec_cli.engines.reference_costs import round_costs
from tests.command_line import run
from tests.fake_drafters import FakeDrafter, right
from tests.fakes import in_precision, tiny_transformer

TIMES = Costs((3, 5), (1.0, 2.0), ((1.0, 2.0), (3.0, 4.0)), ((0.1, 0.2), (0.3, 0.4)))
BROKEN: dict[str, bytes] = {
    "empty": b"",
    "garbage": b"\x00\xff\x93",
    "no object": b"[1, 2]",
    "an empty object": b"{}",
    "nested": b"[" * 100_000,
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder."""
    monkeypatch.setenv("SPECDEC_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A list with an entry for each measurement, which is not made."""
    notes: list[str] = []

    def measure_costs(*_: Any) -> Costs:
        notes.append("costs")
        return TIMES

    monkeypatch.setattr(reference_costs, "measure_costs", measure_costs)
    return notes


def ask_costs_in_new_process(**arguments: Any) -> Costs:
    measurements._known.clear()
    return ask_costs(**arguments)


def ask_costs(name: str = "fake", seed: int = 1, number: str = "float32") -> Costs:
    verifier = Verifier(in_precision(tiny_transformer(seed), number))
    return round_costs(verifier, FakeDrafter({0: [7] * 30}, 5, right), 5, name, None)


def nonsense(field: str, value: Any) -> bytes:
    return json.dumps({"runs": RUNS, **asdict(TIMES), field: value}).encode()


BROKEN_COSTS = BROKEN | {
    "truncated": json.dumps(asdict(TIMES)).encode()[:40],
    "a field too many": nonsense("other", 1),
    "no runs": json.dumps(asdict(TIMES)).encode(),
    "too few runs": nonsense("runs", 0),
    "runs in words": nonsense("runs", "3"),
    "a negative time": nonsense("plain", [-1.0, 2.0]),
    "a time of 0": nonsense("verifying", [[0.0, 2.0], [3.0, 4.0]]),
    "no number": nonsense("plain", [float("nan"), 2.0]),
    "endless": nonsense("drafting", [[0.1, float("inf")], [0.3, 0.4]]),
    "a word": nonsense("plain", ["1", 2.0]),
    "a word for all": nonsense("plain", "fast"),
    "three times": nonsense("plain", [1.0, 2.0, 3.0]),
    "null": nonsense("verifying", None),
    "sizes of 0": nonsense("sizes", [0, 5]),
    "sizes the wrong way round": nonsense("sizes", [5, 3]),
}


def test_each_kind_of_gpu_has_costs_of_its_own(measured: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    verifier = Verifier(tiny_transformer(1))
    verifier.device = torch.device("cuda", 0)
    gpus = [("NVIDIA H100", (9, 0)), ("NVIDIA H200", (9, 0)), ("NVIDIA H200", (9, 1)), ("NVIDIA H100", (9, 0))]
    for name, capability in gpus:
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda _, name=name: name)
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _, capability=capability: capability)
        round_costs(verifier, FakeDrafter({0: [7] * 30}, 5, right), 5, "fake", None)
    assert len(measured) == 3


def test_the_least_of_the_first_runs_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    times = [3.0, 1.0, 2.0, 0.5]
    monkeypatch.setattr(reference_costs, "measure_costs", lambda *_: replace(TIMES, plain=(times[0], 10 - times.pop(0))))
    assert [ask_costs_in_new_process().plain for _ in range(4)] == [(3.0, 7.0), (1.0, 7.0), (1.0, 7.0), (1.0, 7.0)]
    assert times == [0.5]


def test_a_process_measures_costs_once(measured: list[str]) -> None:
    assert [ask_costs() for _ in range(3)] == [TIMES] * 3
    assert len(measured) == 1


@pytest.mark.parametrize("name", BROKEN_COSTS)
def test_invalid_cached_costs_are_measured_again(name: str, folder: Path, measured: list[str]) -> None:
    assert [ask_costs_in_new_process() for _ in range(RUNS + 1)] == [TIMES] * (RUNS + 1)
    assert len(measured) == RUNS
    (path,) = folder.glob("costs-*.json")
    whole = path.read_bytes()
    path.write_bytes(BROKEN_COSTS[name])
    assert [ask_costs_in_new_process() for _ in range(RUNS + 1)] == [TIMES] * (RUNS + 1)
    assert len(measured) == 2 * RUNS and path.read_bytes() == whole


def test_costs_are_cached_by_model_drafter_precision_and_threads(
    folder: Path, measured: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [{}, {"name": "other"}, {"seed": 2}, {"number": "bfloat16"}, {"number": "int8"}]
    for arguments in asked * (RUNS + 1):
        ask_costs_in_new_process(**arguments)  # type: ignore[arg-type]
    assert len(measured) == RUNS * len(asked)
    assert len(list(folder.iterdir())) == len(asked)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 77)
    ask_costs()
    monkeypatch.setattr("specdec_cli.measurement_cache.__version__", "77")
    ask_costs()
    assert len(measured) == RUNS * len(asked) + 2


def test_costs_are_measured_again_if_they_cannot_be_stored(measured: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPECDEC_CACHE", "/dev/null/cache")
    assert ask_costs() == TIMES  # the times do not affect the output
    assert len(measured) == 1


def test_all_measurements_can_be_deleted(folder: Path, measured: list[str]) -> None:
    ask_costs()
    for name in ("kernels-abc.so", "kernels-abc.failed.json", "models/mine/bundle.json", "notes.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    result = run("models", "--forget")
    assert result.exit_code == 0 and "3 files deleted" in result.output
    assert sorted(path.name for path in folder.iterdir()) == ["models", "notes.txt"]
    assert (folder / "models" / "mine" / "bundle.json").exists()
    ask_costs_in_new_process()
    assert measured.count("costs") == 2
