"""`specdec train-verifier`: an autoregressive Transformer from parallel text."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

import typer

from specdec_cli.commands.options.machine import DeviceOption, ThreadsOption
from specdec_cli.commands.options.text import QuietOption
from specdec_cli.commands.training_run import check_text, require_training, teller, train, writing_alone
from specdec_cli.errors import UsageError
from specdec_cli.text.folding import Order

OutputArgument = Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for checkpoint and bundle; a run goes on where it stopped.")]
DataOption = Annotated[
    list[str], typer.Option("--data", metavar="FILE[*N]", help="TSV, or a folder of prepare; with *N taken N times an epoch. Repeatable.")
]
DevOption = Annotated[list[Path], typer.Option("--dev", metavar="TSV", help="Held-out text that selects the best state. Repeatable.")]
RecipeOption = Annotated[str | None, typer.Option("--recipe", metavar="NAME|TOML", help="A recipe that ships, or a file.")]
SetOption = Annotated[list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Change the recipe, as in run.seed=2. Repeatable.")]
DevicesOption = Annotated[int, typer.Option("--devices", metavar="N", min=1, help="Processes to train with; or start with torchrun.")]


TokenizerOption = Annotated[
    Path | None, typer.Option("--tokenizer", help="SentencePiece model.", show_default="that of --init, or beside the first --data")
]
InitOption = Annotated[
    str | None, typer.Option("--init", metavar="BUNDLE", help="Begin with this bundle's weights; with another --tokenizer, its layers.")
]
SourceLanguageOption = Annotated[
    str | None, typer.Option("--source-language", help="What the bundle says it reads.", show_default="that of --init, or en")
]
TargetLanguageOption = Annotated[
    str | None, typer.Option("--target-language", help="What the bundle says it writes.", show_default="that of --init, or de")
]
OrderOption = Annotated[
    Order | None,
    typer.Option(
        "--order",
        help="From which end it writes; double: two tokens a step; masked: all at once.",
        show_default="the recipe's, or that of --init",
    ),
]
TaskOption = Annotated[Literal["translate", "correct", "simplify"], typer.Option("--task", help="What the bundle says it does.")]


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
    task: TaskOption = "translate",
    order: OrderOption = None,
    devices: DevicesOption = 1,
    device: DeviceOption = "auto",
    threads: ThreadsOption = None,
    quiet: QuietOption = False,
) -> None:
    """Train a verifier, or a teacher: an autoregressive Transformer, or a masked one.

    OUTPUT holds the best bundle so far, which translate can use at any time. Interrupted, the same command goes on.
    """
    require_training()
    from specdec_cli.commands.loading import find_bundle, find_recipe
    from specdec_cli.commands.machine import resolve_machine
    from specdec_cli.model.bundle import Bundle, BundleInfo, load_bundle
    from specdec_cli.model.config import preset
    from specdec_cli.model.transformer import Transformer
    from specdec_cli.recipe import load_recipe
    from specdec_cli.text.subwords import Subwords
    from specdec_cli.text.tokenizer import Tokenizer
    from specdec_cli.training.data import DataSource, load_pairs
    from specdec_cli.training.depth import changed_depth, check_preset, with_depth
    from specdec_cli.training.loop import launch_fabric
    from specdec_cli.training.masked import MaskedTask
    from specdec_cli.training.order import order_fields, with_order
    from specdec_cli.training.recipe import VerifierRecipe
    from specdec_cli.training.verifier import VerifierTask
    from specdec_cli.training.vocabulary import with_vocabulary

    plan = load_recipe(VerifierRecipe, find_recipe(recipe), changes or ())
    plan = replace(plan, model={**plan.model, **order_fields(order or plan.model.get("order"))})
    machine = resolve_machine(device, "float32", threads)
    sources = [DataSource.parse(text) for text in data]
    check_text([*dev, *(source.path for source in sources)], parallel=True)
    with writing_alone(output):
        fabric = launch_fabric(plan.run, machine.device, devices)
        languages = (source_language or "en", target_language or "de")
        if init is None:
            beside = sources[0].path.parent / "tokenizer.model"
            if tokenizer is None and not beside.exists():
                raise UsageError(f"no tokenizer.model beside {sources[0].path}; name one with --tokenizer")
            subwords: Tokenizer = Subwords(tokenizer or beside)
            model = Transformer(preset(plan.preset or "small", len(subwords), **plan.model), plan.run.dropout)
        else:
            first = load_bundle(find_bundle(init))
            if plan.preset is not None:
                check_preset(first.verifier.config, plan.preset, plan.model)
            languages = (source_language or first.info.source_language, target_language or first.info.target_language)
            subwords = Subwords(tokenizer) if tokenizer else first.tokenizer
            model = with_vocabulary(first, subwords, plan.run.dropout)
            model = with_order(model, plan.model.get("order", model.config.order), plan.run.dropout, subwords.mask)
            model = with_depth(model, changed_depth(model.config, plan.model), plan.run.dropout)
        if model.config.order != "left-to-right" and subwords.special_tokens.forced is not None:
            raise UsageError(
                f"order {model.config.order}: this tokenizer begins every output with a language token, which needs left-to-right"
            )
        held_out = load_pairs([DataSource(path) for path in dev], subwords, model.config, teller(quiet))
        pairs = load_pairs(sources, subwords, model.config, teller(quiet))
        ratio = sum(len(pair.target) for pair in pairs) / sum(len(pair.source) for pair in pairs)
        bundle = Bundle(BundleInfo(task, *languages, length_ratio=round(ratio, 3)), subwords, model)
        kind = MaskedTask if model.config.order == "masked" else VerifierTask
        train(kind(bundle, pairs, held_out, plan.run), plan, output, fabric, quiet)
