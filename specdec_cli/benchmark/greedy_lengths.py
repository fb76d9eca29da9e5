"""Lengths of greedy outputs, for decodings that are given the output length."""

from collections.abc import Iterator, Sequence
from typing import Any

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.pipeline.engine import Engine


class GreedyLengths(Engine):
    """An engine that records the length of each output (tokens, EOS included) in `lengths`, by source ids."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lengths: dict[tuple[int, ...], int] = {}

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode `sentences` like Engine, and record the lengths."""
        sources = {sentence.number: tuple(sentence.source) for sentence in sentences}
        for found in super().decode(sentences):
            self.lengths[sources[found.number]] = len(found.ids)
            yield found
