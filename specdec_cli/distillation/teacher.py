"""The interface of teachers, and the classes for their settings and translations."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Translation:
    """A teacher's translation of one source line, or another hypothesis of its search.

    `source_tokens` and `tokens` (of the output) include EOS. `tokens` is 0 if the source was too long to translate.
    `finished` is false if the output reached the maximum length without EOS.
    """

    text: str
    source_tokens: int
    tokens: int
    finished: bool


@dataclass(frozen=True)
class Search:
    """Settings of a teacher's beam search, all of which affect its output. Lengths are in tokens, EOS included.

    Sources longer than `max_source_length` are not translated. `compute_type` is a number format of CTranslate2. `n_best` is the number
    of hypotheses of a source, at most the beam size.
    """

    beam_size: int = 5
    length_penalty: float = 1.0
    max_length: int = 256
    max_source_length: int = 256
    compute_type: str = "float32"
    n_best: int = 1


@dataclass(frozen=True)
class Resources:
    """Resources of a teacher: each of `threads` threads translates a batch of at most `batch_tokens` padded source tokens.

    `device` is "cpu", "cuda" or "auto". On a GPU there is one batch at a time, and `threads` has no effect.
    """

    device: str = "cpu"
    threads: int = 1
    batch_tokens: int = 1024


class Teacher(Protocol):
    """Protocol of a model or an ensemble whose translations are the training data of another model (Kim and Rush 2016)."""

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        """Yield the index in `sources` and the translation of every source line, in order of completion.

        With an `n_best` above 1, yield that many hypotheses of a line one after the other, the best first.
        """
