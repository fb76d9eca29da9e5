"""Interface of the engines that decode sentences."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.pipeline.settings import Settings


class SentenceDecoder(Protocol):
    """Decodes sentences with fixed settings; each engine implements it."""

    @property
    def settings(self) -> Settings:
        """The resolved settings of decoding."""

    @property
    def workers(self) -> int:
        """Number of batches that are decoded at the same time."""

    @property
    def longest_source(self) -> int:
        """Largest number of source tokens, EOS included."""

    @property
    def eos(self) -> int:
        """The id of EOS."""

    @property
    def description(self) -> str:
        """Description of the engine for statistics."""

    @property
    def drafted(self) -> tuple[int, float] | None:
        """The number of rounds with a draft and their mean block size; None if the block size is not adaptive."""

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences of any length; each hypothesis comes as soon as it is done, in no particular order."""
