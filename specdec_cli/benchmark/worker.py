"""The worker processes of a benchmark: one inspects and converts a bundle, the others run rows.

Libraries are imported when a request needs them, so that a row of the native engine, or of CTranslate2, takes no memory for PyTorch.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

from specdec_cli.benchmark.rows import SAME, Row
from specdec_cli.benchmark.runs import BundleRunner, Conditions, Runner
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.native.library import LibraryError, load_library
from specdec_cli.opening.machine import Machine, computes_natively, native_machine, resolve_machine
from specdec_cli.opening.models import open_bundle
from specdec_cli.processes import serve

if TYPE_CHECKING:
    from specdec_cli.benchmark.geometries import Geometry
    from specdec_cli.model.bundle import Bundle


class Worker:
    """Answers the requests of the parent process. The rows of a process share weights."""

    def __init__(self) -> None:
        self._runner, self._load = cache(self._opened), cache(open_bundle)

    def open(self, row: Row, conditions: Conditions) -> None:
        """Load what decodes `row` under `conditions`, which are those of all rows of this process."""
        self._conditions = conditions
        self._runner(row)
        self._start = process_time()

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings of `row`, and the processor seconds after which this process had loaded its model, if memory is measured too."""
        geometry = self._conditions.geometry
        start = {"start_seconds": self._start} if geometry is not None and geometry.batches else {}
        return self._runner(row).prepare() | start

    def _opened(self, row: Row) -> Runner:
        if row.toolkit != "specdec":
            from specdec_cli.benchmark.toolkits import CTranslate2Runner, TransformersRunner

            return {"ctranslate2": CTranslate2Runner, "transformers": TransformersRunner}[row.toolkit](self._conditions, row)
        if self._conditions.geometry is not None:
            from specdec_cli.benchmark.recorded import RecordedRunner

            return RecordedRunner(self._conditions, row, self._load)
        return BundleRunner(self._conditions, row, self._load)

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """The functions that answer requests of the parent process, by name of the request: also the methods of the runners."""

        def asked(name: str) -> Callable[..., Any]:
            return lambda row, *arguments: getattr(self._runner(row), name)(*arguments)

        own = {handler.__name__: handler for handler in (self.open, self.prepare, inspect, make_synthetic)}
        return own | {name: asked(name) for name in ("run", "profile", "count")}


def inspect(asked: Conditions, max_length: int | None, folders: Mapping[str, Path]) -> Conditions:
    """Complete the conditions `asked` by what the bundle and the machine support, with outputs of at most `max_length` tokens (None: the
    bundle's limit), and convert the bundle to CTranslate2 in `folders`, by number format (SAME: that of specdec's rows).

    If the native engine can be used, the precision is int8 for all rows, also for those of the reference engine.
    """
    options = asked.machine
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
        resolved = resolved.with_model(open_bundle(asked.model, resolved))
    bundle = open_bundle(asked.model, Machine("cpu", "float32", resolved.threads))
    folders = {resolved.precision if kind == SAME else kind: folder for kind, folder in folders.items()}
    machine: dict[str, Any] = {name: getattr(resolved, name) for name in ("device", "precision", "threads")}
    refused = _convert(bundle, folders, resolved.device)

    import torch

    return replace(
        asked,
        machine=replace(options, **machine),
        gpu=torch.cuda.get_device_name() if resolved.device == "cuda" else None,
        torch=str(torch.__version__),  # its own type would make each process that reads it import torch
        languages=(bundle.info.source_language, bundle.info.target_language),
        drafter=None if bundle.drafter is None else bundle.drafter.config.kind,
        limits=_limits(bundle, max_length),
        converted={kind: folder for kind, folder in folders.items() if kind not in refused},
        refused=refused,
    )


def make_synthetic(geometry: "Geometry", folder: Path) -> None:
    """Write a bundle of a geometry with random weights to `folder`; in int8, as it is decoded, if it has the size of a large model."""
    from specdec_cli.benchmark.random_model import random_bundle
    from specdec_cli.model.bundle import save_bundle

    save_bundle(random_bundle(geometry), folder, "int8" if geometry.batches else "float32")


def _limits(bundle: "Bundle", max_length: int | None) -> dict[int, int]:
    """The largest number of tokens that our decoder emits, by the padded length of the source."""
    from specdec_cli.decoding.verifier import MULTIPLE, bundle_verifier

    verifier, eos = bundle_verifier(bundle), bundle.verifier.config.eos
    max_length = max_length or bundle.info.max_length
    widths = range(MULTIPLE, verifier.longest_source + 1, MULTIPLE)
    return {width: int(verifier.begin([0], [[eos] * width], max_length).limits[0]) - 1 for width in widths}


def _convert(bundle: "Bundle", folders: Mapping[str, Path], device: str) -> dict[str, str]:
    """Convert to each of `folders`; return the reasons for formats that CTranslate2 does not support."""
    if not folders:
        return {}
    from ctranslate2 import get_supported_compute_types  # type: ignore[attr-defined]

    from converters.to_ctranslate2 import to_ctranslate2

    refused = {}
    try:
        supported = get_supported_compute_types(device)
    except (RuntimeError, ValueError) as error:
        return dict.fromkeys(folders, f"CTranslate2 on {device}: {error}")
    for compute_type, folder in folders.items():
        if compute_type not in supported:
            known = ", ".join(sorted(supported))
            refused[compute_type] = f"CTranslate2 cannot compute in {compute_type} on this {device}; it can in {known}"
            continue
        try:
            to_ctranslate2(bundle, folder, None if compute_type == "float32" else compute_type)
        except ModelError as error:
            refused[compute_type] = str(error)
    return refused


if __name__ == "__main__":
    serve(Worker().handlers())
