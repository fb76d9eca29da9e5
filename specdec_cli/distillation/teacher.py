"""What a teacher is: anything that translates source lines and says how long they became."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Translation:
    """What a teacher made of one source line.

    Tokens include EOS. `tokens` is 0 where the source was too long to be read; `finished` is false where EOS did
    not come before the longest output was reached.
    """

    text: str
    source_tokens: int
    tokens: int
    finished: bool


@dataclass(frozen=True)
class Search:
    """How a teacher searches; all of it decides what it writes. Lengths are tokens, EOS included."""

    beam_size: int = 5
    length_penalty: float = 1.0
    max_length: int = 256
    max_source_length: int = 256
    compute_type: str = "float32"


@dataclass(frozen=True)
class Resources:
    """What a teacher may use; `threads` translate a batch each, and a batch is at most `batch_tokens` of source."""

    device: str = "cpu"
    threads: int = 1
    batch_tokens: int = 1024


class Teacher(Protocol):
    """A model, or several as one, whose translations a smaller model shall learn (Kim and Rush 2016)."""

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """The translation of every source line with its index, in the order in which they become ready."""
