"""Floating-point operations of decoding, from the configuration of a bundle and the counted rounds (Santilli et al. 2023, Table 3).

They are those of the algorithm: positions that an implementation adds, such as padding, are not counted.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.decoding.methods import SEARCHES, methods_of
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model import flops
from specdec_cli.model.bundle import Bundle

PARTS = ("encoder", "drafter", "verifier")
"""The parts of a model whose operations are counted; the drafter includes its own encoder, if it has one."""


@dataclass
class _Sentence:
    """A sentence that is being decoded: its source tokens, and the prefix tokens that the drafter has read (None: no draft yet)."""

    source: int
    fed: int | None = None


class CountingEngine(Engine):
    """An Engine whose attribute `operations` has the number of operations of all decoded sentences, by names in PARTS.

    The rounds of a sentence are counted one by one. In Mask-Predict, all candidates of a sentence count as long as its output.
    """

    def __init__(self, bundle: Bundle, decoding: Decoding, **arguments: Any) -> None:
        super().__init__(bundle, decoding, self._add_round, **arguments)
        self.operations = dict.fromkeys(PARTS, 0)
        self._config = bundle.verifier.config
        trained = any(method.trained for method in methods_of(decoding.method))
        self._drafter = bundle.drafter_config if trained else None
        self._alone = decoding.method == "drafter"
        self._open: dict[int, _Sentence] = {}

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode `sentences` as Engine does, and add the operations to `operations`."""
        self._open = {sentence.number: _Sentence(len(sentence.source)) for sentence in sentences}
        for sentence in sentences:
            self._add_source(len(sentence.source))
        for found in super().decode(sentences):
            self._add_search(self._open[found.number].source, found)
            yield found

    def _add_source(self, source: int) -> None:
        """Count the encoder, and the decoder's keys and values of the source, as far as the decoding computes them."""
        if not self._alone or self._reads != "nothing":
            self.operations["encoder"] += flops.encode(self._config, source)
        if not self._alone or self._reads == "states":
            self.operations["verifier"] += flops.read_memory(self._config, source)

    def _add_round(self, seen: RoundTrace) -> None:
        state, counts = seen.state, seen.draft.counts.tolist()
        rows = zip(state.numbers.tolist(), state.lengths.tolist(), state.limits.tolist(), state.finished.tolist(), strict=True)
        for row, (number, length, limit, finished) in enumerate(rows):
            if finished:
                continue
            one, slots = self._open[number], counts[row]
            ids = seen.accepted.ids[row, : int(seen.accepted.counts[row])].tolist()
            ended = self.eos in ids or length + len(ids) >= limit
            read = slots * (self._reads == "states" and not ended) if self._alone else slots + 1
            self.operations["verifier"] += flops.decode(self._config, one.source, read, length + read - 1)
            self.operations["verifier"] += 0 if self._alone else flops.project(self._config, read)
            self._add_draft(one, length, slots, read)

    def _add_draft(self, one: _Sentence, length: int, slots: int, read: int) -> None:
        """Count the trained drafter in a round: after `length` positions it drafts `slots` tokens and reads `read` states."""
        if self._drafter is None:
            return
        if slots:
            if one.fed is None:
                one.fed = 0
                self.operations["drafter"] += flops.read_source(self._config, self._drafter, one.source)
            prefix = length - 1 + getattr(self._drafter, "offset", 0)
            made = flops.DraftPass(one.source, slots, prefix, prefix - one.fed)
            self.operations["drafter"] += flops.draft(self._config, self._drafter, made)
            one.fed = prefix
        if one.fed is not None:
            self.operations["drafter"] += flops.read_states(self._config, self._drafter, read)

    def _add_search(self, source: int, found: Hypothesis) -> None:
        """Count the decoder's passes of a decoding that has no rounds of draft and verification."""
        config, step = self._config, self._config.step
        if self.decoding.method in SEARCHES:
            passes = (flops.decode(config, source, step, step * (number + 1)) for number in range(found.rounds))
            self.operations["verifier"] += self.decoding.search.beam_size * (sum(passes) + found.rounds * flops.project(config, step))
        elif self.decoding.method == "mask-predict":
            count, length = self.decoding.iterations, len(found.ids)
            predicted = (max((length - 1) * (count - number) // count, 1) for number in range(count))
            a_candidate = count * flops.decode(config, source, length, length) + flops.project(config, sum(predicted))
            lengths = 2 * config.width * (2 * config.length_reach + 1)
            self.operations["verifier"] += self.decoding.length_beam * a_candidate + lengths


def countable(decoding: str) -> bool:
    """Whether the operations of a decoding can be counted: not those of a chain with a trained drafter.

    The drafter of a chain drafts also in rounds in which another draft is verified.
    """
    methods = methods_of(decoding)
    return len(methods) < 2 or not any(method.trained for method in methods)
