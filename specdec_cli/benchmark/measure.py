"""Measurement of rows: each row runs in a process of its own, and the rows take turns in decoding the same lines."""

import platform
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from time import sleep
from types import TracebackType
from typing import Any, Literal, Self

from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.results import Measured, Result, summarise
from specdec_cli.benchmark.rows import BASELINES, BEST, Row, Sweep, check_sweep, sweep_rows
from specdec_cli.benchmark.runs import Run
from specdec_cli.benchmark.views import (
    OPERATIONS,
    Bin,
    Point,
    QualityPlot,
    Record,
    analyse,
    check_baseline,
    edit_points,
    histograms,
    quality_plot,
)
from specdec_cli.errors import UsageError
from specdec_cli.metrics.scoring import Score
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.processes import Process
from specdec_cli.processors import usable_processors
from specdec_cli.version import __version__

WORKER = "specdec_cli.benchmark.worker"
"""The module of the worker processes."""
FORMATS = ("float32", "int8", "bfloat16", "int8_bfloat16", "float16", "int8_float16")
"""The number formats of CTranslate2 that are tried, if it supports them on the machine."""
_WARM_UP = 8
_TRIAL_RUNS, _TRIAL_LINES, _TRIAL_BATCHES = 2, 12, 6
_TURN_SECONDS = 0.05
"""Idle OpenMP threads of the process that ran last stop spinning in this time."""
_IDLE_SECONDS = 0.1
"""Idle OpenMP threads of this process stop spinning in this time."""
_CPU_FILE, _TIMES_FILE = Path("/proc/cpuinfo"), Path("/proc/stat")
Progress = Callable[[int], AbstractContextManager[Callable[[], None]]]
"""Shows the progress of a number of runs: makes the context manager that gives the function to call after each."""


@dataclass(frozen=True)
class Plan:
    """What to measure of a bundle, and how: the options of `specdec bench` in parsed form.

    If `asked` is true, the user named the rows, and one that the bundle does not support is an error; else it is left out. `sweep` has the
    values to try by key (empty: no sweep). `machine` has the batch size too, and its values may be `auto`. With `split`, lines are split
    into sentences. `profile` and `histogram` tell which of these results are computed beside the table; `plot` is what is plotted against
    the speedup: the edit ratio of each line, or the quality of each row; `analyses` names the analyses of the outputs, and `baseline` the
    row of the analysis of significance (None: the first). `geometry` has the fields of the Geometry of a synthetic bundle.
    """

    model: ModelChoice
    examples: Examples
    rows: tuple[Row, ...]
    machine: MachineOptions
    asked: bool = True
    sweep: Sweep = field(default_factory=dict)
    repetitions: int = 3
    split: bool = True
    profile: bool = False
    histogram: bool = False
    plot: Literal["edits", "quality"] | None = None
    analyses: tuple[str, ...] = ()
    baseline: str | None = None
    geometry: Mapping[str, Any] | None = None


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
    signatures: dict[str, str] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    profiles: dict[str, dict[str, float]] = field(default_factory=dict)
    histograms: dict[tuple[str, str], list[Bin]] = field(default_factory=dict)
    points: dict[str, list[Point]] = field(default_factory=dict)
    quality: QualityPlot | None = None
    analyses: dict[str, list[Record]] = field(default_factory=dict)

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
class Conditions:
    """Conditions that all rows of a bundle share, as values of JSON.

    `model` has the fields of the bundle's ModelChoice, `machine` those of MachineOptions, with device and precision resolved. With
    `split`, lines are split into sentences. `limits` are pairs of a padded source length and the largest output length (tokens);
    `converted` maps number formats to folders with the bundle as a CTranslate2 model. `geometry` has the fields of the Geometry of a
    synthetic bundle, whose drafts are recorded (None: another bundle).
    """

    model: Mapping[str, Any]
    machine: Mapping[str, Any]
    split: bool = True
    limits: Sequence[tuple[int, int]] = ()
    converted: Mapping[str, str] = field(default_factory=dict)
    geometry: Mapping[str, Any] | None = None


def run(plans: Sequence[Plan], progress: Progress) -> Outcome:
    """Measure the rows of all plans, which take turns, and summarise the results; the plans differ in model and rows only.

    Before that, each bundle is inspected, and converted for CTranslate2 if a row needs it. Raises SpecdecError for a bundle that
    cannot be loaded, for rows that are not supported, and for a process that fails.
    """
    plan, lines = plans[0], plans[0].examples.sources
    rows: list[Row] = []
    left_out: dict[str, str] = {}
    conditions: dict[str, Conditions] = {}
    found: list[dict[str, Any]] = []
    with TemporaryDirectory(prefix="specdec-bench-") as temporary:
        possible: list[tuple[list[Row], Conditions]] = []
        for number, each in enumerate(plans):
            folders = {kind: str(Path(temporary) / str(number) / kind) for kind in needed_formats(each.rows)}
            found.append(_inspect(each, folders))
            own, without = possible_rows(each, found[-1])
            left_out |= without
            possible.append((own, _conditions(each, found[-1], folders)))
        check_sweep([row for own, _ in possible for row in own], plan.sweep)
        for own, under in possible:
            rows += choose_fastest_settings(sweep_rows(own, plan.sweep), under, lines if plan.geometry is None else lines[:2])
            conditions |= {row.model: under for row in own}
        check_baseline(plan.baseline, rows)
        # The rows of a sweep share processes; so do those of a synthetic bundle, to save memory.
        shared = bool(plan.sweep) or plan.geometry is not None
        with Pool(WORKER, rows, conditions, shared=shared) as pool, progress(len(rows) * plan.repetitions) as report:
            before = cpu_share_of_others()
            measured = measure(pool, rows, lines, plan.repetitions, report)
            busy = max((before, cpu_share_of_others()), key=lambda share: share or 0.0)
            profiles = {row.label: pool.call("profile", row, lines) for row in rows if row.profiled} if plan.profile else {}
            counted = [row for row in rows if row.toolkit == "specdec" and OPERATIONS in plan.analyses]
            operations = {row: pool.call("count", row, lines) for row in counted}
    references, signatures = plan.examples.references or (), dict[str, str]()
    results = summarise(measured, lambda texts: _score(plan.examples, texts, signatures))
    return Outcome(
        results=results,
        environment=_environment(plans, found[0], measured) | {"busy": busy},
        examples={"name": plan.examples.name, "lines": len(lines), "sentences": measured[0].sentences},
        signatures=signatures,
        left_out=left_out,
        profiles=profiles,
        histograms=histograms(measured) if plan.histogram else {},
        points=edit_points(measured, lines) if plan.plot == "edits" else {},
        quality=quality_plot(results, plan.sweep) if plan.plot == "quality" else None,
        analyses=analyse(plan.analyses, measured, references, found[0]["languages"][1], plan.sweep, operations, plan.baseline),
    )


def _inspect(plan: Plan, folders: Mapping[str, str]) -> dict[str, Any]:
    """What the bundle and this machine support (see `worker.inspect`), from a separate process, which frees its memory."""
    for row in plan.rows:
        if row.toolkit == "transformers":
            from specdec_cli.benchmark.transformers import check_transformers

            check_transformers(row, plan.model)
    find_bundle(plan.model)
    with Process(WORKER, plan.model.name) as process:
        found: dict[str, Any] = process.call(
            "inspect", asdict(plan.model), asdict(plan.machine), plan.rows[0].options.max_length, dict(folders)
        )
    languages = plan.examples.languages
    if languages is not None and list(languages) != found["languages"]:
        given, known = ("-".join(pair) for pair in (languages, found["languages"]))
        raise UsageError(f"the {plan.examples.name} is {given}, {plan.model.name} is {known}; give text in its languages")
    return found


def _conditions(plan: Plan, found: Mapping[str, Any], folders: Mapping[str, str]) -> Conditions:
    machine = replace(plan.machine, device=found["device"], precision=found["precision"])
    there = {kind: folder for kind, folder in folders.items() if kind not in found["refused"]}
    return Conditions(asdict(plan.model), asdict(machine), plan.split, found["limits"], there, plan.geometry)


def missing_drafter(row: Row, kind: str | None) -> str | None:
    """The reason, as text, why a bundle with a drafter of `kind` (None: no drafter) does not support `row`; None if it does."""
    if row.drafters <= {kind}:
        return None
    return {"block": "the bundle has no heads", "heads": "the bundle has no block drafter"}.get(kind or "", "the bundle has no drafter")


def possible_rows(plan: Plan, found: Mapping[str, Any]) -> tuple[list[Row], dict[str, str]]:
    """Of the plan's rows, those that bundle and machine support by what `worker.inspect` found, with batch size and threads.

    The second value maps the labels of rows that were left out to the reason. Raises UsageError for a row that was asked for and is
    not supported, and for --profile, --histogram or --plot without the rows they need.
    """
    possible, left_out = [], {}
    for row in plan.rows:
        problem = missing_drafter(row, found["drafter"]) or _refusal(row, found["refused"])
        if problem is None:
            possible.append(row.changed(batch_size=plan.machine.rows, threads=found["threads"]))
        elif plan.asked:
            raise UsageError(f"--row {row.label}: {problem}")
        else:
            left_out[row.label] = problem
    drafting, greedy = any(row.drafts for row in possible), any(row.decoding == "greedy" for row in possible)
    if plan.profile and not any(row.profiled for row in possible):
        raise UsageError("--profile needs a row that drafts, or beam search")
    for name, wanted in (("--histogram", plan.histogram), ("--plot", plan.plot == "edits")):
        if wanted and not (drafting and greedy and plan.machine.rows == 1):
            raise UsageError(f"{name} needs greedy, a row that drafts, and --batch-size 1")
    if plan.plot == "quality" and not any(row.decoding in BASELINES for row in possible):
        raise UsageError("--plot needs greedy or beam, over which the speedups are")
    return possible, left_out


def _score(examples: Examples, texts: Sequence[str], signatures: dict[str, str]) -> Score | None:
    score = examples.score(texts)
    if score is not None:
        signatures |= score.signatures
    return score


def _environment(plans: Sequence[Plan], found: Mapping[str, Any], measured: Sequence[Measured]) -> dict[str, Any]:
    """The machine, the versions, the engines of the rows, and what was measured how often."""
    engines = dict.fromkeys(one.settings["engine"] for one in measured if "engine" in one.settings)
    machine = {name: found[name] for name in ("device", "gpu", "precision", "threads", "torch")} | {"engine": ", ".join(engines) or None}
    return describe_environment() | machine | {"model": ", ".join(plan.model.name for plan in plans), "repetitions": plans[0].repetitions}


class Pool:
    """The processes that run rows; they start and load models on entering the `with` block, and end on leaving it.

    Each row has its own process; with `shared`, all rows of one bundle, engine and number of threads have a common one, so that the
    memory of a row is unknown. `conditions` are those of each bundle, by the `model` of its rows. `module` is the Python module of
    the processes; it serves the requests open, prepare, run, profile and count.
    """

    def __init__(self, module: str, rows: Sequence[Row], conditions: Mapping[str, Conditions], shared: bool) -> None:
        self.shared = shared
        self._module, self._conditions = module, conditions
        self._stack = ExitStack()
        self._processes: dict[Hashable, Process] = {}
        self._served: dict[Hashable, list[Row]] = {}
        for row in rows:
            self._served.setdefault(self._key(row), []).append(row)

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            for key, rows in self._served.items():
                label = "row " + ", ".join(dict.fromkeys(row.label for row in rows))
                self._processes[key] = stack.enter_context(Process(self._module, label))
                self._processes[key].send("open", asdict(rows[0]), asdict(self._conditions[rows[0].model]))
            # All requests are sent before a response is awaited, so that the processes load models at the same time.
            for process in self._processes.values():
                process.receive()
            self._stack = stack.pop_all()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stack.__exit__(kind, error, trace)

    def call(self, request: str, row: Row, *arguments: Any) -> Any:
        """Send `request` with `row` and `arguments` to the process of `row`, and return its response.

        Raises the errors that the process reports, and ModelError, naming the row, if the process has ended.
        """
        return self._processes[self._key(row)].call(request, asdict(row), *arguments)

    def _key(self, row: Row) -> Hashable:
        return (row.model, row.toolkit, row.compute_type, row.threads, row.workers, row.worker_threads) if self.shared else row


def measure(pool: Pool, rows: Sequence[Row], lines: Sequence[str], repetitions: int, report: Callable[[], None]) -> list[Measured]:
    """Decode `lines` with every row in turn, `repetitions` times after a warm-up; return the runs of each row, in the order of `rows`.

    In each repetition every row decodes all lines once. `report` is called after each run but those of the warm-up.
    """
    settings = [pool.call("prepare", row) for row in rows]
    for row in rows:
        pool.call("run", row, lines[: max(_WARM_UP, row.options.batch_size)])
    runs: list[list[Run]] = [[] for _ in rows]
    for _ in range(repetitions):
        for row, of_row in zip(rows, runs, strict=True):
            sleep(_TURN_SECONDS)
            run = Run.from_dict(pool.call("run", row, lines))
            of_row.append(replace(run, peak_memory_mb=None) if pool.shared else run)
            report()
    return [Measured(row, _used(described, of_row), tuple(of_row)) for row, described, of_row in zip(rows, settings, runs, strict=True)]


def _used(described: dict[str, Any], runs: Sequence[Run]) -> dict[str, Any]:
    """The settings of a row after its runs: a row "auto" of which no run drafted was decoded greedily."""
    if "chosen" not in described or any(run.drafted != 0 for run in runs):
        return described
    return {name: value for name, value in described.items() if name != "block_size"} | {"chosen": "greedy"}


def choose_fastest_settings(rows: Sequence[Row], conditions: Conditions, lines: Sequence[str]) -> list[Row]:
    """A copy of `rows` in which rows of the variant "best" have the settings (see `candidates`) with which CTranslate2 is fastest.

    They are tried on the first 12 of `lines` or, with batches, on the first 6 * `batch_size`.
    """
    return [_fastest(row, conditions, lines) if row.variant == BEST else row for row in rows]


def _fastest(row: Row, conditions: Conditions, lines: Sequence[str]) -> Row:
    tried, size = candidates(row, conditions), row.options.batch_size
    with Pool(WORKER, tried, {row.model: conditions}, shared=True) as pool:
        measured = measure(pool, tried, lines[: _TRIAL_LINES if size == 1 else _TRIAL_BATCHES * size], _TRIAL_RUNS, lambda: None)
    return min(measured, key=lambda one: min(run.seconds for run in one.runs)).row


def needed_formats(rows: Sequence[Row]) -> list[str]:
    """The number formats of CTranslate2 that rows need; all formats if a row asks for the fastest."""
    needed = {row.compute_type for row in rows if row.compute_type}
    return sorted((needed - {BEST}) | set(FORMATS)) if BEST in needed else sorted(needed)


def _refusal(row: Row, refused: Mapping[str, str]) -> str | None:
    """The reason why CTranslate2 cannot decode `row`, from those by number format; None if it can."""
    reasons = [refused.get(kind or "") for kind in (FORMATS if row.compute_type == BEST else (row.compute_type,))]
    return reasons[0] if all(reasons) else None


def candidates(row: Row, conditions: Conditions) -> list[Row]:
    """Copies of `row` with all settings to try: each number format with each split of the threads and each batch size.

    On a CPU, the splits are one worker with all threads, and one worker with one thread or, for batches, a worker for each thread.
    The batch sizes are that of `row` and, for batches, twice that.
    """
    size, splits = row.options.batch_size, {(1, row.threads)}
    if conditions.machine["device"] == "cpu":
        splits.add((1, 1) if size == 1 else (row.threads, 1))
    return [
        row.changed(fastest_type=kind, workers=workers, worker_threads=each, batch_size=batch)
        for kind in conditions.converted
        for workers, each in sorted(splits)
        for batch in sorted({size} if size == 1 else {size, 2 * size})
    ]


def describe_environment() -> dict[str, Any]:
    """Processor, usable cores, operating system, versions of software, and the current time, by name, for JSON.

    The keys are "cpu", "cores", "system", "python", "specdec", "ctranslate2", "sacrebleu" and "date" (UTC, in ISO format).
    """
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
    before = processor_ticks()
    if before is None:
        return None
    sleep(seconds)
    after = processor_ticks() or before
    busy, total = (later - earlier for earlier, later in zip(before, after, strict=True))
    return busy / total if total else 0.0


def processor_ticks() -> tuple[int, int] | None:
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
