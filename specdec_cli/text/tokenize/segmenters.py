"""Segmenters of other toolkits, which split text into subword pieces and join pieces to text."""

import importlib
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import tokenizers

from specdec_cli.errors import ModelError
from specdec_cli.files import check_regular, write_atomically, write_text
from specdec_cli.text.tokenize.sentencepiece import load_sentencepiece
from specdec_cli.text.tokenize.tokenizer import BYTE_SPACE, SPACE

_WORD_END = "</w>"
_CONTINUED = "@@"
_UNKNOWN = "\u0000"


class Segmenter(Protocol):
    """Protocol: splits source and target texts into subword pieces, and joins target pieces to text."""

    def split(self, text: str) -> list[str]:
        """The pieces of a source text."""

    def split_target(self, text: str) -> list[str]:
        """The pieces of a target text."""

    def join(self, pieces: Sequence[str]) -> str:
        """The text of target pieces."""

    def starts_word(self, piece: str) -> bool:
        """Whether `piece` begins a word; True if that depends on the piece before it."""

    def save(self, folder: Path) -> None:
        """Write the files from which the segmenter can be loaded to `folder`."""


class SentencePieceSegmenter:
    """A segmenter with two SentencePiece models in `folder`, for source and target; both may be the same file.

    Raises ModelError if a file is missing or not a SentencePiece model.
    """

    def __init__(self, folder: Path, source: str, target: str) -> None:
        self._files = [folder / name for name in dict.fromkeys((source, target))]
        self._source = load_sentencepiece(folder / source)
        self._target = load_sentencepiece(folder / target)

    def split(self, text: str) -> list[str]:
        """The pieces of a source text."""
        return list(self._source.EncodeAsPieces(text))

    def split_target(self, text: str) -> list[str]:
        """The pieces of a target text."""
        return list(self._target.EncodeAsPieces(text))

    def join(self, pieces: Sequence[str]) -> str:
        """The text of target pieces."""
        return str(self._target.DecodePieces(list(pieces)))

    def starts_word(self, piece: str) -> bool:
        """Whether a piece begins with SentencePiece's space."""
        return piece.startswith(SPACE)

    def save(self, folder: Path) -> None:
        """Copy the model files to `folder`."""
        _copy_files(self._files, folder)


class TokenizersSegmenter:
    """A segmenter with a `tokenizer.json` of the tokenizers library (byte-level BPE, converted SentencePiece
    models); `name` is its file name.
    """

    def __init__(self, tokenizer: tokenizers.Tokenizer, name: str) -> None:
        self._tokenizer, self._name = tokenizer, name

    def split(self, text: str) -> list[str]:
        """The pieces of a source text."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).tokens)

    def split_target(self, text: str) -> list[str]:
        """The pieces of a target text."""
        return self.split(text)

    def join(self, pieces: Sequence[str]) -> str:
        """The text of target pieces."""
        decoder: Any = self._tokenizer.decoder
        return str(decoder.decode(list(pieces))) if decoder is not None else "".join(pieces)

    def starts_word(self, piece: str) -> bool:
        """Whether a piece begins with a space of SentencePiece or byte-level BPE."""
        return piece.startswith((SPACE, BYTE_SPACE))

    def save(self, folder: Path) -> None:
        """Write the tokenizer's JSON file to `folder`, atomically."""
        write_text(folder / self._name, self._tokenizer.to_str())


class MosesBpeSegmenter:
    """The segmenter of fairseq's WMT models: Moses tokens split by BPE codes; `@@` ends a piece that is not the last
    of its word.

    `codes` is the file of BPE codes in `folder`, `alphabet` all characters of the vocabulary. Equivalent to
    fairseq's `--tokenizer moses --bpe fastbpe` (or `subword_nmt`) with default options. Raises ModelError for an
    unreadable or malformed file of codes.
    """

    def __init__(self, folder: Path, codes: str, source_language: str, target_language: str, alphabet: Iterable[str]) -> None:
        sacremoses: Any = importlib.import_module("sacremoses")  # imported here because the import is slow

        self._file = folder / codes
        self._bpe = _bpe(_read_codes(folder / codes), alphabet)
        self._tokenize: dict[bool, Callable[[str], list[str]]] = {
            of_target: partial(_moses_tokens, sacremoses.MosesTokenizer(lang=language))
            for of_target, language in ((False, source_language), (True, target_language))
        }
        self._detokenize = sacremoses.MosesDetokenizer(lang=target_language).detokenize

    def split(self, text: str) -> list[str]:
        """The pieces of a source text."""
        return self._pieces(self._tokenize[False](text))

    def split_target(self, text: str) -> list[str]:
        """The pieces of a target text."""
        return self._pieces(self._tokenize[True](text))

    def join(self, pieces: Sequence[str]) -> str:
        """The text of target pieces."""
        words = " ".join(pieces).replace(f"{_CONTINUED} ", "").removesuffix(_CONTINUED)
        return str(self._detokenize(words.split(" "))) if words else ""

    def starts_word(self, piece: str) -> bool:  # noqa: ARG002
        """True for every piece: whether it begins a word depends on the piece before it."""
        return True

    def save(self, folder: Path) -> None:
        """Copy the file of BPE codes to `folder`."""
        _copy_files([self._file], folder)

    def _pieces(self, words: Sequence[str]) -> list[str]:
        found: list[str] = []
        bpe: Any = self._bpe
        for word in words:
            tokens = bpe.tokenize(word)
            found += [t.value.removesuffix(_WORD_END) if t.value.endswith(_WORD_END) else t.value + _CONTINUED for t in tokens]
        return found


def _moses_tokens(tokenizer: Any, text: str) -> list[str]:
    return list(tokenizer.tokenize(text, aggressive_dash_splits=True, escape=True))


def _read_codes(path: Path) -> list[tuple[str, str]]:
    """The merges of a file of BPE codes, in order of priority: lines of two symbols, with a count in fastBPE's format.

    Raises ModelError naming a malformed line.
    """
    check_regular(path, ModelError)
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ModelError(f"{path}: not readable as BPE codes ({error})") from error
    merges = []
    for number, line in enumerate(lines, start=1):
        parts = line.split()
        if line.startswith("#version") or not parts:
            continue
        if len(parts) not in (2, 3):
            raise ModelError(f"{path}, line {number}: expected two symbols, found {line!r}")
        merges.append((parts[0], parts[1]))
    return merges


def _bpe(merges: Sequence[tuple[str, str]], alphabet: Iterable[str]) -> tokenizers.models.BPE:
    symbols = {_UNKNOWN: None}  # a dictionary as an ordered set
    symbols |= dict.fromkeys(character + end for character in alphabet for end in ("", _WORD_END))
    for first, second in merges:
        symbols |= dict.fromkeys((first, second, first + second))
    vocabulary = {symbol: number for number, symbol in enumerate(symbols)}
    return tokenizers.models.BPE(vocabulary, list(merges), unk_token=_UNKNOWN, end_of_word_suffix=_WORD_END)


@contextmanager
def library_errors(path: Path, words: str) -> Iterator[None]:
    """Raise a ModelError with the message "`path`: `words` (...)" for any exception of a library in the `with`
    block.
    """
    try:
        yield
    except (KeyboardInterrupt, SystemExit, ModelError):
        raise
    except BaseException as error:  # tokenizers raises plain Exception, and for a Rust panic a BaseException
        raise ModelError(f"{path}: {words} ({error})") from error


def read_tokenizers_file(path: Path) -> tokenizers.Tokenizer:
    """Load a `tokenizer.json` and turn off truncation and padding, which may be set in it.

    Raises ModelError if the file is missing or the tokenizers library cannot read it.
    """
    check_regular(path, ModelError)
    with library_errors(path, "not readable by the tokenizers library"):
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _copy_files(files: Sequence[Path], folder: Path) -> None:
    for path in files:
        stored = folder / path.name
        if not (stored.exists() and stored.samefile(path)):
            write_atomically(stored, partial(shutil.copyfile, path))
