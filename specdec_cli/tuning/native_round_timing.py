"""Measurement of the costs of the native engine's rounds on this machine, without torch."""

import time
from dataclasses import asdict, dataclass

from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.model import NativeModel
from specdec_cli.native.records import Request
from specdec_cli.tuning.round_costs import ROWS, Costs

SHORT, LONG = 3, 12
"""Draft sizes that are measured, in tokens; if `longest` is smaller than a size, it is measured instead."""
OPTIMISTIC = 0.8
"""Probability that a drafted token is accepted, given that all before it were, in the judgement whether drafts can pay at all."""
_SOURCE, _TOKENS = 14, 6
"""Tokens of a made-up source, and tokens decoded of each, besides those of a draft: shorter drafts are not timed."""
_REPETITIONS = 5
_ENOUGH = 1.0
"""Seconds after which no further repetition starts."""
_UNKNOWN = 1.0
"""Cost in milliseconds of rounds that could not be measured because the model ends every sentence at once."""


@dataclass(frozen=True)
class MeasuredModel:
    """What the costs of rounds depend on, and the key of their cache: the `model`, the configuration of its
    `drafter`, the largest number of drafted tokens (`longest`), and the number of `threads`.

    One row is decoded by `threads` threads, several rows by one thread.
    """

    model: NativeModel
    drafter: DrafterConfig
    longest: int
    threads: int

    @property
    def measurement(self) -> CachedMeasurement:
        """The file of the cache for the costs of this model on this processor; it need not exist yet."""
        return CachedMeasurement("costs", ("native", self.model.instructions, self.threads, self.model.config, self.drafter, self.longest))


def stored_costs(measured: MeasuredModel) -> Costs | None:
    """The costs if they were measured before on this machine, else None. The model may have been loaded without the
    drafter.
    """
    kept = measured.measurement.read(Costs.from_dict)
    if kept is None:
        return None
    times = (*kept.plain, *(time for pair in (*kept.verifying, *kept.drafting) for time in pair))
    return kept if min(times) > 0 else None  # every part of a round takes time: a cache with a 0 is damaged


def round_costs(measured: MeasuredModel) -> Costs:
    """The costs, from the cache, or measured and cached if it has none. To be measured, the model must have been
    loaded with the drafter.
    """
    kept = stored_costs(measured)
    if kept is None:
        kept = measure_native_costs(measured.model, measured.longest, measured.threads)
        measured.measurement.write(asdict(kept))
    return kept


def can_pay(costs: Costs, longest: int) -> bool:
    """Whether for some size from 1 to `longest` drafts are faster than none, for one row, if each drafted token is
    accepted with probability 0.8 (OPTIMISTIC) after all those before it were.
    """
    tokens = passing = 1.0
    for size in range(1, longest + 1):
        passing *= OPTIMISTIC
        tokens += passing
        if tokens * costs.without(1) > costs.with_draft(1, size, size):
            return True
    return False


def measure_native_costs(model: NativeModel, longest: int, threads: int) -> Costs:
    """Measure the costs of rounds over made-up sources, of 1 row and of 8 rows (ROWS), without drafts and with
    drafts of 3 and 12 tokens, or of `longest` tokens if that is less.

    A cost is the minimum over all rounds, because other load on the machine can only make a round slower. One row is
    decoded by `threads` threads, several rows by one thread.
    """
    sizes = (min(SHORT, longest), min(LONG, longest))
    cases = [(rows, size) for rows in (1, ROWS) for size in (0, *sizes)]
    # Repetitions are interleaved, so that a short load on the machine does not fall on one of them alone.
    repetitions: list[dict[tuple[int, int], tuple[float, float]]] = []
    started = time.perf_counter()
    while len(repetitions) < _REPETITIONS and (not repetitions or time.perf_counter() - started < _ENOUGH):
        repetitions.append({case: _times(model, *case, threads) for case in cases})
    drafting, verifying = ({case: _least([each[case][part] for each in repetitions]) for case in cases} for part in (0, 1))
    short, long = sizes
    return Costs(
        sizes,
        (verifying[1, 0], verifying[ROWS, 0]),
        ((verifying[1, short], verifying[1, long]), (verifying[ROWS, short], verifying[ROWS, long])),
        ((drafting[1, short], drafting[1, long]), (drafting[ROWS, short], drafting[ROWS, long])),
    )


def _times(model: NativeModel, rows: int, size: int, threads: int) -> tuple[float, float]:
    """The least milliseconds of drafting and of the rest of a round; 0 for what was not measured."""
    config = model.config
    first = min(8, config.source_size - 1)
    some = config.source_size - first
    sources = [[*(first + (31 * row + 7 * place) % some for place in range(_SOURCE)), config.eos] for row in range(rows)]
    decoding = "specdec" if size else "greedy"
    return model.times(
        sources, Request(decoding, block_size=size, batch=rows, threads=threads if rows == 1 else 1, max_length=_TOKENS + size)
    )


def _least(milliseconds: list[float]) -> float:
    return min((each for each in milliseconds if each > 0), default=_UNKNOWN)
