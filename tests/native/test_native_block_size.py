"""The number of drafted tokens that the native engine chooses, against the reference's."""

import ctypes
import itertools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.pace import AdaptivePace, Tallies
from specdec_cli.engines import measurements
from specdec_cli.engines.measurements import RUNS
from specdec_cli.engines.native_costs import MeasuredModel, SharedBlockSizes, costs_struct, round_costs, stored_costs
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.native.model import NativeModel
from tests.fakes import tiny_drafter

TIMES = st.floats(0.05, 3.0)
PAIRS = st.tuples(TIMES, TIMES)
SIZES = [(1,), (2, 5), (3, 12), (1, 3, 7, 11, 15)]


class Native:
    """The statistics of one worker of the native engine."""

    def __init__(self, probe: Any, costs: Costs, longest: int, rows: int, may_skip: bool) -> None:
        self._probe, self._made = probe, ctypes.c_void_p()
        numbers = (longest, rows, 1, may_skip)
        assert not probe.specdec_adaptive_create(ctypes.byref(costs_struct(costs)), None, *numbers, ctypes.byref(self._made))

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


def tallies_of(size: int, passed: list[int]) -> Tallies:
    """A round whose rows have full drafts, of which the first `passed` tokens are accepted."""
    return Tallies.of_rows(1, size, [(size, accepted) for accepted in passed])


@given(
    plain=PAIRS,
    sizes=st.sampled_from(SIZES),
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
    sizes: tuple[int, ...],
    longest: int,
    may_skip: bool,
    rows: int,
    rounds: int,
    accepted: float,
    data: st.DataObject,
) -> None:
    times = [tuple(data.draw(st.lists(TIMES, min_size=len(sizes), max_size=len(sizes)))) for _ in range(4)]
    costs = Costs(sizes, plain, (times[0], times[1]), (times[2], times[3]))
    random = data.draw(st.randoms(use_true_random=False))
    reference, native = AdaptivePace(costs, longest), Native(probe, costs, longest, rows, may_skip)
    for _ in range(40):
        drafts = reference.pays(rows) if may_skip else True
        if may_skip and not costs.can_pay(rows, range(1, longest + 1)):
            assert not drafts  # the library is not asked
            continue
        assert native.begin(rows) == drafts
        if not drafts:
            continue
        reference.admitted()
        for _ in range(rounds):
            running = random.randint(1, rows)
            count, size = reference.next(running)
            assert (count, size) == (1, native.size(running))
            passed = [next((slot for slot in range(size) if random.random() > accepted), size) for _ in range(running)]
            reference.count(tallies_of(size, passed))
            native.observe(size, passed)
    native.close()


def test_the_scale_of_the_statistics_does_not_overflow(probe: Any) -> None:
    costs = Costs((2, 5), (1.0, 2.0), ((1.2, 1.5), (2.5, 4.0)), ((0.2, 0.5), (0.5, 1.0)))
    reference, native = AdaptivePace(costs, 6), Native(probe, costs, 6, 1, False)
    reference.admitted()
    native.begin(1)
    for round_number in range(6000):
        _, size = reference.next(1)
        assert native.size(1) == size
        passed = min(round_number // 500 % 7, size)
        reference.count(tallies_of(size, [passed]))
        native.observe(size, [passed])
    native.close()


@pytest.mark.parametrize(("drafting", "expected"), [(0.1, True), (0.9, True), (3.0, False)])
def test_drafts_that_cannot_pay_are_known_from_the_costs(drafting: float, expected: bool) -> None:
    costs = Costs((3, 10), (1.0, 8.0), ((1.1, 2.0), (9.0, 20.0)), ((drafting, 3 * drafting), (drafting, 3 * drafting)))
    assert costs.can_pay(1, range(1, 11)) == expected
    assert costs.can_pay(8, range(1, 11), 0.5) and not costs.can_pay(8, range(1, 11), 3.0)


def test_costs_are_measured_without_torch(make_bundle: Callable[..., Bundle], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bundle = make_bundle()
    drafter = tiny_drafter(bundle.verifier, chain=16)
    save_bundle(replace(bundle, drafter=drafter), tmp_path)
    paths = [tmp_path / part / "model.safetensors" for part in ("verifier", "drafter")]
    model = NativeModel(bundle.verifier.config, paths[0], drafter.config, paths[1])
    measured = MeasuredModel(bundle.verifier.config, drafter.config, 4, 1)
    assert stored_costs(measured) is None
    for _ in range(RUNS):
        measurements._known.clear()  # as in a new process
        costs = round_costs(measured, model)
    assert costs.sizes == (1, 3, 4)
    assert all(times > 0 for times in (*costs.plain, *itertools.chain(*costs.verifying, *costs.drafting)))
    monkeypatch.setattr(NativeModel, "times", None)
    assert round_costs(measured, model) == stored_costs(measured) == costs
    assert stored_costs(replace(measured, longest=3)) is None


def test_statistics_are_borrowed_by_one_decoding_at_a_time() -> None:
    costs = Costs((2, 5), (1.0, 2.0), ((1.2, 1.5), (2.5, 4.0)), ((0.2, 0.5), (0.5, 1.0)))
    sizes = SharedBlockSizes(costs, 5, 4, 1, may_skip=False)
    with sizes.borrow() as first, sizes.borrow() as second:
        assert first is not second
    with sizes.borrow() as again:
        assert again in (first, second)
    assert sizes.drafts == (0, 0)
