"""The number of drafted tokens that the native engine chooses, against the reference's."""

import ctypes
from types import SimpleNamespace
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.tuning.adaptive_block_size import AdaptiveBlockSize
from specdec_cli.tuning.native_block_size import costs_struct
from specdec_cli.tuning.round_costs import Costs

TIMES = st.floats(0.05, 3.0)
PAIRS = st.tuples(TIMES, TIMES)


class Sized(NoDrafter):
    """A drafter that claims to draft as many tokens as it is asked for."""

    block_size = 1

    def propose(self, state: Any) -> Any:
        return SimpleNamespace(counts=torch.full((len(state.finished),), self.block_size))


class Native:
    """The statistics of one worker of the native engine."""

    def __init__(self, probe: Any, costs: Costs, longest: int, rows: int, may_skip: bool) -> None:
        self._probe, self._made = probe, ctypes.c_void_p()
        assert probe.specdec_adaptive_create(ctypes.byref(costs_struct(costs)), longest, rows, 1, may_skip, ctypes.byref(self._made)) == 0

    def begin(self, rows: int) -> bool:
        return bool(self._probe.probe_adaptive_begin(self._made, ctypes.c_int64(rows)))

    def size(self, rows: int) -> int:
        return int(self._probe.probe_adaptive_size(self._made, ctypes.c_int64(rows)))

    def observe(self, size: int, passed: list[int]) -> None:
        for each in passed:
            self._probe.probe_adaptive_count(self._made, ctypes.c_int64(each))
        self._probe.probe_adaptive_finish(self._made, ctypes.c_int64(size))

    def close(self) -> None:
        self._probe.specdec_adaptive_destroy(self._made)


def state_of(rows: int) -> Any:
    return SimpleNamespace(
        finished=torch.zeros(rows, dtype=torch.bool), lengths=torch.ones(rows), source=torch.zeros(rows, 99), tokens=torch.ones(1)
    )


@pytest.mark.slow
@given(
    plain=PAIRS,
    times=st.tuples(PAIRS, PAIRS, PAIRS, PAIRS),
    sizes=st.sampled_from([(1, 1), (2, 5), (3, 12)]),
    longest=st.integers(1, 14),
    may_skip=st.booleans(),
    rows=st.integers(1, 9),
    rounds=st.integers(1, 30),
    accepted=st.floats(0.0, 1.0),
    data=st.data(),
)
def test_every_choice_is_that_of_the_reference(
    probe: Any,
    plain: tuple[float, float],
    times: tuple[tuple[float, float], ...],
    sizes: tuple[int, int],
    longest: int,
    may_skip: bool,
    rows: int,
    rounds: int,
    accepted: float,
    data: st.DataObject,
) -> None:
    costs = Costs(sizes, plain, (times[0], times[1]), (times[2], times[3]))
    random = data.draw(st.randoms(use_true_random=False))
    reference, native = AdaptiveBlockSize(Sized(), costs, longest), Native(probe, costs, longest, rows, may_skip)
    for _ in range(40):
        chosen = reference.for_rows(rows) if may_skip else reference
        assert native.begin(rows) == (chosen is reference)
        if chosen is not reference:
            continue
        reference.begin(state_of(rows))
        for _ in range(rounds):
            running = random.randint(1, rows)
            state = state_of(running)
            reference.propose(state)
            size = reference._size
            assert native.size(running) == size
            passed = [next((slot for slot in range(size) if random.random() > accepted), size) for _ in range(running)]
            verdict = SimpleNamespace(accepted=SimpleNamespace(counts=torch.tensor(passed) + 1))
            reference.observe(state, verdict)  # type: ignore[arg-type]
            native.observe(size, passed)
    native.close()


def test_the_scale_of_the_statistics_does_not_overflow(probe: Any) -> None:
    costs = Costs((2, 5), (1.0, 2.0), ((1.2, 1.5), (2.5, 4.0)), ((0.2, 0.5), (0.5, 1.0)))
    reference, native = AdaptiveBlockSize(Sized(), costs, 6), Native(probe, costs, 6, 1, False)
    reference.begin(state_of(1))
    native.begin(1)
    for round_number in range(6000):
        reference.propose(state_of(1))
        size = reference._size
        assert native.size(1) == size
        passed = min(round_number // 500 % 7, size)
        reference.observe(state_of(1), SimpleNamespace(accepted=SimpleNamespace(counts=torch.tensor([passed + 1]))))  # type: ignore[arg-type]
        native.observe(size, [passed])
    native.close()
