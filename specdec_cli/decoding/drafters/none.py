"""The drafter of greedy decoding, whose drafts are empty."""

from collections.abc import Sequence

from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict


class NoDrafter:
    """Proposes empty drafts, so that each round yields one token."""

    limit, capturable = 0, True

    def begin(self, state: State, sentences: Sequence[Sentence]) -> None:  # noqa: ARG002
        return None

    def propose(self, state: State, memory: None, size: int) -> Draft:  # noqa: ARG002
        return Draft(state.tokens[:, :0], state.lengths * 0)

    def observe(self, state: State, memory: None, verdict: Verdict) -> None:
        pass
