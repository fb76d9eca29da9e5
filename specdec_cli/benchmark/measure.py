"""Measurement of rows: each row runs in a process of its own, and the rows take turns in decoding the same lines."""

import platform
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from typing import Any, Literal

from specdec_cli.benchmark.geometries import Geometry
from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.results import Measured, Outcome, summarise
from specdec_cli.benchmark.rows import BASELINES, BEST, SAME, Row, Sweep, check_sweep, sweep_rows
from specdec_cli.benchmark.runs import Conditions
from specdec_cli.benchmark.views import OPERATIONS, analyse, check_baseline, edit_points, histograms
from specdec_cli.decoding.methods import REWRITING
from specdec_cli.errors import UsageError
from specdec_cli.metrics.scoring import Score
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.processes import Process
from specdec_cli.processors import usable_processors
from specdec_cli.version import __version__

WORKER = "specdec_cli.benchmark.worker"
"""The module of the worker processes."""
_WARM_UP = 8
_TRIAL_RUNS, _TRIAL_LINES, _TRIAL_BATCHES = 2, 12, 6
_TURN_SECONDS, _IDLE_SECONDS = 0.05, 0.1
"""In these times idle OpenMP threads stop spinning: those of the process that ran last, and those of this process."""
_CPU_FILE, _TIMES_FILE = Path("/proc/cpuinfo"), Path("/proc/stat")
Progress = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""Shows the progress of a number of runs: makes the context manager that gives the function to call after each."""
Call = Callable[..., Any]
"""Sends a request, with a row and further arguments, to the process of the row, and returns its response."""


@dataclass(frozen=True)
class Plan:
    """What to measure, and how: the `options` of bench, and what follows from them and from the input.

    - `models`: the bundles, by the `model` of their rows; `rows`: their rows, to which `sweep` adds the values to try by key.
    - `task`: that of the bundles; `examples`: the input.
    - `geometry`: that of a synthetic bundle.
    """

    options: BenchOptions
    models: Mapping[str, ModelChoice]
    rows: Sequence[Row]
    task: Task
    examples: Examples
    sweep: Sweep = field(default_factory=dict)
    geometry: Geometry | None = None

    @property
    def split(self) -> bool:
        """Whether lines are split into sentences; for summarisation, a line is one text."""
        return not (self.options.no_split or self.options.raw) and self.task != "summarise" and self.geometry is None

    @property
    def shared(self) -> bool:
        """Whether the rows of a bundle share a process: those of a sweep, and those of a synthetic bundle whose memory is not measured."""
        return bool(self.sweep) if self.geometry is None else not self.geometry.batches

    @property
    def plot(self) -> Literal["edits", "quality"] | None:
        """What is plotted against the speedup: the edit ratio of each line, or the quality of each row."""
        return None if self.options.plot is None else "edits" if self.task in REWRITING else "quality"


def run(plan: Plan, progress: Progress) -> Outcome:
    """Measure the rows of the plan, one repetition of each row after the other in turn, and summarise the results.

    Before that, each bundle is inspected, and converted for CTranslate2 if a row needs it. Raises SpecdecError for a bundle that
    cannot be loaded, for rows that are not supported, and for a process that fails.
    """
    lines, left_out = plan.examples.sources, dict[str, str]()
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        conditions: dict[str, Conditions] = {}
        possible: list[Row] = []
        for number, name in enumerate(plan.models):
            conditions[name] = _inspect(plan, name, Path(temporary) / str(number))
            own, without = possible_rows(plan, name, conditions[name])
            possible += own
            left_out |= without
        for row in plan.rows if plan.options.named else ():
            if row.name not in {one.name for one in possible}:
                raise UsageError(f"--row {row.label}: {left_out[row.label]}")
        check_sweep(possible, plan.sweep)
        tried = lines if plan.geometry is None else lines[:2]
        rows = [_fastest(row, conditions[row.model], tried) if row.variant == BEST else row for row in sweep_rows(possible, plan.sweep)]
        check_baseline(plan.options.baseline, rows)
        with open_processes(rows, conditions, plan.shared) as call, progress(len(rows) * plan.options.runs) as report:
            before = cpu_share_of_others()
            measured = measure(call, rows, lines, plan.options.runs, report, with_memory=not plan.shared)
            measured = [_with_format(one, conditions[one.row.model]) for one in measured]
            busy = max((before, cpu_share_of_others()), key=lambda share: share or 0.0)
            for place, one in enumerate(measured):
                if plan.options.profile and one.row.profiled:
                    measured[place] = one = replace(one, profile=call("profile", one.row, lines))
                if OPERATIONS in (plan.options.analyses or ()) and one.row.toolkit == "specdec":
                    measured[place] = replace(one, operations=call("count", one.row, lines))
    first, signatures = next(iter(conditions.values())), dict[str, str]()

    def score(texts: Sequence[str]) -> Score | None:
        scores = plan.examples.score(texts)
        signatures.update(scores.signatures if scores else {})
        return scores

    results = summarise(measured, score)
    return Outcome(
        results=results,
        environment=_environment(plan, first, measured) | {"busy": busy},
        examples={"name": plan.examples.name, "lines": len(lines), "sentences": measured[0].sentences},
        signatures=signatures,
        left_out=left_out,
        views=_views(plan, results, first.languages[1]),
    )


def _views(plan: Plan, measured: Sequence[Measured], language: str) -> dict[str, Any]:
    options = plan.options
    views = {
        "analyses": analyse(options.analyses or (), measured, plan.examples.references or (), language, plan.sweep, options.baseline),
        "profiles": {one.row.label: one.profile for one in measured if one.profile is not None},
        "histograms": histograms(measured) if options.histogram else [],
        "points": edit_points(measured, plan.examples.sources) if plan.plot == "edits" else {},
    }
    return {name: view for name, view in views.items() if view}


def _inspect(plan: Plan, name: str, folder: Path) -> Conditions:
    """The conditions of a bundle (see `worker.inspect`), from a separate process, which frees its memory; models are converted in
    `folder`.
    """
    rows, model = [row for row in plan.rows if row.model == name], plan.models[name]
    find_bundle(model)
    folders = {kind: folder / kind for row in rows for kind in row.formats}
    asked = Conditions(model, plan.options.machine, split=plan.split, raw=plan.options.raw, geometry=plan.geometry)
    with Process(WORKER, model.name) as process:
        conditions: Conditions = process.call("inspect", asked, rows[0].options.max_length, folders)
    languages = plan.examples.languages
    if languages is not None and languages != conditions.languages:
        requested, bundled = ("-".join(pair) for pair in (languages, conditions.languages))
        raise UsageError(f"the {plan.examples.name} is {requested}, {model.name} is {bundled}; give text in its languages")
    return conditions


def possible_rows(plan: Plan, model: str, conditions: Conditions) -> tuple[list[Row], dict[str, str]]:
    """The plan's rows of `model` that bundle and machine support by their `conditions`, with batch size and threads.

    The second value maps the labels of rows that were left out to the reason. Raises UsageError for a row that was asked for and is
    not supported, if there is one model, and for --profile, --histogram or --plot without the rows they need.
    """
    possible, left_out = [], {}
    for row in plan.rows:
        if row.model != model:
            continue
        if row.compute_type == SAME:
            row = row.changed(chosen_format=conditions.machine.precision)
        problem = _problem(row, plan.models[model], conditions)
        if problem is None:
            possible.append(row.changed(batch_size=plan.options.machine.rows, threads=conditions.machine.threads))
        elif plan.options.named and len(plan.models) == 1:
            raise UsageError(f"--row {row.label}: {problem}")
        else:
            left_out[row.label] = problem
    drafting, greedy = any(row.drafts for row in possible), any(row.decoding == "greedy" for row in possible)
    if plan.options.profile and not any(row.profiled for row in possible):
        raise UsageError("--profile needs a row that drafts, or beam search")
    for name, wanted in (("--histogram", plan.options.histogram), ("--plot", plan.plot == "edits")):
        if wanted and not (drafting and greedy and plan.options.machine.rows == 1):
            raise UsageError(f"{name} needs greedy, a row that drafts, and --batch-size 1")
    if plan.plot == "quality" and not any(row.decoding in BASELINES for row in possible):
        raise UsageError("--plot needs greedy or beam, over which the speedups are")
    return possible, left_out


def _problem(row: Row, model: ModelChoice, conditions: Conditions) -> str | None:
    """The reason, as text, why `row` cannot be decoded with a bundle of these conditions; None if it can."""
    if not row.drafters <= {conditions.drafter}:
        missing = {"block": "heads", "heads": "block drafter"}
        return f"the bundle has no {missing.get(conditions.drafter or '', 'drafter')}"
    if row.toolkit == "transformers":
        from specdec_cli.benchmark.toolkits import transformers_problem

        return transformers_problem(row, model)
    reasons = [conditions.refused.get(kind) for kind in row.formats]
    return reasons[0] if reasons and all(reasons) else None


@contextmanager
def open_processes(rows: Sequence[Row], conditions: Mapping[str, Conditions], shared: bool, module: str = WORKER) -> Iterator[Call]:
    """Start processes that run rows and load models, and end them on leaving the `with` block; gives the function that sends requests.

    Each row has its own process; if they are `shared`, all rows of one bundle, engine and number of threads have a common one, so that the
    memory of a row is unknown. `conditions` are those of each bundle, by the `model` of its rows. The processes run `module`. The function
    raises the errors that a process reports, and ModelError, naming the row, if the process has ended.
    """

    def key(row: Row) -> Hashable:
        return (row.model, row.toolkit, row.compute_type, row.threads, row.workers, row.worker_threads) if shared else row

    served: dict[Hashable, list[Row]] = defaultdict(list)
    for row in rows:
        served[key(row)].append(row)
    with ExitStack() as stack:
        processes: dict[Hashable, Process] = {}
        for name, alike in served.items():
            label = "row " + ", ".join(dict.fromkeys(row.label for row in alike))
            processes[name] = stack.enter_context(Process(module, label))
            processes[name].send("open", alike[0], conditions[alike[0].model])
        # All requests are sent before a response is awaited, so that the processes load models at the same time.
        for process in processes.values():
            process.receive()
        yield lambda request, row, *arguments: processes[key(row)].call(request, row, *arguments)


def measure(
    call: Call, rows: Sequence[Row], lines: Sequence[str], repetitions: int, report: Callable[[], None], *, with_memory: bool
) -> list[Measured]:
    """Decode `lines` with every row in turn, `repetitions` times after a warm-up, and return what was measured of each row, in order.

    `report` is called after each run but those of the warm-up. Runs keep their memory `with_memory`.
    """
    settings = [call("prepare", row) for row in rows]
    for row in rows:
        call("run", row, lines[: max(_WARM_UP, row.options.batch_size)])
    measured = [Measured(row, described, ()) for row, described in zip(rows, settings, strict=True)]
    for _ in range(repetitions):
        for place, one in enumerate(measured):
            sleep(_TURN_SECONDS)
            run = call("run", one.row, lines)
            measured[place] = replace(one, runs=(*one.runs, run if with_memory else replace(run, peak_memory_mb=None)))
            report()
    return [replace(one, settings=_used(one)) for one in measured]


def _with_format(one: Measured, conditions: Conditions) -> Measured:
    """A row of specdec with its number format among its settings; those of other toolkits have it."""
    return replace(one, settings={"precision": conditions.machine.precision} | one.settings) if one.row.toolkit == "specdec" else one


def _used(one: Measured) -> dict[str, Any]:
    """The settings of a row after its runs: a row "auto" of which no run drafted was decoded greedily."""
    if "chosen" not in one.settings or any(run.drafted != 0 for run in one.runs):
        return one.settings
    return {name: value for name, value in one.settings.items() if name != "block_size"} | {"chosen": "greedy"}


def _fastest(row: Row, conditions: Conditions, lines: Sequence[str]) -> Row:
    """A copy of `row` with the settings (see `candidates`) with which CTranslate2 is fastest.

    They are tried on the first 12 of `lines` or, with batches, on the first 6 * `batch_size`.
    """
    tried, size = candidates(row, conditions), row.options.batch_size
    lines = lines[: _TRIAL_LINES if size == 1 else _TRIAL_BATCHES * size]
    with open_processes(tried, {row.model: conditions}, shared=True) as call:
        measured = measure(call, tried, lines, _TRIAL_RUNS, lambda: None, with_memory=False)
    return min(measured, key=lambda one: min(run.seconds for run in one.runs)).row


def candidates(row: Row, conditions: Conditions) -> list[Row]:
    """Copies of `row` with all settings to try: each number format with each split of the threads and each batch size.

    On a CPU, the splits are one worker with all threads, and one worker with one thread or, for batches, a worker for each thread.
    The batch sizes are that of `row` and, for batches, twice that.
    """
    size, splits = row.options.batch_size, {(1, row.threads)}
    if conditions.machine.device == "cpu":
        splits.add((1, 1) if size == 1 else (row.threads, 1))
    return [
        row.changed(chosen_format=kind, workers=workers, worker_threads=each, batch_size=batch)
        for kind in conditions.converted
        for workers, each in sorted(splits)
        for batch in sorted({size} if size == 1 else {size, 2 * size})
    ]


def _environment(plan: Plan, conditions: Conditions, measured: Sequence[Measured]) -> dict[str, Any]:
    """The machine, the versions, the engines of the rows, and what was measured how often."""
    machine, engines = conditions.machine, dict.fromkeys(one.settings["engine"] for one in measured if "engine" in one.settings)
    return describe_environment() | {
        "device": machine.device,
        "gpu": conditions.gpu,
        "precision": machine.precision,
        "threads": machine.threads,
        "torch": conditions.torch,
        "engine": ", ".join(engines) or None,
        "model": ", ".join(model.name for model in plan.models.values()),
        "repetitions": plan.options.runs,
    }


def describe_environment() -> dict[str, Any]:
    """Processor, usable cores, operating system, versions of software, and the current time (UTC, in ISO format), by name, for JSON."""
    return {
        "cpu": _cpu(),
        "cores": usable_processors(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "specdec": __version__,
        "ctranslate2": version("ctranslate2"),
        "sacrebleu": version("sacrebleu"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def cpu_share_of_others(seconds: float = 0.3) -> float | None:
    """The share of all processors (0 to 1) that other processes use while this one sleeps for `seconds`; None without /proc/stat."""
    sleep(_IDLE_SECONDS)
    before = _processor_ticks()
    sleep(seconds if before else 0.0)
    after = _processor_ticks()
    if before is None or after is None:
        return None
    busy, total = (later - earlier for earlier, later in zip(before, after, strict=True))
    return busy / total if total else 0.0


def _processor_ticks() -> tuple[int, int] | None:
    """Busy clock ticks and all clock ticks, summed over processors, since the system started; None without /proc/stat."""
    try:
        first = _TIMES_FILE.read_text(encoding="ascii").partition("\n")[0].split()
    except OSError:
        return None
    user, nice, system, idle, waiting, *others = map(int, first[1:9])
    busy = user + nice + system + sum(others)
    return busy, busy + idle + waiting


def _cpu() -> str:
    if _CPU_FILE.exists():
        for line in _CPU_FILE.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
