"""Drafters: each proposes tokens its own way, and the loop knows none of them by name."""

from typing import Protocol, runtime_checkable

from specdec_cli.decoding.state import Draft, State, Verdict


class Drafter(Protocol):
    """Proposes tokens for the verifier to check."""

    def begin(self, state: State) -> object:
        """The drafter's own record for new rows; its tensors have the row first. The loop keeps it in `state.drafting`."""

    def propose(self, state: State) -> Draft:
        """Up to k ids a row."""

    def observe(self, state: State, verdict: Verdict) -> None:
        """Hear what was accepted, before `state` advances, and what the verifier predicted beyond."""


@runtime_checkable
class OptionalDrafter(Drafter, Protocol):
    """A drafter that may be left out where it does not pay."""

    def for_rows(self, rows: int) -> Drafter:
        """What drafts for the next sentences, `rows` at a time: itself, or a drafter that proposes nothing."""


class SizedDrafter(Drafter, Protocol):
    """A drafter whose drafts have at most `block_size` tokens (0: no bound), which may change from round to round."""

    block_size: int
