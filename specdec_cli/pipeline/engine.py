"""The reference engine: decodes sentences with a bundle."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

import torch

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.given import make_given
from specdec_cli.decoding.drafters.inputs import DrafterInputs
from specdec_cli.decoding.drafters.lengths import Lengths
from specdec_cli.decoding.names import SEARCHES
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.pace import AdaptivePace
from specdec_cli.decoding.rounds import Onlooker
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter_config import Reads
from specdec_cli.pipeline.building import Drafting, build_drafting, bundle_verifier
from specdec_cli.pipeline.strategies import Group, Tools, decode_given, strategy_of
from specdec_cli.pipeline.workers import Shared, in_threads, threads_of_torch

LEAST_SENTENCES = 4
"""With fewer sentences per worker, the first worker decodes them all."""


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
        alone = onlooker is not None or decoding.batch_size == 1 or decoding.method in SEARCHES
        # Several workers only for a batch-invariant model: with it, the output does not depend on the number of threads.
        self.workers = 1 if alone or not self.verifier.network.batch_invariant else torch.get_num_threads()
        with self._threads():
            self._drafting = [build_drafting(bundle, decoding, self.verifier, lengths) for _ in range(self.workers)]
        given = replace(decoding, acceptance=decoding.given_acceptance, block_size=decoding.given_block_size)
        self._given_inputs = DrafterInputs(bundle, given)

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
        """A text that names what computes the model: PyTorch's operators."""
        return "PyTorch's operators"

    @property
    def drafter(self) -> Drafter:
        """The drafter of the first worker. Setting it replaces all drafters; one worker remains, with its pace."""
        return self._drafting[0].drafter

    @drafter.setter
    def drafter(self, drafter: Drafter) -> None:
        self._drafting = [Drafting(drafter, self._drafting[0].pace)]
        self.workers = 1

    @property
    def drafted(self) -> tuple[int, float] | None:
        """The total number of rounds with a draft, counted for each row, and their mean block size, the number of
        tokens asked for; None if the block size is not adaptive.
        """
        paces = [drafting.pace for drafting in self._drafting if isinstance(drafting.pace, AdaptivePace)]
        rounds = sum(pace.rounds for pace in paces)
        return (rounds, sum(pace.asked for pace in paces) / max(rounds, 1)) if paces else None

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Yield a hypothesis for each sentence as soon as it is done, in any order; the lengths of the sentences may
        differ.

        Sentences of one source width are decoded together, those that come with a draft apart from the others.
        Several workers, of one thread each, share them if there are enough. Raises UsageError for drafts
        without a prefix if the decoding is not exact. Sentences with a prefix get scores.
        """
        if any(sentence.draft and not sentence.prefix for sentence in sentences):
            self.decoding.check_given()
        tools = Tools(self.decoding, self.verifier, self._reads, self._onlooker)
        groups = self._groups(sentences)
        if self.workers == 1 or len(sentences) < LEAST_SENTENCES * self.workers:
            yield from self._decode_groups(tools, groups, self._drafting[0])
        else:
            yield from in_threads([partial(self._decode_groups, tools, groups, drafting) for drafting in self._drafting])

    def _decode_groups(self, tools: Tools, groups: Sequence[Group], drafting: Drafting) -> Iterator[Hypothesis]:
        strategy, given = strategy_of(tools.decoding.method), None
        for group in groups:
            if group.given:
                given = given or make_given(self._given_inputs)
                yield from decode_given(tools, given, group)
            else:
                yield from strategy(tools, drafting, group)

    def _groups(self, sentences: Sequence[Sentence]) -> list[Group]:
        alike: dict[tuple[int, bool, bool], list[Sentence]] = defaultdict(list)
        for sentence in sentences:
            alike[self.verifier.source_width(len(sentence.source)), bool(sentence.draft), sentence.prefix > 0].append(sentence)
        return [Group(Shared(own), self._rows(key[0], len(own)), given=key[1], prefixed=key[2]) for key, own in sorted(alike.items())]

    def _rows(self, width: int, sentences: int) -> int:
        """How many of `sentences` sentences with sources of `width` tokens a worker decodes together."""
        decoding = self.decoding
        rows = self.workers * (decoding.length_beam if decoding.method == "mask-predict" else 1)
        fitting = decoding.memory // (rows * self.verifier.row_bytes(width)) if decoding.memory else sentences
        return max(1, min(decoding.batch_size, -(-sentences // self.workers), fitting))

    def _threads(self) -> AbstractContextManager[None]:
        """One thread of torch inside the block where several workers share the sentences."""
        return threads_of_torch(1) if self.workers > 1 else nullcontext()
