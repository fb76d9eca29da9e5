"""SentencePiece subwords: text to ids and back, without loss."""

import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import sentencepiece

from specdec_cli.errors import ModelError
from specdec_cli.files import write_atomically

PADDING, UNKNOWN, BOS, EOS, MASK = range(5)
MASK_PIECE = "<mask>"
_SAMPLE = 500_000  # texts that a vocabulary is trained on, drawn from all; more take memory and change little
_SPACE = "\u2581"  # how SentencePiece writes white space


@dataclass(frozen=True)
class SpecialIds:
    """Ids with a meaning of their own; every one of them is different from all others."""

    padding: int = PADDING
    bos: int = BOS
    eos: int = EOS
    mask: int = MASK


class Subwords:
    """A SentencePiece model: unigram, identity normalisation, byte fallback.

    Raises ModelError if the file is missing or is no SentencePiece model.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._processor = sentencepiece.SentencePieceProcessor()
        try:
            self._processor.Load(str(path))
        except (OSError, RuntimeError) as error:
            raise ModelError(f"{path}: not a SentencePiece model ({error})") from error

    def __len__(self) -> int:
        return int(self._processor.GetPieceSize())

    def encode(self, text: str) -> list[int]:
        """The ids of `text`, without BOS and EOS."""
        return list(self._processor.EncodeAsIds(text))

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many texts, encoded on all cores."""
        return list(self._processor.Encode(list(texts), out_type=int))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of `ids`; padding, BOS, EOS and masks vanish."""
        return str(self._processor.DecodeIds([i for i in ids if i not in (PADDING, BOS, EOS, MASK)]))

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The surface of each id, for traces."""
        return [self._processor.IdToPiece(i) for i in ids]

    def id_of(self, piece: str) -> int | None:
        """The id of a piece; None if there is none."""
        found = int(self._processor.PieceToId(piece))
        return found if self._processor.IdToPiece(found) == piece else None

    def word_starts(self) -> list[bool]:
        """Which pieces begin a word, by id: those that bring the white space before it."""
        return [piece.startswith(_SPACE) for piece in self.vocabulary()]

    def vocabulary(self) -> list[str]:
        """Every piece, by id."""
        return [self._processor.IdToPiece(i) for i in range(len(self))]


def train_subwords(texts: Iterable[str], path: Path, vocabulary_size: int, *, threads: int = 2) -> Subwords:
    """Train a joint unigram vocabulary over `texts` and store it in `path`, atomically.

    No normalisation at all (the text comes back byte for byte) and byte fallback (nothing is unknown).
    Source: Kudo 2018, Subword Regularization; the settings are ours.
    Raises ModelError if the text is too small for `vocabulary_size`.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.Train(
            sentence_iterator=iter(texts),
            model_writer=model,
            model_type="unigram",
            vocab_size=vocabulary_size,
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
        # SentencePiece names its own source line and condition first, in brackets.
        cause = str(error).rpartition("] ")[2]
        raise ModelError(f"cannot train a vocabulary of {vocabulary_size} pieces: {cause}") from error
    write_atomically(path, lambda partial: partial.write_bytes(model.getvalue()))
    return Subwords(path)
