"""Threads of the native engine: what they share, who may have them, and what a child process does without them."""

import ctypes
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.models import SHIPPED
from tests.native.decoding_requests import Request, decode

pytestmark = pytest.mark.usefixtures("sharing")
SOURCES = [[8 + number, 30, 41, 9, 100 + number, 3] for number in range(6)]

FORKED = """
import os, sys
from tests.native.test_threads import SOURCES, outputs, shipped
from tests.native.decoding_requests import Request, decode

model = shipped()
running = decode(model, SOURCES, Request(threads=3, max_length=12))
first = next(running)
child = os.fork()
rest = [each.ids for each in running]
if child == 0:
    same = [first.ids, *rest] == outputs(model, 1) == outputs(model, 3) == outputs(model, 3)
    os._exit(0 if same else 1)
assert [first.ids, *rest] == outputs(model, 1)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def shipped() -> NativeModel:
    """The verifier of en-gec."""
    return NativeModel(describe_bundle(SHIPPED / "en-gec").shape, SHIPPED / "en-gec" / "verifier" / "model.safetensors")


def outputs(model: NativeModel, threads: int) -> list[list[int]]:
    """Ids of all sources, decoded one after the other."""
    return [each.ids for each in decode(model, SOURCES, Request(threads=threads, max_length=12))]


def test_two_queues_of_one_model_at_once() -> None:
    model = shipped()
    expected = outputs(model, 1)
    running = decode(model, SOURCES, Request(threads=2, max_length=12))
    first = next(running)
    assert outputs(model, 2) == expected  # the helpers are at the other queue
    assert [first.ids, *(each.ids for each in running)] == expected
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(outputs, [model] * 6, [2, 3, 1, 3, 2, 2])) == [expected] * 6


def test_more_threads_after_fewer() -> None:
    model = shipped()
    found = [outputs(model, threads) for threads in (1, 2, 5, 3, 8)]
    assert found == [found[0]] * 5


def test_a_queue_has_no_more_threads_than_it_asked_for(probe: Any) -> None:
    assert [probe.probe_fewer(more, fewer) for more, fewer in ((5, 2), (2, 5), (3, 3), (4, 1))] == [2, 5, 3, 1]


def test_a_child_process_goes_on_with_a_queue() -> None:
    done = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_threads_go_on_together_with_less_patience_after_a_helper_was_delayed(probe: Any) -> None:
    threads, before, after = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    probe.probe_delay(ctypes.byref(threads), ctypes.byref(before), ctypes.byref(after))
    assert threads.value == 2
    assert 0 < 10 * after.value < before.value


@pytest.mark.parametrize(("slow_alone", "faster"), [(False, 1), (True, 2)])
def test_after_a_delay_work_is_done_in_the_faster_way(probe: Any, slow_alone: bool, faster: int) -> None:
    threads = (ctypes.c_int * 6)()
    probe.probe_turns(int(slow_alone), len(threads), threads)
    assert list(threads) == [2, 1, faster] * 2


@pytest.mark.parametrize("batch", [1, 4])
def test_a_queue_ends_with_what_is_raised_meanwhile(batch: int) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    found: list[Hypothesis] = []
    with pytest.raises(KeyboardInterrupt):
        found.extend(decode(shipped(), SOURCES * 40, Request(batch=batch, threads=2), stop))
    assert len(found) < len(SOURCES)
