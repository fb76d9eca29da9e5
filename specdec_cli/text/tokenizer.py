"""What every tokenizer does, whatever cuts its subwords: text to the ids that a model reads, and its ids to text."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Frame:
    """What stands round a text: ids before and after a source, and the id that every target begins with, if any.

    `start` is what decoding starts from, where that is not the model's own.
    """

    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    forced: int | None = None
    start: int | None = None


class Tokenizer(ABC):
    """Subwords of a source and a target vocabulary, often the same one.

    `hidden` ids vanish from text. `mask` is the id of a place that is not known yet, for drafters; `unknown` the piece of what
    the vocabulary lacks; `path` is where it was read from, for messages.
    """

    path: Path

    def __init__(
        self,
        vocabulary: Sequence[str],
        frame: Frame,
        hidden: Iterable[int],
        mask: int,
        unknown: str,
        source_vocabulary: Sequence[str] | None = None,
    ) -> None:
        self.frame, self.mask, self.unknown = frame, mask, unknown
        self._vocabulary = list(vocabulary)
        self._source_vocabulary = self._vocabulary if source_vocabulary is None else list(source_vocabulary)
        self._hidden = frozenset(hidden)
        self._ids = {piece: number for number, piece in reversed(list(enumerate(self._vocabulary)))}

    def __len__(self) -> int:
        return len(self._vocabulary)

    @property
    def multilingual(self) -> bool:
        """Whether a pair of languages has to be chosen."""
        return False

    @property
    def shared(self) -> bool:
        """Whether a source id means what the same target id means."""
        return self._source_vocabulary is self._vocabulary

    @property
    def source_size(self) -> int:
        """Pieces of the source vocabulary."""
        return len(self._source_vocabulary)

    @abstractmethod
    def encode(self, text: str) -> list[int]:
        """The ids of a source text, without its frame."""

    def encode_batch(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many source texts."""
        return [self.encode(text) for text in texts]

    @abstractmethod
    def encode_targets(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of many target texts, without their frame."""

    @abstractmethod
    def decode(self, ids: Iterable[int]) -> str:
        """The text of target ids; hidden ones vanish."""

    @abstractmethod
    def save(self, folder: Path) -> None:
        """Store all that it needs in `folder`, each file atomically."""

    @abstractmethod
    def starts_word(self, piece: str) -> bool:
        """Whether a piece begins a word."""

    def framed(self, ids: Sequence[int]) -> list[int]:
        """A source as the model reads it."""
        return [*self.frame.before, *ids, *self.frame.after]

    def framed_target(self, ids: Sequence[int], eos: int) -> list[int]:
        """A target as the model writes it, EOS at its end."""
        return [*([] if self.frame.forced is None else [self.frame.forced]), *ids, eos]

    def pieces(self, ids: Iterable[int]) -> list[str]:
        """The surface of each target id, for traces."""
        return [self._vocabulary[i] for i in ids]

    def source_pieces(self, ids: Iterable[int]) -> list[str]:
        """The surface of each source id."""
        return [self._source_vocabulary[i] for i in ids]

    def id_of(self, piece: str) -> int | None:
        """The target id of a piece; None if there is none."""
        return self._ids.get(piece)

    def word_starts(self) -> list[bool]:
        """Which target pieces begin a word, by id."""
        return [self.starts_word(piece) for piece in self._vocabulary]

    def vocabulary(self) -> list[str]:
        """Every target piece, by id."""
        return list(self._vocabulary)

    def source_vocabulary(self) -> list[str]:
        """Every source piece, by id."""
        return list(self._source_vocabulary)

    def _visible(self, ids: Iterable[int]) -> list[int]:
        return [i for i in ids if i not in self._hidden]
