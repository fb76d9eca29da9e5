"""Choice of the engine that runs a row of a bundle: the native engine if it supports the row, else the reference engine over its passes."""

from typing import TYPE_CHECKING, Any, Protocol

from specdec_cli.benchmark.records import Run
from specdec_cli.benchmark.rows import Row
from specdec_cli.engines.native import Unsupported
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.library import LibraryError, UnsupportedModel, load_library
from specdec_cli.opening.machine import Machine, computes_natively, native_machine, prepare_torch, resolve_machine
from specdec_cli.opening.models import ModelChoice, find_bundle, open_bundle

if TYPE_CHECKING:
    from specdec_cli.benchmark.bundle_runner import BundleRunner
    from specdec_cli.benchmark.native_runner import NativeRunner


class Runner(Protocol):
    """Protocol of an object that decodes lines with the settings of a row of the benchmark."""

    def prepare(self, row: Row) -> dict[str, Any]:
        """The settings with which `row` is decoded, defaults resolved, by name."""

    def run(self, row: Row, lines: list[str]) -> Run:
        """Decode `lines` with the settings of `row`, and measure time and memory."""


class BundleRunners:
    """The runners of a bundle, each made when a row needs it, so that a row of the native engine takes no memory for PyTorch.

    `engine` is auto, native or reference.
    """

    def __init__(self, model: ModelChoice, machine: Machine, split: bool, engine: str) -> None:
        self._model, self._machine, self._split, self._engine = model, machine, split, engine
        self._native: NativeRunner | None = None
        self._supported: dict[Row, bool] = {}
        self._reference: BundleRunner | None = None
        self._passes: BundleRunner | None = None

    def of(self, row: Row) -> Runner:
        """The runner of the engine that decodes `row`.

        If `engine` is native, raises ModelError for a bundle that the native engine does not support.
        """
        return self.native(row) or self.passes()

    def native(self, row: Row) -> "NativeRunner | None":
        """The runner of the native engine; None if the reference engine decodes `row`. Raises errors as `of` does."""
        if self._engine == "reference" or not native_precision(self._machine.device, self._machine.precision):
            return None
        if row not in self._supported:
            self._supported[row] = self._supports(row)
        return self._native if self._supported[row] else None

    def _supports(self, row: Row) -> bool:
        """Whether the native engine decodes `row`."""
        from specdec_cli.benchmark.native_runner import NativeRunner

        model = self._model
        self._native = self._native or NativeRunner(
            describe_bundle(find_bundle(model), model.source_language, model.target_language), self._split
        )
        try:
            self._native.prepare(row)
        except (Unsupported, UnsupportedModel):
            return False
        return True

    def reference(self) -> "BundleRunner":
        """The runner of the reference engine."""
        if self._reference is None:
            self._reference = self._runner(resolve_machine(self._machine.device, self._machine.precision, self._machine.threads))
        return self._reference

    def passes(self) -> "BundleRunner":
        """The runner of the reference engine over the passes of the native engine; over PyTorch's, where this does not compute."""
        if self._engine == "reference" or not native_precision(self._machine.device, self._machine.precision):
            return self.reference()
        if self._passes is None:
            machine = native_machine(self._machine.device, self._machine.precision, self._machine.threads)
            prepare_torch(machine.threads)
            try:
                self._passes = self._runner(machine)
            except UnsupportedModel:
                if self._engine == "native":
                    raise
                return self.reference()
        return self._passes

    def _runner(self, machine: Machine) -> "BundleRunner":
        from specdec_cli.benchmark.bundle_runner import BundleRunner

        return BundleRunner(open_bundle(self._model, machine), self._split)


def check_native(device: str, precision: str, threads: int | None) -> None:
    """Raise UsageError if the native engine is missing, or does not compute in this precision on this device."""
    native_machine(device, precision, threads)
    try:
        load_library()
    except LibraryError as error:
        raise UsageError(f"--engine native: the engine is missing: {error}") from error


def native_precision(device: str, precision: str) -> bool:
    """Whether the native engine can be loaded, and computes in this precision on this device; both may be `auto`."""
    try:
        load_library()
    except LibraryError:
        return False
    return computes_natively(device, precision)
