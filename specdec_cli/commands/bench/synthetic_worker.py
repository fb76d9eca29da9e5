"""The worker process of `specdec bench --synthetic`: a model with random weights, and prepared drafts."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from specdec_cli.benchmark.geometries import Geometry, make_sources
from specdec_cli.commands.bench.runners import Runner, native_precision
from specdec_cli.commands.bench.worker import Worker, look_at
from specdec_cli.opening.machine import Machine, move_to, native_machine, resolve_machine
from specdec_cli.processes import serve

if TYPE_CHECKING:
    from specdec_cli.benchmark.synthetic import RecordedRunner


class SyntheticWorker(Worker):
    """A Worker whose bundle has random weights; its `model` argument is a Geometry as a dictionary.

    The native engine decodes in int8 on a CPU, if it is there, and the reference engine otherwise, and when modules are timed.
    """

    def open_bundle(self, model: dict[str, Any], device: str, precision: str, threads: int, *_: Any) -> None:
        """Make the bundle of the geometry `model` with random weights, and prepare drafts from its greedy outputs."""
        geometry, machine = Geometry.from_dict(model), Machine(device, precision, threads)
        self._folder = TemporaryDirectory(prefix="specdec-bench-")  # deleted at the end of the process
        runner = (
            _native_runner(geometry, Path(self._folder.name))
            if native_precision(device, precision)
            else _reference_runner(geometry, machine)
        )
        self._runner_of = lambda _: runner
        self._machine, self._geometry = machine, geometry

    def profile(self, row: dict[str, Any], lines: list[str]) -> dict[str, float]:
        """`Worker.profile` by the reference engine, whose modules can be timed."""
        runner = _reference_runner(self._geometry, self._machine)
        self._runner_of = lambda _: runner
        return super().profile(row, lines)


def _native_runner(geometry: Geometry, folder: Path) -> Runner:
    from specdec_cli.benchmark.recorded_engine import RecordedNativeRunner
    from specdec_cli.benchmark.synthetic import random_bundle, store

    return RecordedNativeRunner(store(random_bundle(geometry), folder), geometry, make_sources(geometry))


def _reference_runner(geometry: Geometry, machine: Machine) -> "RecordedRunner":
    from specdec_cli.benchmark.synthetic import RecordedRunner, random_bundle

    resolved = resolve_machine(machine.device, machine.precision, machine.threads)
    return RecordedRunner(move_to(resolved, random_bundle(geometry)), geometry, make_sources(geometry))


def inspect(model: dict[str, Any], device: str, precision: str, threads: int | None, folders: dict[str, str]) -> dict[str, Any]:
    """Make the bundle of a geometry (`model` has its fields), and return the fields of an Inspection, by name.

    The bundle is converted to CTranslate2 in `folders`, by number format. If the native engine can be used, the precision is int8.
    """
    from specdec_cli.benchmark.synthetic import random_bundle

    geometry = Geometry.from_dict(model)
    if native_precision(device, precision):
        precision, threads = "int8", native_machine(device, precision, threads).threads
    machine = resolve_machine(device, precision, threads)
    return look_at(random_bundle(geometry), machine, geometry.length, folders)


if __name__ == "__main__":
    serve({"inspect": inspect} | SyntheticWorker().handlers())
