"""Acceptance rules: which drafted tokens the verifier accepts."""

import torch
from torch import Tensor

from specdec_cli.decoding.options import FixedPoint, Margin, Rule, Tolerant
from specdec_cli.decoding.state import Accepted, Draft, State
from specdec_cli.errors import NotFiniteError
from specdec_cli.model.cache import steps
from specdec_cli.model.choices import Choices

_BY_OPERATORS = Choices()


def accept(draft: Draft, logits: Tensor, rule: Rule, choices: Choices = _BY_OPERATORS) -> Accepted:
    """Accept the longest prefix of `draft` (B, k) that passes `rule`, and one more token, the verifier's choice by
    `logits` (B, k + 1, V): the one with the largest logit, with Margin the best one that was not drafted.

    The ids of a prefix pass by every rule and whatever the logits are (see Sentence). With FixedPoint, a draft that does not pass as a
    whole adds nothing. `choices` computes the highest logits.
    """
    drafted = steps(draft.ids.shape[1], logits.device) < draft.counts[:, None]
    predictions = choices.first(logits)
    if isinstance(rule, Margin):
        chosen = _with_margin(draft.ids, logits[:, :-1], rule, choices)
        predictions = torch.cat([torch.where(drafted, chosen, predictions[:, :-1]), predictions[:, -1:]], dim=1)
    if not isinstance(rule, Tolerant):
        return accept_predicted(draft, predictions, rule)
    predictions = _with_prefix(draft, predictions)
    passing = _tolerated(draft.ids, logits, rule) | _is_prefix(draft)
    bifurcation = (passing & drafted).cumprod(1).sum(1)
    # An accepted token may differ from the prediction.
    widened = torch.cat([draft.ids, predictions[:, -1:]], dim=1)
    ids = torch.where(steps(widened.shape[1], logits.device) < bifurcation[:, None], widened, predictions)
    return Accepted(ids, bifurcation + 1, bifurcation, predictions, draft.counts)


def accept_predicted(draft: Draft, predictions: Tensor, rule: Rule) -> Accepted:
    """As `accept`, for a rule that accepts drafted tokens that equal the verifier's choices, `predictions` (B, k + 1)."""
    if draft.ids.shape[1] == 0:
        return Accepted(predictions, _counts(draft.counts, draft.counts, rule), draft.counts, predictions, draft.counts)
    predictions = _with_prefix(draft, predictions)
    drafted = steps(draft.ids.shape[1], predictions.device) < draft.counts[:, None]
    bifurcation = ((draft.ids == predictions[:, :-1]) & drafted).cumprod(1).sum(1)
    return Accepted(predictions, _counts(bifurcation, draft.counts, rule), bifurcation, predictions, draft.counts)


def cut_at_end(eos: int, state: State, ids: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Cut accepted ids, the first `counts` (B,) of `ids` (B, k), after an EOS and at each row's limit.

    Returns the number of ids that remain (B,), and a boolean tensor (B,) that is true for rows that end with them. A
    finished row keeps no ids. The inputs are not changed.
    """
    before_end = (ids != eos).cumprod(1).sum(1)
    capacity = (state.limits - state.lengths).masked_fill_(state.finished, 0)
    counts = counts.minimum(before_end + 1).minimum(capacity)
    return counts, (counts > before_end) | (counts == capacity)


def check_finite(logits: Tensor, accepted: Accepted, finished: Tensor) -> None:
    """Raise NotFiniteError if the verifier's choices in rows that are not `finished` (B,) were made by `logits` (B, k + 1, V) of which one
    is not a number, or infinite. Reads a value.
    """
    chosen = logits.gather(2, accepted.predictions[..., None])[..., 0]  # the largest logit; not a number if one is not
    reached = (steps(chosen.shape[1], chosen.device) <= accepted.bifurcation[:, None]) & ~finished[:, None]
    if bool(((chosen.isnan() | (chosen == torch.inf)) & reached).any()):
        raise NotFiniteError


def _counts(bifurcation: Tensor, drafted: Tensor, rule: Rule) -> Tensor:
    if isinstance(rule, FixedPoint):
        return torch.where(bifurcation == drafted, drafted + 1, 0)
    return bifurcation + 1


def _with_margin(ids: Tensor, logits: Tensor, rule: Margin, choices: Choices) -> Tensor:
    """The verifier's choices (B, k): the drafted token of `ids` (B, k) where its logit in `logits` (B, k, V) is larger than all others by
    at least the margin, and elsewhere the best of the other tokens.
    """
    drafted = logits.gather(2, ids[..., None])
    others = logits.scatter(2, ids[..., None], -torch.inf)
    best = choices.first(others)
    lead = drafted[..., 0] - others.gather(2, best[..., None])[..., 0]
    return torch.where(lead >= rule.margin, ids, best)


def _with_prefix(draft: Draft, predictions: Tensor) -> Tensor:
    """The `predictions` (B, k + 1), with the ids of the draft's prefix in their places."""
    if draft.prefix is None:
        return predictions
    return torch.cat([torch.where(_is_prefix(draft), draft.ids, predictions[:, :-1]), predictions[:, -1:]], dim=1)


def _is_prefix(draft: Draft) -> Tensor:
    """Whether each of the ids (B, k) of the draft is one of its prefix."""
    length = 0 if draft.prefix is None else draft.prefix[:, None]
    return (steps(draft.ids.shape[1], draft.ids.device) < length).expand_as(draft.ids)


def _tolerated(ids: Tensor, logits: Tensor, rule: Tolerant) -> Tensor:
    """Whether each of the `ids` (B, k) passes the rule; none does that the constraints exclude, whatever the tolerance."""
    scores = logits[:, :-1]
    drafted = scores.gather(2, ids[..., None])[..., 0]
    best = scores.topk(min(rule.top_beta, scores.shape[-1]), dim=-1).values
    return (drafted > -torch.inf) & (drafted >= best[..., -1]) & (best[..., 0] - drafted <= rule.tolerance)
