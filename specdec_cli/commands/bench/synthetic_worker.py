"""The worker process of `specdec bench --synthetic`: a model with random weights, and prepared drafts."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from specdec_cli.benchmark.geometries import Geometry, make_sources
from specdec_cli.benchmark.rows import Row
from specdec_cli.commands.bench.worker import Worker, look_at
from specdec_cli.commands.machine import move_to, resolve_machine
from specdec_cli.processes import serve

if TYPE_CHECKING:
    from specdec_cli.benchmark.synthetic import RecordedRunner


class SyntheticWorker(Worker):
    """A Worker whose bundle has random weights; its `model` argument is a Geometry as a dictionary."""

    _recorded: "RecordedRunner"

    def open_bundle(self, model: dict[str, Any], device: str, precision: str, threads: int, *_: Any) -> None:
        """Make the bundle of the geometry `model` with random weights, and prepare drafts from its greedy outputs."""
        from specdec_cli.benchmark.synthetic import RecordedRunner, random_bundle

        geometry = Geometry.from_dict(model)
        bundle = move_to(resolve_machine(device, precision, threads), random_bundle(geometry))
        self._recorded = RecordedRunner(bundle, geometry, make_sources(geometry))
        self._runner_of = lambda _: self._recorded

    def outside_kernels(self, row: dict[str, Any], lines: list[str]) -> float | None:
        """The share (0 to 1) of the time of decoding `lines` outside compiled kernels, in int8; None without kernels."""
        return self._recorded.share_outside_kernels(Row.from_dict(row), lines)

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """The methods that answer requests of the parent process, by name of the request."""
        return super().handlers() | {"outside-kernels": self.outside_kernels}


def inspect(model: dict[str, Any], device: str, precision: str, threads: int | None, folders: dict[str, str]) -> dict[str, Any]:
    """Make the bundle of a geometry (`model` has its fields), and return the fields of an Inspection, by name.

    The bundle is converted to CTranslate2 in `folders`, by number format.
    """
    from specdec_cli.benchmark.synthetic import random_bundle

    geometry = Geometry.from_dict(model)
    machine = resolve_machine(device, precision, threads)
    return look_at(random_bundle(geometry), machine, geometry.length, folders)


if __name__ == "__main__":
    serve({"inspect": inspect} | SyntheticWorker().handlers())
