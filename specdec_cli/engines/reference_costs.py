"""Measurement of the costs of decoding rounds on this machine."""

import time
from collections.abc import Sequence
from math import inf
from typing import Any

import torch

from specdec_cli.decoding.costs import ROWS, Costs, made_up_sources
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.graph_player import captured_sizes
from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.player import open_player
from specdec_cli.decoding.rounds import DraftAndVerify, RoundTrace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.measurements import cached_costs
from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.drafter import AnyDrafter
from specdec_cli.model.network import fingerprint_of

SIZES = (3, 7, 11, 15)
"""Draft sizes that are measured, in tokens: as many positions as are verified together for little more than one; where they do not run, the
next larger ones, or the largest one.
"""
UNKNOWN = 1.0
"""Cost in milliseconds that is assumed for rounds that could not be measured, because the model ends every sentence
at once.
"""
_TEXT = "The old house at the end of the street has been for sale since May."
"""The text of a made-up source, which a draft model with another vocabulary reads."""
_TOKENS = 6
"""Tokens decoded of each made-up source."""
_BURSTS = 6
"""Bursts that are measured by CUDA graphs, of which the first ones capture them."""
_REPETITIONS = 3
_ENOUGH = 2.0
"""Seconds after which no further repetition starts."""


def sizes_of(verifier: Verifier, drafter: Drafter, longest: int) -> Sequence[int]:
    """The numbers of tokens, from the smallest, that drafts of `drafter` can have where up to `longest` are asked for: all, or those for
    which rounds are captured.
    """
    return captured_sizes(drafter.limit, longest) if _is_captured(verifier, drafter) else range(1, longest + 1)


def _is_captured(verifier: Verifier, drafter: Drafter) -> bool:
    return verifier.graphs is not None and drafter.capturable


def round_costs(verifier: Verifier, drafter: Drafter, longest: int, name: str, network: AnyDrafter | None) -> Costs:
    """Return the costs of rounds of `verifier` with `drafter`; the first runs on a machine measure them (see `cached_costs`).

    `longest` is the largest number of drafted tokens, `network` the drafter's trained network or None. The
    key of the cache contains the decoding and its options (`name`), the models, the precision, the number of
    threads, and the GPU.
    """
    arithmetic = (*verifier.network.fingerprint, *_device(verifier.device))
    weights = network and fingerprint_of(network)
    shapes = (verifier.config, verifier.constraints, network and network.config)
    sizes = sizes_of(verifier, drafter, longest) if _is_captured(verifier, drafter) else longest
    measurement = CachedMeasurement("costs", (torch.__version__, torch.get_num_threads(), arithmetic, shapes, weights, name, sizes))
    return cached_costs(measurement, lambda: measure_costs(verifier, drafter, longest))


def _device(device: torch.device) -> tuple[str, ...]:
    """The kind of `device`, and the name and compute capability of a GPU: the fingerprint of a measurement has the processor's only."""
    if device.type != "cuda":
        return (str(device),)
    return device.type, torch.cuda.get_device_name(device), str(torch.cuda.get_device_capability(device))


def measure_costs(verifier: Verifier, drafter: Drafter, longest: int) -> Costs:
    """Measure the costs of rounds over made-up sources, of 1 row and of 8 rows (ROWS), without drafts and with
    drafts of 3, 7, 11 and 15 tokens: of the next size that runs, or of the largest one if that is less (see `sizes_of`).

    A cost is the minimum over all rounds, because other load on the machine can only make a round slower.
    """
    sizes = sizes_of(verifier, drafter, longest)
    measured = tuple(sorted({next((size for size in sizes if size >= wanted), sizes[-1]) for wanted in SIZES}))
    verifying = {(rows, size): inf for rows in (1, ROWS) for size in (0, *measured)}
    drafting = {(rows, size): inf for rows in (1, ROWS) for size in measured}
    constant, started = _Constant(sizes[-1]), time.perf_counter()
    # Repetitions are interleaved, so that a short load on the machine does not fall on one of them alone.
    for repetition in range(_REPETITIONS):
        if repetition and time.perf_counter() - started > _ENOUGH:
            break
        for (rows, size), least in verifying.items():
            verifying[rows, size] = min([least, *_rounds(verifier, constant if size else NoDrafter(), rows, size)])
        for (rows, size), least in drafting.items():
            drafting[rows, size] = min(least, _drafting(verifier, drafter, rows, size, verifying[rows, size]))
    times = {key: UNKNOWN if least == inf else least for key, least in verifying.items()}
    return Costs.of_cases(measured, times, drafting)


def _rounds(verifier: Verifier, drafter: Drafter, rows: int, size: int) -> list[float]:
    """Milliseconds of each round of a batch of `rows` with drafts of `size` tokens."""
    config = verifier.config
    sources = made_up_sources(rows, config.source_size, config.eos)
    sentences = [Sentence(row, source, text=_TEXT) for row, source in enumerate(sources)]
    options = Decoding(batch_size=rows, max_length=_TOKENS)
    if verifier.graphs is not None and drafter.capturable:
        return _replayed(DraftAndVerify(verifier, drafter, options), verifier.graphs, sentences, size)
    clock = _Clock()
    list(decode_with(verifier, drafter, sentences, options, clock, FixedPace(size)))
    return clock.milliseconds


@torch.inference_mode()
def _replayed(round_: DraftAndVerify, graphs: Graphs, sentences: Sequence[Sentence], size: int) -> list[float]:
    """Milliseconds of a round in each of some bursts by CUDA graphs; finished rows take as long as others."""
    milliseconds = []
    with open_player(round_, graphs, len(sentences)) as player:
        player.admit(sentences)
        for _ in range(_BURSTS):
            started = time.perf_counter()
            player.launch(1, size)
            report = player.collect()
            milliseconds.append(1000 * (time.perf_counter() - started) / report.rounds)
    return milliseconds


def _drafting(verifier: Verifier, drafter: Drafter, rows: int, size: int, verifying: float) -> float:
    """Milliseconds that drafting takes in a round of a batch of `rows` with drafts of `size` tokens; without it a round takes
    `verifying` milliseconds.
    """
    if _is_captured(verifier, drafter):
        return max(min(_rounds(verifier, drafter, rows, size)) - verifying, 0.0)
    timed = _Timed(drafter)
    _rounds(verifier, timed, rows, size)
    return min(timed.milliseconds, default=inf)


class _Clock:
    """An onlooker that records the time between rounds, in milliseconds."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self._last = (0, 0.0)

    def __call__(self, seen: RoundTrace) -> None:
        now, rows = time.perf_counter(), len(seen.state.lengths)
        # Only rounds of the same number of rows are comparable.
        if self._last[0] == rows:
            self.milliseconds.append(1000 * (now - self._last[1]))
        self._last = (rows, now)


class _Constant:
    """Drafts as many tokens as it is asked for, up to `limit`, without any work."""

    capturable, reads_sentences = True, False

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def begin(self, state: State, sentences: Sequence[Sentence]) -> None:
        pass

    def propose(self, state: State, record: None, size: int) -> Draft:  # noqa: ARG002
        size = min(self.limit, size)
        return Draft(state.source[:, :1].expand(-1, size), torch.full_like(state.lengths, size))

    def observe(self, state: State, record: None, verdict: Verdict) -> None:
        pass


class _Timed:
    """Records how long another drafter takes in each round, in milliseconds."""

    capturable, reads_sentences = False, True

    def __init__(self, drafter: Drafter) -> None:
        self.drafter, self.limit = drafter, drafter.limit
        self.milliseconds: list[float] = []

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        return self.drafter.begin(state, sentences)

    def propose(self, state: State, record: Any, size: int) -> Draft:
        started = _now(state)
        draft = self.drafter.propose(state, record, size)
        self.milliseconds.append(1000 * (_now(state) - started))
        return draft

    def observe(self, state: State, record: Any, verdict: Verdict) -> None:
        started = _now(state)
        self.drafter.observe(state, record, verdict)
        self.milliseconds[-1] += 1000 * (_now(state) - started)


def _now(state: State) -> float:
    if state.tokens.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()
