"""The protocol of tokenizers, special tokens, and forms of pieces."""

import re
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from specdec_cli.errors import UsageError

SPACE = "\u2581"
"""The mark of SentencePiece before a piece that begins a word."""
BYTE_SPACE = "\u0120"
"""The mark of byte-level BPE before a piece that begins a word."""


def forms_of(vocabulary: Sequence[str], starts_word: Callable[[str], bool]) -> bytes:
    """The form of each piece of `vocabulary`: an int32, 4 bytes in the order of this machine.

    The form is positive if the piece has a letter, else negative. Pieces in angle brackets count as having none: </s> is no text, and
    <0xC3> is one byte.
    """
    numbers: dict[str, int] = {}
    forms = array("i")
    # In byte-level BPE each character stands for a byte, so changing its case would give another byte.
    is_byte_level = any(piece.startswith(BYTE_SPACE) and starts_word(piece) for piece in vocabulary)
    for piece in vocabulary:
        marked = piece.startswith((SPACE, BYTE_SPACE)) and starts_word(piece)
        text = piece[1:] if marked else piece
        text = text if is_byte_level else text.casefold()
        number = numbers.setdefault(text, len(numbers) + 1)
        in_brackets = piece.startswith("<") and piece.endswith(">")
        forms.append(number if any(map(str.isalpha, text)) and not in_brackets else -number)
    return forms.tobytes()


_BYTE = re.compile("<0x[0-9A-F]{2}>")
"""A piece for one byte, into which SentencePiece splits a character that is not in the vocabulary."""


@dataclass(frozen=True)
class SpecialTokens:
    """Special tokens: ids before and after a source, and the id that every target begins with (`forced`, None: none).

    `start` replaces the model's decoder start token (None: it does not).
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    forced: int | None = None
    start: int | None = None


def ids_of(vocabulary: Sequence[str]) -> dict[str, int]:
    """The id of each piece of a vocabulary; of equal pieces, the first."""
    return dict(zip(reversed(vocabulary), range(len(vocabulary) - 1, -1, -1), strict=True))


class Tokenizer(ABC):
    """Base class of subword tokenizers, with a target vocabulary and a source vocabulary (None: the same).

    `hidden` ids are left out of decoded text; `mask` is the id of the mask token, for drafters; `unknown` is the
    piece for text that is not in the vocabulary; `path` is the file or folder that it was loaded from, for messages.
    `instruction` are the words in front of each source ("": none).
    """

    path: Path
    instruction = ""

    def __init__(
        self,
        vocabulary: Sequence[str],
        special_tokens: SpecialTokens,
        hidden: Iterable[int],
        mask: int,
        unknown: str,
        source_vocabulary: Sequence[str] | None = None,
    ) -> None:
        self.special_tokens, self.mask, self.unknown = special_tokens, mask, unknown
        self._vocabulary = list(vocabulary)
        self._source_vocabulary = self._vocabulary if source_vocabulary is None else list(source_vocabulary)
        self._hidden = frozenset(hidden)
        self._ids = ids_of(self._vocabulary)
        self._lacking: dict[str, bool] = {}

    def __len__(self) -> int:
        return len(self._vocabulary)

    @property
    def multilingual(self) -> bool:
        """Whether the model has several languages, so that source and target language must be chosen; False here."""
        return False

    def instructed(self, instruction: str) -> Self:
        """This tokenizer with other words in front of each source ("": none). Raises UsageError if it has no place for them."""
        if instruction.strip():
            raise UsageError(f"{self.path}: --instruction is for converted models; specdec's own read the text alone")
        return self

    @property
    def shared(self) -> bool:
        """Whether source and target share one vocabulary."""
        return self._source_vocabulary is self._vocabulary

    @property
    def source_size(self) -> int:
        """Number of pieces in the source vocabulary."""
        return len(self._source_vocabulary)

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a source text, without special tokens."""

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each of the source texts, without special tokens."""
        return [self.encode(text) for text in texts]

    def lacks(self, character: str) -> bool:
        """Whether a character is not in the source vocabulary, so that it is encoded as bytes or as unknown."""
        if character not in self._lacking:
            pieces = self.source_pieces(self.encode(character))
            self._lacking[character] = any(piece == self.unknown or is_byte(piece) for piece in pieces)
        return self._lacking[character]

    def has_bytes(self, character: str) -> bool:
        """Whether a character that the source vocabulary lacks is encoded as bytes, and not as unknown."""
        return self.unknown not in self.source_pieces(self.encode(character))

    @abstractmethod
    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each of the target texts, without special tokens."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text of target ids, without the tokenizer's `hidden` ids, such as padding and EOS."""

    def ends(self, ids: Sequence[int]) -> list[int]:
        """For each of the target ids, the length of the decoded text up to and including it, in code points."""
        return [len(self.decode(ids[: number + 1])) for number in range(len(ids))]

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Write the tokenizer's files to `folder`, each atomically."""

    @abstractmethod
    def starts_word(self, piece: str) -> bool:
        """Whether `piece` begins a word."""

    def add_special_tokens(self, ids: Sequence[int]) -> list[int]:
        """Return source ids with the special tokens before and after them, as input of the encoder."""
        return [*self.special_tokens.before, *ids, *self.special_tokens.after]

    def add_target_tokens(self, ids: Sequence[int], eos: int) -> list[int]:
        """Return target ids with the forced first token, if any, before them and `eos` after them, as the decoder
        emits them.
        """
        return [*([] if self.special_tokens.forced is None else [self.special_tokens.forced]), *ids, eos]

    def frames_source(self, eos: int) -> bool:
        """Whether a source with its special tokens, such as an instruction, differs from the same text as an output that ends with `eos`,
        where both have one vocabulary.
        """
        return self.shared and self.add_special_tokens([]) != self.add_target_tokens([], eos)

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The pieces of target ids."""
        return [self._vocabulary[i] for i in ids]

    def source_pieces(self, ids: Iterable[int]) -> list[str]:
        """The pieces of source ids."""
        return [self._source_vocabulary[i] for i in ids]

    def id_of(self, piece: str) -> int | None:
        """The target id of a piece; None if it is not in the vocabulary."""
        return self._ids.get(piece)

    def word_starts(self) -> list[bool]:
        """For each target id, whether its piece begins a word."""
        return [self.starts_word(piece) for piece in self._vocabulary]

    def forms(self) -> tuple[bytes, bytes]:
        """The forms of all target pieces and of all source pieces, by id, as `forms_of` returns them."""
        target = forms_of(self._vocabulary, self.starts_word)
        return target, target if self.shared else forms_of(self._source_vocabulary, self.starts_word)

    def vocabulary(self) -> list[str]:
        """All target pieces, by id."""
        return list(self._vocabulary)

    def source_vocabulary(self) -> list[str]:
        """All source pieces, by id."""
        return list(self._source_vocabulary)

    def _visible(self, ids: Iterable[int]) -> list[int]:
        return [i for i in ids if i not in self._hidden]


def is_byte(piece: str) -> bool:
    """Whether `piece` stands for one byte of a character that is not in the vocabulary."""
    return _BYTE.fullmatch(piece) is not None
