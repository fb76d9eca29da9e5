"""Paces choose for each burst of a decoding the number of rounds, and the largest number of tokens in a draft; reports say what it gave."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from specdec_cli.decoding.costs import PRIOR, Costs
from specdec_cli.decoding.sentence import Hypothesis

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
"""Largest weight in the statistics, in rounds, of the rounds between two calls of `admitted`, which decode one sentence
or batch.
"""
RENEWAL = 8
"""Bursts after which the block size is chosen again."""
FIRST_PAUSE, LONGEST_PAUSE = 32, 1024
SHORT_PAUSE = 4
"""While drafting is slower than plain decoding, one group of sentences in FIRST_PAUSE is still decoded with drafts, to
update the statistics; if drafting was faster before, the first one after SHORT_PAUSE groups. The interval doubles
each time; after one of LONGEST_PAUSE there are no more.
"""


@dataclass(frozen=True)
class Tallies:
    """What was drafted and accepted in a burst of `rounds` rounds with drafts of up to `size` tokens.

    `rows` is the number of unfinished rows, summed over the rounds. The others count for each slot the rows of which all earlier
    slots were accepted: it was asked for (`asked`), drafted (`offered`), accepted (`passed`). Slots after an end of sentence, and
    those beyond `size`, do not count.
    """

    rounds: int
    size: int
    rows: int
    asked: Sequence[int]
    offered: Sequence[int]
    passed: Sequence[int]

    @classmethod
    def of_rows(cls, rounds: int, size: int, rows: Sequence[tuple[int, int]]) -> "Tallies":
        """Tallies of unfinished rows: for each row of each round the number of tokens that were drafted, and that were accepted."""
        passed = [min(accepted, size) for _, accepted in rows]
        asked = [min(number + 1, size) for number in passed]
        offered = [min(number, drafted) for number, (drafted, _) in zip(asked, rows, strict=True)]
        return cls(rounds, size, len(rows), *(_reaching(numbers, size) for numbers in (asked, offered, passed)))


@dataclass(frozen=True)
class Report:
    """Result of a burst of `rounds` rounds: hypotheses, and the number of sentences that may enter in their places (`free`).

    `tallies` is None if none were requested.
    """

    rounds: int
    hypotheses: list[Hypothesis]
    free: int
    tallies: Tallies | None


class Pace(Protocol):
    """Chooses bursts of rounds."""

    @property
    def counts(self) -> bool:
        """Whether the choice depends on tallies of earlier bursts."""

    def pays(self, rows: int) -> bool:
        """Whether the next group of sentences, decoded `rows` at a time, is to be decoded with drafts; called once for a group."""

    def admitted(self) -> None:
        """Sentences have entered the batch."""

    def next(self, running: int) -> tuple[int, int]:
        """Rounds of the next burst of `running` rows, and the size of their drafts in tokens (0: no bound but the drafter's own)."""

    def count(self, tallies: Tallies) -> None:
        """Add the tallies of a burst to the statistics."""


@dataclass(frozen=True)
class FixedPace:
    """Bursts of `rounds` rounds, with drafts of up to `size` tokens (0: no bound but the drafter's own)."""

    size: int = 0
    rounds: int = 1

    @property
    def counts(self) -> bool:
        return False

    def pays(self, rows: int) -> bool:  # noqa: ARG002
        return True

    def admitted(self) -> None:
        pass

    def next(self, running: int) -> tuple[int, int]:  # noqa: ARG002
        return self.rounds, self.size

    def count(self, tallies: Tallies) -> None:
        pass


class AdaptivePace:
    """Bursts of one round, with drafts of 1 to `longest` tokens: the size with the most expected tokens per millisecond. Where only some
    sizes run, as in captured rounds, they are `sizes`, of which the last is `longest`; drafts that are shorter are padded.

    The probability pi that slot i is accepted, given that all slots before it were, is estimated from recent rounds.
    A round with k slots then yields 1 + p1 + p1 p2 + ... + p1 ... pk tokens, in the time that `costs` gives.
    `pays` also compares this with decoding without drafts.
    """

    def __init__(self, costs: Costs, longest: int, sizes: Sequence[int] = ()) -> None:
        self._costs, self._sizes = costs, sizes or range(1, longest + 1)
        self._padded = len(self._sizes) < longest
        # Counts of rounds for each slot, as in Tallies, weighted.
        self._asked, self._offered, self._passed = ([0.0] * longest for _ in range(3))
        # The counts at the last `admitted`, and the rounds since then.
        self._before, self._lasted = self._seen(), 0
        self._pause, self._skipped = FIRST_PAUSE, 0
        self._bursts_since, self._present = 0, 1.0
        self._choices: dict[int, tuple[int, bool]] = {}
        self.rounds = self.asked = 0
        """Rounds with a draft since construction, counted once for each unfinished row, and the tokens asked for in them."""

    @property
    def counts(self) -> bool:
        return True

    def best(self, rows: int) -> tuple[int, bool]:
        """The block size with the most expected tokens per millisecond for a batch of `rows`, and whether decoding
        with it is expected to be faster than without drafts by more than 10 % (MARGIN).
        """
        chosen, best = self._sizes[0], 0.0
        passes, all_pass, tokens, all_offered, offered = PRIOR, 1.0, 1.0, 1.0, 0.0
        verifying, drafting = self._costs.by_size(rows)
        weight = WEIGHT * self._present
        seen = zip(self._asked, self._offered, self._passed, strict=True)
        for size, (slot_asked, slot_offered, slot_passed) in enumerate(seen, 1):
            passes = (slot_passed + weight * passes) / (slot_asked + weight)
            all_pass *= passes
            tokens += all_pass
            all_offered *= (slot_offered + weight) / (slot_asked + weight)
            offered += all_offered
            if size not in self._sizes:
                continue
            verified = size if self._padded else offered
            rate = tokens / (verifying(verified) + drafting(size))
            if rate > best:
                chosen, best = size, rate
            if all_pass < NEGLIGIBLE:
                break
        return chosen, best > MARGIN / self._costs.without(rows)

    def pays(self, rows: int) -> bool:
        """Whether drafting is expected to be faster than decoding without drafts by more than 10 %.

        If it is not, the answer is still yes now and then, to update the statistics: at most once in 4 calls, after pauses that double,
        and no more after one of 1024 calls. It is no at once for batches in which drafts cost too much.
        """
        if not self._costs.can_pay(rows, self._sizes):
            return False
        if self._choice(rows)[1]:
            self._pause, self._skipped = SHORT_PAUSE, 0
            return True
        if self._pause > LONGEST_PAUSE:
            return False
        self._skipped += 1
        if self._skipped < self._pause:
            return False
        self._pause, self._skipped = 2 * self._pause, 0
        return True

    def admitted(self) -> None:
        """Scale the rounds since the last call down to a weight of at most MOST_ROUNDS rounds in the statistics."""
        share = min(1.0, MOST_ROUNDS / max(self._lasted, 1))
        for sums, before in zip((self._asked, self._offered, self._passed), self._before, strict=True):
            sums[:] = [then + share * (now - then) for then, now in zip(before, sums, strict=True)]
        self._before, self._lasted = self._seen(), 0
        self._choices.clear()

    def next(self, running: int) -> tuple[int, int]:
        size = self._choice(running)[0]
        self._bursts_since += 1
        return 1, size

    def count(self, tallies: Tallies) -> None:
        # Instead of scaling all earlier counts by MEMORY, scale the weight of later ones by its inverse.
        self._present /= MEMORY**tallies.rounds
        if self._present > LARGE:
            self._forget_scale()
        self._lasted += tallies.rounds
        self.rounds += tallies.rows
        self.asked += tallies.size * tallies.rows
        for sums, numbers in ((self._asked, tallies.asked), (self._offered, tallies.offered), (self._passed, tallies.passed)):
            for slot, number in enumerate(numbers):
                sums[slot] += self._present * number

    def _choice(self, rows: int) -> tuple[int, bool]:
        """`best(rows)`, computed anew every RENEWAL bursts."""
        if self._bursts_since >= RENEWAL:
            self._choices.clear()
            self._bursts_since = 0
        if rows not in self._choices:
            self._choices[rows] = self.best(rows)
        return self._choices[rows]

    def _seen(self) -> tuple[list[float], ...]:
        return self._asked.copy(), self._offered.copy(), self._passed.copy()

    def _forget_scale(self) -> None:
        for sums in (self._asked, self._offered, self._passed):
            sums[:] = [weighted / self._present for weighted in sums]
        self._before = self._seen()
        self._present = 1.0


def _reaching(numbers: Sequence[int], size: int) -> list[int]:
    """For each of `size` slots, how many of the `numbers` are greater than its index."""
    stopped = [0] * (size + 1)
    for number in numbers:
        stopped[number] += 1
    remaining, reaching = len(numbers), []
    for slot in range(size):
        remaining -= stopped[slot]
        reaching.append(remaining)
    return reaching
