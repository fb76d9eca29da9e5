"""Command-line options that choose a model and its languages."""

from typing import Annotated

from specdec_cli.commands.options.values import decoding_option

MODEL_HELP = "A bundle (folder or name), or another toolkit's model (folder, file or hub name)."

ModelOption = Annotated[str, decoding_option("--model", "-m", metavar="MODEL", help=MODEL_HELP)]
SourceLanguageOption = Annotated[
    str,
    decoding_option(
        "--source-language", metavar="CODE", help="Source language, for a model of many languages.", show_default="the bundle's"
    ),
]
TargetLanguageOption = Annotated[
    str,
    decoding_option(
        "--target-language", metavar="CODE", help="Target language, for a model of many languages.", show_default="the bundle's"
    ),
]
