"""What `specdec convert` does: read a model, change it, write it, and translate a sentence with the written model as a test."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path

import typer

from converters.checkpoints import check_disk
from converters.conversion import Conversion, ConversionOptions
from converters.formats import convert_model
from converters.to_ctranslate2 import to_ctranslate2
from specdec_cli.console.reports import say, teller
from specdec_cli.decoding.methods import REWRITING
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.distillation.teachers import Resources, Search, TeacherProcess
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.files import new_folder
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.bundle_edits import Share, average, order_vocabulary
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.hub import fetch, is_hub_name
from specdec_cli.model.storage import Storage
from specdec_cli.opening.conversions import load_checkpoint, tell_dropped, tell_instruction, writing
from specdec_cli.opening.engines import open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import SHIPPED, ModelChoice, find_bundle
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.recipe import build_changed
from specdec_cli.text.corpus.ngram_counting import count_ngrams
from specdec_cli.text.corpus.parallel import read_tsv
from specdec_cli.text.io.lines import read_text_lines
from specdec_cli.text.labels import FILE as LABELS
from specdec_cli.text.labels import Labels
from specdec_cli.text.spelling.speller import Lexicon
from specdec_cli.text.tokenize.sentencepiece import FILE as TOKENIZER
from specdec_cli.text.tokenize.sentencepiece import Subwords


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Changes of a bundle, as options say: --instruction, --average, --ngrams, --lexicon, --set and --order-vocabulary."""

    instruction: str | None
    averaged: Sequence[str]
    counted: Sequence[Path]
    listed: Sequence[Path]
    settings: Sequence[str]
    ordered: Path | None

    def apply(self, bundle: Bundle) -> None:
        """Change `bundle` in place, except for the order of its vocabulary, which changes when the bundle is written. Raises UsageError and
        InputError.
        """
        if self.instruction is not None:
            bundle.tokenizer = bundle.tokenizer.instructed(self.instruction)
        if self.averaged:
            shares = [Share.parse(text) for text in self.averaged]
            average(bundle, [replace(each, folder=find_bundle(str(each.folder), say)) for each in shares], load_checkpoint)
        if self.counted:
            _count_ngrams(bundle, self.counted)
        if self.listed:
            bundle.lexicon = Lexicon.of_lists(self.listed)
            bundle.info = replace(bundle.info, lexicon=True)
        bundle.info = build_changed(BundleInfo, asdict(bundle.info), self.settings)
        resolve(DecodingOptions(decoding=bundle.info.decoding), bundle)  # raises UsageError for a decoding that the bundle does not support
        if bundle.info.ngrams and bundle.ngrams is None:
            raise UsageError("ngrams=true: the bundle has no n-grams; --ngrams counts those of a text")
        if bundle.info.lexicon and bundle.lexicon is None:
            raise UsageError("lexicon=true: the bundle has no lexicon; --lexicon reads one")
        if bundle.info.labels and bundle.labels is None:
            bundle.labels = _labels_beside(bundle)
        if bundle.info.lexicon and not bundle.info.ngrams:
            raise UsageError("a lexicon needs n-grams, which say how probable a word is; --ngrams counts those of a text")


@dataclass(frozen=True, kw_only=True)
class Converting:
    """A conversion of the model `chosen` to the folder `output`.

    `source_format` None is detected; `task` and `decoder_layers` None are those of the model.
    """

    chosen: ModelChoice
    source_format: str | None
    revision: str | None
    task: Task | None
    decoder_layers: tuple[int, ...] | None
    output: Path
    changes: Changes
    force: bool
    quiet: bool

    def write_bundle(self, storage: Storage) -> None:
        """Write a bundle whose weights have the number format `storage`, and translate a sentence with it as a test."""
        conversion, ordered = self._read(storage), self.changes.ordered
        bundle = conversion.bundle
        if self.changes.averaged or ordered:  # else the weights are read when they are written
            conversion.joined().verifier.float()
        drafted = bundle.drafter is not None
        self.changes.apply(bundle)
        sentence = proof_sentence(bundle.info)
        with new_folder(self.output, "bundle.json", self.force) as partial:
            if drafted and bundle.drafter is None:
                self._tell(f"{self.chosen.name}: its drafter is dropped, because another bundle has none; train another for the mean")
            if ordered:
                if bundle.drafter is not None:
                    self._tell(f"{self.chosen.name}: its drafter is dropped; train another for the new order")
                order_vocabulary(bundle, (pair.target for pair in read_tsv(ordered)), partial / TOKENIZER)
            with writing(teller(self.quiet)) as written:
                conversion.save(partial, storage, written)
            del bundle, conversion  # the proof needs the memory
            self._tell_proof(sentence, translated_by_bundle(partial, sentence))

    def write_ctranslate2(self, quantization: str | None) -> None:
        """Write a CTranslate2 model, translate a sentence with it as a test, and print how to use it. Raises UsageError and ModelError."""
        conversion = self._read(None)
        conversion.joined().verifier.float()
        bundle = conversion.bundle
        self.changes.apply(bundle)
        sentence = proof_sentence(bundle.info)

        def check(folder: Path) -> None:
            self._tell_proof(sentence, translated_by_ctranslate2(bundle, folder, sentence))

        to_ctranslate2(bundle, self.output, quantization, self.force, check)
        self._tell(f"\nIn Python:\n\n{snippet(bundle, self.output, sentence)}")

    def _tell_proof(self, sentence: str, translated: str) -> None:
        self._tell(f"{self.output}: {sentence} -> {translated}")

    def _tell(self, message: str) -> None:
        if not self.quiet:
            typer.echo(message, err=True)

    def _read(self, storage: Storage | None) -> Conversion:
        """The model as a bundle; settings that are not supported are told.

        Raises UsageError for options that are not for this model, and ModelError, also if there is no space for weights in the number
        format `storage` at the output (None: not checked).
        """
        chosen, name, tell = self.chosen, self.source_format, teller(self.quiet)
        path = Path(chosen.name) if Path(chosen.name).exists() else SHIPPED / chosen.name
        if self.revision is not None and path.exists():
            raise UsageError(f"--revision is for models on the hub; {path} is a local one")
        if name == "bundle" or (name is None and (path / "bundle.json").exists()):
            if self.decoder_layers is not None or self.task:
                raise UsageError("--decoder-layers and --task are for models of other toolkits; a bundle's task is changed with --set")
            return Conversion(load_checkpoint(path, chosen.source_language, chosen.target_language, offline=chosen.offline))
        if not path.exists():
            if not is_hub_name(chosen.name):
                raise ModelError(f"{chosen.name}: no such folder or file, and not an owner/name on the hub")
            path = fetch(chosen.name, self.revision, chosen.offline)
        if storage is not None:
            check_disk(path, self.output, storage)
        wanted = ConversionOptions(chosen.source_language, chosen.target_language, self.task, self.decoder_layers)
        conversion = convert_model(path, name, wanted)
        if storage != "float16":  # in which a factor may cost bits
            conversion.equalise()
        tell_dropped(conversion, chosen.name, tell)
        tell_instruction(conversion, chosen.name, tell)
        return conversion


def _labels_beside(bundle: Bundle) -> Labels:
    """The labels in the folder of a bundle whose bundle.json does not name them. Raises UsageError if there are none."""
    path = None if bundle.path is None else bundle.path.with_name(LABELS)
    if path is None or not path.exists():
        raise UsageError(f"labels=true: the bundle has no labels; write them to {LABELS} in its folder")
    return Labels.of_file(path)


def _count_ngrams(bundle: Bundle, paths: Sequence[Path]) -> None:
    """Give `bundle` the counts of the n-grams in text files. Raises UsageError for a bundle that does not rewrite text, and InputError."""
    if bundle.info.task not in REWRITING:
        raise UsageError(f"--ngrams is for the scores of edits; the bundle's task is {bundle.info.task}")
    bundle.ngrams = count_ngrams(chain.from_iterable(map(read_text_lines, paths)))
    bundle.info = replace(bundle.info, ngrams=True)


# The text of a proof does not matter: its translation shows that the converted model works.
_PROOFS = {"de": "Das ist ein kurzer Satz.", "fr": "Ceci est une phrase courte."}
_PROOF = "This is a short sentence."
_PROOF_LENGTH = 64


def proof_sentence(info: BundleInfo) -> str:
    """A sentence in the source language of the model that `info` describes."""
    return _PROOFS.get(info.source_language[:2], _PROOF)


def translated_by_bundle(folder: Path, sentence: str) -> str:
    """The output of the bundle in `folder` for `sentence`, decoded greedily by the engine that decodes text with it here."""
    request = DecodingOptions(decoding="greedy", max_length=_PROOF_LENGTH)
    opened = open_engine(ModelChoice(str(folder)), MachineOptions(batch_size=1), request)
    (translation,) = LineTranslator(opened.engine, opened.bundle.tokenizer).translate([sentence])
    return translation.text


def translated_by_ctranslate2(bundle: Bundle, folder: Path, sentence: str) -> str:
    """The output of CTranslate2 for `sentence`, with the model in `folder`, converted from `bundle`."""
    longest = bundle.verifier.config.max_positions
    search = Search(beam_size=1, max_length=min(_PROOF_LENGTH, longest), max_source_length=longest, compute_type="default")
    with TeacherProcess(folder, search, Resources()) as process:
        ((_, translation),) = process.translate([sentence])
    return translation.text


def snippet(bundle: Bundle, folder: Path, sentence: str) -> str:
    """Example Python code that translates `sentence` with CTranslate2; `folder` has the CTranslate2 model converted from `bundle`."""
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
