"""Sentences to hypotheses with the decoding that the settings name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from functools import partial

import torch

from specdec_cli.decoding.accept import FixedPoint
from specdec_cli.decoding.constraints import Constraints
from specdec_cli.decoding.drafters import Drafter, OptionalDrafter, SizedDrafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.blockwise import Blockwise
from specdec_cli.decoding.drafters.fallback import SHORTEST, Fallback
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lengths import Lengths, by_source, fixed
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.ngram_memory import NgramMemory
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.execution.cuda_sizes import Rounded
from specdec_cli.decoding.loop import LoopOptions, Onlooker, decode
from specdec_cli.decoding.names import DRAFTER_OF, JACOBI, SEARCHES, TO_A_LENGTH, parts
from specdec_cli.decoding.searches.beam import BeamOptions, beam_search
from specdec_cli.decoding.searches.drafter import DrafterOptions, decode_by_drafter
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter_config import Reads
from specdec_cli.model.heads import Heads
from specdec_cli.model.int8 import kernels_of
from specdec_cli.pipeline.settings import Settings
from specdec_cli.pipeline.workers import Shared, in_threads, threads_of_torch
from specdec_cli.tuning.adaptive_block_size import AdaptiveBlockSize
from specdec_cli.tuning.round_costs import round_costs

LONGEST_DRAFT = 15
"""Tokens of a draft by lookup, and of a chain, if no block size is given."""
FEW = 4
"""Sentences for each worker, below which one does it alone with all threads."""
LONGEST_COPY = 48
"""Most tokens of a draft that copies the source, where the number is chosen by what pays."""


class Engine:
    """A bundle and settings, ready to decode. Raises UsageError where the drafter cannot do what is asked.

    A `verifier` of the bundle that was used before keeps what was captured on a GPU. Jacobi and GS-Jacobi decoding draft
    up to `lengths`, if they are given.
    """

    def __init__(
        self,
        bundle: Bundle,
        settings: Settings,
        onlooker: Onlooker | None = None,
        verifier: Verifier | None = None,
        lengths: Lengths | None = None,
    ) -> None:
        self.settings = settings
        self.verifier = verifier or bundle_verifier(bundle)
        self._onlooker = onlooker
        self._reads: Reads = "states" if bundle.drafter is None else bundle.drafter.config.reads
        alone = onlooker is not None or settings.batch_size == 1 or settings.decoding in SEARCHES
        # Several workers only where a row's numbers do not depend on the number of threads.
        self.workers = 1 if alone or not self.verifier.model.batch_invariant else torch.get_num_threads()
        with self._threads():
            self._drafters = [_ready(bundle, settings, self.verifier, lengths) for _ in range(self.workers)]

    @property
    def drafter(self) -> Drafter:
        """What drafts where there is one worker."""
        return self._drafters[0]

    @drafter.setter
    def drafter(self, drafter: Drafter) -> None:
        self._drafters = [drafter]
        self.workers = 1

    @property
    def drafted(self) -> tuple[int, float] | None:
        """Rounds that drafted, and how many tokens were asked for on average; None where that was not chosen as it went."""
        adaptive = [drafter for drafter in self._drafters if isinstance(drafter, AdaptiveBlockSize)]
        rounds = sum(each.rounds for each in adaptive)
        return (rounds, sum(each.asked for each in adaptive) / max(rounds, 1)) if adaptive else None

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences of any length; each comes as soon as it is done, in no particular order.

        Those of like length go together. In batches, several workers of one thread each share the sentences.
        """
        self._check_costs()
        by_width: dict[int, list[Sentence]] = defaultdict(list)
        for sentence in sentences:
            by_width[self.verifier.source_width(len(sentence.source))].append(sentence)
        groups = [Group(by_width[width], self._rows(width, len(by_width[width]))) for width in sorted(by_width)]
        if self.workers == 1 or len(sentences) < FEW * self.workers:
            yield from self._work(self.drafter, groups)
        else:
            yield from in_threads([partial(self._work, drafter, groups) for drafter in self._drafters])

    def _threads(self) -> AbstractContextManager[None]:
        """Where several workers share the sentences, each has one thread."""
        return threads_of_torch(1) if self.workers > 1 else nullcontext()

    def _check_costs(self) -> None:
        with self._threads():
            for drafter in self._drafters:
                if isinstance(drafter, AdaptiveBlockSize):
                    drafter.check_costs()

    def _rows(self, width: int, sentences: int) -> int:
        """How many sentences a worker takes at a time, of so many in all."""
        fitting = self.settings.memory // (self.workers * self.verifier.row_bytes(width)) if self.settings.memory else sentences
        return max(1, min(self.settings.batch_size, -(-sentences // self.workers), fitting))

    def _work(self, drafter: Drafter, groups: "Sequence[Group]") -> Iterator[Hypothesis]:
        settings = self.settings
        for group in groups:
            if settings.decoding in SEARCHES:
                found = beam_search([self.verifier], list(group.sentences), _beam_options(settings, group.rows))
                yield from (replace(hypothesis, decoding=settings.decoding) for hypothesis in found)
            elif settings.decoding == "drafter":
                alone = DrafterOptions(self._reads, group.rows, settings.max_length)
                found = decode_by_drafter(self.verifier, drafter, group.sentences, alone, self._onlooker)
                yield from (replace(hypothesis, decoding="drafter") for hypothesis in found)
            else:
                loop = LoopOptions(settings.rule, group.rows, settings.max_length, settings.with_scores)
                chosen = drafter.for_rows(group.rows) if isinstance(drafter, OptionalDrafter) and settings.may_skip_drafting else drafter
                name = settings.decoding if chosen is drafter else "greedy"
                found = decode(self.verifier, chosen, group.sentences, loop, self._onlooker)
                yield from (replace(hypothesis, decoding=name) for hypothesis in found)


class Group:
    """Sentences of one source width, and how many of them are decoded together."""

    def __init__(self, sentences: Sequence[Sentence], rows: int) -> None:
        self.sentences, self.rows = Shared(sentences), rows


def bundle_verifier(bundle: Bundle) -> Verifier:
    """The bundle's model, with the constraints that the bundle names.

    Raises ModelError for constraints of a model that does not write from left to right: they are of what precedes a token.
    """
    info = bundle.info
    constraints = Constraints(
        min_length=info.min_length,
        no_repeat_ngram_size=info.no_repeat_ngram_size,
        source_ngram_size=info.source_ngram_size,
        repetition_penalty=info.repetition_penalty,
        forced_end=info.forced_end,
    )
    forced, order = bundle.tokenizer.frame.forced, bundle.verifier.config.order
    if order != "left-to-right" and (forced is not None or constraints != Constraints()):
        raise ModelError(f"{bundle.path or 'the bundle'}: its generation settings are for order left-to-right, not {order}")
    return Verifier(bundle.verifier, forced, constraints)


def _beam_options(settings: Settings, rows: int) -> BeamOptions:
    return BeamOptions(settings.beam_size, settings.length_penalty, settings.n_best, rows, settings.max_length, stop=settings.beam_stop)


def _ready(bundle: Bundle, settings: Settings, verifier: Verifier, lengths: Lengths | None) -> Drafter:
    drafter = _drafter(bundle, settings, lengths)
    if drafter is None:
        return NoDrafter()
    if verifier.stages is not None and settings.decoding != "drafter":
        drafter = Rounded(drafter)
    return _adaptive(bundle, settings, verifier, drafter) if settings.adaptive_length else drafter


def _drafter(bundle: Bundle, settings: Settings, lengths: Lengths | None) -> SizedDrafter | None:
    found = [_one_drafter(bundle, settings, name, lengths) for name in parts(settings.decoding)]
    drafters = [drafter for drafter in found if drafter is not None]
    if len(drafters) > 1:
        return Fallback(drafters, settings.block_size or LONGEST_DRAFT)
    return drafters[0] if drafters else None


def _adaptive(bundle: Bundle, settings: Settings, verifier: Verifier, drafter: SizedDrafter) -> AdaptiveBlockSize:
    longest = drafter.block_size or (LONGEST_COPY if settings.decoding == "input-guided" else LONGEST_DRAFT)
    measure = partial(round_costs, verifier, drafter, longest, f"{settings.decoding} {settings.match}", bundle.drafter)
    return AdaptiveBlockSize(drafter, measure(), longest, partial(measure, anew=True))


def _one_drafter(bundle: Bundle, settings: Settings, name: str, lengths: Lengths | None) -> SizedDrafter | None:
    config, block_size = bundle.verifier.config, settings.block_size
    device = next(bundle.verifier.parameters()).device
    if name in DRAFTER_OF and bundle.drafter is not None:
        return Blockwise(bundle.drafter, block_size) if isinstance(bundle.drafter, Heads) else Block(bundle.drafter, block_size)
    if name == "input-guided":
        word_starts = torch.tensor(bundle.tokenizer.word_starts(), device=device)
        return SourceCopy(settings.match, config.eos, word_starts, block_size, kernels_of(bundle.verifier))
    if name == "lookup":
        return Lookup(block_size or LONGEST_DRAFT, config.eos, config.padding, bundle.tokenizer.shared)
    if name == "ngram-memory":
        return NgramMemory(block_size or SHORTEST, config.vocabulary_size, device)
    if name in JACOBI:
        whole_blocks = isinstance(settings.rule, FixedPoint)
        size = block_size if name == "jacobi" else block_size or SHORTEST
        # After its expected end Jacobi decoding goes on with as many tokens as cost nothing, if not as published.
        beyond = min(size or SHORTEST, SHORTEST) if name == "jacobi" and not whole_blocks else 0
        if lengths is None or name == "hybrid-jacobi":
            lengths = _expected_lengths(bundle, settings) if name in TO_A_LENGTH else None
        return Jacobi(size, config.padding, lengths, beyond=beyond, whole_blocks=whole_blocks)
    return None


def _expected_lengths(bundle: Bundle, settings: Settings) -> Lengths | None:
    """None: the longest output that is possible."""
    if settings.jacobi_length == "max":
        return None
    return fixed(settings.jacobi_length) if settings.jacobi_length else by_source(bundle.info.length_ratio, bundle.verifier.config.padding)
