"""The drafter of greedy decoding, whose drafts are empty."""

from collections.abc import Sequence
from dataclasses import dataclass

from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict


@dataclass(frozen=True)
class NoDrafter:
    """Proposes empty drafts, so that each round yields one token."""

    @property
    def limit(self) -> int:
        """No limit, and no drafts."""
        return 0

    @property
    def capturable(self) -> bool:
        """Whether rounds can be captured: always."""
        return True

    @property
    def reads_sentences(self) -> bool:
        """Whether `begin` reads the sentences: never."""
        return False

    def begin(self, state: State, sentences: Sequence[Sentence]) -> None:  # noqa: ARG002
        return None

    def propose(self, state: State, memory: None, size: int) -> Draft:  # noqa: ARG002
        return Draft(state.tokens[:, :0], state.lengths * 0)

    def observe(self, state: State, memory: None, verdict: Verdict) -> None:
        pass
