"""The worker processes of a benchmark: one inspects and converts a bundle, the others run rows. The parent process loads no torch.

Arguments and results are values of JSON. Libraries are imported when a request needs them, so that a row of the native engine, or of
CTranslate2, takes no memory for PyTorch.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import BundleRunner, Runner
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.native.library import LibraryError, load_library
from specdec_cli.opening.machine import Machine, MachineOptions, computes_natively, native_machine, resolve_machine
from specdec_cli.opening.models import ModelChoice, open_bundle
from specdec_cli.processes import serve

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle


class Worker:
    """Answers the requests of the parent process to load a model and to run rows, which come as their fields by name."""

    _runner: Runner

    def open(self, row: dict[str, Any], conditions: dict[str, Any]) -> None:
        """Load what decodes `row` under `conditions`, the fields of a Conditions."""
        asked = Row.from_dict(row)
        model, machine = ModelChoice(**conditions["model"]), MachineOptions(**conditions["machine"])
        limits, split = dict(conditions["limits"]), conditions["split"]
        if asked.compute_type is not None:
            from specdec_cli.benchmark.ctranslate2 import CTranslate2Runner

            folder = Path(conditions["converted"][asked.compute_type])
            self._runner = CTranslate2Runner(folder, asked, machine.device, limits, split)
            return
        if asked.toolkit == "transformers":
            from specdec_cli.benchmark.transformers import TransformersRunner

            self._runner = TransformersRunner(model, asked, machine, limits, split)
            return
        if conditions["geometry"] is None:
            runner = BundleRunner(model, machine, split)
        else:
            from specdec_cli.benchmark.synthetic import Geometry, RecordedRunner

            runner = RecordedRunner(model, machine, Geometry.from_dict(conditions["geometry"]))
        runner.open(asked)
        self._runner = runner

    def prepare(self, row: dict[str, Any]) -> dict[str, Any]:
        """The settings with which a row is decoded, defaults resolved, by name."""
        return self._runner.prepare(Row.from_dict(row))

    def run(self, row: dict[str, Any], lines: list[str]) -> dict[str, Any]:
        """Decode `lines` with a row; return the measured time, memory and outputs as the fields of a Run, by name."""
        return self._runner.run(Row.from_dict(row), lines).to_dict()

    def profile(self, row: dict[str, Any], lines: list[str]) -> dict[str, float]:
        """Decode `lines` with a row of a bundle by the reference engine; return the result of `BundleRunner.profile`."""
        assert isinstance(self._runner, BundleRunner)
        return self._runner.profile(Row.from_dict(row), lines)

    def count(self, row: dict[str, Any], lines: list[str]) -> dict[str, int] | None:
        """Decode `lines` with a row of a bundle by the reference engine; return the result of `BundleRunner.count`."""
        assert isinstance(self._runner, BundleRunner)
        return self._runner.count(Row.from_dict(row), lines)

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """The functions that answer requests of the parent process, by name of the request."""
        own = (self.open, self.prepare, self.run, self.profile, self.count, inspect, make_synthetic)
        return {handler.__name__: handler for handler in own}


def inspect(model: dict[str, Any], machine: dict[str, Any], max_length: int | None, folders: dict[str, str]) -> dict[str, Any]:
    """What the machine and the bundle that `model`, the fields of a ModelChoice, names support; convert the bundle to CTranslate2 in
    `folders`, by number format.

    If the native engine can be used, the precision is int8 for all rows, also for those of the reference engine. The result has `device`,
    `precision` and `threads`, resolved from the MachineOptions `machine`; `gpu`, its name (None: it is not used); `torch`, the version;
    `languages` of source and target; `drafter`, the kind of the bundle's drafter (None: no drafter); `limits`, pairs of a padded source
    length and the largest number of output tokens; and `refused`, the reason for each number format that CTranslate2 does not support.
    """
    options = MachineOptions(**machine)
    precision, threads = options.precision, options.threads
    if options.engine == "native":
        native_machine(options.device, precision, threads)
    if options.engine != "reference" and computes_natively(options.device, precision):
        try:
            load_library()
            precision, threads = "int8", native_machine(options.device, precision, threads).threads
        except LibraryError as error:
            if options.engine == "native":
                raise UsageError(f"--engine native: the engine is missing: {error}") from error
    resolved = resolve_machine(options.device, precision, threads)
    if resolved.precision == "auto":
        resolved = resolved.with_model(open_bundle(ModelChoice(**model), resolved))
    bundle = open_bundle(ModelChoice(**model), Machine("cpu", "float32", resolved.threads))

    import torch

    return {
        "device": resolved.device,
        "precision": resolved.precision,
        "threads": resolved.threads,
        "gpu": torch.cuda.get_device_name() if resolved.device == "cuda" else None,
        "torch": torch.__version__,
        "languages": [bundle.info.source_language, bundle.info.target_language],
        "drafter": None if bundle.drafter is None else bundle.drafter.config.kind,
        "limits": _limits(bundle, max_length),
        "refused": _convert(bundle, folders, resolved.device),
    }


def make_synthetic(geometry: dict[str, Any], folder: str) -> None:
    """Write a bundle of a geometry, which comes as its fields, with random weights to `folder`."""
    from specdec_cli.benchmark.synthetic import Geometry, random_bundle
    from specdec_cli.model.bundle import save_bundle

    save_bundle(random_bundle(Geometry.from_dict(geometry)), Path(folder))


def _limits(bundle: "Bundle", max_length: int | None) -> list[tuple[int, int]]:
    """Padded source lengths, and the largest number of tokens that our decoder emits for each."""
    from specdec_cli.decoding.verifier import MULTIPLE
    from specdec_cli.engines.reference import bundle_verifier

    verifier, eos = bundle_verifier(bundle), bundle.verifier.config.eos
    max_length = max_length or bundle.info.max_length
    widths = range(MULTIPLE, verifier.longest_source + 1, MULTIPLE)
    return [(width, int(verifier.begin([0], [[eos] * width], max_length).limits[0]) - 1) for width in widths]


def _convert(bundle: "Bundle", folders: Mapping[str, str], device: str) -> dict[str, str]:
    """Convert to each of `folders`; return the reasons for formats that CTranslate2 does not support."""
    if not folders:
        return {}
    from ctranslate2 import get_supported_compute_types  # type: ignore[attr-defined]

    from specdec_cli.model.formats import find_writer

    refused = {}
    try:
        supported = get_supported_compute_types(device)
    except (RuntimeError, ValueError) as error:
        return dict.fromkeys(folders, f"CTranslate2 on {device}: {error}")
    for compute_type, folder in folders.items():
        if compute_type not in supported:
            refused[compute_type] = (
                f"CTranslate2 cannot compute in {compute_type} on this {device}; it can in {', '.join(sorted(supported))}"
            )
            continue
        try:
            find_writer("ctranslate2")(bundle, Path(folder), None if compute_type == "float32" else compute_type)
        except ModelError as error:
            refused[compute_type] = str(error)
    return refused


if __name__ == "__main__":
    serve(Worker().handlers())
