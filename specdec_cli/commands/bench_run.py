"""What `specdec bench` does between its options and its tables."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from specdec_cli.commands.bench_worker import Inspection
from specdec_cli.commands.translate import AUTOMATIC_BATCH
from specdec_cli.errors import UsageError
from specdec_cli.evaluation.environment import describe_environment
from specdec_cli.evaluation.examples import SAMPLE, Examples
from specdec_cli.evaluation.histogram import Bin, speedup_histogram
from specdec_cli.evaluation.measure import Conditions, Pool, measure
from specdec_cli.evaluation.process import Process
from specdec_cli.evaluation.records import Measured
from specdec_cli.evaluation.rows import Row, Sweep, sweep_rows
from specdec_cli.evaluation.scoring import Score, score
from specdec_cli.evaluation.summary import Result, milliseconds_per_sentence, reference, summarise

WORKER = "specdec_cli.commands.bench_worker"
Progress = Callable[[int], AbstractContextManager[Callable[[], None]]]


@dataclass(frozen=True)
class Plan:
    """What was asked for. Rows that were not `asked` for by name are left out where the bundle cannot do them."""

    model: str
    examples: Examples
    rows: tuple[Row, ...]
    asked: bool
    sweep: Sweep
    repetitions: int
    batch_size: int | Literal["auto"]
    device: str
    precision: str
    threads: int | None
    split: bool
    profile: bool
    histogram: bool


@dataclass(frozen=True)
class Outcome:
    """What came out. `left_out` says why, by row; `histogram` is of the row that it names."""

    results: list[Result]
    environment: dict[str, Any]
    examples: dict[str, Any]
    signatures: dict[str, str]
    left_out: dict[str, str]
    profiles: dict[str, dict[str, float]]
    histogram: tuple[str, list[Bin]] | None


def run(plan: Plan, progress: Progress) -> Outcome:
    """Inspect and convert the bundle, run all rows, and sum up. Raises SpecdecError."""
    lines = plan.examples.sources
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        folders = {kind: Path(temporary) / kind for kind in sorted({row.compute_type for row in plan.rows if row.compute_type})}
        inspection = _inspect(plan, folders)
        rows, left_out = _possible_rows(plan, inspection)
        conditions = Conditions(plan.model, inspection.device, inspection.precision, plan.split, dict(inspection.limits), folders)
        with Pool(WORKER, rows, conditions, shared=bool(plan.sweep)) as pool, progress(len(rows) * plan.repetitions) as report:
            measured = measure(pool, rows, lines, plan.repetitions, report)
            profiles = {row.name: pool.ask("profile", row, lines) for row in rows if row.drafts} if plan.profile else {}
    sentences = sum(len(output.sentences) for output in measured[0].outputs)
    return Outcome(
        results=summarise(measured, lambda texts: _score(texts, plan.examples.references)),
        environment=_environment(plan, inspection),
        examples={"source": plan.examples.name, "lines": len(lines), "sentences": sentences},
        signatures=_signatures(plan.examples.references),
        left_out=left_out,
        profiles=profiles,
        histogram=_histogram(measured) if plan.histogram else None,
    )
