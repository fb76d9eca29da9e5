"""`specdec train-verifier`: training of a Transformer on parallel text."""

from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.training import DevicesOption, OutputArgument, RecipeOption, SetOption, require_training
from specdec_cli.console.options import DeviceOption, QuietOption, ThreadsOption
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.order import Order
from specdec_cli.recipe import find_recipe, load_recipe
from specdec_cli.training.recipe import VerifierRecipe

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
    plan = load_recipe(VerifierRecipe, find_recipe(recipe), changes or ())
    require_training()
    from specdec_cli.work.training_verifiers import VerifierTraining

    VerifierTraining(
        output=output,
        plan=plan,
        data=data,
        dev=dev,
        tokenizer=tokenizer,
        init=init,
        source_language=source_language,
        target_language=target_language,
        task=task,
        order=order,
        devices=devices,
        device=device,
        threads=threads,
        quiet=quiet,
    ).run()
