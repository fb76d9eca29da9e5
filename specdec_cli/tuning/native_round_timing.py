"""Measurement of the costs of the native engine's rounds on this machine, without torch."""

import time
from dataclasses import dataclass

from specdec_cli.decoding.costs import ROWS, Costs, made_up_sources
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.library import instruction_set
from specdec_cli.native.model import NativeModel, Resources
from specdec_cli.tuning.cached_costs import cached_costs, final_costs

SHORT, LONG = 3, 12
"""Draft sizes that are measured, in tokens; if `longest` is smaller than a size, it is measured instead."""
_ROUNDS = 6
"""Rounds with a draft of full size in each session; the first ones are slower."""
_SESSIONS = {1: 4, ROWS: 1}
"""Sessions in each repetition, by rows."""
_REPETITIONS = 3
_ENOUGH = 0.25
"""Seconds after which no further repetition starts."""
FAR = 2 / 3
"""Drafts are far from paying if they would not pay in two thirds of their time."""
_UNKNOWN = 1.0
"""Cost in milliseconds of rounds that could not be measured because the model ends every sentence at once."""


@dataclass(frozen=True)
class MeasuredModel:
    """What the costs of rounds depend on, and the key of their cache: the configurations of the `verifier` and its
    `drafter`, the largest number of drafted tokens (`longest`), and the number of `threads`; and the instruction set.

    One row is decoded by `threads` threads, several rows by one thread.
    """

    verifier: TransformerConfig
    drafter: DrafterConfig
    longest: int
    threads: int

    @property
    def measurement(self) -> CachedMeasurement:
        """The file of the cache for the costs of this model on this processor; it need not exist yet."""
        return CachedMeasurement("costs", self._key)

    def drafts_of(self, weights: object) -> CachedMeasurement:
        """The file of the cache that says whether the drafts of a model with these `weights` paid."""
        return CachedMeasurement("drafts", (*self._key, weights))

    @property
    def _key(self) -> tuple[object, ...]:
        return "native", instruction_set(), self.threads, self.verifier, self.drafter, self.longest


def stored_costs(measured: MeasuredModel) -> Costs | None:
    """The costs if no further run needs to measure them, else None."""
    return final_costs(measured.measurement)


def round_costs(measured: MeasuredModel, model: NativeModel) -> Costs:
    """Return the cached costs, or measure them (see `cached_costs`) with `model`, which has the drafter.

    Costs at which drafts are far from paying (FAR) are not measured again.
    """
    return cached_costs(
        measured.measurement,
        lambda: measure_native_costs(model, measured.longest, measured.threads),
        lambda costs: not costs.can_pay(1, measured.longest, FAR),
    )


def measure_native_costs(model: NativeModel, longest: int, threads: int) -> Costs:
    """Measure the costs of rounds over made-up sources, of 1 row and of 8 rows (ROWS), without drafts and with
    drafts of 3 and 12 tokens, or of `longest` tokens if that is less.

    A cost is the minimum over all rounds, because other load on the machine can only make a round slower. One row is
    decoded by `threads` threads; several rows by one thread, in processor time.
    """
    sizes = (min(SHORT, longest), min(LONG, longest))
    cases = [(rows, size) for rows in (1, ROWS) for _ in range(_SESSIONS[rows]) for size in (0, *sizes)]
    measured: list[tuple[tuple[int, int], tuple[float, float]]] = []
    started = time.perf_counter()
    # Repetitions are interleaved, so that a short load on the machine does not fall on one case alone.
    for _ in range(_REPETITIONS):
        measured += [(case, _times(model, *case, threads)) for case in cases]
        if time.perf_counter() - started > _ENOUGH:
            break
    drafting, verifying = ({case: _least([times[part] for key, times in measured if key == case]) for case in cases} for part in (0, 1))
    return Costs.of_cases(sizes, verifying, drafting)


def _times(model: NativeModel, rows: int, size: int, threads: int) -> tuple[float, float]:
    """The least milliseconds of drafting and of the rest of a round; 0 for what was not measured."""
    sources = made_up_sources(rows, model.config.source_size, model.config.eos)
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    method, threads = "specdec" if size else "greedy", threads if rows == 1 else 1
    decoding = Decoding(method=method, block_size=size, batch_size=rows, max_length=_ROUNDS + size)
    return model.times(sentences, decoding, Resources(threads, shared_vocabulary=False))


def _least(milliseconds: list[float]) -> float:
    return min((each for each in milliseconds if each > 0), default=_UNKNOWN)
