"""The computation that one process resolves and others take over: the same output, or an error."""

import pickle
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.errors import UsageError
from specdec_cli.native import library
from specdec_cli.native.library import LibraryError
from specdec_cli.opening import engines
from specdec_cli.opening.engines import Computation, Opened, open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice

SOURCES = [[4, 5, 6, 7, 3], [8, 9, 3], [10, 11, 12, 13, 14, 3]]


def outputs(opened: Opened) -> Sequence[Sequence[int]]:
    sentences = [Sentence(number, source) for number, source in enumerate(SOURCES)]
    return [each.ids for each in sorted(opened.engine.decode(sentences), key=lambda each: each.number)]


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise LibraryError("not compiled")

    monkeypatch.setattr(engines, "load_library", missing)
    monkeypatch.setattr(library, "load_library", missing)
    monkeypatch.setattr("specdec_cli.native.model.load_library", missing)


@pytest.mark.parametrize("options", [MachineOptions(), MachineOptions(engine="reference"), MachineOptions(precision="bfloat16")])
@pytest.mark.parametrize("request_", [DecodingOptions(), DecodingOptions(decoding="lookup", max_length=7), DecodingOptions(sample=True)])
def test_another_process_computes_what_the_first_one_would(bundle_folder: Path, options: MachineOptions, request_: DecodingOptions) -> None:
    model = ModelChoice(str(bundle_folder))
    alone = open_engine(model, options, request_)
    computation = pickle.loads(pickle.dumps(Computation.resolve(model, options, request_)))
    taken = computation.open(model, MachineOptions(threads=1, batch_size=2, memory=64))
    assert outputs(taken) == outputs(alone)
    assert (taken.machine.native, taken.machine.device, taken.machine.precision) == (
        alone.machine.native,
        alone.machine.device,
        alone.machine.precision,
    )
    assert (taken.engine.decoding.batch_size, taken.engine.decoding.memory) == (2, 64 * 2**20)


def test_a_machine_without_the_engine_refuses(bundle_folder: Path, no_library: None) -> None:  # noqa: ARG001
    model = ModelChoice(str(bundle_folder))
    found = Computation.resolve(model, MachineOptions(), DecodingOptions())
    assert (found.native, found.precision) == (False, "float32")  # what a run there takes by itself
    native = Computation(found.digest, True, "cpu", "int8", found.decoding)
    with pytest.raises(UsageError, match="the native engine is not there: not compiled"):
        native.open(model, MachineOptions())


def test_a_machine_with_another_model_refuses(bundle_folder: Path, tmp_path: Path) -> None:
    computation = Computation.resolve(ModelChoice(str(bundle_folder)), MachineOptions(), DecodingOptions())
    other = shutil.copytree(bundle_folder, tmp_path / "other")
    assert computation.open(ModelChoice(str(other)), MachineOptions()).machine.native
    (other / "more.txt").touch()
    with pytest.raises(UsageError, match="other: not the model of the command"):
        computation.open(ModelChoice(str(other)), MachineOptions())


def test_a_gpu_that_is_asked_for_is_that_of_the_workers(bundle_folder: Path) -> None:
    computation = Computation.resolve(ModelChoice(str(bundle_folder)), MachineOptions(device="cuda"), DecodingOptions())
    assert (computation.native, computation.device, computation.precision) == (False, "cuda", "float32")
