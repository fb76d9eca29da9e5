"""What the training commands share: options, checks of the input, what a run begins with, a run that can be resumed, and its view."""

import csv
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, NamedTuple, Self

import typer

from specdec_cli.commands.reports import teller
from specdec_cli.digests import files_digest, folder_digest
from specdec_cli.errors import InputError, MissingLibraryError, UsageError, counted
from specdec_cli.files import check_regular, locked, naming, rank, write_atomically

if TYPE_CHECKING:
    from lightning_fabric import Fabric
    from rich.console import Console
    from rich.table import Table

    from specdec_cli.decoding.costs import Costs
    from specdec_cli.engines.engine import SentenceDecoder
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.drafter import AnyDrafter
    from specdec_cli.opening.machine import MachineOptions
    from specdec_cli.opening.models import ModelChoice
    from specdec_cli.text.tokenize.tokenizer import Tokenizer
    from specdec_cli.training.checkpoint import Beginning
    from specdec_cli.training.data import DataSource, SentencePair
    from specdec_cli.training.recipe import DrafterRecipe, RunSettings, VerifierRecipe
    from specdec_cli.training.trainer import Progress, Report, TrainingTask

OutputArgument = Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for checkpoint and bundle; a stopped run is resumed.")]
RecipeOption = Annotated[str | None, typer.Option("--recipe", metavar="NAME|TOML", help="A shipped recipe, or a file.")]
SetOption = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe, as in run.seed=2. Repeatable.")]
DevicesOption = Annotated[int, typer.Option("--devices", metavar="N", min=1, help="Number of processes; or start with torchrun.")]


def require_training() -> None:
    """Raise UsageError if lightning-fabric, which only training needs, is not installed."""
    try:
        import lightning_fabric  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError("training needs lightning-fabric", "training") from error


def writing_alone(output: Path) -> AbstractContextManager[None]:
    """Context manager that locks the folder `output` against other runs.

    Of several processes that train together, only the first one locks it. Raises UsageError if another run has locked it.
    """
    return nullcontext() if rank() else locked(output)


def check_output(output: Path) -> None:
    """Raise UsageError if the folder `output` has a bundle without a checkpoint, which a new training run would overwrite."""
    from specdec_cli.training.checkpoint import FILE

    if (output / "bundle.json").exists() and not (output / FILE).exists():
        raise UsageError(f"{output}: already has a bundle, and no {FILE} from which training resumes; name another folder")


def train(
    task: "TrainingTask",
    plan: "VerifierRecipe | DrafterRecipe",
    beginning: "Beginning",
    output: Path,
    fabric: "Fabric",
    quiet: bool,
) -> None:
    """Train `task` in the folder `output`, from its checkpoint if there is one, and show progress.

    If `output` has no bundle yet, the initial model is saved there, until an evaluation chooses a better one. If the run resumes, what it
    began with and `beginning` does not have is printed. The floating-point operations of a run that is not stopped are printed at its end.

    A run that is stopped by SIGINT or SIGTERM prints how to resume it and ends with exit code 130 or 143.
    """
    from rich.console import Console

    from specdec_cli.training.trainer import Trainer

    tell = teller(quiet or not fabric.is_global_zero)
    output.mkdir(parents=True, exist_ok=True)
    trainer = Trainer(task, plan.run, plan.optimizer, output, fabric, beginning)
    start = replace(trainer.progress)
    if done := start.update:
        tell(f"{trainer.checkpoint}: resuming after update {done:,} of {plan.run.max_updates:,}")
    if trainer.changes:
        tell(f"warning: {output}: its run began with {', '.join(trainer.changes)}; to train from the start, name another folder")
    arithmetic, captured = fabric.strategy.precision.precision, ", captured" if trainer.captured is not None else ""
    tell(f"training on {fabric.device.type} in {arithmetic}, in batches of up to {counted(plan.run.batch_tokens, 'token')}{captured}")
    trainer.begin()
    try:
        if fabric.is_global_zero:
            with TrainingView(output, plan.run, Console(stderr=True), start=start, quiet=quiet) as view:
                trainer.train(view)
        else:
            trainer.train(lambda _: None)
    except KeyboardInterrupt:
        tell("interrupted; the same command resumes from the last checkpoint")
        raise
    if not trainer.stopped:
        tell(f"training up to update {trainer.progress.update:,} took {trainer.operations():.2e} floating-point operations")
    else:
        early = "" if trainer.progress.best is not None else ", before the first evaluation"
        tell(f"stopped after update {trainer.progress.update:,}{early}; the same command resumes there")
        raise typer.Exit(128 + trainer.stopped)


def check_text(paths: Sequence[Path], parallel: bool) -> None:
    """Check the first lines of each file, which has TSV pairs if `parallel`, else sources.

    Raises InputError for a file that is missing, blank, malformed or not readable, and for a pipe, which cannot be read again.
    """

    from specdec_cli.text.corpus.parallel import read_sources, read_tsv

    for path in paths:
        check_regular(path, InputError)
        texts = (pair.source for pair in read_tsv(path)) if parallel else read_sources([path])
        if not any(list(map(str.strip, islice(texts, 100)))) and not any(map(str.strip, texts)):
            raise InputError(f"{path}: empty")


def beginning_of(
    command: str,
    plan: "VerifierRecipe | DrafterRecipe",
    data: "Sequence[DataSource]",
    dev: Sequence[Path],
    digests: Mapping[str, str | None],
    options: Mapping[str, str],
) -> "Beginning":
    """What a run of `command` begins with: its plan, hashes of its texts, `digests` of its models, and the values of `options`, by name.

    Raises ModelError for an unreadable file.
    """
    from specdec_cli.training.checkpoint import COMMAND, Beginning
    from specdec_cli.training.recipe import update_settings

    parts = [f"{files_digest([source.path])}*{source.times}" for source in data]
    texts = {"--data": " ".join(parts), "--dev": files_digest(dev)}
    return Beginning({COMMAND: command, **options, **update_settings(plan)}, {**texts, **digests})


def verifier_digest(bundle: Path) -> str:
    """A hash of the verifier and the tokenizer in the folder of a bundle. Raises ModelError for an unreadable file."""
    from specdec_cli.distillation.teachers import find_teacher, teacher_digest

    return teacher_digest(find_teacher(bundle))


def drafter_digest(bundle: Path) -> str:
    """A hash of the drafter in the folder of a bundle. Raises ModelError for an unreadable file."""
    return folder_digest(bundle / "drafter")


def vocabulary_digest(tokenizer: "Tokenizer") -> str:
    """A hash of the pieces of a tokenizer, in the order of their ids."""
    from specdec_cli.distillation.texts import sources_digest

    return sources_digest([*tokenizer.source_vocabulary(), *tokenizer.vocabulary()])


EVERY = 100
"""The number of updates between two rows of the CSV file."""
LINE_EVERY = 60.0
"""The seconds after which a line is printed where no progress bar is shown."""


class TrainingView:
    """A callable that the training loop calls after every update; it writes `metrics.csv` in `folder`, and prints progress.

    A row of metrics is written after every 100 updates and after each evaluation. After an evaluation a line is printed; in a log, which
    has no progress bar, also once a minute. With `quiet`, nothing is printed. `start` is the progress of earlier processes; rows for later
    updates are removed from an existing `metrics.csv`. A context manager, inside which the progress bar is shown. `clock` returns the time
    in seconds.
    """

    def __init__(
        self,
        folder: Path,
        run: "RunSettings",
        console: "Console",
        *,
        start: "Progress",
        quiet: bool,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._path = folder / "metrics.csv"
        if self._path.exists():
            _trim(self._path, start.update)
        self._run, self._console, self._quiet, self._start = run, console, quiet, start
        self._clock = clock
        self._begun = self._printed = clock()
        self._losses: list[float] = []
        self._speeds: list[float] = []
        live = console.is_terminal and not quiet
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[what]}"), TimeRemainingColumn())
        self._live = live
        self._progress = Bar(*columns, console=console, disable=not live)
        done = start.update
        self._bar = self._progress.add_task(f"update {done:,}", total=run.max_updates, completed=done, what="")

    def __call__(self, report: "Report") -> None:
        """Record an update: show it in the progress bar; write a row after EVERY updates and after an evaluation."""
        self._losses.append(report.loss)
        self._speeds.append(report.tokens_per_second)
        progress = report.progress
        what = f"loss {report.loss:.3f}  {self._speed():,.0f} tokens/s"
        self._progress.update(self._bar, completed=progress.update, description=f"update {progress.update:,}", what=what)
        if not self._quiet and (report.figures or (not self._live and self._clock() - self._printed >= LINE_EVERY)):
            self._print(report, what)
        if progress.update % EVERY and not report.figures:
            return
        self._write(report)
        self._losses.clear()
        self._speeds.clear()

    def _print(self, report: "Report", what: str) -> None:
        figures = "".join(f"  {name} {value:.3f}" for name, value in report.figures.items())
        text = f"update {report.progress.update:,}  epoch {report.progress.epoch}  {what}{figures}  {self._time_left(report)} left"
        self._progress.console.print(text, highlight=False, soft_wrap=True)
        self._printed = self._clock()

    def _speed(self) -> float:
        """The harmonic mean, because updates have about equal numbers of tokens, and not equal durations."""
        return len(self._speeds) / sum(1 / max(speed, 1e-9) for speed in self._speeds)

    def _time_left(self, report: "Report") -> str:
        """The time until the run reaches `max_updates` or `max_epochs`, whichever comes first, with its unit, at the speed of this process:
        an earlier one may have run on another machine, or beside other programs.
        """
        before, now = self._share(self._start), self._share(report.progress)
        seconds = (self._clock() - self._begun) * max(1.0 - now, 0.0) / max(now - before, 1e-9)
        if seconds > 5400:
            return f"{seconds / 3600:.1f} h"
        return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"

    def _share(self, progress: "Progress") -> float:
        """The share of the run that is done. The present epoch counts as the share of its batches that are done."""
        epochs = progress.epoch + progress.batch / max(progress.batches, 1)
        return max(progress.update / self._run.max_updates, epochs / self._run.max_epochs)

    def _write(self, report: "Report") -> None:
        progress = report.progress
        row: dict[str, object] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S"),
            "update": progress.update,
            "epoch": progress.epoch,
            "seconds": round(progress.seconds, 1),
            "tokens": progress.tokens,
            "loss": round(sum(self._losses) / len(self._losses), 4),
            "learning_rate": f"{report.learning_rate:.3e}",
            "tokens_per_second": round(self._speed()),
            "figures": " ".join(f"{name}={value:.4f}" for name, value in report.figures.items()),
        }
        new = not self._path.exists()
        with naming(self._path), self._path.open("a", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(stream, list(row), lineterminator="\n")
            if new:
                writer.writeheader()
            writer.writerow(row)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._progress.stop()


def _trim(path: Path, done: int) -> None:
    """Remove the rows of updates after `done` and incomplete rows from a CSV file."""
    header, *rows = list(csv.reader(path.read_text(encoding="utf-8", errors="replace").splitlines())) or [[]]
    place = header.index("update") if "update" in header else len(header)
    kept = [row for row in rows if len(row) == len(header) > place and row[place].isdigit() and int(row[place]) <= done]
    if not kept:
        path.unlink()
    elif kept != rows:
        write_atomically(path, lambda partial: _write_rows(partial, [header, *kept]))


def _write_rows(path: Path, rows: Sequence[Sequence[str]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream, lineterminator="\n").writerows(rows)


COLUMNS = ("block size", "tokens per round", "break even", "margin", "ms a round", "ms a line", "speedup")
MARGIN = 1.15
"""A block size is printed in bold if its tokens per round are at least this many times those at which drafting breaks even."""


class Timing(NamedTuple):
    """What decoding costs in milliseconds: the encoder for a sentence, a round of greedy decoding, and rounds with drafts by `costs`.

    `words` describe the machine and the engine.
    """

    encoding: float
    step: float
    costs: "Costs"
    words: str


def print_simulation(
    console: "Console", bundle: "Bundle", held_out: "Mapping[str, Sequence[SentencePair]]", model: "ModelChoice", options: "MachineOptions"
) -> None:
    """Print tokens per round, break-even tokens per round and milliseconds per line for every block size and each dev set.

    `held_out` has pairs of a source and its greedy output, by name of the dev set. Tokens are counted with `bundle`, whose weights
    are in floating point; rounds are timed with the engine that decodes `model`, the same bundle, with `options`. Raises UsageError for a
    bundle without a drafter.
    """
    if bundle.drafter is None:
        raise UsageError("--simulate: this bundle has no drafter")
    drafter, sizes = bundle.drafter, range(1, bundle.drafter.config.max_block + 1)
    sources = [pair.source for pairs in held_out.values() for pair in pairs[:10]]
    timing = _measured(drafter, sources, model, options)
    for name, pairs in held_out.items():
        console.print(_simulated(name, drafter, pairs, sizes, timing))
    console.print(
        f"{timing.words}; encoding {timing.encoding:.2f} ms, a greedy round {timing.step:.2f} ms; bold: {MARGIN - 1:.0%} above break-even"
    )


def _measured(drafter: "AnyDrafter", sources: Sequence[Sequence[int]], model: "ModelChoice", options: "MachineOptions") -> Timing:
    """Time the engine that decodes `model` with `options`: its rounds with drafts, and greedy decoding of `sources`."""
    from specdec_cli.decoding.methods import DRAFTS_OF
    from specdec_cli.decoding.options import DecodingOptions
    from specdec_cli.opening.engines import open_beside, open_engine

    request = DecodingOptions(decoding=DRAFTS_OF[drafter.config.kind], block_size=drafter.config.max_block, batch_size=1)
    opened = open_engine(model, options, request)
    costs = opened.engine.measured_costs()
    greedy, one_token = (
        open_beside(opened, model, options, DecodingOptions(decoding="greedy", max_length=length, batch_size=1)) for length in (None, 1)
    )
    first, whole = ([_timed(engine, source) for source in sources] for engine in (one_token, greedy))
    steps = sum(tokens - 1 for _, tokens in whole)
    step = (sum(time for time, _ in whole) - sum(time for time, _ in first)) / steps if steps else costs.without(1)
    encoding = max(median(time for time, _ in first) - step, 0.0)
    return Timing(encoding, step, costs, f"{opened.machine.in_words}; {opened.engine.description}")


def _simulated(name: str, drafter: "AnyDrafter", pairs: "Sequence[SentencePair]", sizes: Sequence[int], timing: Timing) -> "Table":
    """The table of a dev set, with a line for each block size in `sizes`."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Column, Table

    from specdec_cli.training.blocks import simulate

    tokens = sum(len(pair.target) for pair in pairs) / len(pairs)
    greedy = timing.encoding + tokens * timing.step
    title = f"{name}: {counted(len(pairs), 'line')} of {tokens:.1f} tokens, greedy {greedy:.2f} ms a line"
    table = Table(*(Column(column, justify="right") for column in COLUMNS), title=title, title_justify="left", box=SIMPLE_HEAD)
    for size in sizes:
        result = simulate(drafter, pairs, size)
        a_round = timing.costs.with_draft(1, size, size)
        line, break_even = timing.encoding + tokens / result.tokens_per_round * a_round, a_round / timing.step
        margin = result.tokens_per_round / break_even
        cells = (result.tokens_per_round, break_even, margin, a_round, line, greedy / line)
        table.add_row(str(size), *(f"{cell:.2f}" for cell in cells), style="bold" if margin >= MARGIN else None)
    return table


def _timed(engine: "SentenceDecoder", source: Sequence[int]) -> tuple[float, int]:
    """The milliseconds in which `engine` decodes a sentence, the less of two times, and the number of output tokens."""
    from specdec_cli.decoding.sentence import Sentence

    times, tokens = [], 0
    for _ in range(2):
        started = time.perf_counter()
        (found,) = engine.decode([Sentence(0, source)])
        times.append(1000 * (time.perf_counter() - started))
        tokens = len(found.ids)
    return min(times), tokens
