"""`specdec distill`: translation of training text by a teacher, in shards that a stopped run keeps."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, get_args

import typer

from specdec_cli.commands.options import (
    ClusterOptions,
    DeviceOption,
    InstructionOption,
    QuietOption,
    ThreadsOption,
    decoding_option,
    machine_option,
    option,
    output_option,
    with_groups,
)
from specdec_cli.commands.reports import duration, print_table, progress_bar, say, tell_of_keyboard, teller
from specdec_cli.commands.training import check_text
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.decoding.options import DecodingOptions, Sampled, named_draft_model, resolve
from specdec_cli.devices import by_device, found_device, has_gpu
from specdec_cli.distillation.bundle_teachers import ENSEMBLE_FORMATS, check_ensemble, drawing_options, open_teacher
from specdec_cli.distillation.run import DISTILLED, SHARD_LINES, DistillationPlan, Filters, Progress, Shards, Summary, settings_of
from specdec_cli.distillation.run import distill as distill_shards
from specdec_cli.distillation.teachers import COMPUTE_TYPES, Resources, Search, TeacherModel, find_teacher
from specdec_cli.distillation.texts import Targets, distinct_lines
from specdec_cli.errors import InputError, UsageError, counted
from specdec_cli.files import locked, rank
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.machine import Precision
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.processors import usable_processors
from specdec_cli.text.corpus.parallel import read_sources, source_column
from specdec_cli.text.io.lines import STDIO

_USUAL_LENGTH = 256


def plan_distillation(
    teachers: Sequence[str],
    options: DecodingOptions,
    plan: DistillationPlan,
    max_source_length: int | None = None,
    instruction: str | None = None,
) -> DistillationPlan:
    """Complete `plan` by teachers that are given as paths or names, and by their search or sampling as `options` ask for it.

    None in `options` stands for the first teacher's own setting, and as `max_source_length` for the longest source of the teachers; an
    `instruction` that is not None replaces the words that bundles have in front of each source. Raises
    ModelError for a teacher that is missing or malformed, and UsageError for lengths that it does not have, for a number format of an
    ensemble, and for sampling with what is not a bundle, or with options of a search.
    """
    models, quantization = tuple(find_teacher(_folder(name)) for name in teachers), plan.search.compute_type
    if instruction is not None:
        models = tuple(_instructed(model, instruction) for model in models)
    if quantization not in COMPUTE_TYPES:
        raise UsageError(f"--quantization {quantization}: not known; known are {', '.join(COMPUTE_TYPES)}")
    check_ensemble(models)
    if len(models) > 1 and quantization not in ENSEMBLE_FORMATS:
        raise UsageError(f"--quantization {quantization}: an ensemble computes in {' or '.join(ENSEMBLE_FORMATS)}")
    longest = min(_length(options.max_length or model.max_length or None, "--max-length", model) for model in models)
    longest_source = min(_length(max_source_length, "--max-source-length", model) for model in models)
    first = models[0]
    penalty = first.length_penalty if options.length_penalty is None else options.length_penalty
    beam = options.beam_size or first.beam_size or BEAM_SIZE
    search = Search(beam, penalty, longest, longest_source, quantization, n_best=1 if plan.nearest is None else beam)
    sampling = Sampled(options.temperature or 1.0, options.top_k or 0, options.seed) if options.sample else None
    if sampling is not None:
        others = {"--with": len(models) > 1, "--beam-size": options.beam_size, "--length-penalty": options.length_penalty is not None}
        others["--nearest"] = plan.nearest is not None
        _check_sampling(first, search, sampling, [name for name, is_given in others.items() if is_given])
    draft_model = named_draft_model(options)
    if draft_model:
        _check_drafts(draft_model, models, search, sampling)
        plan = replace(plan, own_greedy=sampling is None, draft_model=draft_model)
    filters = replace(plan.filters, keep_copies=plan.filters.keep_copies or first.task != "translate")
    return replace(plan, models=models, search=search, filters=filters, sampling=sampling)


def _check_sampling(model: TeacherModel, search: Search, sampling: Sampled, others: Sequence[str]) -> None:
    """Raise UsageError for other options that exclude sampling, and for a teacher that cannot sample."""
    if others:
        raise UsageError(f"--sample draws one output, and does not go with {others[0]}")
    if not model.is_bundle:
        raise UsageError(f"--sample: {model.folder} is a CTranslate2 folder; only bundles are sampled from")
    if search.compute_type not in get_args(Precision):
        raise UsageError(f"--sample: --quantization {search.compute_type} is not offered; {', '.join(get_args(Precision))} are")
    resolve(drawing_options(search, sampling), describe_bundle(model.folder))


def _check_drafts(name: str, models: Sequence[TeacherModel], search: Search, sampling: Sampled | None) -> None:
    """Raise UsageError unless the model `name` can draft: for a single bundle that samples or decodes greedily."""
    if sampling is None and (search.beam_size > 1 or search.n_best > 1):
        raise UsageError(f"--draft-model {name}: beam search takes no drafts; --beam-size 1 or --sample does")
    if len(models) > 1 or not models[0].is_bundle:
        raise UsageError(f"--draft-model {name}: for a single bundle, not for an ensemble or a CTranslate2 folder")
    if search.compute_type not in get_args(Precision):
        raise UsageError(f"--draft-model: --quantization {search.compute_type} is not offered; {', '.join(get_args(Precision))} are")
    from specdec_cli.opening.draft_models import find_draft_model

    folder = models[0].folder
    find_draft_model(ModelChoice(str(folder)), describe_bundle(folder), name)


def distill_files(plan: DistillationPlan, output: Path, files: Sequence[Path], cluster: ClusterOptions, *, quiet: bool) -> Summary:
    """Distil the lines of `files` into the folder `output`, and return the totals; a stopped run is resumed.

    Raises InputError without a source line, UsageError for targets on a cluster or from stdin, and what `distill` raises.
    """
    if plan.nearest is not None:
        plan = replace(plan, targets=_targets(files, plan.nearest, cluster))
    skipped: Counter[str] = Counter()
    sources = distinct_lines(_read_lines(files, output, cluster, quiet=quiet), skipped)
    if not sources:
        raise InputError("the input has no source line")
    # Processes that train together distil one after the other; all but the first find complete shards.
    with locked(output, wait=rank() is not None):
        shards = Shards(output, settings_of(plan, sources))
        tell, count = teller(quiet), -(-len(sources) // plan.shard_lines)
        if done := shards.complete(count):
            tell(f"{output}: resuming after {done:,} of {counted(count, 'shard')}")
        try:
            summary = _distill(plan, sources, shards, cluster, quiet=quiet)
        except (KeyboardInterrupt, SystemExit):
            tell(f"interrupted after {shards.complete(count):,} of {counted(count, 'shard')}; the same command resumes there")
            raise
    summary.dropped += skipped
    return summary


def _read_lines(files: Sequence[Path], output: Path, cluster: ClusterOptions, *, quiet: bool) -> Iterator[str]:
    if cluster.ray is None:
        tell_of_keyboard(files, quiet=quiet)
        return read_sources(files)
    from specdec_cli.cluster.inputs import find_inputs
    from specdec_cli.cluster.session import require_ray

    require_ray(cluster.address)
    inputs = find_inputs(files)
    inputs.check_output(output)
    return (source for lines in inputs.files() for source in source_column(lines))


def _targets(files: Sequence[Path], minimum: float, cluster: ClusterOptions) -> Targets:
    if cluster.ray is not None:
        raise UsageError("--nearest does not go with --ray: the workers have no targets")
    if not files or STDIO in files:
        raise UsageError("--nearest compares with targets: give files of lines of source TAB target")
    return Targets.read(files, minimum)


def _distill(plan: DistillationPlan, sources: Sequence[str], shards: Shards, cluster: ClusterOptions, *, quiet: bool) -> Summary:
    if cluster.ray is not None:
        from specdec_cli.commands.cluster import distill_on_cluster

        return distill_on_cluster(plan, sources, shards, cluster, quiet=quiet)
    if plan.sampling is None and not plan.own_greedy and plan.resources.batch_tokens is None:
        teller(quiet)(
            f"batches of up to {counted(plan.resources.tokens, 'source token')}, the default on {found_device(plan.resources.device)}"
        )
    with open_teacher(plan, shards.converted) as teacher, _progress_bar(quiet) as report:
        return distill_shards(sources, teacher, shards, plan, report)


def _instructed(model: TeacherModel, instruction: str) -> TeacherModel:
    """The teacher with other words in front of each source. Raises UsageError if it has no place for them."""
    if not model.is_bundle:
        raise UsageError(f"--instruction is for bundles; {model.folder} is a CTranslate2 folder")
    describe_bundle(model.folder, instruction=instruction)
    return replace(model, instruction=instruction)


def _length(chosen: int | None, option: str, model: TeacherModel) -> int:
    """The requested length, or the teacher's longest. Raises UsageError for one that is too long."""
    if chosen is not None and model.max_positions is not None and chosen > model.max_positions:
        raise UsageError(f"{option} {chosen}: {model.folder} has positions for {model.max_positions} tokens")
    return chosen or model.max_positions or _USUAL_LENGTH


def _folder(name: str) -> Path:
    """The path of a CTranslate2 folder, or the folder of a bundle."""
    return Path(name) if Path(name, "model.bin").exists() else find_bundle(name, say)


@contextmanager
def _progress_bar(quiet: bool) -> Iterator[Callable[[Progress], None]]:
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

    with progress_bar(quiet, BarColumn(), MofNCompleteColumn(), TextColumn("lines  {task.fields[speed]}"), speed="") as update:
        yield lambda state: update(completed=state.lines, total=state.total, speed=_speed(state))


def _speed(state: Progress) -> str:
    left = "" if state.seconds_left is None else f"  {duration(state.seconds_left)} left"
    return f"{state.tokens_per_second:,.0f} tokens/s{left}"


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
NearestOption = Annotated[
    float | None,
    output_option(
        "--nearest",
        metavar="CHRF",
        min=0.0,
        max=100.0,
        help="Of the hypotheses that the beam keeps, write the one that is nearest to a target of the source in FILE, by chrF, if it has "
        "at least this chrF.",
        show_default="the teacher's best hypothesis",
    ),
]
KeepCopiesOption = Annotated[
    bool, output_option("--keep-copies", help="Keep output that equals its source; that of a corrector is always kept.")
]
ShardLinesOption = Annotated[
    int, output_option("--shard-lines", metavar="N", min=1, help="Sources in a shard; a run that is killed loses at most one shard.")
]
BatchTokensOption = Annotated[
    int | None,
    machine_option(
        "--batch-tokens",
        metavar="N",
        min=1,
        help="Source tokens in a batch, padding included.",
        show_default=by_device("teacher_tokens"),
    ),
]


WithOption = Annotated[
    list[str] | None,
    decoding_option("--with", metavar="BUNDLE", help="Another teacher with the same vocabulary; specdec decodes the ensemble. Repeatable."),
]


@with_groups
def distill(
    teacher: Annotated[str, typer.Argument(metavar="TEACHER", help="Bundle or CTranslate2 folder.", show_default=False)],
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Output folder; a stopped run is resumed.", show_default=False)],
    files: Annotated[
        list[Path] | None,
        typer.Argument(metavar="FILE", help="Source lines, or TSV whose source column is used.", show_default="stdin"),
    ] = None,
    others: WithOption = None,
    instruction: InstructionOption = None,
    beam_size: Annotated[int | None, option("beam_size")] = None,
    length_penalty: Annotated[float | None, option("length_penalty")] = None,
    max_length: Annotated[int | None, option("max_length", default="the teacher's longest")] = None,
    max_source_length: MaxSourceLengthOption = None,
    quantization: QuantizationOption = "float32",
    keep_copies: KeepCopiesOption = False,
    nearest: NearestOption = None,
    sample: Annotated[bool, option("sample")] = False,
    draft_model: Annotated[str | None, option("draft_model")] = None,
    temperature: Annotated[float | None, option("temperature")] = None,
    top_k: Annotated[int | None, option("top_k")] = None,
    seed: Annotated[
        int, machine_option("--seed", metavar="N", min=0, max=2**32 - 1, help="With --sample: seed of the random numbers.")
    ] = 1,
    shard_lines: ShardLinesOption = SHARD_LINES,
    batch_tokens: BatchTokensOption = None,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
    *,
    cluster: ClusterOptions,
) -> None:
    """Translate source text with a teacher, to train a smaller model on the result.

    Each distinct source is translated once. At the end, OUTPUT/distilled.tsv has a line with source and translation for each;
    the shards beside it are complete at any time.
    """
    if cluster.ray is None:
        check_text([path for path in files or () if path != STDIO], parallel=nearest is not None)
        if device == "cuda" and not has_gpu():
            raise UsageError("--device cuda: no CUDA device is available")
    if not sample and (temperature is not None or top_k is not None):
        raise UsageError("--temperature and --top-k are for --sample")
    plan = DistillationPlan(
        search=Search(compute_type=quantization),
        resources=Resources(device, threads or (1 if cluster.ray else usable_processors()), batch_tokens),
        filters=Filters(keep_copies=keep_copies),
        shard_lines=shard_lines,
        nearest=nearest,
    )
    options = DecodingOptions(
        beam_size=beam_size,
        length_penalty=length_penalty,
        max_length=max_length,
        sample=sample,
        draft_model=draft_model,
        temperature=temperature,
        top_k=top_k,
        seed=seed,
    )
    plan = plan_distillation((teacher, *(others or ())), options, plan, max_source_length, instruction)
    summary = distill_files(plan, output, files or [], cluster, quiet=quiet)
    if not quiet:
        _print_summary(summary)


def _print_summary(summary: Summary) -> None:
    rows = [
        ("lines read", f"{summary.kept + summary.dropped.total():,}"),
        *((f"dropped: {reason}", f"{count:,}") for reason, count in summary.dropped.most_common()),
        (f"kept, in {DISTILLED}", f"{summary.kept:,}"),
        ("teacher's tokens", f"{summary.tokens:,}"),
        ("time of this run", duration(summary.seconds)),
    ]
    print_table(rows)
