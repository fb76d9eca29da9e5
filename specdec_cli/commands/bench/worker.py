"""Worker processes of `specdec bench`: one inspects and converts the bundle, the others run rows."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec_cli.benchmark.rows import Row
from specdec_cli.commands.bench.runners import BundleRunners, Runner, check_native, native_precision
from specdec_cli.errors import ModelError
from specdec_cli.opening.machine import Machine, native_machine, resolve_machine
from specdec_cli.opening.models import ModelChoice, open_bundle
from specdec_cli.processes import serve

if TYPE_CHECKING:
    from specdec_cli.benchmark.bundle_runner import BundleRunner
    from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class Inspection:
    """What a worker process tells the parent process, which does not load torch, about the machine and the bundle.

    `device`, `precision` and `threads` are resolved (not `auto`); `gpu` is the name of the GPU (None: it is not used), `torch` the
    version. `languages` are those of source and target. `drafter` is the kind of the bundle's drafter ("block" or "heads"; None: no
    drafter). `limits` are pairs of a padded source length and the largest number of output tokens; `refused` has the reason, as
    text, for each number format that CTranslate2 does not support.
    """

    device: str
    precision: str
    threads: int
    gpu: str | None
    torch: str
    languages: list[str]
    drafter: str | None
    limits: list[tuple[int, int]]
    refused: dict[str, str]

    @property
    def machine(self) -> dict[str, Any]:
        """Device, GPU, number format, threads and version of PyTorch, by their names in the report."""
        return {name: getattr(self, name) for name in ("device", "gpu", "precision", "threads", "torch")}


class Worker:
    """Answers the requests of the parent process to load a model and to run rows; libraries are imported when a request needs them."""

    _runner_of: Callable[[Row], Runner]
    _reference: Callable[[], "BundleRunner"]

    def open_bundle(
        self, model: dict[str, Any], device: str, precision: str, threads: int, split: bool, engine: str, row: dict[str, Any]
    ) -> None:
        """Load the bundle that `model`, the fields of a ModelChoice, names, for the engine that runs `row` (the fields of a Row)."""
        runners = BundleRunners(ModelChoice(**model), Machine(device, precision, threads), split, engine)
        self._runner_of, self._reference = runners.of, runners.reference
        self._runner_of(Row.from_dict(row))

    def open_ctranslate2(
        self, folder: str, compute_type: str, device: str, workers: int, threads: int, limits: list[tuple[int, int]], split: bool
    ) -> None:
        """Load the CTranslate2 model in `folder`, which was converted from a bundle; the arguments are those of CTranslate2Runner."""
        from specdec_cli.benchmark.ctranslate2_runner import CTranslate2Runner

        runner = CTranslate2Runner(Path(folder), compute_type, device, workers, threads, dict(limits), split)
        self._runner_of = lambda _: runner

    def prepare(self, row: dict[str, Any]) -> dict[str, Any]:
        """The settings with which a row (given by its fields) is decoded, defaults resolved, by name."""
        asked = Row.from_dict(row)
        return self._runner_of(asked).prepare(asked)

    def run(self, row: dict[str, Any], lines: list[str]) -> dict[str, Any]:
        """Decode `lines` with a row (given by its fields); return the measured time, memory and outputs as the fields of a Run, by name."""
        asked = Row.from_dict(row)
        return self._runner_of(asked).run(asked, lines).to_dict()

    def profile(self, row: dict[str, Any], lines: list[str]) -> dict[str, float]:
        """Decode `lines` with a row (given by its fields); return the result of `BundleRunner.profile`.

        Raises AssertionError if the native engine or CTranslate2 decodes the row, because their modules are not timed.
        """
        from specdec_cli.benchmark.bundle_runner import BundleRunner

        asked = Row.from_dict(row)
        runner = self._runner_of(asked)
        assert isinstance(runner, BundleRunner)
        return runner.profile(asked, lines)

    def count(self, row: dict[str, Any], lines: list[str]) -> dict[str, int] | None:
        """Decode `lines` with a row (given by its fields) by the reference engine; return the result of `BundleRunner.count`."""
        return self._reference().count(Row.from_dict(row), lines)

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """The methods that answer requests of the parent process, by name of the request."""
        return {
            "open-bundle": self.open_bundle,
            "open-ctranslate2": self.open_ctranslate2,
            "prepare": self.prepare,
            "run": self.run,
            "profile": self.profile,
            "count": self.count,
        }


def inspect(
    model: dict[str, Any], device: str, precision: str, threads: int | None, max_length: int | None, folders: dict[str, str], engine: str
) -> dict[str, Any]:
    """Load the bundle that `model`, the fields of a ModelChoice, names, and return the fields of an Inspection, by name.

    The bundle is converted to CTranslate2 in `folders`, by number format. If the native engine can be used, the precision is int8
    for all rows, also for those of the reference engine.
    """
    if engine == "native":
        check_native(device, precision, threads)
    if engine != "reference" and native_precision(device, precision):
        precision, threads = "int8", native_machine(device, precision, threads).threads
    machine = resolve_machine(device, precision, threads)
    return look_at(open_bundle(ModelChoice(**model), Machine("cpu", "float32", machine.threads)), machine, max_length, folders)


def look_at(bundle: "Bundle", machine: Machine, max_length: int | None, folders: dict[str, str]) -> dict[str, Any]:
    """The fields of an Inspection of `bundle` and `machine`; `bundle` is still on the CPU in float32.

    The bundle is converted to CTranslate2 in `folders`, by number format; `max_length` is the length limit of outputs in tokens.
    """
    import torch

    return {
        "device": machine.device,
        "precision": machine.precision,
        "threads": machine.threads,
        "gpu": torch.cuda.get_device_name() if machine.device == "cuda" else None,
        "torch": torch.__version__,
        "languages": [bundle.info.source_language, bundle.info.target_language],
        "drafter": None if bundle.drafter is None else bundle.drafter.config.kind,
        "limits": _limits(bundle, max_length),
        "refused": _convert(bundle, folders, machine.device),
    }


def _limits(bundle: "Bundle", max_length: int | None) -> list[tuple[int, int]]:
    """Padded source lengths, and the largest number of tokens that our decoder emits for each."""
    from specdec_cli.decoding.verifier import MULTIPLE
    from specdec_cli.engines.reference import bundle_verifier

    verifier, eos = bundle_verifier(bundle), bundle.verifier.config.eos
    max_length = max_length or bundle.info.max_length
    widths = range(MULTIPLE, verifier.longest_source + 1, MULTIPLE)
    return [(width, int(verifier.begin([0], [[eos] * width], max_length).limits[0]) - 1) for width in widths]


def _convert(bundle: "Bundle", folders: dict[str, str], device: str) -> dict[str, str]:
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
    serve({"inspect": inspect} | Worker().handlers())
