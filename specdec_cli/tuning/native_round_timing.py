"""Measurement of the costs of the native engine's rounds on this machine, without torch."""

from dataclasses import asdict

from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.drafter_config import DrafterConfig
from specdec_cli.native.model import NativeModel, Request
from specdec_cli.tuning.round_costs import ROWS, Costs

SHORT, LONG = 3, 12
"""Draft sizes that are measured, in tokens; if `longest` is smaller than a size, it is measured instead."""
_SOURCE, _TOKENS = 14, 8
"""Tokens of a made-up source, and tokens decoded of each, besides those of a draft: shorter drafts are not timed."""
_REPETITIONS = 5
_UNKNOWN = 1.0
"""Cost in milliseconds of rounds that could not be measured because the model ends every sentence at once."""


def native_round_costs(model: NativeModel, drafter: DrafterConfig, longest: int, threads: int) -> Costs:
    """Return the costs of rounds of `model` with its drafter; they are measured on the first use on a machine and
    cached on disk.

    `longest` is the largest number of drafted tokens. One row is decoded by `threads` threads, several rows by one
    thread.
    """
    measurement = CachedMeasurement("costs", ("native", model.instructions, threads, model.config, drafter, longest))
    kept = measurement.read(Costs.from_dict)
    if kept is None:
        kept = measure_native_costs(model, longest, threads)
        measurement.write(asdict(kept))
    return kept


def measure_native_costs(model: NativeModel, longest: int, threads: int) -> Costs:
    """Measure the costs of rounds over made-up sources, of 1 row and of ROWS rows, without and with drafts of at
    most `longest` tokens.

    A cost is the minimum over all rounds, because other load on the machine can only make a round slower. One row is
    decoded by `threads` threads, several rows by one thread.
    """
    sizes = (min(SHORT, longest), min(LONG, longest))
    cases = [(rows, size) for rows in (1, ROWS) for size in (0, *sizes)]
    # Repetitions are interleaved, so that a short load on the machine does not fall on one of them alone.
    repetitions = [{case: _times(model, *case, threads) for case in cases} for _ in range(_REPETITIONS)]
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
    some = config.source_size - 8
    sources = [[*(8 + (31 * row + 7 * place) % some for place in range(_SOURCE)), config.eos] for row in range(rows)]
    decoding = "specdec" if size else "greedy"
    return model.times(
        sources, Request(decoding, block_size=size, batch=rows, threads=threads if rows == 1 else 1, max_length=_TOKENS + size)
    )


def _least(milliseconds: list[float]) -> float:
    return min((each for each in milliseconds if each > 0), default=_UNKNOWN)
