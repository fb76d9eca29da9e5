"""The work of `specdec distill`: the plan of a teacher and its search, and the shards of its output, here or on a cluster."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import get_args

from rich.progress import BarColumn, MofNCompleteColumn, TextColumn

from specdec_cli.cluster.inputs import find_inputs
from specdec_cli.cluster.session import require_ray
from specdec_cli.console.options import ClusterOptions
from specdec_cli.console.reports import duration, progress_bar, say, tell_of_keyboard, teller
from specdec_cli.decoding.methods import BEAM_SIZE
from specdec_cli.decoding.options import DecodingOptions, Sampled, named_draft_model, resolve
from specdec_cli.devices import found_device
from specdec_cli.distillation.bundle_teachers import ENSEMBLE_FORMATS, check_ensemble, drawing_options, open_teacher
from specdec_cli.distillation.run import DistillationPlan, Progress, Shards, Summary, settings_of
from specdec_cli.distillation.run import distill as distill_shards
from specdec_cli.distillation.teachers import COMPUTE_TYPES, Search, TeacherModel, find_teacher
from specdec_cli.distillation.texts import Targets, distinct_lines
from specdec_cli.errors import InputError, UsageError, counted
from specdec_cli.files import locked, rank
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.opening.draft_models import find_draft_model
from specdec_cli.opening.machine import Precision
from specdec_cli.opening.models import ModelChoice, find_bundle
from specdec_cli.text.corpus.parallel import read_sources, source_column
from specdec_cli.text.io.lines import STDIO
from specdec_cli.work.cluster import distill_on_cluster

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
    with progress_bar(quiet, BarColumn(), MofNCompleteColumn(), TextColumn("lines  {task.fields[speed]}"), speed="") as update:
        yield lambda state: update(completed=state.lines, total=state.total, speed=_speed(state))


def _speed(state: Progress) -> str:
    left = "" if state.seconds_left is None else f"  {duration(state.seconds_left)} left"
    return f"{state.tokens_per_second:,.0f} tokens/s{left}"
