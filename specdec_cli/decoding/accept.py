"""Which drafted tokens the verifier lets pass."""

from dataclasses import dataclass

import torch
from torch import Tensor

from specdec_cli.decoding.state import Accepted, Draft
from specdec_cli.model.cache import steps
from specdec_cli.model.choices import Choices


@dataclass(frozen=True)
class Exact:
    """Only the verifier's first choice passes: greedy decoding's output (technical report, equation 7)."""


@dataclass(frozen=True)
class Tolerant:
    """A token passes among the verifier's `top_beta` best and at most `tolerance` nats below the best.

    SpecDec++ (technical report, equations 8 and 9). A tie at the first place passes, so this with β = 1 is not Exact.
    """

    top_beta: int
    tolerance: float


@dataclass(frozen=True)
class FixedPoint:
    """A draft passes as a whole or not at all: a block of Jacobi decoding that no longer changes.

    Santilli et al. 2023, equation 5. With a draft that passes goes the verifier's choice after it: all inputs of that
    prediction are final.
    """


Rule = Exact | Tolerant | FixedPoint
_BY_OPERATORS = Choices()


def accept(draft: Draft, logits: Tensor, rule: Rule, choices: Choices = _BY_OPERATORS) -> Accepted:
    """The longest passing start of `draft` (B, k) and, after it, the verifier's own choice from `logits` (B, k + 1, V)."""
    predictions = choices.first(logits)
    if draft.ids.shape[1] == 0:
        return Accepted(predictions, _counts(draft.counts, draft.counts, rule), draft.counts, predictions, draft.counts)
    meant = steps(draft.ids.shape[1], logits.device) < draft.counts[:, None]
    bifurcation = (_passing(draft.ids, predictions, logits, rule) & meant).cumprod(1).sum(1)
    ids = predictions
    if not isinstance(rule, Exact | FixedPoint):  # where what passes may differ from the prediction
        drafted = torch.cat([draft.ids, predictions[:, -1:]], dim=1)
        ids = torch.where(steps(drafted.shape[1], logits.device) < bifurcation[:, None], drafted, predictions)
    return Accepted(ids, _counts(bifurcation, draft.counts, rule), bifurcation, predictions, draft.counts)


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
