"""SentencePiece subwords: text to ids and back, without loss."""

import io
import re
import shutil
from collections.abc import Iterable, Sequence
from pathlib import Path

import sentencepiece

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import check_regular, write_atomically
from specdec_cli.text.tokenizer import Frame, Tokenizer

PADDING, UNKNOWN, BOS, EOS, MASK = range(5)
MASK_PIECE = "<mask>"
_SAMPLE = 500_000  # texts that a vocabulary is trained on, drawn from all; more take memory and change little
SPACE = "\u2581"
"""How SentencePiece writes white space."""
FILE = "tokenizer.model"


class Subwords(Tokenizer):
    """A SentencePiece model of our own training: unigram, identity normalisation, byte fallback; its ids are the model's.

    Raises ModelError if the file is missing or is no SentencePiece model.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._processor = load_sentencepiece(path)
        pieces = pieces_of(self._processor, path)
        if len(pieces) <= MASK:
            raise ModelError(f"{path}: {len(pieces)} pieces, fewer than the special ones")
        super().__init__(pieces, Frame(after=(EOS,)), (PADDING, BOS, EOS, MASK), MASK, pieces[UNKNOWN])

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without BOS and EOS."""
        return list(self._processor.EncodeAsIds(text))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts. One by one: a sentence takes some microseconds, the library's threads take many to start."""
        return [self.encode(text) for text in texts]

    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The same: both sides share the vocabulary."""
        return self.encode_batch(texts)

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`; padding, BOS, EOS and masks vanish."""
        return str(self._processor.DecodeIds(self._visible(ids)))

    def save(self, folder: Path) -> None:
        """Store the model as `tokenizer.model` in `folder`."""
        stored = folder / FILE
        if not (stored.exists() and stored.samefile(self.path)):
            write_atomically(stored, lambda partial: shutil.copyfile(self.path, partial) and None)

    def starts_word(self, piece: str) -> bool:
        """Whether a piece brings the white space before it."""
        return piece.startswith(SPACE)


def load_sentencepiece(path: Path) -> sentencepiece.SentencePieceProcessor:
    """Raises ModelError if the file is missing or is no SentencePiece model."""
    check_regular(path, ModelError)
    processor = sentencepiece.SentencePieceProcessor()
    try:
        processor.Load(str(path))
    except (OSError, RuntimeError) as error:
        raise ModelError(f"{path}: not a SentencePiece model ({error})") from error
    return processor


def pieces_of(processor: sentencepiece.SentencePieceProcessor, path: Path) -> list[str]:
    """All pieces by id. Raises ModelError naming the file `path` where one is damaged."""
    try:
        return [processor.IdToPiece(number) for number in range(processor.GetPieceSize())]
    except UnicodeDecodeError as error:
        raise ModelError(f"{path}: not a SentencePiece model (a piece is no UTF-8)") from error


def train_subwords(texts: Iterable[str], path: Path, vocabulary_size: int, *, exact: bool = True, threads: int = 2) -> Subwords:
    """Train a joint unigram vocabulary over `texts` and store it in `path`, atomically.

    No normalisation at all (the text comes back byte for byte) and byte fallback (nothing is unknown).
    Source: Kudo 2018, Subword Regularization; the settings are ours. A text that has less than `vocabulary_size`
    subwords gets as many as it has, or raises InputError where the size is `exact`.
    """
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
            input_sentence_size=_SAMPLE,
            shuffle_input_sentence=True,
            minloglevel=2,
        )
    except RuntimeError as error:
        most = re.search(r"too high .* <= (\d+)", str(error))
        # SentencePiece names its own source line and condition first, in brackets.
        cause = f"the text has {int(most[1]):,} at most" if most else str(error).rpartition("] ")[2]
        raise InputError(f"cannot train a vocabulary of {vocabulary_size:,} subwords: {cause}") from error
    write_atomically(path, lambda partial: partial.write_bytes(model.getvalue()))
    return Subwords(path)
