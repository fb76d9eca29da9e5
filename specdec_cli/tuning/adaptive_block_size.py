"""How many tokens to draft, and whether to draft at all: what pays by what rounds cost and what was accepted lately."""

import time
from collections.abc import Callable, Sequence

from specdec_cli.decoding.drafters import Drafter, SizedDrafter
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.tuning.round_costs import CostCheck, Costs

PRIOR = 0.7
"""How likely a slot is thought to pass before anything was seen; later ones are thought to be as likely as those before them."""
WEIGHT = 8.0
"""Rounds that this opinion is worth."""
MARGIN = 1.1
"""How much more than nothing a draft must give: estimates and timings have errors, and doing nothing has none."""
MEMORY = 0.99
"""How much of what was seen still counts a round later."""
NEGLIGIBLE = 1e-3
"""A slot that is reached less often than this is not thought about."""
LARGE = 1e6
MOST_ROUNDS = 8
"""Rounds of a sentence that count for those after it, at most."""
RENEWAL = 8
"""Rounds after which the choice is made anew."""
FIRST_PAUSE, LONGEST_PAUSE = 32, 1024
SHORT_PAUSE = 4
"""While drafting does not pay, one sentence in so many is drafted all the same, at first (sooner where it did pay before) and, after
twice as many each time, in the end."""


class AdaptiveBlockSize:
    """Lets `drafter` draft as many tokens, 1 to `longest`, as give most tokens a millisecond.

    A slot passes with a probability that is learnt as text goes by, on condition that all before it do; so the tokens
    of a round with k slots are 1 + p1 + p1 p2 + ... + p1 ... pk, and `costs` says what it takes. `for_rows` also weighs it
    against not drafting at all. `measure` gives costs measured anew; it is called at most once, by `check_costs`.
    """

    def __init__(self, drafter: SizedDrafter, costs: Costs, longest: int, measure: Callable[[], Costs] | None = None) -> None:
        self._drafter, self._costs = drafter, costs
        self._measure, self._check = measure, CostCheck()
        # Of each slot: rounds in which it was asked for after all before it had passed, in which it was offered, in which it passed too.
        self._asked, self._offered, self._passed = ([0.0] * longest for _ in range(3))
        # The same as it was when rows last began, and the rounds since then.
        self._before, self._lasted = self._seen(), 0
        self._pause, self._skipped = FIRST_PAUSE, 0
        self._rounds_since, self._present = 0, 1.0
        self._choices: dict[int, tuple[int, bool]] = {}
        self._size = self._choice(1)[0]
        self.rounds = self.asked = 0
        """Rounds of running sentences that had a draft, and the tokens that were asked for in all of them."""

    def best(self, rows: int) -> tuple[int, bool]:
        """The number of tokens that is best for a batch of `rows`, and whether a draft of as many pays."""
        chosen, best = 1, 0.0
        passes, all_pass, tokens, all_offered, offered = PRIOR, 1.0, 1.0, 1.0, 0.0
        fixed, each_asked, each_offered = self._costs.with_drafts(rows)
        weight, short = WEIGHT * self._present, self._costs.sizes[0]
        seen = zip(self._asked, self._offered, self._passed, strict=True)
        for size, (slot_asked, slot_offered, slot_passed) in enumerate(seen, 1):
            passes = (slot_passed + weight * passes) / (slot_asked + weight)
            all_pass *= passes
            tokens += all_pass
            all_offered *= (slot_offered + weight) / (slot_asked + weight)
            offered += all_offered
            rate = tokens / (fixed + each_asked * max(size - short, 0) + each_offered * max(offered - short, 0.0))
            if rate > best:
                chosen, best = size, rate
            if all_pass < NEGLIGIBLE:
                break
        return chosen, best > MARGIN / self._costs.without(rows)

    def _choice(self, rows: int) -> tuple[int, bool]:
        """The best for so many rows by what was seen some rounds ago."""
        if self._rounds_since >= RENEWAL:
            self._choices.clear()
            self._rounds_since = 0
        if rows not in self._choices:
            self._choices[rows] = self.best(rows)
        return self._choices[rows]

    def for_rows(self, rows: int) -> Drafter:
        """What to decode the next sentences with, so many together: itself, or nothing while that is faster."""
        if self._choice(rows)[1]:
            self._pause, self._skipped = SHORT_PAUSE, 0
            return self
        self._skipped += 1
        if self._skipped < self._pause:
            return _Undrafted(self._costs, self._check)
        self._pause, self._skipped = min(2 * self._pause, LONGEST_PAUSE), 0
        return self

    def check_costs(self) -> None:
        """Measure the costs anew if rounds take much more or much less time than these say. Not while anything is decoded."""
        if self._measure is not None and self._check.failed:
            self._costs, self._measure = self._measure(), None
            self._choices.clear()

    def begin(self, state: State) -> object:
        """The record of the drafter. However many rounds a sentence took in which nothing passed, the next is another one."""
        share = min(1.0, MOST_ROUNDS / max(self._lasted, 1))
        for sums, before in zip((self._asked, self._offered, self._passed), self._before, strict=True):
            sums[:] = [then + share * (now - then) for then, now in zip(before, sums, strict=True)]
        self._before, self._lasted = self._seen(), 0
        self._choices.clear()
        return self._drafter.begin(state)

    def _seen(self) -> tuple[list[float], ...]:
        return self._asked.copy(), self._offered.copy(), self._passed.copy()

    def propose(self, state: State) -> Draft:
        """A draft (B, k)."""
        self._started = time.perf_counter()
        self._size = self._choice(state.finished.tolist().count(False))[0]
        self._rounds_since += 1
        self._drafter.block_size = self._size
        self._drafted = self._drafter.propose(state)
        return self._drafted

    def observe(self, state: State, verdict: Verdict) -> None:
        """Learn from what was accepted, and tell the drafter."""
        self._drafter.observe(state, verdict)
        # What is seen now counts more than what was: as if all of that were made less.
        self._present /= MEMORY
        if self._present > LARGE:
            self._forget_scale()
        rows = list(zip(state.finished.tolist(), self._drafted.counts.tolist(), verdict.accepted.counts.tolist(), strict=True))
        offered = sum(offered for _, offered, _ in rows) / max(len(rows), 1)
        expected = self._costs.with_draft(len(rows), self._size, offered)
        self._check.add(state, 1000 * (time.perf_counter() - self._started), expected)
        size, running = self._size, [(offered, counts - 1) for finished, offered, counts in rows if not finished]
        self._lasted += 1
        self.rounds += len(running)
        self.asked += size * len(running)
        # Beyond the verifier's own token: what stands behind an end of sentence is no gain.
        self._add(self._asked, [min(passed + 1, size) for _, passed in running])
        self._add(self._offered, [min(passed + 1, size, offered) for offered, passed in running])
        self._add(self._passed, [passed for _, passed in running])

    def _add(self, sums: list[float], reached: Sequence[int]) -> None:
        """Count each row for the slots before the one that it reached."""
        stopped = [0] * (len(sums) + 1)
        for place in reached:
            stopped[place] += 1
        going_on = len(reached)
        for slot in range(max(reached, default=0)):
            going_on -= stopped[slot]
            sums[slot] += self._present * going_on

    def _forget_scale(self) -> None:
        for sums in (self._asked, self._offered, self._passed):
            sums[:] = [each / self._present for each in sums]
        self._before = self._seen()
        self._present = 1.0


class _Undrafted(NoDrafter):
    """Drafts nothing, and compares what rounds take with what they should."""

    def __init__(self, costs: Costs, check: CostCheck) -> None:
        self._costs, self._check = costs, check

    def propose(self, state: State) -> Draft:
        """An empty draft (B, 0)."""
        self._started = time.perf_counter()
        return super().propose(state)

    def observe(self, state: State, verdict: Verdict) -> None:  # noqa: ARG002
        """Compare the round."""
        self._check.add(state, 1000 * (time.perf_counter() - self._started), self._costs.without(len(state.lengths)))
