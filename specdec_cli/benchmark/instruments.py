"""Reference engines that also measure: the time of each part, the floating-point operations, and the lengths of outputs.

Operations are those of the algorithm, from the configuration of a bundle and the counted rounds (Santilli et al. 2023, Table 3): positions
that an implementation adds, such as padding, are not counted.
"""

from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from types import SimpleNamespace
from typing import Any, cast

import torch

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.methods import SEARCHES, methods_of
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model import flops
from specdec_cli.model.bundle import Bundle

TIMED = ("encoder", "drafter's encoder", "drafter", "verifier")
"""The timed parts. "Drafter's encoder" is what the drafter computes once for each source, even if it has no encoder."""
COUNTED = ("encoder", "drafter", "verifier")
"""The parts of a model whose operations are counted; the drafter includes its own encoder, if it has one."""


class Stopwatch:
    """Sums the `seconds` spent in each of TIMED; with `on_gpu`, waits for the GPU before reading the clock."""

    def __init__(self, on_gpu: bool) -> None:
        self.seconds = dict.fromkeys(TIMED, 0.0)
        self._on_gpu, self._running = on_gpu, False

    def watch(self, engine: Engine) -> None:
        """Replace verifier and drafter of `engine`, in place, by copies whose methods are timed."""
        verifier, drafter = engine.verifier, engine.drafter
        engine.verifier = Verifier(verifier.network, verifier.forced, verifier.constraints)
        parts = {"start": "encoder"} | dict.fromkeys(("read", "raw_score", "judge", "score"), "verifier")
        for name, part in parts.items():
            setattr(engine.verifier, name, self._timed(getattr(engine.verifier, name), part))
        engine.drafter = cast(
            "Drafter",
            SimpleNamespace(
                limit=drafter.limit,
                capturable=False,
                reads_sentences=True,
                begin=self._timed(drafter.begin, "drafter's encoder"),
                propose=self._timed(drafter.propose, "drafter"),
                observe=self._timed(drafter.observe, "drafter"),
            ),
        )

    def _timed(self, method: Callable[..., Any], part: str) -> Callable[..., Any]:
        """`method`, whose wall time is added to that of `part`, unless another timed method calls it."""

        def timed(*arguments: Any, **named: Any) -> Any:
            if self._running:
                return method(*arguments, **named)
            self._running, started = True, self._now()
            try:
                return method(*arguments, **named)
            finally:
                self.seconds[part] += self._now() - started
                self._running = False

        return timed

    def _now(self) -> float:
        if self._on_gpu:
            torch.cuda.synchronize()
        return perf_counter()


class CountingEngine(Engine):
    """An Engine whose attribute `operations` has the number of operations of all decoded sentences, by names in COUNTED.

    The rounds of a sentence are counted one by one. In Mask-Predict, all candidates of a sentence count as long as its output.
    """

    def __init__(self, bundle: Bundle, decoding: Decoding, **arguments: Any) -> None:
        super().__init__(bundle, decoding, self._add_round, **arguments)
        self.operations = dict.fromkeys(COUNTED, 0)
        self._config = bundle.verifier.config
        trained = any(method.trained for method in methods_of(decoding.method))
        self._drafter = bundle.drafter_config if trained else None
        self._alone = decoding.method == "drafter"
        self._sources: dict[int, int] = {}  # source tokens of the sentences that are being decoded
        self._fed: dict[int, int] = {}  # tokens of their prefixes that the drafter has read

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode `sentences` as Engine does, and add the operations to `operations`."""
        self._sources, self._fed = {sentence.number: len(sentence.source) for sentence in sentences}, {}
        for sentence in sentences:
            self._add_source(len(sentence.source))
        for found in super().decode(sentences):
            self._add_search(self._sources[found.number], found)
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
            source, slots = self._sources[number], counts[row]
            ids = seen.accepted.ids[row, : int(seen.accepted.counts[row])].tolist()
            ended = self.eos in ids or length + len(ids) >= limit
            read = slots * (self._reads == "states" and not ended) if self._alone else slots + 1
            self.operations["verifier"] += flops.decode(self._config, source, read, length + read - 1)
            self.operations["verifier"] += 0 if self._alone else flops.project(self._config, read)
            self._add_draft(number, length, slots, read)

    def _add_draft(self, number: int, length: int, slots: int, read: int) -> None:
        """Count the trained drafter in a round: after `length` positions it drafts `slots` tokens and reads `read` states."""
        if self._drafter is None:
            return
        source = self._sources[number]
        if slots:
            if number not in self._fed:
                self.operations["drafter"] += flops.read_source(self._config, self._drafter, source)
            prefix = length - 1 + getattr(self._drafter, "offset", 0)
            made = flops.DraftPass(source, slots, prefix, prefix - self._fed.get(number, 0))
            self.operations["drafter"] += flops.draft(self._config, self._drafter, made)
            self._fed[number] = prefix
        if number in self._fed:
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


class GreedyLengths(Engine):
    """An Engine whose attribute `outputs` maps the ids of each decoded source to the length of its output (tokens, EOS included)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.outputs: dict[tuple[int, ...], int] = {}

    def decode(self, sentences: Sequence[Sentence]) -> Iterator[Hypothesis]:
        """Decode `sentences` as Engine does, and add the lengths of the outputs to `outputs`."""
        sources = {sentence.number: tuple(sentence.source) for sentence in sentences}
        for found in super().decode(sentences):
            self.outputs[sources[found.number]] = len(found.ids)
            yield found
