"""Drafters: protocols that every drafter implements."""

from typing import Protocol, runtime_checkable

from specdec_cli.decoding.state import Draft, State, Verdict


class Drafter(Protocol):
    """Proposes tokens for the verifier to check."""

    def begin(self, state: State) -> object:
        """The drafter's record for new rows, kept in `state.drafting`; the first dimension of its tensors is the row."""

    def propose(self, state: State) -> Draft:
        """A draft for each row, perhaps empty."""

    def observe(self, state: State, verdict: Verdict) -> None:
        """Update the record from the verdict, before `state` advances."""


@runtime_checkable
class OptionalDrafter(Drafter, Protocol):
    """A drafter that can be skipped when drafting is slower than greedy decoding."""

    def for_rows(self, rows: int) -> Drafter:
        """The drafter for the next sentences, `rows` in a batch: this one, or one that proposes nothing."""


class SizedDrafter(Drafter, Protocol):
    """A drafter whose drafts have at most `block_size` tokens (0: no bound). The size may change between rounds."""

    block_size: int
