"""Interface of the engines that decode sentences."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from specdec_cli.decoding.options import Decoding, Exact, Sampled
from specdec_cli.decoding.sentence import Hypothesis, Sentence


class SentenceDecoder(Protocol):
    """Protocol of the engines, which decode sentences by one decoding."""

    meanwhile: Callable[[], None]
    """Called while sentences are decoded: about every 20 milliseconds by the native engine, and with each hypothesis by the reference
    engine. What it raises ends the decoding.
    """

    @property
    def decoding(self) -> Decoding:
        """The decoding that runs."""

    @property
    def workers(self) -> int:
        """Number of batches that are decoded at the same time."""

    @property
    def longest_source(self) -> int:
        """Largest number of source tokens, EOS included."""

    @property
    def eos(self) -> int:
        """The id of EOS in the target vocabulary."""

    @property
    def description(self) -> str:
        """A text for statistics that names the engine's arithmetic, such as the instruction set."""

    @property
    def captured(self) -> str:
        """How rounds were replayed as CUDA graphs, in words; empty where none were."""

    @property
    def drafted(self) -> tuple[int, float] | None:
        """The total number of rounds with a draft, counted for each row, and their mean block size, the number of
        tokens asked for; None if the block size is not adaptive.
        """

    def with_rule(self, rule: Exact | Sampled) -> "SentenceDecoder":
        """This engine with another acceptance rule; both share the model, and one of them decodes at a time unless the engine is
        shareable. Raises UsageError if the decoding cannot have the rule: see `Decoding.with_rule`.
        """

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may
        differ.
        """
