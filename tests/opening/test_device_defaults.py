"""What depends on the device where nothing else is given, with a GPU that only seems to be there."""

from dataclasses import replace

import pytest

from specdec_cli import devices
from specdec_cli.devices import DEFAULTS, by_device, found_device, free_memory, has_gpu
from specdec_cli.distillation.teachers import Resources
from specdec_cli.opening import machine
from specdec_cli.opening.machine import MachineOptions
from tests.source import ROOT


@pytest.fixture(autouse=True)
def gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let there be a GPU with a gigabyte of free memory."""
    monkeypatch.setattr(devices, "has_gpu", lambda: True)
    monkeypatch.setattr(machine, "free_memory", {"cuda": 2**30, "cpu": 2**32}.__getitem__)


@pytest.mark.parametrize(
    ("options", "kind"),
    [
        (MachineOptions(), "cuda"),
        (MachineOptions(device="cuda"), "cuda"),
        (MachineOptions(device="cpu"), "cpu"),
        (MachineOptions(engine="native"), "cpu"),
    ],
)
def test_batches_are_those_of_the_device(options: MachineOptions, kind: str) -> None:
    assert options.rows == DEFAULTS[kind].sentences
    assert options.batch_memory == {"cuda": 2**29, "cpu": 2**31}[kind]
    given = replace(options, batch_size=3, memory=7)
    assert (given.rows, given.batch_memory) == (3, 7 * 2**20)


def test_a_teachers_batches_are_those_of_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [Resources(device).tokens for device in ("cpu", "cuda", "auto")] == [1024, 16384, 16384]
    assert Resources("cuda", batch_tokens=5).tokens == 5
    monkeypatch.setattr(devices, "has_gpu", lambda: False)
    assert [found_device(device) for device in ("cpu", "cuda", "auto")] == ["cpu", "cuda", "cpu"]
    assert Resources("auto").tokens == 1024


def test_the_page_names_the_defaults() -> None:
    assert by_device("teacher_tokens") == "1,024 on cpu, 16,384 on cuda"
    page = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
    assert "| `--batch-size` | {} sentences | {} sentences |".format(*(each.sentences for each in DEFAULTS.values())) in page
    cells = "| `distill --batch-tokens` | {:,} source tokens a thread | {:,} source tokens |"
    assert cells.format(*(each.teacher_tokens for each in DEFAULTS.values())) in page


def test_a_machine_without_a_driver_has_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "_GPU_DRIVERS", ("/dev/nothing",))
    assert not has_gpu()
    assert free_memory("cpu") > 0
