"""Interface of the engines that decode sentences."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

from specdec_cli.decoding.costs import Costs
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
    def is_shareable(self) -> bool:
        """Whether several threads may call `decode` at the same time."""

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
        """How rounds were replayed as CUDA graphs, in words, and why operators compute them if kernels do not; empty on a CPU."""

    @property
    def drafted(self) -> tuple[int, float] | None:
        """The total number of rounds with a draft, counted for each row, and their mean block size, the number of
        tokens asked for; None if the block size is not adaptive.
        """

    def expect(self, sentences: int, rows: int = 1) -> None:
        """Load what is optional if it pays for `sentences` more sentences, `rows` together, which are about to be decoded; `decode` calls
        this too.
        """

    def beside(self, decoding: Decoding, threads: int) -> "SentenceDecoder | None":
        """An engine for another decoding, and with another number of threads, which shares the weights that this one has loaded; both may
        decode at the same time. None if there is none that shares them. Raises what the class raises, but for what it does not support.
        """

    def measured_costs(self) -> Costs:
        """Measure how long a decoding round takes on this machine, with and without drafts of the trained drafter. Nothing is cached.

        A batch of one sentence is computed by all threads of the engine.
        """

    def with_rule(self, rule: Exact | Sampled) -> "SentenceDecoder":
        """This engine with another acceptance rule; both share the model, and one of them decodes at a time unless the engine is
        shareable. Raises UsageError if the decoding cannot have the rule: see `Decoding.with_rule`.
        """

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may
        differ.
        """
