"""Acceptance of a draft: the longest prefix that passes the rule, one more token of the verifier's, cut at EOS and at the row's limit."""

import torch
import triton
import triton.language as tl
from torch import Tensor

from specdec_cli.decoding.options import Constraints, Exact, FixedPoint, Margin, Rule, Tolerant
from specdec_cli.decoding.state import Accepted, Draft, State
from specdec_cli.kernels.tiles import power_of_two
from specdec_cli.model.cache import steps


@triton.jit(do_not_specialize=["queries"])
def _accept(
    best, draft, counts, prefix, top, lowest, drafted_logits, lengths, limits, finished,
    ids, accepted, bifurcations, ended, predictions, eos, tolerance, queries,
    FIXED_POINT: tl.constexpr, FORCED: tl.constexpr, FORCED_END: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Each program accepts the draft of one row. FORCED is the first token of each output, -1 for none; with FORCED_END, an output that
    reaches its limit ends with `eos`. A token of the draft's prefix comes before both.
    """
    row = tl.program_id(0).to(tl.int64)
    slots = tl.arange(0, BLOCK)
    mask, in_draft = slots < queries, slots < queries - 1
    here = row * queries + slots
    token = tl.load(best + here, mask=mask, other=0)
    guess = tl.load(draft + row * (queries - 1) + slots, mask=in_draft, other=0)
    count, length, limit = tl.load(counts + row), tl.load(lengths + row), tl.load(limits + row)
    must = tl.where(length + slots == 1, FORCED, -1)
    if FORCED_END:
        must = tl.where(length + slots >= limit - 1, eos, must)
    token = tl.where(must >= 0, must, token)
    is_prefix = slots < 0
    if prefix is not None:
        is_prefix = in_draft & (slots < tl.load(prefix + row))
        token = tl.where(is_prefix, guess, token)
    if drafted_logits is None:
        passes = guess == token
    else:
        logit = tl.load(drafted_logits + here, mask=mask, other=0.0)
        highest = tl.load(top + here, mask=mask, other=0.0)
        passes = (logit >= tl.load(lowest + here, mask=mask, other=0.0)) & (highest - logit <= tolerance) & (logit > -float("inf"))
        passes = tl.where(must >= 0, guess == must, passes) | is_prefix
    passed = tl.min(tl.where(in_draft & (slots < count) & passes, queries, tl.minimum(slots, queries - 1)), 0)
    passed = tl.minimum(passed, queries - 1)
    result = token if drafted_logits is None else tl.where(slots < passed, guess, token)
    new = passed + 1
    if FIXED_POINT:
        new = tl.where(passed == count, new, 0)
    end = tl.min(tl.where(mask & (result == eos), slots, queries), 0)
    remaining = tl.where(tl.load(finished + row) != 0, 0, limit - length)
    new = tl.minimum(tl.minimum(new, end + 1), remaining)
    tl.store(ids + here, result, mask=mask)
    tl.store(predictions + here, token, mask=mask)
    tl.store(accepted + row, new)
    tl.store(bifurcations + row, passed)
    tl.store(ended + row, ((new > end) | (new == remaining)).to(tl.uint8))


def with_margin(draft: Draft, best: Tensor, values: Tensor, drafted: Tensor, rule: Margin) -> Tensor:
    """The verifier's tokens (B, k + 1) by `rule`: a drafted one whose logit is larger than all others by at least the margin, and elsewhere
    in the draft the best of the others.

    `best` and `values` (B, k + 1, 2) are the two best tokens and their logits, `drafted` (B, k + 1) the logits of the drafted tokens.
    """
    size = draft.ids.shape[1]
    ids, logits = best[:, :size], values[:, :size]
    is_best = (ids[..., 0] == draft.ids).long()[..., None]
    other = ids.gather(2, is_best)[..., 0]
    lead = drafted[:, :size] - logits.gather(2, is_best)[..., 0]
    inside = steps(size, best.device) < draft.counts[:, None]
    chosen = torch.where(inside, torch.where(lead >= rule.margin, draft.ids, other), ids[..., 0])
    return torch.cat([chosen, best[:, size:, 0]], dim=1)


_NONE = Constraints()


def accept(
    draft: Draft,
    best: Tensor,
    rule: Rule,
    state: State,
    eos: int,
    constraints: Constraints = _NONE,
    *,
    values: Tensor | None = None,
    drafted: Tensor | None = None,
) -> tuple[Accepted, Tensor]:
    """The tokens that a round adds to the rows of `state`, and the boolean `ended` (B,): the row ends with them.

    `best` (B, k + 1) are the verifier's tokens after each prefix of `draft` (B, k). Of the `constraints`, only the forced first and last
    tokens are applied here. A tolerant rule also needs `values` (B, k + 1, n), the logits of the n = min(top_beta, V) best tokens, and
    `drafted` (B, k + 1), those of the drafted tokens; the last one of a row is not used. A finished row adds nothing. Raises ValueError
    for another rule than Exact, Tolerant and FixedPoint, and for logits that are missing.
    """
    if not isinstance(rule, Exact | Tolerant | FixedPoint):
        raise ValueError(f"the kernel does not know the rule {rule}")
    tolerant = rule if isinstance(rule, Tolerant) else None
    if tolerant is not None and (values is None or drafted is None):
        raise ValueError("a tolerant rule needs the logits of the best and of the drafted tokens")
    rows, slots = best.shape
    top = lowest = None
    if tolerant is not None and values is not None:
        top, lowest = values[..., 0], values[..., -1]
    ids, predictions = torch.empty_like(best), torch.empty_like(best)
    counts, bifurcations = torch.empty_like(state.lengths), torch.empty_like(state.lengths)
    ended = torch.empty(rows, dtype=torch.uint8, device=best.device)
    _accept[(rows,)](
        *(None if part is None else part.contiguous() for part in (best, draft.ids, draft.counts, draft.prefix, top, lowest)),
        *(None if tolerant is None else drafted, state.lengths, state.limits, state.finished.view(torch.uint8)),
        *(ids, counts, bifurcations, ended, predictions, eos, 0.0 if tolerant is None else tolerant.tolerance, slots),
        FIXED_POINT=isinstance(rule, FixedPoint),
        FORCED=-1 if constraints.forced is None else constraints.forced,
        FORCED_END=constraints.forced_end,
        BLOCK=power_of_two(slots),
    )
    return Accepted(ids, counts, bifurcations, predictions, draft.counts), ended.view(torch.bool)
