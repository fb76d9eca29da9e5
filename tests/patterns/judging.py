"""The growth of a pattern's steps with the size of a text, by the worst of its attacks."""

import collections
import re
import time
from typing import Literal, NamedTuple

from tests.patterns.attacks import Attack, attacks
from tests.patterns.backtracking import Steps

Growth = Literal["linear", "quadratic", "worse"]
_MOST = 300_000
_LONG = 8
"""The least length of a part whose repetition is judged by texts of fewer repetitions."""


class Judgement(NamedTuple):
    """The growth, the attack by which it is the worst, and the steps at the sizes of `SIZES`."""

    growth: Growth
    attack: Attack | None
    counted: tuple[int, ...] = ()


_FIRST = (1, 8, 24)
SIZES = (40, 80, 160)
"""Repetitions of the texts by which a suspected growth is judged: twice as many have 2 times the steps, 4 times, or more."""


def judge(pattern: str, flags: int, method: str) -> Judgement:
    """The growth of a pattern, used by `match`, `fullmatch` or `search`."""
    steps = Steps(pattern, flags)
    suspected = list[tuple[float, Attack]]()
    for attack in attacks(steps):
        longest = steps.count(method, attack.text(_FIRST[2]), 30_000)
        if longest < 200:
            continue
        least, few = (steps.count(method, attack.text(size), 30_000) for size in _FIRST[:2])
        if longest == 30_000 or (longest - few) > 3 * (few - least):
            suspected.append((longest, attack))
            if longest == 30_000:
                break
    worst = Judgement("linear", None)
    for _, attack in sorted(suspected, key=lambda pair: -pair[0])[:3]:
        sizes = SIZES if len(attack.pump) < _LONG else tuple(size // 4 for size in SIZES)
        counted: tuple[int, ...] = ()
        for size in sizes:
            counted = (*counted, steps.count(method, attack.text(size), _MOST))
            if counted[-1] == _MOST:
                return Judgement("worse", attack, counted)
        first, last = counted[1] - counted[0], counted[2] - counted[1]
        if last > 5.5 * first:
            return Judgement("worse", attack, counted)
        if last > 2.8 * first:
            worst = Judgement("quadratic", attack, counted)
    return worst


def seconds_at(pattern: str, flags: int, method: str, attack: Attack, size: int) -> float:
    """The least of three processor times of `re` for the attack with a text of `size` characters."""
    compiled, text = re.compile(pattern, flags), attack.text(size // len(attack.pump))
    times = []
    for _ in range(3):
        start = time.process_time()
        collections.deque(compiled.finditer(text), 0) if method == "search" else getattr(compiled, method)(text)
        times.append(time.process_time() - start)
    return min(times)
