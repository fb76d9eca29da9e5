"""Acceptance rules: which drafted tokens the verifier accepts."""

from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.state import Accepted, Draft, State
from specdec_cli.model.cache import steps
from specdec_cli.model.choices import Choices


@dataclass(frozen=True)
class Exact:
    """Accept a token only if it is the verifier's first choice: the output is greedy decoding's (technical report, equation 7)."""


@dataclass(frozen=True)
class Tolerant:
    """Accept a token among the verifier's `top_beta` best and at most `tolerance` nats below the best.

    SpecDec++ (technical report, equations 8 and 9). Every token that ties for the first place is accepted, so β = 1 differs
    from Exact.
    """

    top_beta: int
    tolerance: float


@dataclass(frozen=True)
class FixedPoint:
    """Accept a draft as a whole or not at all: a block of Jacobi decoding once it no longer changes.

    Santilli et al. 2023, equation 5. The verifier's choice after an accepted draft is accepted too, since all inputs of
    that prediction are final.
    """


Rule = Exact | Tolerant | FixedPoint
_BY_OPERATORS = Choices()


def accept(draft: Draft, logits: Tensor, rule: Rule, choices: Choices = _BY_OPERATORS) -> Accepted:
    """Accept the longest prefix of `draft` (B, k) that passes `rule`, and the verifier's choice after it by `logits` (B, k + 1, V)."""
    predictions = choices.first(logits)
    if draft.ids.shape[1] == 0:
        return Accepted(predictions, _counts(draft.counts, draft.counts, rule), draft.counts, predictions, draft.counts)
    drafted = steps(draft.ids.shape[1], logits.device) < draft.counts[:, None]
    bifurcation = (_passing(draft.ids, predictions, logits, rule) & drafted).cumprod(1).sum(1)
    ids = predictions
    if not isinstance(rule, Exact | FixedPoint):  # an accepted token may differ from the prediction
        widened = torch.cat([draft.ids, predictions[:, -1:]], dim=1)
        ids = torch.where(steps(widened.shape[1], logits.device) < bifurcation[:, None], widened, predictions)
    return Accepted(ids, _counts(bifurcation, draft.counts, rule), bifurcation, predictions, draft.counts)


def cut_at_end(eos: int, state: State, ids: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
    """Cut the first `counts` (B,) of `ids` (B, k) after an EOS and at each row's limit: the counts left, and which rows (B,) end.

    A finished row takes no ids.
    """
    before_end = (ids != eos).cumprod(1).sum(1)
    room = (state.limits - state.lengths).masked_fill_(state.finished, 0)
    counts = counts.minimum(before_end + 1).minimum(room)
    return counts, (counts > before_end) | (counts == room)


def _counts(bifurcation: Tensor, drafted: Tensor, rule: Rule) -> Tensor:
    if isinstance(rule, FixedPoint):
        return torch.where(bifurcation == drafted, drafted + 1, 0)
    return bifurcation + 1


def _passing(ids: Tensor, predictions: Tensor, logits: Tensor, rule: Rule) -> Tensor:
    if isinstance(rule, Exact | FixedPoint):
        return ids == predictions[:, :-1]
    scores = logits[:, :-1]
    drafted = scores.gather(2, ids[..., None])[..., 0]
    best = scores.topk(min(rule.top_beta, scores.shape[-1]), dim=-1).values
    return (drafted >= best[..., -1]) & (best[..., 0] - drafted <= rule.tolerance)
