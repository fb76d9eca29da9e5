"""The measurement of `specdec bench`, from a plan for each bundle to the results."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from specdec_cli.benchmark.analyses import OPERATIONS, Record, analyse, check_baseline
from specdec_cli.benchmark.comparison import baseline, milliseconds_per_sentence
from specdec_cli.benchmark.environment import cpu_share_of_others, describe_environment
from specdec_cli.benchmark.examples import Examples
from specdec_cli.benchmark.fastest_settings import choose_fastest_settings, needed_formats, refusal
from specdec_cli.benchmark.histogram import Bin, speedup_histogram
from specdec_cli.benchmark.measure import Conditions, Pool, measure
from specdec_cli.benchmark.quality_plot import QualityPlot, quality_plot
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.scatter import Point, scatter
from specdec_cli.benchmark.summary import Result, Scorer, summarise
from specdec_cli.benchmark.sweeps import BASELINES, Sweep, check_sweep, sweep_rows
from specdec_cli.commands.bench.worker import Inspection
from specdec_cli.errors import UsageError
from specdec_cli.metrics.scoring import Score
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.processes import Process

WORKER = "specdec_cli.commands.bench.worker"
Progress = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""Shows the progress of a number of runs: makes the context manager that gives the function to call after each."""


@dataclass(frozen=True)
class Plan:
    """What to measure of a bundle, and how: the options of `specdec bench` in parsed form.

    If `asked` is true, the user named the rows, and one that the bundle does not support is an error; else it is left out. `scorer`
    scores output lines; `sweep` has the values to try by key (empty: no sweep). `device`, `precision` and `engine` may be `auto`;
    `threads` may be None, the default of the machine. With `split`, lines are split into sentences. `profile` and `histogram`
    tell which of these results are computed beside the table; `plot` is what is plotted against the speedup: the edit ratio of each
    line, or the quality of each row; `analyses` names the analyses of the outputs, and `baseline` the row of the analysis of significance
    (None: the first).
    """

    model: ModelChoice
    examples: Examples
    scorer: Scorer
    rows: tuple[Row, ...]
    asked: bool
    sweep: Sweep
    repetitions: int
    batch_size: int
    device: str
    precision: str
    engine: str
    threads: int | None
    split: bool
    profile: bool
    histogram: bool
    plot: Literal["edits", "quality"] | None
    analyses: tuple[str, ...] = ()
    baseline: str | None = None


@dataclass(frozen=True)
class Outcome:
    """All that a bench measured: a result for each row, the environment (machine, versions), the input, signatures of metrics.

    `left_out` maps names of rows that were left out to the reason, and `profiles` names of rows to the seconds spent in each module
    (see `BundleRunner.profile`). `points` maps names of rows to the points of the plot of speedup against edit ratio; `quality` is the
    plot of quality. `histograms` maps a pair of names, of a row with drafts and its baseline, to the histogram of the speedups of
    sentences; `analyses` maps names of analyses to their records.
    """

    results: list[Result]
    environment: dict[str, Any]
    examples: dict[str, Any]
    signatures: dict[str, str]
    left_out: dict[str, str]
    profiles: dict[str, dict[str, float]]
    histograms: dict[tuple[str, str], list[Bin]]
    points: dict[str, list[Point]]
    quality: QualityPlot | None
    analyses: dict[str, list[Record]]

    @property
    def views(self) -> dict[str, Any]:
        """What is stored beside the rows: analyses, profiles, histograms and points, without those that were not computed."""
        pairs = self.histograms.items()
        views = {
            "analyses": self.analyses,
            "profiles": self.profiles,
            "histograms": [{"row": row, "baseline": other, "bins": [asdict(one) for one in bins]} for (row, other), bins in pairs],
            "points": {name: [asdict(point) for point in points] for name, points in self.points.items()},
        }
        return {name: view for name, view in views.items() if view}


@dataclass(frozen=True)
class _Prepared:
    """A bundle that was inspected and converted: its rows before they are swept, and the reasons why others were left out."""

    inspection: Inspection
    conditions: Conditions
    rows: list[Row]
    left_out: dict[str, str]


def run(plans: Sequence[Plan], progress: Progress) -> Outcome:
    """Measure the rows of all plans, which take turns, and summarise the results; the plans differ in model and rows only.

    Before that, each bundle is inspected, and converted for CTranslate2 if a row needs it. Raises SpecdecError for a bundle that
    cannot be loaded, for rows that are not supported, and for a process that fails.
    """
    plan = plans[0]
    lines = plan.examples.sources
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        prepared = [_prepare(each, Path(temporary) / str(number)) for number, each in enumerate(plans)]
        check_sweep([row for each in prepared for row in each.rows], plan.sweep)
        rows = [row for each in prepared for row in _rows(each, plan)]
        check_baseline(plan.baseline, rows)
        conditions = {each.rows[0].model: each.conditions for each in prepared if each.rows}
        with Pool(WORKER, rows, conditions, shared=bool(plan.sweep)) as pool, progress(len(rows) * plan.repetitions) as report:
            before = cpu_share_of_others()
            measured = measure(pool, rows, lines, plan.repetitions, report)
            busy = max((before, cpu_share_of_others()), key=lambda share: share or 0.0)
            profiles = {row.label: pool.call("profile", row, lines) for row in rows if row.profiled} if plan.profile else {}
            counted = [row for row in rows if row.compute_type is None and OPERATIONS in plan.analyses]
            operations = {row: pool.call("count", row, lines) for row in counted}
    sentences = sum(len(output.sentences) for output in measured[0].outputs)
    references, signatures = plan.examples.references or (), dict[str, str]()
    results = summarise(measured, lambda texts: _score(plan.scorer, texts, signatures))
    return Outcome(
        results=results,
        environment=_environment(plans, prepared[0].inspection, measured) | {"busy": busy},
        examples={"name": plan.examples.name, "lines": len(lines), "sentences": sentences},
        signatures=signatures,
        left_out={name: why for each in prepared for name, why in each.left_out.items()},
        profiles=profiles,
        histograms=_histograms(measured) if plan.histogram else {},
        points=scatter(measured, lines) if plan.plot == "edits" else {},
        quality=quality_plot(results, plan.sweep) if plan.plot == "quality" else None,
        analyses=analyse(plan.analyses, measured, references, prepared[0].inspection.languages[1], plan.sweep, operations, plan.baseline),
    )


def _prepare(plan: Plan, folder: Path) -> _Prepared:
    """Inspect the bundle of a plan and convert it into `folder`. Raises SpecdecError."""
    folders = {kind: folder / kind for kind in needed_formats(plan.rows)}
    inspection = _inspect(plan, folders)
    rows, left_out = possible_rows(plan, inspection)
    there = {kind: path for kind, path in folders.items() if kind not in inspection.refused}
    conditions = Conditions(
        asdict(plan.model), inspection.device, inspection.precision, plan.split, dict(inspection.limits), there, plan.engine
    )
    return _Prepared(inspection, conditions, rows, left_out)


def _rows(prepared: _Prepared, plan: Plan) -> list[Row]:
    """The rows of a bundle, with the values of the sweep, and CTranslate2's fastest settings where they were asked for."""
    return choose_fastest_settings(WORKER, sweep_rows(prepared.rows, plan.sweep), prepared.conditions, plan.examples.sources)


def _inspect(plan: Plan, folders: Mapping[str, Path]) -> Inspection:
    """What the bundle and this machine support, from a separate process, which frees its memory."""
    find_bundle(plan.model)
    max_length = plan.rows[0].options.max_length
    with Process(WORKER, plan.model.name) as process:
        targets = {kind: str(folder) for kind, folder in folders.items()}
        answer = process.call("inspect", asdict(plan.model), plan.device, plan.precision, plan.threads, max_length, targets, plan.engine)
    inspection = Inspection(**answer)
    languages = plan.examples.languages
    if languages is not None and list(languages) != inspection.languages:
        given, known = ("-".join(pair) for pair in (languages, inspection.languages))
        raise UsageError(f"the {plan.examples.name} is {given}, {plan.model.name} is {known}; give text in its languages")
    return inspection


def missing_drafter(row: Row, kind: str | None) -> str | None:
    """The reason, as text, why a bundle with a drafter of `kind` (None: no drafter) does not support `row`; None if it does."""
    if row.drafters <= {kind}:
        return None
    return {"block": "the bundle has no heads", "heads": "the bundle has no block drafter"}.get(kind or "", "the bundle has no drafter")


def possible_rows(plan: Plan, inspection: Inspection) -> tuple[list[Row], dict[str, str]]:
    """Of the plan's rows, those that bundle and machine support, with batch size and threads.

    The second value maps the labels of rows that were left out to the reason. Raises UsageError for a row that was asked for and is
    not supported, and for --profile, --histogram or --plot without the rows they need.
    """
    possible, left_out = [], {}
    for row in plan.rows:
        problem = missing_drafter(row, inspection.drafter) or refusal(row, inspection.refused)
        if problem is None:
            possible.append(row.changed(batch_size=plan.batch_size, threads=inspection.threads))
        elif plan.asked:
            raise UsageError(f"--row {row.label}: {problem}")
        else:
            left_out[row.label] = problem
    _check_views(plan, possible)
    return possible, left_out


def _check_views(plan: Plan, rows: Sequence[Row]) -> None:
    drafting, greedy = any(row.drafts for row in rows), any(row.decoding == "greedy" for row in rows)
    if plan.profile and not any(row.profiled for row in rows):
        raise UsageError("--profile needs a row that drafts, or beam search")
    for name, wanted in (("--histogram", plan.histogram), ("--plot", plan.plot == "edits")):
        if wanted and not (drafting and greedy and plan.batch_size == 1):
            raise UsageError(f"{name} needs greedy, a row that drafts, and --batch-size 1")
    if plan.plot == "quality" and not any(row.decoding in BASELINES for row in rows):
        raise UsageError("--plot needs greedy or beam, over which the speedups are")


def _score(scorer: Scorer, texts: Sequence[str], signatures: dict[str, str]) -> Score | None:
    score = scorer(texts)
    if score is not None:
        signatures |= score.signatures
    return score


def _environment(plans: Sequence[Plan], inspection: Inspection, measured: Sequence[RowRuns]) -> dict[str, Any]:
    """The machine, the versions, the engines of the rows, and what was measured how often."""
    engines = dict.fromkeys(one.settings["engine"] for one in measured if "engine" in one.settings)
    machine = inspection.machine | {"engine": ", ".join(engines) or None}
    return describe_environment() | machine | {"model": ", ".join(plan.model.name for plan in plans), "repetitions": plans[0].repetitions}


def _histograms(measured: Sequence[RowRuns]) -> dict[tuple[str, str], list[Bin]]:
    """Speedups of lines, by bins, of each row with drafts over greedy and, if it was measured, over beam search."""
    pairs = [(one, baseline(one.row, measured, name)) for one in measured if one.row.drafts for name in BASELINES]
    return {
        (one.row.label, other.row.label): speedup_histogram(milliseconds_per_sentence(other), milliseconds_per_sentence(one))
        for one, other in pairs
        if other is not None
    }
