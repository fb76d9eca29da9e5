"""The reference engine: decodes sentences with a bundle."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.given import GivenDrafts, make_given
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.lengths import Lengths
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.pace import AdaptivePace
from specdec_cli.decoding.rounds import Onlooker
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter_config import Reads
from specdec_cli.pipeline.building import build_drafting, bundle_verifier
from specdec_cli.pipeline.strategies import Group, Tools, decode_given, strategy_of


class Engine:
    """The reference engine: decodes sentences with a bundle by PyTorch, by the decoding `decoding`.

    `onlooker` is called in each round. `verifier` is one that was made for the same bundle, whose captured CUDA
    graphs are then used again. Jacobi and GS-Jacobi decoding draft up to the output lengths that `lengths` returns,
    if it is given. Raises UsageError for a block size that the drafter was not trained for, and ModelError for
    constraints that the model's order does not allow.
    """

    def __init__(
        self,
        bundle: Bundle,
        decoding: Decoding,
        onlooker: Onlooker | None = None,
        verifier: Verifier | None = None,
        lengths: Lengths | None = None,
    ) -> None:
        self.decoding = decoding
        self.verifier = verifier or bundle_verifier(bundle)
        self._onlooker = onlooker
        self._reads: Reads = "states" if bundle.drafter is None else bundle.drafter.config.reads
        self.workers = 1
        self._drafting = build_drafting(bundle, decoding, self.verifier, lengths)
        given = replace(decoding, acceptance=decoding.given_acceptance, block_size=decoding.given_block_size)
        self._given_inputs = DrafterInputs(bundle, given)
        self._given: GivenDrafts | None = None  # made when it is first needed, and kept with its graphs

    @property
    def longest_source(self) -> int:
        """Largest number of source tokens, EOS included."""
        return self.verifier.longest_source

    @property
    def eos(self) -> int:
        """The id of EOS in the target vocabulary."""
        return self.verifier.config.eos

    @property
    def description(self) -> str:
        """A text that names what computes the model."""
        return self.verifier.network.description

    @property
    def captured(self) -> str:
        """How rounds were replayed as CUDA graphs, in words; empty where none were."""
        counts = self.verifier.graphs and self.verifier.graphs.counts
        if not counts:
            return ""
        return f"{counts.bursts:,} bursts of rounds, {counts.graphs:,} graphs of {counts.forms:,} forms, {counts.waits:,} waits"

    @property
    def drafter(self) -> Drafter:
        """The drafter. Setting it keeps the pace."""
        return self._drafting.drafter

    @drafter.setter
    def drafter(self, drafter: Drafter) -> None:
        self._drafting = replace(self._drafting, drafter=drafter)

    @property
    def drafted(self) -> tuple[int, float] | None:
        """The total number of rounds with a draft, counted for each row, and their mean block size, the number of
        tokens asked for; None if the block size is not adaptive.
        """
        pace = self._drafting.pace
        return (pace.rounds, pace.asked / max(pace.rounds, 1)) if isinstance(pace, AdaptivePace) else None

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may
        differ.

        Sentences of one source width are decoded together, those that come with a draft apart from the others.
        Raises UsageError for drafts without a prefix if the decoding is not exact. Sentences with a prefix get scores.
        """
        if any(sentence.draft and not sentence.prefix for sentence in sentences):
            self.decoding.check_given()
        tools = Tools(self.decoding, self.verifier, self._reads, self._onlooker)
        strategy = strategy_of(tools.decoding.method)
        for group in self._groups(sentences):
            if group.given:
                self._given = self._given or make_given(self._given_inputs)
                yield from decode_given(tools, self._given, group)
            else:
                yield from strategy(tools, self._drafting, group)

    def _groups(self, sentences: Sequence[Sentence]) -> list[Group]:
        alike: dict[tuple[int, bool, bool], list[Sentence]] = defaultdict(list)
        for sentence in sentences:
            alike[self.verifier.source_width(len(sentence.source)), bool(sentence.draft), sentence.prefix > 0].append(sentence)
        if self.verifier.graphs is not None:  # short outputs at the end leave few rows of the last batch running alone
            for own in alike.values():
                own.sort(key=lambda sentence: len(sentence.source), reverse=True)
        return [Group(own, self._rows(key[0], len(own)), given=key[1], prefixed=key[2]) for key, own in sorted(alike.items())]

    def _rows(self, width: int, sentences: int) -> int:
        """How many of `sentences` sentences with sources of `width` tokens are decoded together."""
        decoding = self.decoding
        rows = decoding.length_beam if decoding.method == "mask-predict" else 1
        fitting = decoding.memory // (rows * self.verifier.row_bytes(width)) if decoding.memory else sentences
        return max(1, min(decoding.batch_size, sentences, fitting))
