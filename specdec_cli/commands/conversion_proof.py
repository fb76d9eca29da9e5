"""The proof of a conversion: a sentence that the converted model translates, and code that does it."""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from specdec_cli.model.bundle import Bundle, BundleInfo

# The text of a proof does not matter: its translation shows that the converted model works.
_PROOFS = {"de": "Das ist ein kurzer Satz.", "fr": "Ceci est une phrase courte."}
_PROOF = "This is a short sentence."
_PROOF_LENGTH = 64


def proof_sentence(info: "BundleInfo") -> str:
    """A sentence in the source language of the model that `info` describes."""
    return _PROOFS.get(info.source_language[:2], _PROOF)


def translated_by_bundle(folder: Path, sentence: str) -> str:
    """The output of the bundle in `folder` for `sentence`, decoded greedily."""
    from specdec_cli.decoding.options import DecodingOptions, resolve
    from specdec_cli.engines.reference import Engine
    from specdec_cli.model.bundle import load_bundle
    from specdec_cli.pipeline.translator import Translator

    bundle = load_bundle(folder)
    translator = Translator(Engine(bundle, resolve(DecodingOptions(decoding="greedy", max_length=_PROOF_LENGTH), bundle)), bundle.tokenizer)
    (translation,) = translator.translate([sentence])
    return translation.text


def translated_by_ctranslate2(bundle: "Bundle", folder: Path, sentence: str) -> str:
    """The output of CTranslate2 for `sentence`, with the model in `folder`, converted from `bundle`."""
    from specdec_cli.distillation.process import TeacherProcess
    from specdec_cli.distillation.teacher import Resources, Search

    longest = min(_PROOF_LENGTH, bundle.verifier.config.max_positions)
    search = Search(beam_size=1, max_length=longest, max_source_length=longest, compute_type="default")
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
