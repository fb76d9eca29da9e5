"""Constraints on generation: they change scores before a token is chosen, as in transformers and fairseq."""

from dataclasses import dataclass
from functools import cache
from typing import Self

import torch
from torch import Tensor

from specdec_cli.decoding import graphs
from specdec_cli.decoding.options import Constraints
from specdec_cli.decoding.state import State
from specdec_cli.model.cache import steps

EXCLUDED = float("-inf")
"""The score of a token that is not allowed."""
LONGEST_COPY = 10
"""`most_copies` limits repetitions of n-grams of up to this number of tokens."""


@dataclass(frozen=True)
class Prefixes:
    """The prefixes of Q slots in each of B rows.

    The prefix of a slot is the first `lengths` (B, Q) of its row's `tokens` (B, S), decoder start included. `limits` (B,)
    are the largest lengths that rows may reach, `source` (B, M) the source ids.
    """

    tokens: Tensor
    lengths: Tensor
    limits: Tensor
    source: Tensor

    @classmethod
    def of(cls, state: State, drafted: Tensor) -> Self:
        """Prefixes of the k + 1 slots after the accepted tokens of `state` and after each of the `drafted` ids (B, k)."""
        lengths = state.lengths[:, None] + steps(drafted.shape[1] + 1, drafted.device)
        # Tokens beyond the capacity are never accepted, so they may overwrite one another.
        positions = lengths[:, :-1].clamp_max(state.tokens.shape[1] - 1)
        return cls(state.tokens.scatter(1, positions, drafted), lengths, state.limits, state.source)


def apply_constraints(
    constraints: Constraints, scores: Tensor, prefixes: Prefixes, eos: int, padding: int, *, keep_forced: bool = False
) -> Tensor:
    """Return `scores` (B, Q, V), logits or log probabilities, with the constraints applied; the input may be changed in place.

    Tokens that are not allowed get -inf. The order is that of transformers' processors: penalty, n-grams, minimal length, first and
    last token. A forced token gets the score 0, or keeps its own score if `keep_forced`, as in fairseq.
    """
    rules = constraints
    unchanged = scores.clone() if keep_forced and (rules.forced is not None or rules.forced_end) else None
    if rules.repetition_penalty != 1:
        penalised = torch.where(scores < 0, scores * rules.repetition_penalty, scores / rules.repetition_penalty)
        scores = torch.where(_seen(prefixes, scores.shape[2]), penalised, scores)
    if rules.no_repeat_ngram_size:
        ends = steps(prefixes.tokens.shape[1], scores.device) < prefixes.lengths[:, :, None]
        _exclude(scores, prefixes, rules.no_repeat_ngram_size, prefixes.tokens, ends)
    if rules.source_ngram_size:
        ends = (prefixes.source != padding)[:, None].expand(-1, scores.shape[1], -1)
        _exclude(scores, prefixes, rules.source_ngram_size, prefixes.source, ends)
    if rules.most_copies:
        _limit_copies(rules, scores, prefixes, padding)
    if rules.min_length:
        scores[..., eos].masked_fill_(prefixes.lengths <= rules.min_length, EXCLUDED)
    if rules.forced is not None:
        _force(scores, prefixes.lengths == 1, rules.forced, unchanged)
    if rules.forced_end:
        _force(scores, prefixes.lengths >= prefixes.limits[:, None] - 1, eos, unchanged)
    return scores


def _limit_copies(rules: Constraints, scores: Tensor, prefixes: Prefixes, padding: int) -> None:
    """Set the scores of those tokens to -inf that would complete one copy more than `most_copies` of an n-gram in succession."""
    device = scores.device
    forms = forms_tensor(rules.forms[0], device)
    width = (rules.most_copies + 1) * LONGEST_COPY
    back = width - 1 - steps(LONGEST_COPY, device)
    preceding = _windows(forms[prefixes.tokens], prefixes.lengths, width)
    completes = _completes_copy(preceding, rules.most_copies)
    if graphs.can_branch(device) and not completes.any():
        return
    allowed = repeats(rules, prefixes.source, padding)
    repeated = torch.where(completes & ~allowed[:, None, None], preceding[..., back], 0)
    excluded = torch.zeros(*scores.shape[:2], len(forms) + 1, dtype=torch.bool, device=device).scatter_(2, repeated, value=True)
    excluded[..., 0] = False
    scores.masked_fill_(excluded[..., forms.clamp_min(0)], EXCLUDED)


def repeats(rules: Constraints, source: Tensor, padding: int) -> Tensor:
    """Whether each row of `source` ids (B, M) repeats an n-gram more than `most_copies` times. Returns booleans (B,).

    The output of such a source may repeat n-grams, too.
    """
    forms = forms_tensor(rules.forms[1], source.device)[source].masked_fill_(source == padding, 0)
    width = (rules.most_copies + 1) * LONGEST_COPY
    preceding = _windows(forms, steps(forms.shape[1], source.device).expand_as(forms), width)
    back = width - 1 - steps(LONGEST_COPY, source.device)
    return (_completes_copy(preceding, rules.most_copies) & (preceding[..., back] == forms[..., None])).flatten(1).any(1)


def _force(scores: Tensor, where: Tensor, token: int, unchanged: Tensor | None) -> None:
    """Exclude all tokens but `token` in the slots `where` (B, Q); its score becomes that in `unchanged`, or 0 without `unchanged`."""
    kept = torch.zeros_like(scores[..., token]) if unchanged is None else unchanged[..., token]
    kept = torch.where(where, kept, scores[..., token])
    scores.masked_fill_(where[..., None], EXCLUDED)
    scores[..., token] = kept


def _seen(prefixes: Prefixes, vocabulary: int) -> Tensor:
    """Which tokens occur in the prefix of each slot (B, Q, V)."""
    lengths, tokens = prefixes.lengths, prefixes.tokens
    (rows, slots), width = lengths.shape, vocabulary + 1
    # The first slot whose prefix includes a position. Positions in no prefix are scattered to column V, which is cut off.
    first = (steps(tokens.shape[1], tokens.device) - lengths[:, :1] + 1).clamp_min(0)
    columns = torch.where(first < slots, first.clamp_max(slots - 1) * width + tokens, vocabulary)
    seen = torch.zeros(rows, slots * width, dtype=torch.bool, device=tokens.device).scatter_(1, columns, value=True)
    seen = seen.view(rows, slots, width)[..., :vocabulary]
    for slot in range(1, slots):
        seen[:, slot] |= seen[:, slot - 1]
    return seen


def _exclude(scores: Tensor, prefixes: Prefixes, size: int, text: Tensor, ends: Tensor) -> None:
    """Exclude every token that would repeat an n-gram of `text` (B, T) that ends at one of the positions `ends` (B, Q, T)."""
    capacity, width = prefixes.tokens.shape[1], text.shape[1]
    matches = ends & (steps(width, text.device) >= size - 1)
    for back in range(1, size):
        # The token `back` positions before the slot, and the one `back` positions before each position of the text.
        positions = (prefixes.lengths - back).clamp(0, capacity - 1)
        shifted = text.roll(back, 1)
        matches = matches & (shifted[:, None] == prefixes.tokens.gather(1, positions)[..., None]) & (prefixes.lengths >= back)[..., None]
    _exclude_tokens(scores, text[:, None], matches)


def _exclude_tokens(scores: Tensor, tokens: Tensor, where: Tensor) -> None:
    """Set the scores of the `tokens` (B, Q or 1, T) to EXCLUDED where `where` (B, Q, T) is true. Source ids that the target
    vocabulary does not have are ignored.
    """
    vocabulary = scores.shape[2]
    tokens = torch.where(where, tokens, vocabulary).clamp_max(vocabulary)
    excluded = torch.zeros(*scores.shape[:2], vocabulary + 1, dtype=torch.bool, device=scores.device).scatter_(2, tokens, value=True)
    scores.masked_fill_(excluded[..., :vocabulary], EXCLUDED)


def _windows(forms: Tensor, ends: Tensor, width: int) -> Tensor:
    """The `width` forms before each of the positions `ends` (B, Q) of `forms` (B, S): (B, Q, width), 0 before the first one."""
    positions = ends[..., None] + steps(width, forms.device) - width
    windows = forms[:, None].expand(-1, ends.shape[1], -1).gather(2, positions.clamp(0, forms.shape[1] - 1))
    return torch.where(positions >= 0, windows, 0)


def _completes_copy(forms: Tensor, copies: int) -> Tensor:
    """Whether the next token that repeats the text with the period n would complete `copies` + 1 copies in succession of an n-gram.

    The token that repeats the text with the period n is the one n places before the end. The text is given as the `forms` of its last
    tokens (..., (copies + 1) * LONGEST_COPY), with 0 before the first token. The result (..., LONGEST_COPY) has a value for each n from 1
    to LONGEST_COPY. The last copy counts even if tokens without letters at its end, such as a comma, are still missing.
    """
    width, sizes = forms.shape[-1], steps(LONGEST_COPY, forms.device)[:, None] + 1
    within = steps(LONGEST_COPY - 1, forms.device) + 1
    blank = (forms[..., (width - sizes + within).clamp_max(width - 1)] <= 0) & (within < sizes)
    missing = blank.int().cumprod(-1).sum(-1, keepdim=True)
    backs = steps(copies * LONGEST_COPY - 1, forms.device) + 1
    same = forms[..., None, width - backs] == forms[..., width - backs - sizes]
    return (forms[..., width - sizes[:, 0]] > 0) & (same | (backs >= copies * sizes - missing)).all(-1)


@cache
def forms_tensor(forms: bytes, device: torch.device) -> Tensor:
    """The forms (V,) of tokens, from one of `Constraints.forms`; a tensor that must not be written to. It is kept for good, since CUDA
    graphs read it.
    """
    return torch.frombuffer(bytearray(forms), dtype=torch.int32).long().to(device)
