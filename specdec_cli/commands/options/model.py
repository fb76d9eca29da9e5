"""Options that choose a model."""

from typing import Annotated

import typer

from specdec_cli.commands.options.values import DECODING_PANEL

MODEL_HELP = "A bundle (folder or name), or another toolkit's model (folder, file or hub name)."

ModelOption = Annotated[
    str,
    typer.Option("--model", "-m", metavar="MODEL", help=MODEL_HELP, rich_help_panel=DECODING_PANEL),
]
SourceLanguageOption = Annotated[
    str,
    typer.Option(
        "--source-language",
        metavar="CODE",
        help="Source language, for a model of many languages.",
        show_default="the bundle's",
        rich_help_panel=DECODING_PANEL,
    ),
]
TargetLanguageOption = Annotated[
    str,
    typer.Option(
        "--target-language",
        metavar="CODE",
        help="Target language, for a model of many languages.",
        show_default="the bundle's",
        rich_help_panel=DECODING_PANEL,
    ),
]
