"""`specdec train-drafter`: training of a drafter for a verifier, and simulation of its speed."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.commands.training import DevicesOption, OutputArgument, RecipeOption, SetOption, require_training
from specdec_cli.console.options import DeviceOption, QuietOption, ThreadsOption
from specdec_cli.console.reports import teller
from specdec_cli.errors import UsageError
from specdec_cli.recipe import find_recipe, load_recipe
from specdec_cli.training.recipe import DEV_LINES, DrafterRecipe

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
        from specdec_cli.work.simulation import simulate_block_sizes

        simulate_block_sizes(output, dev, device, threads, teller(quiet))
        return
    plan = load_recipe(DrafterRecipe, find_recipe(recipe), changes or ())
    require_training()
    if bool(data) == bool(source):
        raise UsageError("give either --source, text for the verifier to decode, or --data, its output for text (`specdec distill`)")
    if model is None:
        raise UsageError("give --model, the verifier to draft for")
    from specdec_cli.work.training_drafters import DrafterTraining

    DrafterTraining(
        output=output,
        plan=plan,
        model=model,
        data=data or (),
        source=source or (),
        dev=dev,
        init=init,
        devices=devices,
        device=device,
        threads=threads,
        quiet=quiet,
    ).run()


def _refuse(options: Mapping[str, object]) -> None:
    """Raise UsageError that names the given ones of `options`, which only training uses."""
    if given := [name for name, value in options.items() if value]:
        raise UsageError(f"--simulate measures the bundle in OUTPUT and does not go with {', '.join(given)}")
