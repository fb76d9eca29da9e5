"""Sentences to hypotheses with the decoding that the settings name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch

from specdec_cli.decoding.accept import FixedPoint
from specdec_cli.decoding.costs import round_costs
from specdec_cli.decoding.drafters import Drafter, SizedDrafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.chain import SHORTEST, Chain
from specdec_cli.decoding.drafters.continuations import Continuations
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.pace import Pace
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.loop import Hypothesis, LoopOptions, Onlooker, Sentence, decode
from specdec_cli.decoding.names import JACOBI, NEEDS_DRAFTER, parts
from specdec_cli.decoding.searches.beam import BeamOptions, beam_search
from specdec_cli.decoding.settings import Settings
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle

LONGEST_DRAFT = 15
"""Tokens of a draft by lookup, and of a chain, if no block size is given."""
LONGEST_COPY = 48
"""Most tokens of a draft that copies the source, where the number is chosen by what pays."""


class Engine:
    """A bundle and settings, ready to decode. Raises UsageError where the drafter cannot do what is asked."""

    def __init__(self, bundle: Bundle, settings: Settings, onlooker: Onlooker | None = None) -> None:
        self.settings = settings
        self.verifier = bundle_verifier(bundle)
        self._onlooker = onlooker
        drafter = _drafter(bundle, settings)
        self.pace = _pace(bundle, settings, self.verifier, drafter) if settings.paced and drafter else None
        self.drafter: Drafter = self.pace or drafter or NoDrafter()

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode sentences of any length; each comes as soon as it is done, in no particular order."""
        by_width: dict[int, list[Sentence]] = defaultdict(list)
        for sentence in sentences:
            by_width[self.verifier.source_width(len(sentence.source))].append(sentence)
        for width in sorted(by_width):
            yield from self._decode_one_width(by_width[width])

    def _decode_one_width(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        settings = self.settings
        if settings.decoding == "beam":
            options = BeamOptions(settings.beam_size, settings.length_penalty, settings.n_best, settings.batch_size, settings.max_length)
            return beam_search([self.verifier], sentences, options)
        loop = LoopOptions(settings.rule, settings.batch_size, settings.max_length, settings.with_scores)
        drafter = self.pace.for_rows(min(settings.batch_size, len(sentences))) if self.pace and settings.watched else self.drafter
        return decode(self.verifier, drafter, sentences, loop, self._onlooker)


def bundle_verifier(bundle: Bundle) -> Verifier:
    """The bundle's model as the loop asks it."""
    return Verifier(bundle.verifier, bundle.tokenizer.frame.forced)


def _drafter(bundle: Bundle, settings: Settings) -> SizedDrafter | None:
    drafters = [drafter for name in parts(settings.decoding) if (drafter := _one_drafter(bundle, settings, name)) is not None]
    if len(drafters) > 1:
        return Chain(drafters, settings.block_size or LONGEST_DRAFT)
    return drafters[0] if drafters else None


def _pace(bundle: Bundle, settings: Settings, verifier: Verifier, drafter: SizedDrafter) -> Pace:
    longest = drafter.block_size or (LONGEST_COPY if settings.decoding == "input-guided" else LONGEST_DRAFT)
    network = bundle.drafter.config if bundle.drafter is not None else None
    return Pace(drafter, round_costs(verifier, drafter, longest, f"{settings.decoding} {settings.match} {network}"), longest)


def _one_drafter(bundle: Bundle, settings: Settings, name: str) -> SizedDrafter | None:
    config, block_size = bundle.verifier.config, settings.block_size
    device = next(bundle.verifier.parameters()).device
    if name in NEEDS_DRAFTER and bundle.drafter is not None:
        return Block(bundle.drafter, block_size)
    if name == "input-guided":
        word_starts = torch.tensor(bundle.tokenizer.word_starts(), device=device)
        return SourceCopy(settings.match, config.eos, config.padding, word_starts, block_size)
    if name == "lookup":
        return Lookup(block_size or LONGEST_DRAFT, config.eos, config.padding, bundle.tokenizer.shared)
    if name in JACOBI:
        published = isinstance(settings.rule, FixedPoint)
        memory = None if published else Continuations(config.vocabulary_size, device)
        # The whole sentence at once goes on after its expected end with as many tokens as cost nothing.
        size = block_size if name == "jacobi" else block_size or SHORTEST
        beyond = {"jacobi": 0 if published else min(size or SHORTEST, SHORTEST), "hybrid-jacobi": 0}.get(name)
        return Jacobi(size, bundle.info.length_ratio, beyond, config.padding, memory)
    return None
