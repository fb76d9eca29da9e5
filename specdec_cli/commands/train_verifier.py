"""`specdec train-verifier`: training of a Transformer on parallel text."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from specdec_cli.commands.options import DeviceOption, QuietOption, ThreadsOption
from specdec_cli.commands.reports import teller
from specdec_cli.commands.training import (
    DevicesOption,
    OutputArgument,
    RecipeOption,
    SetOption,
    beginning_of,
    check_output,
    check_text,
    require_training,
    train,
    verifier_digest,
    vocabulary_digest,
    writing_alone,
)
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.order import Order

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle
    from specdec_cli.text.tokenize.tokenizer import Tokenizer

DataOption = Annotated[
    list[str],
    typer.Option("--data", metavar="FILE[*N]", help="TSV, or an output folder of prepare; with *N, N times in each epoch. Repeatable."),
]
DevOption = Annotated[list[Path], typer.Option("--dev", metavar="TSV", help="Held-out text that selects the best state. Repeatable.")]


TokenizerOption = Annotated[
    Path | None, typer.Option("--tokenizer", help="SentencePiece model.", show_default="that of --init, or beside the first --data")
]
InitOption = Annotated[
    str | None,
    typer.Option("--init", metavar="BUNDLE", help="Initialise from this bundle's weights; with another --tokenizer, from its layers."),
]
SourceLanguageOption = Annotated[
    str | None, typer.Option("--source-language", help="Source language of the bundle.", show_default="that of --init, or en")
]
TargetLanguageOption = Annotated[
    str | None,
    typer.Option(
        "--target-language",
        help="Target language of the bundle.",
        show_default="that of --init, or de; for other tasks than translate, the source language",
    ),
]
OrderOption = Annotated[
    Order | None,
    typer.Option(
        "--order",
        help="Generation order; double: two tokens in a step; masked: all at once.",
        show_default="the recipe's, or that of --init",
    ),
]
TaskOption = Annotated[Task | None, typer.Option("--task", help="Task of the bundle.", show_default="that of --init, or translate")]


def train_verifier(
    output: OutputArgument,
    data: DataOption,
    dev: DevOption,
    tokenizer: TokenizerOption = None,
    recipe: RecipeOption = None,
    changes: SetOption = None,
    init: InitOption = None,
    source_language: SourceLanguageOption = None,
    target_language: TargetLanguageOption = None,
    task: TaskOption = None,
    order: OrderOption = None,
    devices: DevicesOption = 1,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train a verifier, or a teacher: an autoregressive Transformer, or a masked one.

    OUTPUT contains the best bundle so far, which translate can use at any time. After an interruption, the same command resumes.
    """
    from specdec_cli.recipe import find_recipe, load_recipe
    from specdec_cli.training.recipe import VerifierRecipe, order_fields

    plan = load_recipe(VerifierRecipe, find_recipe(recipe), changes or ())
    require_training()
    from specdec_cli.model.bundle import Bundle, BundleInfo
    from specdec_cli.opening.conversions import load_checkpoint
    from specdec_cli.opening.machine import resolve_machine
    from specdec_cli.opening.models import find_bundle
    from specdec_cli.training.data import DataSource, load_pairs
    from specdec_cli.training.data_parallel import launch_fabric
    from specdec_cli.training.initial import initial_verifier
    from specdec_cli.training.verifier import MaskedTask, VerifierTask

    plan = replace(plan, model={**plan.model, **order_fields(order or plan.model.get("order"))})
    machine = resolve_machine(device, "float32", threads)
    sources = [DataSource.parse(text) for text in data]
    check_text([*dev, *(source.path for source in sources)], parallel=True)
    with writing_alone(output):
        check_output(output)
        fabric = launch_fabric(plan.run, machine.device, devices)
        first_folder = None if init is None else find_bundle(init, teller(quiet))
        first = None if first_folder is None else load_checkpoint(first_folder)
        subwords = _tokenizer(tokenizer, first, sources[0].path)
        model = initial_verifier(plan, first, subwords)
        info = BundleInfo() if first is None else first.info
        task = task or info.task
        source = source_language or info.source_language
        languages = (source, target_language or (info.target_language if task == "translate" else source))
        held_out = load_pairs([DataSource(path) for path in dev], subwords, model.config, teller(quiet))
        pairs = load_pairs(sources, subwords, model.config, teller(quiet))
        ratio = sum(len(pair.target) for pair in pairs) / sum(len(pair.source) for pair in pairs)
        bundle = Bundle(info.retrained(task, *languages, length_ratio=round(ratio, 3)), subwords, model)
        kind = MaskedTask if model.config.order == "masked" else VerifierTask
        options = {"--task": task, "--source-language": languages[0], "--target-language": languages[1]}
        digests = {"--tokenizer": vocabulary_digest(subwords), "--init": None if first_folder is None else verifier_digest(first_folder)}
        beginning = beginning_of("train-verifier", plan, sources, dev, digests, options)
        train(kind(bundle, pairs, held_out, plan.run), plan, beginning, output, fabric, quiet)


def _tokenizer(given: Path | None, first: "Bundle | None", data: Path) -> "Tokenizer":
    """The tokenizer that is given, else that of the first bundle, else the one beside the data. Raises UsageError if there is none."""
    from specdec_cli.text.tokenize.sentencepiece import Subwords

    if given is None and first is not None:
        return first.tokenizer
    beside = data.parent / "tokenizer.model"
    if given is None and not beside.exists():
        raise UsageError(f"no tokenizer.model beside {data}; name one with --tokenizer")
    return Subwords(given or beside)
