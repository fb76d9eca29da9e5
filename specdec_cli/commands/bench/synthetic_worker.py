"""Worker process of `specdec bench --synthetic`: a model with random weights, and recorded drafts."""

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
    """A worker whose model is a geometry, given as a dictionary."""

    _recorded: "RecordedRunner"

    def open_bundle(self, model: dict[str, Any], device: str, precision: str, threads: int, *_: Any) -> None:
        """Make a bundle, and record the output of greedy decoding."""
        from specdec_cli.benchmark.synthetic import RecordedRunner, random_bundle

        geometry = Geometry.from_dict(model)
        bundle = move_to(resolve_machine(device, precision, threads), random_bundle(geometry))
        self._recorded = RecordedRunner(bundle, geometry, make_sources(geometry))
        self._runner_of = lambda _: self._recorded

    def outside_kernels(self, row: dict[str, Any], lines: list[str]) -> float | None:
        """The share of time outside compiled kernels; only for rows of a bundle in int8."""
        return self._recorded.share_outside_kernels(Row.from_dict(row), lines)

    def handlers(self) -> dict[str, Callable[..., Any]]:
        """The methods that answer requests, by name of the request."""
        return super().handlers() | {"outside-kernels": self.outside_kernels}


def inspect(model: dict[str, Any], device: str, precision: str, threads: int | None, folders: dict[str, str]) -> dict[str, Any]:
    """The fields of an Inspection. `folders` are the folders for the model converted to CTranslate2, by number format."""
    from specdec_cli.benchmark.synthetic import random_bundle

    geometry = Geometry.from_dict(model)
    machine = resolve_machine(device, precision, threads)
    return look_at(random_bundle(geometry), machine, geometry.length, folders)


if __name__ == "__main__":
    serve({"inspect": inspect} | SyntheticWorker().handlers())
