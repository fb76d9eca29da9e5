"""Corruption of many lines: counts, order, processes and memory."""

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from specdec_cli.corruption import run, spelling
from specdec_cli.corruption.corrupter import KINDS, CorruptionRecipe, ErrorCounts
from specdec_cli.corruption.run import ERRORS, Plan, corrupt_lines
from specdec_cli.errors import InputError, UsageError

PLAN = Plan(CorruptionRecipe(0.1, ErrorCounts(), dict.fromkeys(KINDS, 1.0)), seed=5, copies=2)
LINES = [f"Line {number} has been written to see what becomes of it, and of the others." for number in range(23)]


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "_CHUNK_LINES", 4)


def pairs(lines: list[str], plan: Plan = PLAN, processes: int = 1) -> list[tuple[str, str]]:
    return [pair for chunk in corrupt_lines(lines, plan, processes) for pair in chunk.pairs]


def test_lines_and_copies_are_in_order() -> None:
    made = pairs(LINES)
    assert [clean for _, clean in made] == [line for line in LINES for _ in range(2)]
    assert len({corrupted for corrupted, _ in made}) > len(LINES)
    alone = pairs(LINES, Plan(PLAN.recipe, PLAN.seed, copies=1))
    assert made[::2] == alone


def test_the_chunk_size_does_not_change_the_output(monkeypatch: pytest.MonkeyPatch) -> None:
    small = pairs(LINES)
    monkeypatch.setattr(run, "_CHUNK_LINES", 100)
    assert pairs(LINES) == small


def test_processes_do_not_change_the_output_and_read_ahead_little() -> None:
    read = count()
    last = 0

    def texts() -> Iterator[str]:
        nonlocal last
        for line in LINES * 20:
            last = next(read) + 1
            yield line

    chunks = corrupt_lines(texts(), PLAN, processes=2)
    made = next(chunks).pairs
    assert last <= 4 * (2 * 2 + 1)
    made += [pair for chunk in chunks for pair in chunk.pairs]
    assert made == pairs(LINES * 20)


KILLED = """
import multiprocessing, time
from specdec_cli.corruption import run
from specdec_cli.corruption.corrupter import CorruptionRecipe
if __name__ == "__main__":
    run._CHUNK_LINES = 1
    chunks = run.corrupt_lines(["He is here."] * 9, run.Plan(CorruptionRecipe()), 2)
    next(chunks)
    print(*(process.pid for process in multiprocessing.active_children()), flush=True)
    time.sleep(600)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell about processes in /proc")
def test_processes_end_with_their_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", KILLED], stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = list(map(int, parent.stdout.readline().split()))
        assert len(children) == 2
        parent.kill()
    for _ in range(6000):
        if not any(map(_runs, children)):
            return
        time.sleep(0.01)
    for child in filter(_runs, children):
        os.kill(child, signal.SIGKILL)
    raise AssertionError("processes outlived their parent by a minute")


def _runs(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_counts_are_sums_over_chunks() -> None:
    counts = Counter[str]()
    made = []
    for chunk in corrupt_lines([LINES[0], " ", *LINES[1:], ""], PLAN):
        counts.update(chunk.counts)
        made += chunk.pairs
    assert (counts["lines"], counts["blank"], counts["pairs"], len(made)) == (25, 2, 46, 46)
    assert counts["clean"] == sum(corrupted == clean for corrupted, clean in made)
    assert counts["words"] == 2 * 23 * 15
    errors = sum(number for name, number in counts.items() if name.startswith(ERRORS))
    assert errors >= counts["pairs"] - counts["clean"]


def test_lines_before_a_failure_are_returned() -> None:
    def texts() -> Iterator[str]:
        yield from LINES[:6]
        raise InputError("file, line 7: not valid UTF-8")

    done = []
    with pytest.raises(InputError, match="line 7"):
        for chunk in corrupt_lines(texts(), PLAN):
            done += chunk.pairs
    assert [clean for _, clean in done[::2]] == LINES[:6]


def test_a_missing_dictionary_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    spelling.misspellings.cache_clear()
    monkeypatch.setattr(spelling, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"codespell.*pip install 'specdec\[gec\]'"):
        next(corrupt_lines(LINES, PLAN))


def test_misspellings_are_lower_case_words() -> None:
    table = spelling.misspellings()
    assert len(table) > 10000
    assert "recieve" in table["receive"]
    assert "recieve" in spelling.likely_misspellings("receive")
    assert all(wrong.isalpha() and wrong.islower() and wrong != right for right, wrongs in table.items() for wrong in wrongs)
    assert spelling.likely_misspellings("qwrtz") == ()
