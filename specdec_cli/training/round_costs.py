"""Measurement of the time of a round for each block size, and the tokens per round at which drafting breaks even."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from specdec_cli.decoding.methods import DRAFTS_OF
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle


@dataclass(frozen=True)
class RoundCosts:
    """Median times in milliseconds of encoding and of rounds, measured on batches of one sentence.

    `encode` is the time to encode a sentence, `greedy` that of a round of greedy decoding (one token); `rounds` has that of a round
    with a draft, by block size.
    """

    encode: float
    greedy: float
    rounds: dict[int, float]

    def break_even(self, block_size: int) -> float:
        """The tokens per round above which drafting with `block_size` is faster than greedy decoding."""
        return self.rounds[block_size] / self.greedy


def measure_round_costs(bundle: Bundle, sources: Sequence[Sequence[int]], block_sizes: Sequence[int], repetitions: int = 3) -> RoundCosts:
    """Time the rounds of decoding `sources` (ids) one by one, greedily and with the bundle's drafter for each of `block_sizes`.

    Greedy decoding and all block sizes take turns, `repetitions` times after a warm-up. The first round of a sentence is not timed.
    """
    engines = {size: _engine(bundle, size) for size in (0, *block_sizes)}
    sentences = [Sentence(number, ids) for number, ids in enumerate(sources)]
    encode: list[float] = []
    rounds: dict[int, list[float]] = {size: [] for size in engines}
    for repetition in range(repetitions + 1):
        for size, (engine, timer) in engines.items():
            for sentence in sentences:
                started = time.perf_counter()
                engine.verifier.begin([0], [sentence.source])
                encoded = time.perf_counter() - started
                timer.times.clear()
                list(engine.decode([sentence]))
                if repetition:
                    encode.append(encoded)
                    rounds[size] += [later - earlier for earlier, later in pairwise(timer.times)]
    costs = {size: 1000 * median(times) for size, times in rounds.items()}
    return RoundCosts(1000 * median(encode), costs[0], {size: costs[size] for size in block_sizes})


class _RoundTimer:
    """A callback of the decoding loop that records the time of each round."""

    def __init__(self) -> None:
        self.times: list[float] = []

    def __call__(self, seen: RoundTrace) -> None:  # noqa: ARG002
        self.times.append(time.perf_counter())


def _engine(bundle: Bundle, block_size: int) -> tuple[Engine, _RoundTimer]:
    timer = _RoundTimer()
    request = DecodingOptions(decoding="greedy")
    if block_size and bundle.drafter is not None:
        request = DecodingOptions(decoding=DRAFTS_OF[bundle.drafter.config.kind], block_size=block_size)
    return Engine(bundle, resolve(request, bundle), timer), timer
