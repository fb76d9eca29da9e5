"""What the training commands share: options, and the check that the library for training is installed."""

from pathlib import Path
from typing import Annotated

import typer

from specdec_cli.errors import MissingLibraryError

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
