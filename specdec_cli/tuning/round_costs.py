"""What a round takes on this machine, by how many rows it has, how many tokens are drafted and how many verified."""

import hashlib
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields
from math import inf, isfinite
from statistics import median
from typing import Any

import torch
from torch import nn

from specdec_cli.decoding.accept import Exact
from specdec_cli.decoding.drafters import Drafter, SizedDrafter
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.loop import LoopOptions, Round, decode
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels.build import kernels_digest
from specdec_cli.measurement_cache import CachedMeasurement
from specdec_cli.model.drafters import AnyDrafter
from specdec_cli.model.int8 import kernels_of

SHORT, LONG = 3, 12
"""Draft sizes that are timed; a drafter of less gets its longest."""
ROWS = 8
"""Rows of the batch that is timed beside single ones."""
UNKNOWN = 1.0
"""Milliseconds that a round is taken for where a model ends every sentence at once, so that none could be timed."""
CHECKED, FACTOR = 200, 2.0
"""Where the median of so many rounds differs by more than this factor from what was timed, costs are timed again."""
LIKE = 32
"""The widest sources of rounds that are compared with those that were timed."""
_SOURCE = 14
_TOKENS = 8
_REPETITIONS = 3
_ENOUGH = 2.0
"""Seconds after which nothing is repeated."""

Times = tuple[float, float]
"""Milliseconds at a shorter and a longer draft, SHORT and LONG tokens or as many as there can be."""


@dataclass(frozen=True)
class Costs:
    """Milliseconds for one row and for ROWS of them: a round without drafts, a round that verifies drafts of `sizes`, and making
    such drafts, with what the drafter does after the round. Between and beyond what was timed, lines are drawn; a draft shorter
    than those that were timed takes as long as they do.
    """

    sizes: tuple[int, int]
    plain: tuple[float, float]
    verifying: tuple[Times, Times]
    drafting: tuple[Times, Times]

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Costs":
        """From JSON. Raises KeyError, TypeError or ValueError for what is no such record, or has times that cannot be."""
        if values.keys() != {each.name for each in fields(cls)}:
            raise KeyError("not the fields of a record of costs")
        short, long = values["sizes"]
        if not (type(short) is type(long) is int and 1 <= short <= long):
            raise ValueError(f"draft sizes {short} and {long}")
        verifying, drafting = ((_times(few), _times(many)) for few, many in (values["verifying"], values["drafting"]))
        return cls((short, long), _times(values["plain"]), verifying, drafting)

    def without(self, rows: int) -> float:
        """A round that only verifies the next token of each row."""
        return _at(rows, (1, ROWS), self.plain)

    def with_draft(self, rows: int, asked: int, offered: float) -> float:
        """A round for which each row is asked for so many tokens, and offered so many on average."""
        fixed, each_asked, each_offered = self.with_drafts(rows)
        short = self.sizes[0]
        return fixed + each_asked * max(asked - short, 0) + each_offered * max(offered - short, 0)

    def with_drafts(self, rows: int) -> tuple[float, float, float]:
        """The parts of such a round: what it takes with a short draft, for each further token asked for, and for each one offered."""
        verifying, drafting = self._line(self.verifying, rows), self._line(self.drafting, rows)
        return verifying[0] + drafting[0], drafting[1], verifying[1]

    def _line(self, times: tuple[Times, Times], rows: int) -> tuple[float, float]:
        """What a short draft takes, and each further token."""
        short, long = (_at(rows, (1, ROWS), (few, many)) for few, many in zip(*times, strict=True))
        return short, max(long - short, 0.0) / max(self.sizes[1] - self.sizes[0], 1)


def _times(values: Sequence[float]) -> Times:
    first, second = values
    if not all(isinstance(each, float | int) and isfinite(each) and each >= 0 for each in (first, second)):
        raise ValueError(f"times of {first} and {second} ms")
    return float(first), float(second)


def _at(place: float, places: tuple[int, int], values: tuple[float, float]) -> float:
    """The value at a place on the line through two; a line never falls, for that is noise."""
    slope = max(values[1] - values[0], 0.0) / max(places[1] - places[0], 1)
    return max(values[0] + slope * (place - places[0]), 0.0)


def round_costs(
    verifier: Verifier, drafter: SizedDrafter, longest: int, name: str, network: AnyDrafter | None, *, anew: bool = False
) -> Costs:
    """The costs of `verifier` with `drafter`; measured once on a machine, then kept. `anew`: measured whatever is kept.

    What is kept depends on the drafter's kind, which `name` tells, on its `network`, and on all that the times depend on.
    """
    model = verifier.model
    kernels = kernels_digest() if kernels_of(model) is not None else None
    arithmetic = (type(model.layers).__name__, str(next(model.parameters()).dtype), str(verifier.device), kernels)
    weights = [_digest(module) for module in (model, network) if module is not None]
    shapes = (model.config, verifier.constraints, network and network.config)
    measurement = CachedMeasurement("costs", (torch.__version__, torch.get_num_threads(), arithmetic, shapes, weights, name, longest))
    kept = None if anew else measurement.read(Costs.from_dict)
    if kept is None:
        kept = measure_costs(verifier, drafter, longest)
        measurement.write(asdict(kept))
    return kept


def _digest(module: nn.Module) -> str:
    """A name for a model: by the names and shapes of its weights, and the first numbers of each."""
    digest = hashlib.sha256()
    for name, weight in module.named_parameters():
        digest.update(f"{name} {tuple(weight.shape)}".encode())
        digest.update(weight.detach().flatten()[:16].float().cpu().numpy().tobytes())
    return digest.hexdigest()


class CostCheck:
    """Compares what rounds take with what `Costs` say, over the last CHECKED rounds like those that were timed."""

    def __init__(self) -> None:
        self._ratios: deque[float] = deque(maxlen=CHECKED)

    def add(self, state: State, milliseconds: float, expected: float) -> None:
        """A round of `state` took so long."""
        rows, width = state.source.shape
        if rows <= ROWS and width <= LIKE and expected > 0 and not state.tokens.is_cuda:
            self._ratios.append(milliseconds / expected)

    @property
    def full(self) -> bool:
        """Whether enough rounds were seen."""
        return len(self._ratios) == CHECKED

    @property
    def failed(self) -> bool:
        """Whether rounds took less than half or more than twice as long as they should; the median counts."""
        return self.full and not 1 / FACTOR <= median(self._ratios) <= FACTOR


def measure_costs(verifier: Verifier, drafter: SizedDrafter, longest: int) -> Costs:
    """Time rounds of decoding sources made up, of one row and of several, without and with drafts.

    Of several times the least counts: what else the machine does makes a round slower, never faster.
    """
    sizes, before = (min(SHORT, longest), min(LONG, longest)), drafter.block_size
    verifying = {(rows, size): inf for rows in (1, ROWS) for size in (0, *sizes)}
    drafting = {(rows, size): inf for rows in (1, ROWS) for size in sizes}
    started = time.perf_counter()
    # Each of them once, then all of them again: what else the machine does comes and goes.
    for repetition in range(_REPETITIONS):
        if repetition and time.perf_counter() - started > _ENOUGH:
            break
        for (rows, size), least in verifying.items():
            constant = _Constant(size) if size else NoDrafter()
            verifying[rows, size] = min([least, *_rounds(verifier, constant, rows)])
        for (rows, size), least in drafting.items():
            drafter.block_size, timed = size, _Timed(drafter)
            _rounds(verifier, timed, rows)
            drafting[rows, size] = min([least, *timed.milliseconds])
    drafter.block_size = before
    known = {key: UNKNOWN if least == inf else least for key, least in verifying.items()}
    short, long = sizes
    return Costs(
        sizes,
        (known[1, 0], known[ROWS, 0]),
        ((known[1, short], known[1, long]), (known[ROWS, short], known[ROWS, long])),
        ((drafting[1, short], drafting[1, long]), (drafting[ROWS, short], drafting[ROWS, long])),
    )


def _rounds(verifier: Verifier, drafter: Drafter, rows: int) -> list[float]:
    """Milliseconds of rounds of so many rows."""
    some = verifier.model.config.source_size - 8
    sources = [[8 + (31 * row + 7 * place) % some for place in range(_SOURCE)] for row in range(rows)]
    sentences = [Sentence(row, [*source, verifier.model.config.eos]) for row, source in enumerate(sources)]
    clock = _Clock()
    list(decode(verifier, drafter, sentences, LoopOptions(Exact(), rows, _TOKENS), clock))
    return clock.milliseconds


class _Clock:
    """An onlooker that notes how long each round took since the one before."""

    def __init__(self) -> None:
        self.milliseconds: list[float] = []
        self._last = (0, 0.0)

    def __call__(self, seen: Round) -> None:
        now, rows = time.perf_counter(), len(seen.state.lengths)
        # A batch that has lost rows is another one.
        if self._last[0] == rows:
            self.milliseconds.append(1000 * (now - self._last[1]))
        self._last = (rows, now)


@dataclass
class _Constant:
    """Drafts that cost nothing."""

    size: int

    def begin(self, state: State) -> object:  # noqa: ARG002
        return None

    def propose(self, state: State) -> Draft:
        return Draft(state.source[:, :1].expand(-1, self.size), torch.full_like(state.lengths, self.size))

    def observe(self, state: State, verdict: Verdict) -> None:
        """Nothing to learn."""


@dataclass
class _Timed:
    """Times another drafter."""

    drafter: Drafter
    milliseconds: list[float] = field(default_factory=list)

    def begin(self, state: State) -> object:
        return self.drafter.begin(state)

    def propose(self, state: State) -> Draft:
        started = _now(state)
        draft = self.drafter.propose(state)
        self.milliseconds.append(1000 * (_now(state) - started))
        return draft

    def observe(self, state: State, verdict: Verdict) -> None:
        started = _now(state)
        self.drafter.observe(state, verdict)
        self.milliseconds[-1] += 1000 * (_now(state) - started)


def _now(state: State) -> float:
    if state.tokens.is_cuda:
        torch.cuda.synchronize()
    return time.perf_counter()
