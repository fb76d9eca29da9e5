"""Greedy decoding: the loop with empty drafts."""

from specdec_cli.decoding.state import Draft, State, Verdict


class NoDrafter:
    """Proposes nothing, so that each round yields one token."""

    def begin(self, state: State) -> object:  # noqa: ARG002
        """No record."""
        return None

    def propose(self, state: State) -> Draft:
        """An empty draft (B, 0)."""
        return Draft(state.tokens[:, :0], state.lengths * 0)

    def observe(self, state: State, verdict: Verdict) -> None:
        """Nothing to update."""
