"""`specdec convert`: models from and to other toolkits."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from specdec_cli.commands.options import OfflineOption, QuietOption
from specdec_cli.commands.reports import say, teller
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle_info import Task
from specdec_cli.opening.conversions import Tell, load_checkpoint, tell_dropped, tell_instruction, writing
from specdec_cli.opening.models import SHIPPED, TRAINING_FILES, ModelChoice, find_bundle

if TYPE_CHECKING:
    from converters.conversion import Conversion, ConversionOptions
    from specdec_cli.model.bundle import Bundle, BundleInfo
    from specdec_cli.text.labels import Labels


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
    from converters.conversion import ConversionOptions
    from specdec_cli.files import new_folder
    from specdec_cli.model.bundle_edits import order_vocabulary
    from specdec_cli.text.corpus.parallel import read_tsv
    from specdec_cli.text.tokenize.sentencepiece import FILE

    if output.exists() and not force:
        raise UsageError(f"{output} exists; --force replaces it")
    if lost := [name for name in TRAINING_FILES if (output / name).exists()]:
        raise UsageError(f"{output}: has {' and '.join(lost)} of a training run, which would be lost; name another OUTPUT")
    _check_number_formats(target_format, quantization, storage)
    for option, value in (("--order-vocabulary", ordered), ("--ngrams", counted), ("--lexicon", listed)):
        if value and target_format != "bundle":
            raise UsageError(f"{option} is for bundles, not for --to ctranslate2")
    wanted = ConversionOptions(source_language, target_language, task, _numbers(decoder_layers))
    chosen = ModelChoice(source, source_language, target_language, offline)
    needed = (output, storage if target_format == "bundle" else None)
    conversion = _read(chosen, source_format, revision, wanted, needed, teller(quiet))
    bundle = conversion.bundle
    if averaged or ordered or target_format == "ctranslate2":  # else the weights are read when they are written
        conversion.joined().verifier.float()
    if instruction is not None:
        bundle.tokenizer = bundle.tokenizer.instructed(instruction)
    drafted = bundle.drafter is not None
    _change(bundle, averaged or [], counted or [], listed or [], changes or [])
    if target_format == "ctranslate2":
        _write_ctranslate2(bundle, output, quantization, force=force, quiet=quiet)
        return
    sentence = proof_sentence(bundle.info)
    with new_folder(output, "bundle.json", force) as partial:
        if drafted and bundle.drafter is None and not quiet:
            typer.echo(f"{source}: its drafter is dropped, because another bundle has none; train another for the mean", err=True)
        if ordered:
            if bundle.drafter is not None and not quiet:
                typer.echo(f"{source}: its drafter is dropped; train another for the new order", err=True)
            order_vocabulary(bundle, (pair.target for pair in read_tsv(ordered)), partial / FILE)
        with writing(teller(quiet)) as written:
            conversion.save(partial, storage, written)
        del bundle, conversion  # the proof needs the memory
        _tell_proof(output, sentence, translated_by_bundle(partial, sentence), quiet=quiet)


def _write_ctranslate2(bundle: "Bundle", output: Path, quantization: str | None, *, force: bool, quiet: bool) -> None:
    """Write the bundle as a folder of CTranslate2, and tell the translation of a sentence and how to use the model."""
    from converters.to_ctranslate2 import to_ctranslate2

    sentence = proof_sentence(bundle.info)

    def check(folder: Path) -> None:
        _tell_proof(output, sentence, translated_by_ctranslate2(bundle, folder, sentence), quiet=quiet)

    to_ctranslate2(bundle, output, quantization, force, check)
    if not quiet:
        typer.echo(f"\nIn Python:\n\n{snippet(bundle, output, sentence)}", err=True)


def _tell_proof(output: Path, sentence: str, translated: str, *, quiet: bool) -> None:
    if not quiet:
        typer.echo(f"{output}: {sentence} -> {translated}", err=True)


def _check_number_formats(target_format: str, quantization: str | None, storage: Storage) -> None:
    """Raise UsageError for an option that sets the number format of the other kind of output (bundle or CTranslate2)."""
    if quantization is not None and target_format == "bundle":
        raise UsageError("--quantization is for --to ctranslate2; --storage is the number format of a bundle")
    if storage != "float32" and target_format != "bundle":
        raise UsageError("--storage is for bundles; --quantization is the number format of a CTranslate2 folder")


def _change(bundle: "Bundle", averaged: Sequence[str], counted: Sequence[Path], listed: Sequence[Path], changes: Sequence[str]) -> None:
    """Carry out --average, --ngrams, --lexicon and --set on `bundle`, in this order. Raises UsageError and InputError."""

    from specdec_cli.decoding.options import DecodingOptions, resolve
    from specdec_cli.model.bundle import BundleInfo
    from specdec_cli.model.bundle_edits import Share, average
    from specdec_cli.recipe import build_changed
    from specdec_cli.text.spelling.speller import Lexicon

    if averaged:
        shares = [Share.parse(text) for text in averaged]
        average(bundle, [replace(each, folder=find_bundle(str(each.folder), say)) for each in shares], load_checkpoint)
    if counted:
        _count_ngrams(bundle, counted)
    if listed:
        bundle.lexicon = Lexicon.of_lists(listed)
        bundle.info = replace(bundle.info, lexicon=True)
    bundle.info = build_changed(BundleInfo, asdict(bundle.info), changes)
    resolve(DecodingOptions(decoding=bundle.info.decoding), bundle)  # raises UsageError for a decoding that the bundle does not support
    if bundle.info.ngrams and bundle.ngrams is None:
        raise UsageError("ngrams=true: the bundle has no n-grams; --ngrams counts those of a text")
    if bundle.info.lexicon and bundle.lexicon is None:
        raise UsageError("lexicon=true: the bundle has no lexicon; --lexicon reads one")
    if bundle.info.labels and bundle.labels is None:
        bundle.labels = _labels_beside(bundle)
    if bundle.info.lexicon and not bundle.info.ngrams:
        raise UsageError("a lexicon needs n-grams, which say how probable a word is; --ngrams counts those of a text")


def _labels_beside(bundle: "Bundle") -> "Labels":
    """The labels in the folder of a bundle whose bundle.json does not name them. Raises UsageError if there are none."""
    from specdec_cli.text.labels import FILE, Labels

    path = None if bundle.path is None else bundle.path.with_name(FILE)
    if path is None or not path.exists():
        raise UsageError(f"labels=true: the bundle has no labels; write them to {FILE} in its folder")
    return Labels.of_file(path)


def _count_ngrams(bundle: "Bundle", paths: Sequence[Path]) -> None:
    """Give `bundle` the counts of the n-grams in text files. Raises UsageError for a bundle that does not rewrite text, and InputError."""
    from specdec_cli.decoding.methods import REWRITING
    from specdec_cli.text.io.lines import read_text_lines
    from specdec_cli.text.spelling.ngram_counting import count_ngrams

    if bundle.info.task not in REWRITING:
        raise UsageError(f"--ngrams is for the scores of edits; the bundle's task is {bundle.info.task}")
    bundle.ngrams = count_ngrams(chain.from_iterable(map(read_text_lines, paths)))
    bundle.info = replace(bundle.info, ngrams=True)


def _numbers(text: str | None) -> tuple[int, ...] | None:
    """Parse the value of --decoder-layers. Raises UsageError."""
    if text is None:
        return None
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError as error:
        raise UsageError(f"--decoder-layers {text}: numbers with commas between are expected") from error


def _read(
    chosen: ModelChoice,
    name: str | None,
    revision: str | None,
    wanted: "ConversionOptions",
    needed: tuple[Path, Storage | None],
    tell: Tell,
) -> "Conversion":
    """The model as a bundle; `tell` names settings that are not supported. Raises ModelError, also if there is no space for its weights in
    the folder and the number format `needed` (None: that of another toolkit).
    """
    from converters.checkpoints import check_disk
    from converters.conversion import Conversion
    from converters.formats import convert_model
    from specdec_cli.model.hub import fetch, is_hub_name

    path = Path(chosen.name) if Path(chosen.name).exists() else SHIPPED / chosen.name
    if revision is not None and path.exists():
        raise UsageError(f"--revision is for models on the hub; {path} is a local one")
    if name == "bundle" or (name is None and (path / "bundle.json").exists()):
        if wanted.decoder_layers is not None or wanted.task:
            raise UsageError("--decoder-layers and --task are for models of other toolkits; a bundle's task is changed with --set")
        return Conversion(load_checkpoint(path, chosen.source_language, chosen.target_language, offline=chosen.offline))
    if not path.exists():
        if not is_hub_name(chosen.name):
            raise ModelError(f"{chosen.name}: no such folder or file, and not an owner/name on the hub")
        path = fetch(chosen.name, revision, chosen.offline)
    output, storage = needed
    if storage is not None:
        check_disk(path, output, storage)
    conversion = convert_model(path, name, wanted)
    if storage != "float16":  # in which a factor may cost bits
        conversion.equalise()
    tell_dropped(conversion, chosen.name, tell)
    tell_instruction(conversion, chosen.name, tell)
    return conversion


# The text of a proof does not matter: its translation shows that the converted model works.
_PROOFS = {"de": "Das ist ein kurzer Satz.", "fr": "Ceci est une phrase courte."}
_PROOF = "This is a short sentence."
_PROOF_LENGTH = 64


def proof_sentence(info: "BundleInfo") -> str:
    """A sentence in the source language of the model that `info` describes."""
    return _PROOFS.get(info.source_language[:2], _PROOF)


def translated_by_bundle(folder: Path, sentence: str) -> str:
    """The output of the bundle in `folder` for `sentence`, decoded greedily by the engine that decodes text with it here."""
    from specdec_cli.decoding.options import DecodingOptions
    from specdec_cli.opening.engines import open_engine
    from specdec_cli.opening.machine import MachineOptions
    from specdec_cli.pipeline.translator import LineTranslator

    request = DecodingOptions(decoding="greedy", max_length=_PROOF_LENGTH)
    opened = open_engine(ModelChoice(str(folder)), MachineOptions(batch_size=1), request)
    (translation,) = LineTranslator(opened.engine, opened.bundle.tokenizer).translate([sentence])
    return translation.text


def translated_by_ctranslate2(bundle: "Bundle", folder: Path, sentence: str) -> str:
    """The output of CTranslate2 for `sentence`, with the model in `folder`, converted from `bundle`."""
    from specdec_cli.distillation.teachers import Resources, Search, TeacherProcess

    longest = bundle.verifier.config.max_positions
    search = Search(beam_size=1, max_length=min(_PROOF_LENGTH, longest), max_source_length=longest, compute_type="default")
    with TeacherProcess(folder, search, Resources()) as process:
        ((_, translation),) = process.translate([sentence])
    return translation.text


def snippet(bundle: "Bundle", folder: Path, sentence: str) -> str:
    """Example Python code that translates `sentence` with CTranslate2; `folder` has the CTranslate2 model converted from `bundle`."""
    from specdec_cli.text.tokenize.sentencepiece import Subwords

    if isinstance(bundle.tokenizer, Subwords):
        return f"""\
import ctranslate2, sentencepiece

subwords = sentencepiece.SentencePieceProcessor({str(folder / "tokenizer.model")!r})
translator = ctranslate2.Translator({str(folder)!r})
pieces = subwords.encode({sentence!r}, out_type=str)  # without </s>: CTranslate2 appends it
(result,) = translator.translate_batch([pieces], beam_size=1)
print(subwords.decode(result.hypotheses[0]))"""
    return f"""\
from pathlib import Path
import ctranslate2
from specdec_cli.text.tokenize.ctranslate2 import FolderTokenizer

text = FolderTokenizer(Path({str(folder)!r}))
translator = ctranslate2.Translator({str(folder)!r})
pieces = text.encode({sentence!r})  # with the tokens that this model needs round a source
(result,) = translator.translate_batch([pieces], target_prefix=[text.target_prefix] * bool(text.target_prefix), beam_size=1)
print(text.decode(result.hypotheses[0]))"""
