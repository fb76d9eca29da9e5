"""`specdec distill`: translation of source text by a teacher."""

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.loading import find_bundle
from specdec_cli.commands.options.decoding import BeamSizeOption, LengthPenaltyOption, MaxLengthOption
from specdec_cli.commands.options.machine import DeviceOption, ThreadsOption
from specdec_cli.commands.options.text import QuietOption
from specdec_cli.commands.options.values import decoding_option, machine_option, output_option
from specdec_cli.commands.training_run import check_text, teller
from specdec_cli.decoding.names import BEAM_SIZE
from specdec_cli.distillation.filters import Filters
from specdec_cli.distillation.models import TeacherModel, as_ctranslate2, find_teacher
from specdec_cli.distillation.process import TeacherProcess
from specdec_cli.distillation.run import Progress, Summary, settings_of
from specdec_cli.distillation.run import distill as run_distillation
from specdec_cli.distillation.shards import DISTILLED, Shards
from specdec_cli.distillation.sources import distinct_lines, read_sources
from specdec_cli.distillation.teacher import Resources, Search, Teacher
from specdec_cli.errors import InputError, UsageError
from specdec_cli.folder_lock import locked, rank
from specdec_cli.text.lines import STDIO

_USUAL_LENGTH = 256

MaxSourceLengthOption = Annotated[
    int | None,
    decoding_option(
        "--max-source-length",
        metavar="N",
        min=1,
        help="Largest number of tokens of a source, EOS included; longer sources are dropped.",
        show_default="the bundle's",
    ),
]
QuantizationOption = Annotated[
    str,
    decoding_option(
        "--quantization",
        metavar="TYPE",
        help="Number format that the teacher computes in: float32, int8, bfloat16, float16 or another of CTranslate2's.",
    ),
]
KeepCopiesOption = Annotated[
    bool, output_option("--keep-copies", help="Keep output that equals its source; a bundle for correction always does.")
]
ShardLinesOption = Annotated[
    int, output_option("--shard-lines", metavar="N", min=1, help="Sources in a shard; a stopped run loses at most one shard.")
]
BatchTokensOption = Annotated[int, machine_option("--batch-tokens", metavar="N", min=1, help="Source tokens in a batch, padding included.")]


WithOption = Annotated[
    list[str] | None,
    decoding_option("--with", metavar="BUNDLE", help="Another teacher with the same vocabulary; specdec decodes the ensemble. Repeatable."),
]


def distill(
    teacher: Annotated[str, typer.Argument(metavar="TEACHER", help="Bundle or CTranslate2 folder.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Output folder; a stopped run is resumed.", show_default=False)],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Source lines, or TSV whose source column is used.", show_default="stdin"),
    ] = None,
    others: WithOption = None,
    beam_size: BeamSizeOption = None,
    length_penalty: LengthPenaltyOption = None,
    max_length: MaxLengthOption = None,
    max_source_length: MaxSourceLengthOption = None,
    quantization: QuantizationOption = "float32",
    keep_copies: KeepCopiesOption = False,
    shard_lines: ShardLinesOption = 10_000,
    batch_tokens: BatchTokensOption = 1024,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Translate source text with a teacher, to train a smaller model on the result.

    Each distinct source is translated once. At the end, OUTPUT/distilled.tsv has a line with source and translation for each;
    the shards beside it are complete at any time.
    """
    check_text([path for path in files or () if path != STDIO], parallel=False)
    models = [find_teacher(_folder(name)) for name in (teacher, *(others or ()))]
    longest = min(_length(max_length or model.max_length or None, "--max-length", model) for model in models)
    longest_source = min(_length(max_source_length, "--max-source-length", model) for model in models)
    first = models[0]
    penalty = first.length_penalty if length_penalty is None else length_penalty
    search = Search(beam_size or first.beam_size or BEAM_SIZE, penalty, longest, longest_source, quantization)
    resources = Resources(device, threads or os.cpu_count() or 1, batch_tokens)
    filters = Filters(keep_copies=keep_copies or models[0].task != "translate")
    summary = _run(models, output, files or [], search, resources, filters, shard_lines, quiet)
    if not quiet:
        _print_summary(summary)


def _length(chosen: int | None, option: str, model: TeacherModel) -> int:
    """The requested length, or the teacher's longest. Raises UsageError for one that is too long."""
    if chosen is not None and model.max_positions is not None and chosen > model.max_positions:
        raise UsageError(f"{option} {chosen}: {model.folder} has positions for {model.max_positions} tokens")
    return chosen or model.max_positions or _USUAL_LENGTH


def _run(
    models: Sequence[TeacherModel],
    output: Path,
    files: list[Path],
    search: Search,
    resources: Resources,
    filters: Filters,
    shard_lines: int,
    quiet: bool,
) -> Summary:
    skipped: Counter[str] = Counter()
    sources = distinct_lines(read_sources(files), skipped)
    if not sources:
        raise InputError("the input has no source line")
    settings = settings_of(models, sources, search, filters, shard_lines)
    # Processes that train together distil one after the other; all but the first find complete shards.
    with locked(output, wait=rank() is not None):
        shards = Shards(output, settings)
        tell, count = teller(quiet), -(-len(sources) // shard_lines)
        if done := shards.complete(count):
            tell(f"{output}: resuming after {done:,} of {count:,} shards")
        try:
            with _open_teacher(models, output, search, resources) as teacher, _progress_bar(quiet) as report:
                summary = run_distillation(sources, teacher, shards, filters, shard_lines, report)
        except (KeyboardInterrupt, SystemExit):
            tell(f"interrupted after {shards.complete(count):,} of {count:,} shards; the same command resumes there")
            raise
    summary.dropped += skipped
    return summary


def _folder(name: str) -> Path:
    """The path of a CTranslate2 folder, or the folder of a bundle."""
    return Path(name) if Path(name, "model.bin").exists() else find_bundle(name)


@contextmanager
def _open_teacher(models: Sequence[TeacherModel], output: Path, search: Search, resources: Resources) -> Iterator[Teacher]:
    if len(models) == 1:
        with TeacherProcess(as_ctranslate2(models[0], output / "teacher"), search, resources) as teacher:
            yield teacher
        return
    for model in models:
        if not model.is_bundle:
            raise UsageError(f"{model.folder}: an ensemble needs bundles; a CTranslate2 folder gives no probabilities")
    from specdec_cli.commands.loading import open_bundle
    from specdec_cli.commands.machine import resolve_machine
    from specdec_cli.distillation.ensemble import Ensemble

    machine = resolve_machine(resources.device, "float32", resources.threads)
    bundles = [open_bundle(str(model.folder), machine) for model in models]
    yield Ensemble(bundles, search, resources.batch_tokens)


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    from rich import progress
    from rich.console import Console

    shown = not quiet and sys.stdout.isatty() and sys.stderr.isatty()
    columns = (progress.BarColumn(), progress.MofNCompleteColumn(), progress.TextColumn("lines  {task.fields[speed]}"))
    with progress.Progress(*columns, console=Console(stderr=True), disable=not shown) as bar:
        task = bar.add_task("distill", total=None, speed="")

        def report(state: Progress) -> None:
            bar.update(task, completed=state.lines, total=state.total, speed=_speed(state))

        yield report


def _speed(state: Progress) -> str:
    left = "" if state.seconds_left is None else f"  {_duration(state.seconds_left)} left"
    return f"{state.tokens_per_second:,.0f} tokens/s{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}"


def _print_summary(summary: Summary) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False)
    table.add_column()
    table.add_column(justify="right")
    table.add_row("lines read", f"{summary.kept + summary.dropped.total():,}")
    for reason, count in summary.dropped.most_common():
        table.add_row(f"dropped: {reason}", f"{count:,}")
    table.add_row(f"kept, in {DISTILLED}", f"{summary.kept:,}")
    table.add_row("teacher's tokens", f"{summary.tokens:,}")
    table.add_row("time of this run", _duration(summary.seconds))
    Console(stderr=True).print(table)
