"""Drafters that continue the last tokens of the output as earlier: lookup in source and output, and the n-gram memory."""

from collections.abc import Sequence

import torch
from torch import Tensor

from specdec_cli.decoding.drafters import DrafterInputs, bounded
from specdec_cli.decoding.methods import LONGEST_DRAFT, SHORT_DRAFT
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Accepted, Draft, State, Verdict
from specdec_cli.model.cache import steps

LONGEST = 3
"""Tokens of the longest suffix that is searched. A longer suffix that is found takes precedence over a shorter one."""


def make_lookup(inputs: DrafterInputs) -> "Lookup":
    """Make a drafter that searches the output, and also the source if the bundle has one vocabulary for both.
    Without a block size in `inputs` (0), it is LONGEST_DRAFT, 15 tokens.
    """
    config = inputs.bundle.verifier.config
    return Lookup(inputs.decoding.block_size or LONGEST_DRAFT, config.eos, config.padding, inputs.bundle.tokenizer.shared)


class Lookup:
    """Copies up to `block_size` tokens that follow another occurrence of the output's last tokens, in source or
    output (see `propose`).

    Prompt lookup (Saxena 2023), with the source as the prompt. The source is searched only if source and target
    share their vocabulary (`shared`). It drafts well for names, numbers, markup and code. `eos` and `padding` are
    ids that are not copied from the source.
    """

    def __init__(self, block_size: int, eos: int, padding: int, shared: bool = True) -> None:
        self.limit, self.capturable, self.reads_sentences, self._shared = block_size, True, False, shared
        self._eos, self._padding = eos, padding

    def begin(self, state: State, sentences: Sequence[Sentence]) -> None:  # noqa: ARG002
        return None

    def propose(self, state: State, record: None, size: int) -> Draft:  # noqa: ARG002
        """The tokens (B, k) that follow another occurrence of the last 3 tokens (LONGEST) of the row's output; if
        these have none, of the last 2, else of the last one.

        Source and output, in this order, are searched as one text, and of several occurrences the last counts; the
        decoder start belongs to no occurrence. The draft ends before the end of the source or of the output, after
        `block_size` tokens, or at the row's limit. It is empty for a row without an occurrence.
        """
        text, is_text = self._searched(state)
        suffix = _suffix(state)
        positions = torch.arange(text.shape[1], device=text.device)
        # Exclude the suffix itself.
        matching = is_text & (positions != (text.shape[1] - state.tokens.shape[1] + state.lengths - 1)[:, None])
        start = torch.full_like(state.lengths, -1)
        for back in range(LONGEST):
            # A position still matches if the `back` + 1 last tokens of the output end there.
            same = (text == suffix[:, back, None]).roll(back, 1)
            same[:, :back] = False
            matching = matching & same
            # A longer suffix takes precedence over a shorter one.
            start = torch.where(matching.any(1), (matching * (positions + 1)).amax(1), start)
        steps = torch.arange(bounded(self.limit, size), device=text.device)
        continuation = (start[:, None] + steps).clamp(0, text.shape[1] - 1)
        valid = is_text.gather(1, continuation) & (start[:, None] + steps < text.shape[1]) & (start >= 0)[:, None]
        counts = valid.cumprod(1).sum(1).minimum(state.limits - state.lengths).masked_fill(state.finished, 0)
        return Draft(text.gather(1, continuation), counts)

    def observe(self, state: State, record: None, verdict: Verdict) -> None:
        pass

    def _searched(self, state: State) -> tuple[Tensor, Tensor]:
        """The text to search, source then output (B, M + S), and which positions hold text (B, M + S)."""
        positions = torch.arange(state.tokens.shape[1], device=state.tokens.device)
        written = (positions > 0) & (positions < state.lengths[:, None])
        if not self._shared:
            return state.tokens, written
        source = (state.source != self._padding) & (state.source != self._eos)
        return torch.cat([state.source, state.tokens], dim=1), torch.cat([source, written], dim=1)


def _suffix(state: State) -> Tensor:
    """The last tokens (B, LONGEST) of each row, last one first; -1 beyond the start."""
    positions = state.lengths[:, None] - 1 - torch.arange(LONGEST, device=state.tokens.device)
    return state.tokens.gather(1, positions.clamp_min(0)).masked_fill(positions < 1, -1)


_PLACES = 1 << 16
_UNKNOWN = -1


def make_ngram_memory(inputs: DrafterInputs) -> "NgramMemory":
    """Make a drafter that remembers nothing yet. Its memory is for the target vocabulary of the bundle, on the
    device of the verifier. Without a block size in `inputs` (0), it is SHORT_DRAFT, 3 tokens.
    """
    return NgramMemory(inputs.decoding.block_size or SHORT_DRAFT, inputs.bundle.verifier.config.vocabulary_size, inputs.device)


class NgramMemory:
    """Drafts up to `block_size` tokens, each the one that last followed the same two tokens, or, if the memory has
    none, the same single token.

    The memory is kept from sentence to sentence, so the number of rounds depends on the text decoded before. It has
    two tables on `device`: one of `vocabulary_size` entries for continuations of single tokens (bigrams), and a hash
    table of 65,536 entries for continuations of pairs (trigrams). Pairs with the same hash overwrite each other;
    that can cause a wrong draft but never changes the output.
    """

    def __init__(self, block_size: int, vocabulary_size: int, device: torch.device) -> None:
        self.limit, self.capturable, self.reads_sentences = block_size, True, False
        # The last entry of each table is never read: what is not to be stored is written to it.
        self._after_one = torch.full((vocabulary_size + 1,), _UNKNOWN, device=device)
        self._after_two = torch.full((_PLACES + 1,), _UNKNOWN, device=device)

    def begin(self, state: State, sentences: Sequence[Sentence]) -> None:  # noqa: ARG002
        return None

    def propose(self, state: State, record: None, size: int) -> Draft:  # noqa: ARG002
        """Return the continuation (B, k) of each row from memory; a row's draft ends before the first token that the
        memory does not have.
        """
        second_last, last = _two_last(state)
        columns: list[Tensor] = []
        for _ in range(bounded(self.limit, size)):
            following = self._after_two[_hashed(second_last, last)]
            following = torch.where(following == _UNKNOWN, self._after_one[last], following)
            columns.append(following)
            second_last, last = last, following.clamp_min(0)
        ids = torch.stack(columns, dim=1)
        counts = (ids != _UNKNOWN).cumprod(1).sum(1)
        return Draft(ids.clamp_min(0), counts.minimum(state.limits - state.lengths).masked_fill(state.finished, 0))

    def observe(self, state: State, record: None, verdict: Verdict) -> None:  # noqa: ARG002
        """Store the accepted tokens in the memory as continuations of the tokens before them."""
        accepted: Accepted = verdict.accepted
        tokens = torch.cat([*(column[:, None] for column in _two_last(state)), accepted.ids], dim=1)
        new = steps(accepted.ids.shape[1], tokens.device) < accepted.counts[:, None]
        second_last, last = tokens[:, :-2], tokens[:, 1:-1]
        for table, entries in ((self._after_one, last), (self._after_two, _hashed(second_last, last))):
            table.scatter_(0, torch.where(new, entries, len(table) - 1).flatten(), accepted.ids.flatten())


def _two_last(state: State) -> tuple[Tensor, Tensor]:
    """The second to last token (B,) and the last (B,) of each row; the decoder start also precedes itself."""
    last = state.lengths[:, None] - 1
    return state.tokens.gather(1, (last - 1).clamp_min(0))[:, 0], state.tokens.gather(1, last)[:, 0]


def _hashed(second_last: Tensor, last: Tensor) -> Tensor:
    return (second_last * 40503 + last * 2654435761) % _PLACES
