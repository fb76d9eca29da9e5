"""Adaptive number of drafted tokens, 0 included, from the costs of rounds and the acceptance in recent rounds."""

from collections.abc import Sequence
from typing import Any

from specdec_cli.decoding.costs import PRIOR, Costs
from specdec_cli.decoding.drafters import Drafter, SizedDrafter, bounded
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict

WEIGHT = 8.0
"""Weight of the prior in the estimates, in rounds. The prior of the first slot is PRIOR; that of a later slot is the
estimate of the slot before it.
"""
MARGIN = 1.1
"""Least ratio of the tokens per millisecond with drafts to those without at which drafting counts as faster; it
covers timing error.
"""
MEMORY = 0.99
"""Factor by which the weight of each earlier round is multiplied in each round."""
NEGLIGIBLE = 1e-3
"""Slots after one that is reached and accepted with a smaller probability are not considered."""
LARGE = 1e6
"""Weight of a new round at which all counts and this weight are divided by it, to avoid overflow."""
MOST_ROUNDS = 8
"""Largest weight in the statistics, in rounds, of the rounds between two calls of `begin`, which decode one sentence
or batch.
"""
RENEWAL = 8
"""Rounds after which the block size is chosen again."""
FIRST_PAUSE, LONGEST_PAUSE = 32, 1024
SHORT_PAUSE = 4
"""While drafting is slower than plain decoding, one call of `for_rows` in FIRST_PAUSE still returns the drafter, to
update the statistics; if drafting was faster before, the first one after SHORT_PAUSE calls. The interval doubles
each time, up to LONGEST_PAUSE.
"""


class AdaptiveBlockSize:
    """A drafter that chooses the size of the drafts of `drafter`, from 1 to `longest`, to maximise the expected number of
    tokens per millisecond.

    The probability pi that slot i is accepted, given that all slots before it were, is estimated from recent rounds.
    A round with k slots then yields 1 + p1 + p1 p2 + ... + p1 ... pk tokens, in the time that `costs` gives.
    `for_rows` also compares this with decoding without drafts.
    """

    def __init__(self, drafter: SizedDrafter, costs: Costs, longest: int) -> None:
        self._drafter, self._costs = drafter, costs
        # Counts of rounds for each slot, given that all slots before it were accepted: it was asked for, drafted, accepted.
        self._asked, self._offered, self._passed = ([0.0] * longest for _ in range(3))
        # The counts at the last `begin`, and the rounds since then.
        self._before, self._lasted = self._seen(), 0
        self._pause, self._skipped = FIRST_PAUSE, 0
        self._rounds_since, self._present = 0, 1.0
        self._choices: dict[int, tuple[int, bool]] = {}
        self._size = self._choice(1)[0]
        self.rounds = self.asked = 0
        """Rounds with a draft since construction, counted once for each unfinished row, and the tokens asked for in them."""

    @property
    def capturable(self) -> bool:
        """False: the choice of a size reads values."""
        return False

    def best(self, rows: int) -> tuple[int, bool]:
        """The block size with the most expected tokens per millisecond for a batch of `rows`, and whether decoding
        with it is expected to be faster than without drafts by more than 10 % (MARGIN).
        """
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
        """`best(rows)`, computed anew every RENEWAL rounds."""
        if self._rounds_since >= RENEWAL:
            self._choices.clear()
            self._rounds_since = 0
        if rows not in self._choices:
            self._choices[rows] = self.best(rows)
        return self._choices[rows]

    def for_rows(self, rows: int) -> Drafter:
        """The drafter for the next sentences, decoded `rows` at a time: this one if it is expected to be faster than
        decoding without drafts by more than 10 %, else one that proposes nothing.

        In the second case this drafter is still returned now and then, at most once in 4 calls and later at least
        once in 1024, to update its statistics.
        """
        if self._choice(rows)[1]:
            self._pause, self._skipped = SHORT_PAUSE, 0
            return self
        self._skipped += 1
        if self._skipped < self._pause:
            return NoDrafter()
        self._pause, self._skipped = min(2 * self._pause, LONGEST_PAUSE), 0
        return self

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        """Call the wrapped drafter's `begin` for new rows and return its result.

        The rounds since the last call are scaled down to a weight of at most MOST_ROUNDS rounds in the statistics.
        """
        share = min(1.0, MOST_ROUNDS / max(self._lasted, 1))
        for sums, before in zip((self._asked, self._offered, self._passed), self._before, strict=True):
            sums[:] = [then + share * (now - then) for then, now in zip(before, sums, strict=True)]
        self._before, self._lasted = self._seen(), 0
        self._choices.clear()
        return self._drafter.begin(state, sentences)

    def _seen(self) -> tuple[list[float], ...]:
        return self._asked.copy(), self._offered.copy(), self._passed.copy()

    def propose(self, state: State, memory: Any, size: int) -> Draft:
        """Return the wrapped drafter's draft (B, k) of the size with the most expected tokens per millisecond."""
        self._size = self._choice(state.finished.tolist().count(False))[0]
        self._rounds_since += 1
        self._size = bounded(self._size, size)
        self._drafted = self._drafter.propose(state, memory, self._size)
        return self._drafted

    def observe(self, state: State, memory: Any, verdict: Verdict) -> None:
        """Pass the verdict to the wrapped drafter, and add the round to the statistics from which the next block
        sizes are chosen.
        """
        self._drafter.observe(state, memory, verdict)
        # Instead of scaling all earlier counts by MEMORY, scale the weight of later ones by its inverse.
        self._present /= MEMORY
        if self._present > LARGE:
            self._forget_scale()
        rows = list(zip(state.finished.tolist(), self._drafted.counts.tolist(), verdict.accepted.counts.tolist(), strict=True))
        # Tokens beyond the block size, which a drafter with padded drafts may add, do not count.
        size = self._size
        running = [(offered, min(counts - 1, size)) for finished, offered, counts in rows if not finished]
        self._lasted += 1
        self.rounds += len(running)
        self.asked += size * len(running)
        # Accepted tokens without the verifier's own; drafted tokens after an end of sentence do not count.
        self._add(self._asked, [min(passed + 1, size) for _, passed in running])
        self._add(self._offered, [min(passed + 1, size, offered) for offered, passed in running])
        self._add(self._passed, [passed for _, passed in running])

    def _add(self, sums: list[float], reached: Sequence[int]) -> None:
        """Add a round to the slots before the one that each row reached."""
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
