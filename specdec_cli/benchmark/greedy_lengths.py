"""Lengths of greedy outputs, for decodings that get the length of the output beforehand."""

from collections.abc import Iterator, Sequence
from typing import Any

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine


class GreedyLengths(Engine):
    """An Engine whose attribute `lengths` maps the ids of each decoded source to the length of its output (tokens, EOS included)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lengths: dict[tuple[int, ...], int] = {}

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode `sentences` as Engine does, and add the lengths of the outputs to `lengths`."""
        sources = {sentence.number: tuple(sentence.source) for sentence in sentences}
        for found in super().decode(sentences):
            self.lengths[sources[found.number]] = len(found.ids)
            yield found
