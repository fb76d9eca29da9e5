"""Greedy decoding while drafts do not pay."""

from specdec_cli.decoding.drafters import Drafter
from specdec_cli.decoding.drafters.none import NoDrafter
from specdec_cli.decoding.state import Accepted, Draft, Scores, State

MEMORY = 0.9
"""How much of the running mean stays after a round that drafted."""
PROBE = 16
"""While drafts do not pay, one round in so many drafts all the same, for the text may change."""


class Watch:
    """Lets `drafter` draft while the tokens it saves a round are worth its `cost`, in verifications a round.

    The mean runs over all rows and sentences. It begins well above the cost: a drafter is tried first.
    """

    def __init__(self, drafter: Drafter, cost: float) -> None:
        self._drafter, self._cost = drafter, cost
        self._gain = 2 * cost
        self._idle = 0
        self._drafting = True

    def begin(self, state: State) -> object:
        """The record of the drafter."""
        return self._drafter.begin(state)

    def propose(self, state: State) -> Draft:
        """The drafter's draft (B, k), or an empty one."""
        self._drafting = self._gain >= self._cost or self._idle >= PROBE - 1
        self._idle = 0 if self._drafting else self._idle + 1
        return self._drafter.propose(state) if self._drafting else NoDrafter().propose(state)

    def observe(self, state: State, accepted: Accepted, scores: Scores) -> None:
        """Count what was saved; the drafter hears every round."""
        self._drafter.observe(state, accepted, scores)
        if self._drafting:
            running = ~state.finished
            saved = float(accepted.bifurcation[running].float().mean())
            self._gain = MEMORY * self._gain + (1 - MEMORY) * saved
