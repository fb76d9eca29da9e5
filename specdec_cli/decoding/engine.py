"""Sentences to hypotheses with the decoding that the settings name."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import torch

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.drafters.source_copy import SourceCopy
from specdec_cli.decoding.loop import Hypothesis, LoopOptions, Onlooker, Sentence, decode
from specdec_cli.decoding.searches.beam import BeamOptions, beam_search
from specdec_cli.decoding.settings import Settings
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle


class Engine:
    """A bundle and settings, ready to decode. Raises UsageError where the drafter cannot do what is asked."""

    def __init__(self, bundle: Bundle, settings: Settings, onlooker: Onlooker | None = None) -> None:
        self.settings = settings
        self.verifier = Verifier(bundle.verifier)
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


def _drafter(bundle: Bundle, settings: Settings) -> Drafter:
    if settings.decoding == "input-guided":
        config = bundle.verifier.config
        word_starts = torch.tensor(bundle.tokenizer.word_starts(), device=next(bundle.verifier.parameters()).device)
        return SourceCopy(settings.match, config.eos, config.padding, word_starts, settings.block_size or None)
    if settings.block_size and bundle.drafter is not None:
        return Block(bundle.drafter, settings.block_size)
    return NoDrafter()
