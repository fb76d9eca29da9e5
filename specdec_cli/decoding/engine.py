"""Sentences to hypotheses with the decoding that the settings name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch

from specdec_cli.decoding.accept import FixedPoint
from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.chain import SHORTEST, Chain
from specdec_cli.decoding.drafters.continuations import Continuations
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.drafters.lookup import Lookup
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.drafters.watch import Watch
from specdec_cli.decoding.loop import Hypothesis, LoopOptions, Onlooker, Sentence, decode
from specdec_cli.decoding.names import JACOBI, NEEDS_DRAFTER, parts
from specdec_cli.decoding.searches.beam import BeamOptions, beam_search
from specdec_cli.decoding.settings import Settings
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle

LONGEST_DRAFT = 15
"""Tokens of a draft by lookup, and of a chain, if no block size is given."""


class Engine:
    """A bundle and settings, ready to decode. Raises UsageError where the drafter cannot do what is asked."""

    def __init__(self, bundle: Bundle, settings: Settings, onlooker: Onlooker | None = None) -> None:
        self.settings = settings
        self.verifier = bundle_verifier(bundle)
        self._onlooker = onlooker
        self.drafter = _drafter(bundle, settings)

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
        return decode(self.verifier, self.drafter, sentences, loop, self._onlooker)


def bundle_verifier(bundle: Bundle) -> Verifier:
    """The bundle's model as the loop asks it."""
    return Verifier(bundle.verifier, bundle.tokenizer.frame.forced)


def _drafter(bundle: Bundle, settings: Settings) -> Drafter:
    names = parts(settings.decoding)
    drafters = [_one_drafter(bundle, settings, name) for name in names]
    drafter = drafters[0] if len(drafters) == 1 else Chain(drafters, settings.block_size or LONGEST_DRAFT)
    return Watch(drafter, _cost(bundle, names)) if settings.watched else drafter


def _one_drafter(bundle: Bundle, settings: Settings, name: str) -> Drafter:
    config, block_size = bundle.verifier.config, settings.block_size
    device = next(bundle.verifier.parameters()).device
    if name in NEEDS_DRAFTER and bundle.drafter is not None:
        return Block(bundle.drafter, block_size)
    if name == "input-guided":
        word_starts = torch.tensor(bundle.tokenizer.word_starts(), device=device)
        return SourceCopy(settings.match, config.eos, config.padding, word_starts, block_size or None)
    if name == "lookup":
        return Lookup(block_size or LONGEST_DRAFT, config.eos, config.padding, bundle.tokenizer.shared)
    if name in JACOBI:
        published = isinstance(settings.rule, FixedPoint)
        memory = None if published else Continuations(config.vocabulary_size, device)
        # The whole sentence at once goes on after its expected end with as many tokens as cost nothing.
        size = block_size or None if name == "jacobi" else block_size or SHORTEST
        beyond = {"jacobi": 0 if published else min(size or SHORTEST, SHORTEST), "hybrid-jacobi": 0}.get(name)
        return Jacobi(size, bundle.info.length_ratio, beyond, config.padding, memory)
    return NoDrafter()


def _cost(bundle: Bundle, names: Sequence[str]) -> float:
    """A draft in verifications: a network's own weights over those that a verification reads; else some small operations."""
    if bundle.drafter is None or not set(names) & set(NEEDS_DRAFTER):
        return 0.02
    read = bundle.verifier.output.weight.numel() + sum(weight.numel() for weight in bundle.verifier.layers.parameters())
    return sum(weight.numel() for weight in bundle.drafter.parameters()) / read
