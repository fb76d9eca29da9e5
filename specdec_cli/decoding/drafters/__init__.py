"""Drafters: the protocol that every drafter implements, the arguments of what makes one, and the drafter without drafts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol

import torch

from specdec_cli.decoding.lengths import Lengths
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.bundle import Bundle


class Drafter(Protocol):
    """Protocol of drafters, which propose tokens for the verifier to check.

    Their record is written in place: its tensors stay the same from round to round.
    """

    @property
    def limit(self) -> int:
        """The largest number of tokens in a draft; it does not change. 0: no limit of its own."""

    @property
    def capturable(self) -> bool:
        """Whether `propose` and `observe` read no value of a tensor, so that they can be captured as CUDA graphs."""

    @property
    def reads_sentences(self) -> bool:
        """Whether `begin` reads the sentences, or another value on the CPU; otherwise it can be captured like a round."""

    def begin(self, state: State, sentences: Sequence[Sentence]) -> Any:
        """Return the drafter's record of new rows, which the caller keeps beside `state` in a Batch and hands to the other methods;
        the first dimension of tensors is the row. `sentences` are those of the rows.
        """

    def propose(self, state: State, record: Any, size: int) -> Draft:
        """Return a draft of at most `size` tokens for each row of `state` (0: no bound but the drafter's own); it may be empty.

        The ids have as many columns as a draft can have tokens.
        """

    def observe(self, state: State, record: Any, verdict: Verdict) -> None:
        """Update `record` from the verdict on the last draft; called before the accepted tokens are appended to `state`."""


def bounded(limit: int, size: int) -> int:
    """The smaller one of two bounds of a draft, of which 0 is none."""
    return min(limit, size) if limit and size else limit or size


@dataclass(frozen=True)
class DrafterInputs:
    """Arguments of a function that makes a drafter: a loaded bundle, and the decoding.

    `lengths` are the expected lengths of outputs if they are known beforehand.
    """

    bundle: Bundle
    decoding: Decoding
    lengths: Lengths | None = None

    @property
    def device(self) -> torch.device:
        """The device of the verifier."""
        network = self.bundle.network
        return next(self.bundle.verifier.parameters()).device if network is None else network.device


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

    def propose(self, state: State, record: None, size: int) -> Draft:  # noqa: ARG002
        return Draft(state.tokens[:, :0], state.lengths * 0)

    def observe(self, state: State, record: None, verdict: Verdict) -> None:
        pass


Maker = Callable[[DrafterInputs], Drafter]


def find_maker(place: str) -> Maker:
    """Return the function that `place` names, as "module:function" in this package, such as "suffix:make_lookup"; import
    its module.
    """
    module, _, function = place.partition(":")
    found: Maker = getattr(import_module(f"{__package__}.{module}"), function)
    return found
