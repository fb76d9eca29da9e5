"""What decodes sentences, whichever engine computes."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.pipeline.settings import Settings


class SentenceDecoder(Protocol):
    """An engine with its settings, ready to decode."""

    @property
    def settings(self) -> Settings:
        """How it decodes."""

    @property
    def workers(self) -> int:
        """How many batches are decoded at a time."""

    @property
    def longest_source(self) -> int:
        """Source tokens, EOS included, that fit the model's positions."""

    @property
    def eos(self) -> int:
        """The id that ends every sentence."""

    @property
    def description(self) -> str:
        """What computes, in words."""

    @property
    def drafted(self) -> tuple[int, float] | None:
        """Rounds with a draft and the mean number of tokens asked for in them; None if the length of drafts does not adapt."""

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences of any length; each hypothesis comes as soon as it is done, in no particular order."""
