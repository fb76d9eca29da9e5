"""The lengths of greedy's outputs, for decodings that are told them beforehand."""

from collections.abc import Iterator, Sequence
from typing import Any

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.pipeline.engine import Engine


class GreedyLengths(Engine):
    """An engine that notes in `lengths` how many tokens, EOS included, each output has, by the ids of its source."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.lengths: dict[tuple[int, ...], int] = {}

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """As the engine does."""
        sources = {sentence.number: tuple(sentence.source) for sentence in sentences}
        for found in super().decode(sentences):
            self.lengths[sources[found.number]] = len(found.ids)
            yield found
