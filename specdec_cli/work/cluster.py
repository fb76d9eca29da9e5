"""`--ray` of the commands that process lines: the run, its progress, its output, and what the workers do for each command."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import asdict, dataclass, is_dataclass, replace
from hashlib import sha256
from io import StringIO
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from rich.console import Console
from rich.live import Live
from rich.table import Table

from specdec_cli.cluster.folder import DEAD_LETTERS, ShardFolder, merge_failed, write_failed
from specdec_cli.cluster.inputs import Inputs, find_inputs
from specdec_cli.cluster.jobs import TOKENS, FailedLine, Job, LineFunction, Output, Shard, cut_shards
from specdec_cli.cluster.pool import Pool, WorkerShape
from specdec_cli.cluster.run import Progress, Run, Store
from specdec_cli.cluster.session import LOCAL, ray_session, require_ray
from specdec_cli.console.options import ClusterOptions, OptionGroup, ShardOptions, TextOptions
from specdec_cli.console.reports import duration, print_table, teller
from specdec_cli.corruption.run import Plan, corrupt_chunk, text_column
from specdec_cli.corruption.spelling import misspellings
from specdec_cli.distillation.bundle_teachers import open_teacher
from specdec_cli.distillation.run import DROPPED, DistillationPlan, Shards, Summary, distill_lines, finish
from specdec_cli.distillation.teachers import as_ctranslate2, teacher_digest
from specdec_cli.errors import InputError, SpecdecError, UsageError, counted
from specdec_cli.files import cache_folder, check_target, locked, make_folder
from specdec_cli.opening.engines import Computation
from specdec_cli.opening.machine import Device, MachineOptions
from specdec_cli.processors import usable_processors
from specdec_cli.text.io.lines import STDIO, Line
from specdec_cli.text.io.writing import check_not_input, output_files, output_line
from specdec_cli.work.lines import LineCommand, Stream

_LINE_EVERY = 60.0
_TABLE_EVERY = 0.5


class ClusterView:
    """Called with the progress of a run; shows it on `stream` while the `with` block lasts. With `quiet`, nothing is shown."""

    def __init__(self, stream: TextIO, workers: int, *, quiet: bool) -> None:
        self._workers, self._quiet = workers, quiet
        self._console = Console(file=stream)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True) if self._console.is_terminal and not quiet else None
        self._shown = time.monotonic()

    def __call__(self, progress: Progress) -> None:
        """Show the progress, if it is time to, and the warnings of the job."""
        if self._quiet:
            return
        for message in progress.messages:
            self._console.print(message, markup=False, highlight=False, soft_wrap=True)
        progress.messages.clear()
        now = time.monotonic()
        if now - self._shown < (_LINE_EVERY if self._live is None else _TABLE_EVERY):
            return
        self._shown = now
        if self._live is None:
            self._console.print("specdec: " + ", ".join(" ".join(row) for row in self._rows(progress)), highlight=False, soft_wrap=True)
        else:
            self._live.update(progress_table(self._rows(progress)))

    def _rows(self, progress: Progress) -> list[tuple[str, str]]:
        more = "" if progress.read else "+"
        left = progress.seconds_left
        rows = [
            (f"{progress.finished:,} of {progress.shards:,}{more}", "shards"),
            (f"{progress.lines_per_second:,.1f}", "lines/s"),
            (f"{progress.tokens_per_second:,.0f}", "tokens/s"),
            ("unknown" if left is None else duration(left), "left"),
            (f"{progress.workers:,} of {self._workers:,}", "workers"),
            (f"{progress.retries:,}", "failed tries"),
            (f"{progress.failed:,}", "failed lines"),
        ]
        return [row for row in rows if row[1] != "tokens/s" or progress.tokens_per_second]

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._live is not None:
            self._live.stop()


def progress_table(rows: list[tuple[str, str]]) -> Table:
    """A table with a column for each row of `rows`: its value and its unit."""
    table = Table(*(unit for _, unit in rows))
    for column in table.columns:
        column.justify = "right"
    table.add_row(*(value for value, _ in rows))
    return table


def print_summary(progress: Progress) -> None:
    """Print the totals of a finished run to stderr."""
    rows = [
        ("shards", f"{progress.shards:,}"),
        *([("of earlier runs", f"{progress.skipped:,}")] if progress.skipped else []),
        ("lines of this run", f"{progress.counts['lines']:,}"),
        ("lines/s", f"{progress.lines_per_second:,.1f}"),
        *([("tokens/s", f"{progress.tokens_per_second:,.0f}")] if progress.counts["tokens"] else []),
        ("failed tries", f"{progress.retries:,}"),
        ("failed lines", f"{progress.failed:,}"),
        ("time of this run", duration(progress.seconds)),
    ]
    print_table(rows)


@dataclass(frozen=True)
class Share:
    """What a worker computes with: a device ("cpu" or "cuda"), a number of threads, and its share of a machine's memory (0 to 1)."""

    device: Device
    threads: int
    memory: float


@dataclass(frozen=True)
class Workers:
    """The workers of a command on the cluster of `options`: each has `threads` threads (None: 1) or, if `device` is "cuda" or "auto" and
    the cluster has any, a GPU. With `quiet` no progress is shown.
    """

    options: ClusterOptions
    device: str = "cpu"
    threads: int | None = None
    quiet: bool = False

    def run(self, make_job: Callable[[Share], Job], shards: Iterator[Shard], store: Store, total: int | None) -> Progress:
        """Process shards, and store each; return the counts, and print them. `total` is the size of the input in bytes, if it is known.

        Raises UsageError for a cluster that cannot be used, and ModelError for a model that cannot be loaded.
        """
        options, cores = self.options, usable_processors()
        cpus = max(cores, (options.workers or 1) * (self.threads or 1)) if options.address == LOCAL else 0
        with ray_session(options.address, cpus) as (session, terminal):
            shape = self._shape(session.resources())
            share = Share("cuda" if shape.gpus else "cpu", shape.cpus, 1 / max(1, min(shape.count, cores // shape.cpus)))
            with ClusterView(terminal, shape.count, quiet=self.quiet) as view:
                run = Run(session, Pool(make_job(share), shape), store, options.retries, view)
                run.progress.total = total
                run.process(shards)
        if not self.quiet:
            print_summary(run.progress)
        return run.progress

    def _shape(self, resources: Mapping[str, float]) -> WorkerShape:
        """The number of workers and the resources of each."""
        gpus = int(resources.get("GPU", 0)) if self.device != "cpu" else 0
        if self.device == "cuda" and not gpus:
            raise UsageError("--device cuda: the cluster has no GPU")
        most = gpus or int(resources.get("CPU", 0)) // (self.threads or 1)
        if not (self.options.workers or most):
            raise UsageError(f"--threads {self.threads}: the cluster has {counted(int(resources.get('CPU', 0)), 'processor')}")
        return WorkerShape(self.options.workers or most, self.threads or 1, 1 if gpus else 0)


@dataclass(frozen=True)
class Destination:
    """Where the output is written: to the file `path`, or with `is_folder` to the folder `path`, one file for each input."""

    path: Path
    is_folder: bool = False

    @classmethod
    def of(cls, output: Path | None, output_dir: Path | None = None) -> "Destination":
        """Make the destination from the options; raises UsageError if none names a file or a folder, or both do."""
        if output is not None and output_dir is not None:
            raise UsageError("--output and --output-dir are alternatives; give one")
        path = output_dir or output
        if path is None or path == STDIO:
            raise UsageError("--ray writes files, so that a stopped run can be resumed: give --output or --output-dir")
        return cls(path, output_dir is not None)

    def targets(self, inputs: Inputs) -> dict[Path, Path]:
        """The output file of each input file, by the path of the input (`-`: stdin).

        Raises UsageError if an output file is also an input or lies in an input folder, or if no file can be written at `path`.
        """
        inputs.check_output(self.path)
        if self.is_folder:
            return output_files(self.path, inputs.paths)
        check_target(self.path)
        check_not_input(self.path, inputs.paths)
        return dict.fromkeys(inputs.paths, self.path)

    @property
    def work(self) -> Path:
        """The folder for the shards, beside this destination. It is hidden: patterns and folders of the input leave it out."""
        path = self._named
        return path.parent / f".{path.name}.shards"

    @property
    def dead_letters(self) -> Path:
        """The file for the lines that failed, beside this destination."""
        path = self._named
        return path.parent / f"{path.name}.{DEAD_LETTERS}"

    @property
    def _named(self) -> Path:
        """The path of this destination; with a name for a folder such as `.`, which has none."""
        return self.path.resolve() if self.path.name in ("", "..") else self.path


def write_shards(
    inputs: Inputs,
    shards: Iterator[Shard],
    make_job: Callable[[Share], Job],
    settings: Mapping[str, Any],
    destination: Destination,
    workers: Workers,
) -> Counter[str]:
    """Process the `shards` of `inputs` on a cluster, write the output to `destination`, and return the counts of all shards.

    Until then the shards are in a folder beside the output, from which a stopped run is resumed; `settings` are what the output
    depends on. Raises InputError at the end, after the output was written, if lines failed.
    """
    require_ray(workers.options.address)
    targets = destination.targets(inputs)
    if destination.is_folder:
        make_folder(destination.path)
    work, dead = destination.work, destination.dead_letters
    tell = teller(workers.quiet)
    with locked(work):
        folder = ShardFolder(work, settings)
        try:
            progress = workers.run(make_job, shards, folder, inputs.bytes)
        except (KeyboardInterrupt, SystemExit):
            if folder.remove_if_empty():
                tell("interrupted before a shard was finished")
            else:
                tell(f"interrupted; the finished shards are in {work}, and the same command resumes there")
            raise
        except SpecdecError:
            folder.remove_if_empty()
            raise
        counts = folder.counts(progress.shards)
        failed = folder.merge(progress.shards, targets, dead)
        folder.remove()
    if failed:
        raise InputError(f"{counted(failed, 'line')} failed on every try: see {dead}")
    return counts


_FEWEST_MEGABYTES = 64
_LONGEST = 200
"""A setting with more characters than this is stored in the manifest as a digest."""
_NOT_IN_OUTPUT = ("batch_size", "memory", "threads", "offline", "output", "output_dir", "stats", "trace", "quiet", "max_line_bytes")


@dataclass(frozen=True)
class DecodingJob:
    """A Job that decodes lines with a model on `machine`, by the `computation` that the command has resolved."""

    decoding: LineCommand
    computation: Computation
    machine: MachineOptions
    share: float

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Load the model."""
        machine = replace(self.machine, device=self.computation.device)
        if machine.memory is None and (free := machine.batch_memory):
            machine = replace(machine, memory=max(_FEWEST_MEGABYTES, int(free * self.share) // 2**20))
        stream = self.decoding.open(machine, self.computation)
        yield lambda lines, _: decode_lines(stream, lines)

    def failed(self, line: Line) -> str:
        """The output for a line that could not be decoded."""
        return "".join(output_line(text, ending) for text, ending in self.decoding.failed(line))


def decode_lines(stream: Stream[Any], lines: Sequence[Line]) -> Output:
    """Decode lines, and count lines, tokens, rounds, and lines with edits ("changed"); warnings are the output's messages."""
    texts: list[str] = []
    counts: Counter[str] = Counter()
    with redirect_stderr(StringIO()) as messages:
        for _, decoded, outputs in stream.run(iter(lines)):
            texts.append("".join(output_line(text, ending) for text, ending in outputs))
            counts.update({TOKENS: decoded.tokens, "rounds": decoded.rounds, "changed": bool(getattr(decoded, "edits", ()))})
    return Output(tuple(texts), counts, tuple(messages.getvalue().splitlines()))


def decode_on_cluster(
    command: str,
    decoding: LineCommand,
    files: Sequence[Path],
    text: TextOptions,
    cluster: ShardOptions,
    goes_on: Callable[[str], bool] = lambda _: False,
) -> Counter[str]:
    """Decode `files` on a cluster, and write the output file or folder of `text`; return the counts of `decode_lines`.

    The output is that of this process: it resolves what computes, and a worker that cannot compute so fails. A line that may go on in the
    next one (`goes_on`) is in the same shard. Raises UsageError for options that need one process.
    """
    if text.trace:
        raise UsageError("--trace shows the rounds of one process; it is not for --ray")
    if text.stats:
        raise UsageError("--stats has the time and memory of one process; a run with --ray prints its own totals")
    machine = decoding.machine
    inputs = find_inputs(files)
    lines = inputs.read(text.max_line_bytes)
    computation = Computation.resolve(decoding.model, machine, decoding.request(machine), teller(text.quiet))
    resolved = {name: getattr(computation, name) for name in ("native", "device", "precision")}
    settings = {"shard_lines": cluster.shard_lines, "command": command, "model": computation.digest} | _settings(vars(decoding)) | resolved

    def make_job(share: Share) -> DecodingJob:
        return DecodingJob(decoding, computation, replace(machine, threads=share.threads), share.memory)

    shards, destination = cut_shards(text.join(lines), cluster.shard_lines, goes_on), Destination.of(text.output, text.output_dir)
    return write_shards(inputs, shards, make_job, settings, destination, Workers(cluster, computation.device, machine.threads, text.quiet))


def _settings(values: Mapping[str, Any]) -> dict[str, Any]:
    """The options on which the output depends, for the manifest, from options and groups of options."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, OptionGroup) or is_dataclass(value):
            found |= _settings(vars(value))
        elif isinstance(value, Mapping):
            found |= _settings(value)
        elif name not in (*_NOT_IN_OUTPUT, "name", "coloured"):
            found[name] = value if isinstance(value, str | int | float | None) else _described(repr(value))
    return found


def _described(value: str) -> str:
    """A value for the manifest: the digest of a long one, such as a glossary."""
    return value if len(value) <= _LONGEST else f"sha256 {sha256(value.encode()).hexdigest()}"


@dataclass(frozen=True)
class CorruptJob:
    """A Job that corrupts lines: column `column` (from 1; None: the last one) of lines with tabs."""

    plan: Plan
    column: int | None

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Check that the dictionary of misspellings is installed."""
        misspellings()
        yield self._run

    def failed(self, line: Line) -> str:  # noqa: ARG002
        """No output for a line that could not be corrupted."""
        return ""

    def _run(self, lines: Sequence[Line], first: int) -> Output:
        chunk = corrupt_chunk(self.plan, first, [text_column(line, self.column) for line in lines])
        texts = tuple("".join(f"{corrupted}\t{clean}\n" for corrupted, clean in pairs) for pairs in chunk.by_line)
        return Output(texts, chunk.counts)


def corrupt_on_cluster(
    plan: Plan, column: int | None, files: Sequence[Path], output: Path | None, cluster: ShardOptions, *, quiet: bool
) -> Counter[str]:
    """Corrupt `files` on a cluster, write the file `output`, and return the counts. Raises UsageError without an output file."""
    inputs = find_inputs(files)
    settings = {"shard_lines": cluster.shard_lines, "command": "corrupt", "column": column} | asdict(plan)
    shards, workers = cut_shards(inputs.read(), cluster.shard_lines), Workers(cluster, quiet=quiet)
    return write_shards(inputs, shards, lambda _: CorruptJob(plan, column), settings, Destination.of(output), workers)


FAILED = f"{DROPPED}failed on every try"


@dataclass(frozen=True)
class DistillJob:
    """A Job that translates lines with teachers. `converted` is the folder of the teacher's CTranslate2 form, if it has one."""

    plan: DistillationPlan
    converted: Path

    @contextmanager
    def open(self) -> Iterator[LineFunction]:
        """Load the teachers. On a machine without the folder `converted`, the teacher is converted once more."""
        converted, models = self.converted, self.plan.models
        if self.plan.sampling is None and len(models) == 1 and models[0].is_bundle and not converted.exists():
            folder = cache_folder() / "teachers"
            with locked(folder, wait=True):
                converted = as_ctranslate2(models[0], folder / teacher_digest(models[0]))
        with open_teacher(self.plan, converted) as teacher:

            def run(lines: Sequence[Line], _: int) -> Output:
                texts, counts = distill_lines([line.text for line in lines], teacher, self.plan)
                return Output(tuple(texts), counts)

            yield run

    def failed(self, line: Line) -> str:  # noqa: ARG002
        """No output for a line that could not be translated."""
        return ""


@dataclass(frozen=True)
class DistillStore:
    """Stores shards as `distill` does without a cluster."""

    shards: Shards

    def has(self, shard: Shard) -> bool:
        """Whether the shard is there already; the manifest says that it has the same lines."""
        return self.shards.counts(shard.index) is not None

    def write(self, shard: Shard, output: Output, failed: list[FailedLine]) -> None:
        """Store the pairs of a shard, its dead letters, and its counts, which are written last."""
        counts = output.counts + Counter({FAILED: len(failed)})
        counts["sources"] = len(shard.lines)
        write_failed(self.failed(shard.index), failed)
        self.shards.write(shard.index, output.texts, counts)

    def failed(self, index: int) -> Path:
        """The path of the dead letters of shard `index`."""
        return self.shards.path(index).with_suffix(".failed")


def source_shards(sources: Sequence[str], size: int) -> Iterator[Shard]:
    """Shards of `size` lines of `sources`, whose lines are numbered from 1."""
    for index, start in enumerate(range(0, len(sources), size)):
        texts = enumerate(sources[start : start + size], start + 1)
        yield Shard(index, start + 1, tuple(Line(number, text, "\n", f"source {number}") for number, text in texts))


def distill_on_cluster(plan: DistillationPlan, sources: Sequence[str], shards: Shards, cluster: ClusterOptions, *, quiet: bool) -> Summary:
    """Distil `sources` on a cluster into `shards`, as `distill` does, and return the totals.

    Raises InputError at the end, after the output was written, if lines failed.
    """
    started, converted = time.monotonic(), shards.converted.resolve()
    plan = replace(plan, models=tuple(replace(model, folder=model.folder.resolve()) for model in plan.models))
    if len(plan.models) == 1:
        as_ctranslate2(plan.models[0], converted)  # once, before the workers start
    store = DistillStore(shards)

    def make_job(share: Share) -> DistillJob:
        return DistillJob(replace(plan, resources=replace(plan.resources, device=share.device, threads=share.threads)), converted)

    workers = Workers(cluster, plan.resources.device, plan.resources.threads, quiet)
    total = sum(len(source.encode("utf-8")) + 1 for source in sources)
    progress = workers.run(make_job, source_shards(sources, plan.shard_lines), store, total)
    summary = finish(shards, progress.shards, started)
    failed = merge_failed(map(store.failed, range(progress.shards)), shards.folder / DEAD_LETTERS)
    if failed:
        raise InputError(f"{counted(failed, 'line')} failed on every try: see {shards.folder / DEAD_LETTERS}")
    return summary
