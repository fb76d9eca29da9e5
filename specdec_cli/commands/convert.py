"""`specdec convert`: models from and to other toolkits."""

from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import typer

from specdec_cli.console.options import OfflineOption, QuietOption
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.models import TRAINING_FILES, ModelChoice

_bundle_option = partial(typer.Option, rich_help_panel="A bundle")
_source_option = partial(typer.Option, rich_help_panel="Another toolkit's model")

Storage = Literal["float32", "float16", "int8"]
SourceArgument = Annotated[
    str, typer.Argument(metavar="SOURCE", help="Model to convert: a folder, a file, or owner/name on the hub.", show_default=False)
]
FormatOption = Annotated[
    str | None,
    typer.Option("--from", metavar="FORMAT", help="Format of SOURCE: bundle, huggingface, marian, fairseq.", show_default="detected"),
]
QuantizationOption = Annotated[
    str | None,
    typer.Option(
        metavar="TYPE",
        help="Number format of CTranslate2's weights: float32, float16, bfloat16, int8, int8_float16, int8_bfloat16, int16.",
        show_default="float32",
    ),
]
StorageOption = Annotated[Storage, _bundle_option("--storage", help="Number format of a bundle's weights on disk.")]
SetOption = Annotated[
    list[str] | None, _bundle_option("--set", metavar="KEY=VALUE", help="Change a setting of bundle.json, as in block_size=8. Repeatable.")
]
AverageOption = Annotated[
    list[str] | None,
    _bundle_option(
        "--average",
        metavar="BUNDLE[*SHARE]",
        help="Average the weights with those of BUNDLE, whose share is greater than 0 and less than 1; SOURCE has the rest. Repeatable.",
        show_default="share 0.5",
    ),
]
OrderOption = Annotated[
    Path | None,
    _bundle_option(
        "--order-vocabulary",
        metavar="TSV",
        help="Give the tokens that are most frequent in the targets of these pairs the lowest ids, which a drafter's shortlist has. "
        "The bundle's drafter is dropped.",
        show_default=False,
    ),
]
NgramsOption = Annotated[
    list[Path] | None,
    _bundle_option(
        "--ngrams",
        metavar="TEXT",
        help="Count the word n-grams of this correct text, a sentence a line, for the scores of edits. Repeatable.",
        show_default=False,
    ),
]
LexiconOption = Annotated[
    list[Path] | None,
    _bundle_option(
        "--lexicon",
        metavar="WORDS",
        help="Correct the spelling of words that are rare in the n-grams and not in this file, a word a line. Repeatable.",
        show_default=False,
    ),
]
SourceLanguageOption = Annotated[str, _source_option("--source-language", metavar="CODE", help="Source language, as the model names it.")]
TargetLanguageOption = Annotated[str, _source_option("--target-language", metavar="CODE", help="Target language, as the model names it.")]
DecoderLayersOption = Annotated[
    str | None, _source_option("--decoder-layers", metavar="A,B,...", help="Keep only these layers of the decoder, from 0.")
]
TaskOption = Annotated[
    Task | None,
    _source_option("--task", help="Task of the model.", show_default="BART summarises, T5 needs one, the others translate"),
]
InstructionOption = Annotated[
    str | None,
    typer.Option(
        "--instruction",
        metavar="TEXT",
        help="Words in front of each source, which the bundle stores, for a model that was trained with them.",
        show_default="those of a known model",
    ),
]
RevisionOption = Annotated[str | None, _source_option("--revision", metavar="NAME", help="Branch, tag or commit on the hub.")]


def convert(
    source: SourceArgument,
    output: Annotated[Path, typer.Argument(metavar="OUTPUT", help="Folder for the result.", show_default=False)],
    source_format: FormatOption = None,
    target_format: Annotated[Literal["bundle", "ctranslate2"], typer.Option("--to", help="Format of OUTPUT.")] = "bundle",
    source_language: SourceLanguageOption = "",
    target_language: TargetLanguageOption = "",
    task: TaskOption = None,
    instruction: InstructionOption = None,
    decoder_layers: DecoderLayersOption = None,
    revision: RevisionOption = None,
    storage: StorageOption = "float32",
    changes: SetOption = None,
    averaged: AverageOption = None,
    ordered: OrderOption = None,
    counted: NgramsOption = None,
    listed: LexiconOption = None,
    quantization: QuantizationOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT.")] = False,
    quiet: QuietOption = False,
    offline: OfflineOption = False,
) -> None:
    """Convert a model from or to another toolkit's format, and translate a sentence with the result as a test.

    Marian, BART, mBART, M2M-100, NLLB and T5 models in transformers' format, Marian's npz files and fairseq checkpoints are converted
    to bundles, tokenizers included. A bundle is converted to a CTranslate2 folder. A failed conversion leaves no files.
    """
    if output.exists() and not force:
        raise UsageError(f"{output} exists; --force replaces it")
    if lost := [name for name in TRAINING_FILES if (output / name).exists()]:
        raise UsageError(f"{output}: has {' and '.join(lost)} of a training run, which would be lost; name another OUTPUT")
    _check_number_formats(target_format, quantization, storage)
    for option, value in (("--order-vocabulary", ordered), ("--ngrams", counted), ("--lexicon", listed)):
        if value and target_format != "bundle":
            raise UsageError(f"{option} is for bundles, not for --to ctranslate2")
    chosen = ModelChoice(source, source_language, target_language, offline)
    layers = _numbers(decoder_layers)
    from specdec_cli.work.converting import Changes, Converting

    bundle_changes = Changes(
        instruction=instruction,
        averaged=averaged or [],
        counted=counted or [],
        listed=listed or [],
        settings=changes or [],
        ordered=ordered,
    )
    converting = Converting(
        chosen=chosen,
        source_format=source_format,
        revision=revision,
        task=task,
        decoder_layers=layers,
        output=output,
        changes=bundle_changes,
        force=force,
        quiet=quiet,
    )
    if target_format == "ctranslate2":
        converting.write_ctranslate2(quantization)
    else:
        converting.write_bundle(storage)


def _check_number_formats(target_format: str, quantization: str | None, storage: Storage) -> None:
    """Raise UsageError for an option that sets the number format of the other kind of output (bundle or CTranslate2)."""
    if quantization is not None and target_format == "bundle":
        raise UsageError("--quantization is for --to ctranslate2; --storage is the number format of a bundle")
    if storage != "float32" and target_format != "bundle":
        raise UsageError("--storage is for bundles; --quantization is the number format of a CTranslate2 folder")


def _numbers(text: str | None) -> tuple[int, ...] | None:
    """Parse the value of --decoder-layers. Raises UsageError."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--decoder-layers {text}: numbers with commas between are expected") from error
