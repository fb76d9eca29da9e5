"""`specdec train-drafter`: training of a drafter for a verifier, and simulation of its speed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands.options import ClusterOptions, DeviceOption, QuietOption, ThreadsOption
from specdec_cli.commands.reports import say, teller
from specdec_cli.commands.training import (
    DevicesOption,
    OutputArgument,
    RecipeOption,
    SetOption,
    beginning_of,
    check_output,
    check_text,
    drafter_digest,
    print_simulation,
    require_training,
    train,
    verifier_digest,
    writing_alone,
)
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.processors import usable_processors

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.model.drafter import AnyDrafter
    from specdec_cli.opening.machine import Device
    from specdec_cli.training.data import SentencePair
    from specdec_cli.training.recipe import DrafterRecipe


DEV_LINES = 400
"""The number of lines of a dev set that are used."""
_SHARD_LINES = 1_000
"""Lines whose outputs a run that is killed loses at most; of a large model on a CPU they take minutes."""
ModelOption = Annotated[
    str | None,
    typer.Option(
        *("--model", "-m", "--verifier"),
        metavar="BUNDLE",
        help="The verifier to draft for: a bundle, or another toolkit's model. Needed for training.",
    ),
]
DevOption = Annotated[
    list[Path],
    typer.Option(
        "--dev",
        metavar="FILE",
        help=f"Held-out source text, or TSV with it, that selects the best state; of each file, the first {DEV_LINES} lines. Repeatable.",
    ),
]
DataOption = Annotated[
    list[str] | None,
    typer.Option(
        "--data",
        metavar="FILE[*N]",
        help="TSV of sources and the verifier's own greedy output, or a folder with it in train.tsv; with *N, N times in each epoch. "
        "Repeatable.",
    ),
]
InitOption = Annotated[
    str | None, typer.Option("--init", metavar="BUNDLE", help="Initialise from this bundle's drafter; missing layers are new.")
]
SourceOption = Annotated[
    list[Path] | None,
    typer.Option("--source", metavar="FILE", help="Source text, instead of --data; the verifier decodes it first. Repeatable."),
]
SimulateOption = Annotated[
    bool,
    typer.Option("--simulate", help="Do not train; print tokens per round and ms a line of the bundle in OUTPUT for every block size."),
]


def train_drafter(
    output: OutputArgument,
    dev: DevOption,
    model: ModelOption = None,
    data: DataOption = None,
    source: SourceOption = None,
    recipe: RecipeOption = None,
    changes: SetOption = None,
    init: InitOption = None,
    simulate: SimulateOption = False,
    devices: DevicesOption = 1,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train a drafter on its verifier's own output; OUTPUT contains the best bundle so far.

    With --source, text in one language is enough: the verifier's own greedy output for it is made first, in OUTPUT/outputs,
    on a CPU in int8. The best state is the one with the most tokens per round on the sources of --dev. After an interruption,
    the same command resumes.
    """
    if simulate:
        training = {"--model": model, "--data": data, "--source": source, "--recipe": recipe, "--set": changes, "--init": init}
        _refuse(training | {"--devices": devices > 1})
        _simulate(output, dev, device, threads, teller(quiet))
        return
    from specdec_cli.recipe import find_recipe, load_recipe
    from specdec_cli.training.recipe import DrafterRecipe

    plan = load_recipe(DrafterRecipe, find_recipe(recipe), changes or ())
    require_training()
    if bool(data) == bool(source):
        raise UsageError("give either --source, text for the verifier to decode, or --data, its output for text (`specdec distill`)")
    if model is None:
        raise UsageError("give --model, the verifier to draft for")
    from specdec_cli.opening.conversions import load_checkpoint
    from specdec_cli.opening.machine import resolve_machine
    from specdec_cli.opening.models import find_bundle
    from specdec_cli.training.data import DataSource, load_pairs
    from specdec_cli.training.data_parallel import launch_fabric
    from specdec_cli.training.drafter import DrafterTask

    texts = [DataSource.parse(text) for text in data or ()]
    check_text([*dev, *(source or ())], parallel=False)
    check_text([text.path for text in texts], parallel=True)
    machine = resolve_machine(device, "float32", threads)
    with writing_alone(output):
        folder = find_bundle(model, teller(quiet))
        digests = _verifier_digest(folder, output, plan)
        bundle = load_checkpoint(folder)
        if (order := bundle.verifier.config.order) != "left-to-right":
            raise UsageError(f"--model {model}: drafters are for models of order left-to-right, not {order}")
        held_out = held_out_sets(bundle, dev, teller(quiet))
        tell_left_out(held_out, plan.drafter.shortlist, teller(quiet))
        if source:
            texts = [DataSource(_decode(folder, source, output / "outputs", device, threads, quiet))]
        fabric = launch_fabric(plan.run, machine.device, devices, unused=True)
        bundle.verifier.to(fabric.device)
        first, digests["--init"] = (None, None) if init is None else _initial_drafter(init)
        bundle = with_new_drafter(bundle, plan, first)
        outputs = load_pairs(texts, bundle.tokenizer, bundle.verifier.config, teller(quiet))
        task = DrafterTask(bundle, outputs, held_out, plan, fabric.world_size)
        beginning = beginning_of("train-drafter", plan, texts, dev, digests, {})
        train(task, plan, beginning, output, fabric, quiet)


def _verifier_digest(model: Path, output: Path, plan: "DrafterRecipe") -> dict[str, str | None]:
    """A hash of the verifier in the folder `model`, by the name of its option. A run that resumes in `output` must have the same hash.

    Empty if both are the same folder and the run resumes: the run may have written the verifier in another number format. Raises UsageError
    if training would overwrite a bundle in `output`, or change the verifier in it.
    """
    from specdec_cli.training.checkpoint import FILE

    if model.resolve() != output.resolve():
        check_output(output)
    elif plan.verifier == "fine-tuned":
        raise UsageError(f"{output}: is the verifier itself, which verifier=fine-tuned would change; name another folder")
    elif (output / FILE).exists():
        return {}
    return {"--model": verifier_digest(model)}


def _decode(model: Path, source: Sequence[Path], output: Path, device: str, threads: int | None, quiet: bool) -> Path:
    """Make the greedy output of the verifier in the folder `model` for text, in the folder `output`; return the TSV file with it."""
    from specdec_cli.commands.distill import distill_files, plan_distillation
    from specdec_cli.decoding.options import DecodingOptions
    from specdec_cli.distillation.run import DistillationPlan, Filters
    from specdec_cli.distillation.teachers import Resources, Search

    plan = DistillationPlan(
        search=Search(compute_type="auto"),
        resources=Resources(device, threads or usable_processors()),
        filters=Filters(keep_copies=True),
        shard_lines=_SHARD_LINES,
        own_greedy=True,
    )
    plan = plan_distillation([str(model)], DecodingOptions(beam_size=1), plan)
    distill_files(plan, output, source, ClusterOptions(), quiet=quiet)
    return output / "distilled.tsv"


def _initial_drafter(init: str) -> "tuple[AnyDrafter, str]":
    """The drafter of the bundle that --init names, and its digest. Raises UsageError for a bundle without a drafter."""
    from specdec_cli.opening.conversions import load_checkpoint
    from specdec_cli.opening.models import find_bundle

    folder = find_bundle(init, say)
    drafter = load_checkpoint(folder).drafter
    if drafter is None:
        raise UsageError(f"--init {init}: the bundle has no drafter")
    return drafter, drafter_digest(folder)


def _refuse(options: Mapping[str, object]) -> None:
    """Raise UsageError that names the given ones of `options`, which only training uses."""
    if given := [name for name, value in options.items() if value]:
        raise UsageError(f"--simulate measures the bundle in OUTPUT and does not go with {', '.join(given)}")


def _simulate(output: Path, dev: Sequence[Path], device: "Device", threads: int | None, tell: Callable[[str], None]) -> None:
    """Print tokens per round and speed of every block size for the bundle in `output`."""
    from rich.console import Console

    from specdec_cli.opening.conversions import load_checkpoint
    from specdec_cli.opening.machine import MachineOptions, move_to, resolve_machine
    from specdec_cli.opening.models import ModelChoice, find_bundle

    check_text(dev, parallel=False)
    machine = resolve_machine(device, "float32", threads)
    bundle = load_checkpoint(find_bundle(str(output)))
    move_to(machine, bundle)
    held_out = held_out_sets(bundle, dev, tell)
    options = MachineOptions(batch_size=1, device=device, threads=threads)
    print_simulation(Console(), bundle, held_out, ModelChoice(str(output)), options)


def with_new_drafter(bundle: "Bundle", plan: "DrafterRecipe", first: "AnyDrafter | None") -> "Bundle":
    """A copy of `bundle` with a new drafter of the shape in `plan`, initialised from the drafter `first` if given.

    Raises UsageError if `first` is of another kind (block drafter or heads) or width, and for a shape that does not fit the verifier.
    """

    from specdec_cli.decoding.methods import DRAFTS_OF, methods_of
    from specdec_cli.model.drafter import BlockDrafter, Heads, make_drafter
    from specdec_cli.model.drafter_config import DrafterConfig

    config = plan.drafter
    if isinstance(config, DrafterConfig):
        config = replace(config, mask=bundle.tokenizer.mask)
    try:
        drafter = make_drafter(config, bundle.verifier, plan.run.dropout)
    except ModelError as error:
        raise UsageError(f"drafter of the recipe: {error}") from error
    if isinstance(config, DrafterConfig) and isinstance(drafter, BlockDrafter) and config.initial == "verifier":
        drafter.initialize_from_verifier()
    try:
        if isinstance(drafter, BlockDrafter) and isinstance(first, BlockDrafter):
            drafter.initialize_from_drafter(first)
        elif isinstance(drafter, Heads) and isinstance(first, Heads):
            drafter.initialize_from(first)
        elif first is not None:
            raise ModelError(f"a drafter of kind {first.config.kind} cannot initialise one of kind {config.kind}")
    except ModelError as error:
        raise UsageError(f"--init: {error}") from error
    # The bundle's block size was chosen for its earlier drafter.
    info = replace(bundle.info, block_size=min(bundle.info.block_size, config.max_block))
    if any(method.trained not in (None, config.kind) for method in methods_of(info.decoding)):
        info = replace(info, decoding=DRAFTS_OF[config.kind])
    return replace(bundle, info=info, drafter=drafter)


def held_out_sets(bundle: "Bundle", files: Sequence[Path], tell: Callable[[str], None]) -> "dict[str, list[SentencePair]]":
    """Pairs of a source and the verifier's greedy output for the sources of each file (see `dev_sources`), by name of the dev set."""
    from specdec_cli.training.drafter import greedy_outputs

    return {name: greedy_outputs(bundle, dev_sources(bundle, path, tell)) for name, path in zip(dev_names(files), files, strict=True)}


def tell_left_out(held_out: "Mapping[str, Sequence[SentencePair]]", shortlist: int, tell: Callable[[str], None]) -> None:
    """Call `tell` with the share of the tokens in each dev set's targets that are not among the first `shortlist` of the vocabulary.

    A drafter with this shortlist never drafts them. Without a shortlist (0), `tell` is not called.
    """
    if not shortlist:
        return
    shares = []
    for name, pairs in held_out.items():
        tokens = [token for pair in pairs for token in pair.target]
        shares.append(f"{sum(token >= shortlist for token in tokens) / max(len(tokens), 1):.1%} in {name}")
    tell(f"tokens that a shortlist of {shortlist:,} cannot draft: {', '.join(shares)}")


def dev_names(files: Sequence[Path]) -> list[str]:
    """A name for each dev set, from that of its file; one that occurred before gets the number of its place, from 1."""
    names: list[str] = []
    for path in files:
        name = path.stem.removeprefix("dev.")
        while name in names:
            name = f"{name}_{len(names) + 1}"
        names.append(name)
    return names


def dev_sources(bundle: "Bundle", path: Path, tell: Callable[[str], None]) -> list[list[int]]:
    """The ids of the first DEV_LINES non-blank sources of a file (TSV, or plain text), without those too long for the verifier.

    `tell` is called with a message if some are too long. Raises InputError if all are too long.
    """

    from specdec_cli.decoding.verifier import bundle_verifier
    from specdec_cli.text.corpus.parallel import read_sources
    from specdec_cli.training.data import check_left, longer_than

    longest = bundle_verifier(bundle).longest_source
    texts = islice(filter(str.strip, read_sources([path])), DEV_LINES)
    sources = [bundle.tokenizer.add_special_tokens(ids) for ids in bundle.tokenizer.encode_batch(list(texts))]
    fitting = [source for source in sources if len(source) <= longest]
    check_left(path, "lines", len(fitting), len(sources), longer_than(longest), tell)
    return fitting
