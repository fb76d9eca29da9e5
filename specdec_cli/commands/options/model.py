"""Command-line options that choose a model and its languages."""

from typing import Annotated

from specdec_cli.commands.options.values import decoding_option
from specdec_cli.opening.models import TRANSLATOR

MODEL_HELP = "A bundle (folder or name), or another toolkit's model (folder, file or hub name)."

ModelOption = Annotated[str, decoding_option("--model", "-m", metavar="MODEL", help=MODEL_HELP)]
TranslatorOption = Annotated[
    str | None,
    decoding_option(
        "--model", "-m", metavar="MODEL", help=MODEL_HELP, show_default=f"{TRANSLATOR}, or the shipped bundle of the languages"
    ),
]
SourceLanguageOption = Annotated[
    str,
    decoding_option(
        "--source-language",
        metavar="CODE",
        help="Source language: without -m chooses a shipped bundle; else for a model of many languages.",
        show_default="the bundle's",
    ),
]
TargetLanguageOption = Annotated[
    str,
    decoding_option("--target-language", metavar="CODE", help="Target language, likewise.", show_default="the bundle's"),
]
