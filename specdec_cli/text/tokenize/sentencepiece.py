"""SentencePiece tokenizers: training, loading, and the order of pieces."""

import io
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import check_regular, write_atomically
from specdec_cli.text.tokenize.tokenizer import SPACE, SpecialTokens, Tokenizer, is_byte

if TYPE_CHECKING:
    import sentencepiece

_PIECES_TAG = 0x0A
"""The tag byte of a piece in SentencePiece's file format, a protocol buffer: field 1, a value with a length."""
_WITH_LENGTH = 2


def frequent_first(counts: Sequence[int], first: int) -> list[int]:
    """All ids in their new order: those below `first` where they are, then the others by falling count, equal counts by id."""
    return [*range(first), *sorted(range(first, len(counts)), key=lambda each: (-counts[each], each))]


def reorder_pieces(model: bytes, order: Sequence[int]) -> bytes:
    """The SentencePiece model file `model` with piece order[i] as piece i; pieces keep their scores.

    Raises ModelError if `model` is not such a file, or does not have as many pieces as `order`.
    """
    parts = list(_fields(model))
    pieces = [part for tag, part in parts if tag == _PIECES_TAG]
    if len(pieces) != len(order):
        raise ModelError(f"the SentencePiece model has {len(pieces)} pieces, not {len(order)}")
    return b"".join([*(pieces[each] for each in order), *(part for tag, part in parts if tag != _PIECES_TAG)])


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields of a protocol buffer whose values all have a length: the tag byte, and all bytes of the field."""
    place = 0
    while place < len(message):
        tag = message[place]
        if tag & 7 != _WITH_LENGTH or tag >> 7:
            raise ModelError("not a SentencePiece model file")
        length, start = _number(message, place + 1)
        if start + length > len(message):
            raise ModelError("the SentencePiece model file is truncated")
        yield tag, message[place : start + length]
        place = start + length


def _number(message: bytes, place: int) -> tuple[int, int]:
    """The number of variable length at `place`, and the place after it."""
    value = 0
    for shift in range(0, 35, 7):
        if place >= len(message):
            break
        value |= (message[place] & 0x7F) << shift
        place += 1
        if not message[place - 1] >> 7:
            return value, place
    raise ModelError("the SentencePiece model file is truncated")


PADDING, UNKNOWN, BOS, EOS, MASK = range(5)
MASK_PIECE = "<mask>"
_MAX_TRAINING_TEXTS = 500_000  # a random sample of the texts for training, which bounds memory
FILE = "tokenizer.model"


class Subwords(Tokenizer):
    """The tokenizer of a SentencePiece model at `path` that specdec trained: unigram, without normalisation, with
    byte fallback.

    SentencePiece's ids are the token ids. Raises ModelError if the file is missing or not a SentencePiece model.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._processor = load_sentencepiece(path)
        pieces = pieces_of(self._processor, path)
        if len(pieces) <= MASK:
            raise ModelError(f"{path}: {len(pieces)} pieces, fewer than the special ones")
        super().__init__(pieces, SpecialTokens(after=(EOS,)), (PADDING, BOS, EOS, MASK), MASK, pieces[UNKNOWN])
        # Code points of the text of each piece; None for those that stand for bytes or for unknown text.
        self._lengths = [None if is_byte(piece) else len(piece) for piece in pieces]
        self._lengths[UNKNOWN] = None
        for number in self._hidden:
            self._lengths[number] = 0

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without BOS and EOS."""
        return list(self._processor.EncodeAsIds(text))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each of the source texts, without BOS and EOS. They are encoded one by one: SentencePiece's
        threads would start slower.
        """
        return [self.encode(text) for text in texts]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each of the target texts, without BOS and EOS."""
        return self.encode_batch(texts)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids` without padding, BOS, EOS and mask."""
        return str(self._processor.DecodeIds(self._visible(ids)))

    def ends(self, ids: Sequence[int]) -> list[int]:
        """For each of the ids, the length of the decoded text up to and including it, in code points."""
        ends: list[int] = []
        end, begins = 0, True
        for number in ids:
            length = self._lengths[number]
            if length is None:
                return super().ends(ids)
            if begins and length:
                length -= self._vocabulary[number].startswith(SPACE)  # SentencePiece adds a space before a text
                begins = False
            end += length
            ends.append(end)
        return ends

    def save(self, folder: Path) -> None:
        """Copy the model to `folder`/tokenizer.model, atomically."""
        stored = folder / FILE
        if not (stored.exists() and stored.samefile(self.path)):
            write_atomically(stored, lambda partial: shutil.copyfile(self.path, partial))

    def starts_word(self, piece: str) -> bool:
        """Whether `piece` starts with SentencePiece's space symbol."""
        return piece.startswith(SPACE)


def load_sentencepiece(path: Path) -> "sentencepiece.SentencePieceProcessor":
    """Load a SentencePiece model. Raises ModelError if the file is missing or not a SentencePiece model."""
    import sentencepiece  # here, because the help of the commands does not need it

    check_regular(path, ModelError)
    processor = sentencepiece.SentencePieceProcessor()
    if not path.exists():
        raise ModelError(f"{path}: no such file")
    try:
        processor.Load(str(path))
    except (OSError, RuntimeError) as error:
        raise ModelError(f"{path}: not a SentencePiece model ({error})") from error
    return processor


def pieces_of(processor: "sentencepiece.SentencePieceProcessor", path: Path) -> list[str]:
    """All pieces of a SentencePiece model, by id. Raises ModelError naming `path` if a piece is not valid UTF-8."""
    try:
        return [processor.IdToPiece(number) for number in range(processor.GetPieceSize())]
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not a SentencePiece model (a piece is no UTF-8)") from error


def train_subwords(texts: Iterable[str], path: Path, vocabulary_size: int, *, exact: bool = True, threads: int = 2) -> Subwords:
    """Train a unigram vocabulary (Kudo 2018, Subword Regularization) on `texts`, write it to `path` atomically, and
    return it.

    Text is not normalised, so decoding restores it byte for byte; with byte fallback, no text is unknown. If the
    texts have fewer than `vocabulary_size` subwords, InputError is raised if `exact`, else the vocabulary is
    smaller.
    """
    import sentencepiece

    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary_size,
            hard_vocab_limit=exact,
            character_coverage=0.9998,
            normalization_rule_name="identity",
            remove_extra_whitespaces=False,
            byte_fallback=True,
            pad_id=PADDING,
            unk_id=UNKNOWN,
            bos_id=BOS,
            eos_id=EOS,
            control_symbols=[MASK_PIECE],
            num_threads=threads,
            max_sentence_length=16384,
            input_sentence_size=_MAX_TRAINING_TEXTS,
            shuffle_input_sentence=True,
            minloglevel=2,
        )
    except RuntimeError as error:
        largest = re.search(r"too high .* <= (\d+)", str(error))
        least = re.search(r"smaller than required_chars\. \d+ vs (\d+)", str(error))
        # SentencePiece's message begins with a source line and a condition in brackets.
        cause = f"the text has {int(largest[1]):,} at most" if largest else str(error).rpartition("] ")[2]
        cause = f"the characters of the text and the bytes need {int(least[1]):,}" if least else cause
        raise InputError(f"cannot train a vocabulary of {vocabulary_size:,} subwords: {cause}") from error
    write_atomically(path, lambda partial: partial.write_bytes(model.getvalue()))
    return Subwords(path)
