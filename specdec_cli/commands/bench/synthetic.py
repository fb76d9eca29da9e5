"""`specdec bench --synthetic`: measurement of rounds on this machine, with random weights and a given acceptance of drafts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import typer

from specdec_cli.benchmark.environment import describe_environment
from specdec_cli.benchmark.fastest_settings import FORMATS
from specdec_cli.benchmark.geometries import Geometry, make_sources
from specdec_cli.benchmark.measure import Conditions, Pool, measure
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.report import profile_table, synthetic_table, to_json
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.summary import Result, summarise
from specdec_cli.commands.bench.run import Progress
from specdec_cli.commands.bench.view import View, environment_lines
from specdec_cli.commands.bench.worker import Inspection
from specdec_cli.errors import UsageError
from specdec_cli.processes import Process

WORKER = "specdec_cli.commands.bench.synthetic_worker"
OPTIONS = (
    "synthetic",
    "repetitions",
    "profile",
    "block_size",
    "beam_size",
    "device",
    "precision",
    "threads",
    "json_file",
    "markdown",
    "quiet",
)
"""The names of the parameters of `bench` that may be given with --synthetic."""

_TRIED_LINES, _TRIED_TIMES = 2, 2
_EXPLANATION = "Random weights, and drafts accepted as recorded: this measures what a round costs on this machine, and no model."


@dataclass(frozen=True)
class Request:
    """The options of a synthetic bench: the geometries (model shapes) to measure, and the settings of the measurement.

    `device` and `precision` may be `auto`; `threads` None stands for the default of the machine. With `profile`, the time of the
    modules is measured too.
    """

    geometries: tuple[Geometry, ...]
    repetitions: int = 3
    beam_size: int = 5
    device: str = "auto"
    precision: str = "auto"
    threads: int | None = None
    profile: bool = False


@dataclass(frozen=True)
class Measurement:
    """The results of a geometry (model shape): greedy decoding and decoding with drafts by specdec, then the rows of CTranslate2.

    CTranslate2 has its fastest settings. `profile` has the seconds of the row with drafts in "encoder", "drafter", "verifier" and
    "others" (None: not asked for).
    """

    geometry: Geometry
    results: list[Result]
    profile: dict[str, float] | None

    @property
    def speedups(self) -> dict[str, float]:
        """The speedup of the row with drafts over each of the other rows, by the name of the other's decoding."""
        _, drafting, *_ = self.results
        others = (result for result in self.results if result is not drafting)
        return {other.row.decoding: drafting.number("tokens_per_second") / other.number("tokens_per_second") for other in others}


@dataclass(frozen=True)
class Outcome:
    """The measurements of all geometries, and descriptions of the machine and of the input, by name."""

    measurements: list[Measurement]
    environment: dict[str, Any]
    examples: dict[str, Any]

    @property
    def results(self) -> list[Result]:
        """The results of all rows of all geometries."""
        return [result for measurement in self.measurements for result in measurement.results]


def check_alone(context: typer.Context) -> None:
    """Raise UsageError if the command line has options of `bench` that are not allowed with --synthetic."""
    given = [p for p in context.command.params if p.name and getattr(context.get_parameter_source(p.name), "name", "") == "COMMANDLINE"]
    others = [p.opts[0] if p.param_type_name == "option" else "FILE" for p in given if p.name not in OPTIONS]
    if others:
        raise UsageError(f"--synthetic uses random text and a random model; {', '.join(others)} cannot be given with it")


def run(request: Request, progress: Progress) -> Outcome:
    """Measure one geometry after the other; the rows of a geometry take turns. Raises SpecdecError if a process of a row fails."""
    measurements = []
    for geometry in request.geometries:
        with TemporaryDirectory(prefix="specdec-bench-") as temporary:
            folders = {kind: Path(temporary) / kind for kind in FORMATS}
            inspection = _inspect(geometry, request, folders)
            measurements.append(_measure(geometry, request, inspection, folders, progress))
    environment = describe_environment() | inspection.machine | {"model": "random weights", "repetitions": request.repetitions}
    lines = len(make_sources(geometry))
    return Outcome(measurements, environment, {"name": "random tokens", "lines": lines, "sentences": lines})


def print_outcome(outcome: Outcome, markdown: bool) -> None:
    """Print the machine, and the shape and the table of each geometry, for a terminal or in Markdown."""
    view = View(markdown)
    view.paragraph(_EXPLANATION, *environment_lines(outcome.environment, outcome.examples))
    for measurement in outcome.measurements:
        view.paragraph(_description(measurement.geometry))
        view.table(synthetic_table(measurement.results))
        if measurement.profile is not None:
            iterations = {result.row.name: result.measured("iterations") for result in measurement.results}
            view.table(profile_table({measurement.geometry.decoding: measurement.profile}, outcome.examples["sentences"], iterations))


def to_record(outcome: Outcome) -> dict[str, Any]:
    """The JSON object of a synthetic bench: that of `bench --json`, and shape, acceptance and speedups of each geometry."""
    return to_json(outcome.results, outcome.environment, outcome.examples, {}) | {
        "synthetic": {
            measurement.geometry.name: {
                **measurement.geometry.to_dict(),
                "tokens_per_round": measurement.geometry.tokens_per_round,
                "speedup_vs": {name: round(speedup, 3) for name, speedup in measurement.speedups.items()},
                "seconds_by_module": measurement.profile,
            }
            for measurement in outcome.measurements
        }
    }


def _inspect(geometry: Geometry, request: Request, folders: Mapping[str, Path]) -> Inspection:
    """What this machine supports, from a separate process, which also writes the model in CTranslate2's formats."""
    targets = {kind: str(folder) for kind, folder in folders.items()}
    with Process(WORKER, f"--synthetic, {geometry.name}") as process:
        return Inspection(**process.call("inspect", geometry.to_dict(), request.device, request.precision, request.threads, targets))


def _measure(geometry: Geometry, request: Request, inspection: Inspection, folders: Mapping[str, Path], progress: Progress) -> Measurement:
    lines = make_sources(geometry)
    formats = {kind: folder for kind, folder in folders.items() if kind not in inspection.refused}
    conditions = Conditions(geometry.to_dict(), inspection.device, inspection.precision, False, dict(inspection.limits), formats)
    greedy = Row("greedy", threads=inspection.threads).changed(beam_size=request.beam_size, max_length=geometry.length)
    drafting = greedy.changed(decoding=geometry.decoding, block_size=geometry.block_size or None)
    rows = [greedy, drafting, *_best_opponents(geometry, greedy, conditions, lines)]
    # Rows share processes, to save memory.
    with Pool(WORKER, rows, {"": conditions}, shared=True) as pool, progress(len(rows) * request.repetitions) as report:
        measured = measure(pool, rows, lines, request.repetitions, report)
        profile = pool.call("profile", drafting, lines) if request.profile else None
    labelled = [replace(one, settings=_settings(one, geometry, inspection)) for one in measured]
    return Measurement(geometry, summarise(labelled, lambda _: None), profile)


def _best_opponents(geometry: Geometry, base: Row, conditions: Conditions, lines: Sequence[str]) -> list[Row]:
    """The rows of CTranslate2, each with its fastest number format and number of threads."""
    threads = sorted({1, base.threads}) if conditions.device == "cpu" else [base.threads]
    tried = [
        replace(base, decoding=decoding, variant=kind, threads=number)
        for decoding in geometry.opponents
        for kind in conditions.converted
        for number in threads
    ]
    with Pool(WORKER, tried, {"": conditions}, shared=True) as pool:
        measured = measure(pool, tried, lines[:_TRIED_LINES], _TRIED_TIMES, lambda: None)
    fastest = sorted(measured, key=lambda one: min(run.seconds for run in one.runs))
    return [next(one.row for one in fastest if one.row.decoding == decoding) for decoding in geometry.opponents]


def _settings(one: RowRuns, geometry: Geometry, inspection: Inspection) -> dict[str, Any]:
    """The settings of a row: precision, threads, geometry, and whether its drafts are recorded."""
    labels = {"geometry": geometry.name, "precision": one.row.compute_type or inspection.precision, "recorded": one.row.drafts}
    return labels | one.settings


def _description(geometry: Geometry) -> str:
    shape = geometry.shape
    reads = {"states": "the verifier's states", "own": "the prefix"}[geometry.drafter_prefix]
    layers = f"{geometry.drafter_layers} layer{'' if geometry.drafter_layers == 1 else 's'} over {reads}"
    drafter = f"a drafter of {layers}, blocks of {geometry.block_size}" if geometry.block_size else "no drafter"
    return (
        f"{geometry.name}: {shape.encoder_layers}+{shape.decoder_layers} layers, width {shape.width:,}, {shape.heads} heads, feed-forward "
        f"{shape.feed_forward:,}, vocabulary {shape.vocabulary_size:,}; {drafter}; {geometry.tokens_per_round:g} tokens a round accepted "
        f"as recorded; outputs of {geometry.length} tokens, one at a time"
    )
