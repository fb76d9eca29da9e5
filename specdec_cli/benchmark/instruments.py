"""Reference engines that also measure: the time of each part, the floating-point operations, and the lengths of outputs.

Operations are those of the algorithm, from the configuration of a bundle and the counted rounds (Santilli et al. 2023, Table 3): positions
that an implementation adds, such as padding, are not counted.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import torch
from torch import Tensor

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.methods import SEARCHES, methods_of
from specdec_cli.decoding.options import Decoding, Rule
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Draft, Scores, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model import flops
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter_config import Reads

TIMED = ("encoder", "drafter's encoder", "drafter", "verifier")
"""The timed parts. "Drafter's encoder" is what the drafter computes once for each source, even if it has no encoder."""
COUNTED = ("encoder", "drafter", "verifier")
"""The parts of a model whose operations are counted; the drafter includes its own encoder, if it has one."""


class Stopwatch:
    """Sums the `seconds` spent in each of TIMED; with `on_gpu`, waits for the GPU before reading the clock."""

    def __init__(self, on_gpu: bool) -> None:
        self.seconds = dict.fromkeys(TIMED, 0.0)
        self._on_gpu = on_gpu

    @contextmanager
    def measure(self, part: str) -> Iterator[None]:
        """Context manager that adds the wall time of its block to `seconds[part]`."""
        started = self._now()
        yield
        self.seconds[part] += self._now() - started

    def _now(self) -> float:
        if self._on_gpu:
            torch.cuda.synchronize()
        return perf_counter()


class TimedVerifier(Verifier):
    """A Verifier that shares the model with `verifier`, and adds the time of its methods to `stopwatch`."""

    def __init__(self, verifier: Verifier, stopwatch: Stopwatch) -> None:
        super().__init__(verifier.network, verifier.forced, verifier.constraints)
        self._stopwatch = stopwatch

    def start(self, entries: Tensor, *, reads: Reads = "states", cached: bool = True) -> State:
        """Call `Verifier.start`, and count its time as that of the encoder."""
        with self._stopwatch.measure("encoder"):
            return super().start(entries, reads=reads, cached=cached)

    def read(self, state: State, drafted: Tensor) -> Tensor:
        """Call `Verifier.read`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().read(state, drafted)

    def raw_score(self, state: State, draft: Draft) -> Scores:
        """Call `Verifier.raw_score`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().raw_score(state, draft)

    def judge(self, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """Call `Verifier.judge`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().judge(state, draft, rule, with_scores=with_scores)

    def score(self, state: State, draft: Draft) -> Scores:
        """Call `Verifier.score`, and count its time as that of the verifier."""
        with self._stopwatch.measure("verifier"):
            return super().score(state, draft)


class TimedDrafter:
    """A Drafter that calls `drafter` for everything, and adds the time to `stopwatch`.

    That of `begin` is added to "drafter's encoder", all other time to "drafter".
    """

    capturable, reads_sentences = False, True

    def __init__(self, drafter: Drafter, stopwatch: Stopwatch) -> None:
        self.limit = drafter.limit
        self._drafter, self._stopwatch = drafter, stopwatch

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        """Return what the wrapped drafter's `begin` returns, its own state for the rows of `state`; timed."""
        with self._stopwatch.measure("drafter's encoder"):
            return self._drafter.begin(state, sentences)

    def propose(self, state: State, memory: Any, size: int) -> Draft:
        """Return the wrapped drafter's draft for the rows of `state`; timed."""
        with self._stopwatch.measure("drafter"):
            return self._drafter.propose(state, memory, size)

    def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
        """Pass `state` and `verdict` to the wrapped drafter's `observe`; timed."""
        with self._stopwatch.measure("drafter"):
            self._drafter.observe(state, memory, verdict)


def add_timers(engine: Engine, stopwatch: Stopwatch) -> None:
    """Replace verifier and drafter of `engine`, in place, by wrappers that add their time to `stopwatch`."""
    engine.verifier = TimedVerifier(engine.verifier, stopwatch)
    engine.drafter = TimedDrafter(engine.drafter, stopwatch)


@dataclass
class _Sentence:
    """A sentence that is being decoded: its source tokens, and the prefix tokens that the drafter has read (None: no draft yet)."""

    source: int
    fed: int | None = None


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
