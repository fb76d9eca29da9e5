"""Registers the readers (huggingface, marian, fairseq) and the writer (ctranslate2) of this package when it is imported."""

from collections.abc import Callable
from pathlib import Path

from converters.fairseq import from_fairseq, is_fairseq
from converters.huggingface import from_huggingface, is_huggingface
from converters.marian import from_marian, is_marian
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.bundle_info import Task
from specdec_cli.model.formats import Conversion, ConversionOptions, Reader, register_reader, register_writer

Convert = Callable[[Path, str, str, Task | None, tuple[int, ...] | None], Conversion]


def _reader(recognises: Callable[[Path], bool], convert: Convert) -> Reader:
    def converted(path: Path, options: ConversionOptions) -> Conversion:
        return convert(path, options.source_language, options.target_language, options.task, options.decoder_layers)

    return Reader(recognises, converted)


def _to_ctranslate2(
    bundle: Bundle, output: Path, quantization: str | None = None, force: bool = False, prove: Callable[[Path], None] | None = None
) -> None:
    from converters.to_ctranslate2 import to_ctranslate2  # importing CTranslate2 takes a while

    to_ctranslate2(bundle, output, quantization, force, prove)


register_reader("huggingface", _reader(is_huggingface, from_huggingface))
register_reader("marian", _reader(is_marian, from_marian))
register_reader("fairseq", _reader(is_fairseq, from_fairseq))
register_writer("ctranslate2", _to_ctranslate2)
