"""The kernel of acceptance accepts what `decoding.accept` accepts, and cuts it where `cut_at_end` does."""

from dataclasses import replace
from math import inf
from types import SimpleNamespace
from typing import Any, cast

import pytest
import torch
from torch import Tensor

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.decoding.accept import accept as accept_by_operators
from specdec_cli.decoding.accept import cut_at_end
from specdec_cli.decoding.constraints import Prefixes, apply_constraints
from specdec_cli.decoding.options import Constraints, Exact, FixedPoint, Margin, Rule, Tolerant
from specdec_cli.decoding.state import Accepted, Draft, State
from specdec_cli.kernels.accept import accept

WORDS, EOS = 7, 3
RULES: tuple[Rule, ...] = (Exact(), FixedPoint(), Tolerant(1, 0.0), Tolerant(3, 1.0), Tolerant(20, 3.0))


def random_round(rows: int, size: int, *, prefix: bool, scattered: bool) -> tuple[Draft, Tensor, State]:
    """A draft that agrees with most of the best tokens of `logits` (B, k + 1, V), and rows at any distance from their limits.

    Logits that are not `scattered` have many ties.
    """
    shape = (rows, size + 1, WORDS)
    logits = torch.randn(shape) if scattered else torch.randint(0, 4, shape).float()
    best = logits.argmax(-1)[:, :-1]
    ids = torch.where(torch.rand(best.shape) < 0.8, best, torch.randint(0, WORDS, best.shape))
    counts = torch.randint(0, size + 1, (rows,))
    lengths = torch.randint(1, 20, (rows,))
    finished = torch.rand(rows) < 0.2
    limits = lengths + torch.randint(1, 9, (rows,))
    own = torch.minimum(counts, torch.randint(0, size + 1, (rows,))) if prefix else None
    state = SimpleNamespace(lengths=lengths, limits=limits, finished=finished)
    return Draft(ids, counts, own), logits, cast(State, state)


def by_operators(draft: Draft, logits: Tensor, rule: Rule, state: State) -> tuple[Accepted, Tensor]:
    accepted = accept_by_operators(draft, logits, rule)
    counts, ended = cut_at_end(EOS, state, accepted.ids, accepted.counts)
    return replace(accepted, counts=counts), ended


def by_kernel(draft: Draft, logits: Tensor, rule: Rule, state: State, **options: Any) -> tuple[Accepted, Tensor]:
    beta = min(rule.top_beta, WORDS) if isinstance(rule, Tolerant) else 1
    values, ids = torch.sort(logits, dim=-1, descending=True, stable=True)
    padded = torch.cat([draft.ids, draft.ids.new_zeros(len(draft.ids), 1)], dim=1)
    drafted = logits.gather(2, padded[..., None])[..., 0]
    return accept(draft, ids[..., 0], rule, state, EOS, values=values[..., :beta], drafted=drafted, **options)


def assert_equal(left: tuple[Accepted, Tensor], right: tuple[Accepted, Tensor]) -> None:
    for name in ("ids", "counts", "bifurcation", "predictions", "drafted"):
        assert torch.equal(getattr(left[0], name), getattr(right[0], name)), name
    assert torch.equal(left[1], right[1])


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("size", [0, 1, 5, 16, 40])
def test_a_draft_is_accepted_as_by_the_operators(rule: Rule, size: int) -> None:
    for prefix, scattered in ((False, True), (False, False), (True, True)):
        draft, logits, state = random_round(24, size, prefix=prefix, scattered=scattered)
        result = by_kernel(draft, logits, rule, state)
        assert_equal(result, by_operators(draft, logits, rule, state))
        assert result[1].dtype is torch.bool


def test_what_is_given_may_be_a_part_of_other_tensors() -> None:
    draft, logits, state = random_round(24, 5, prefix=True, scattered=True)
    assert draft.prefix is not None
    parts = [torch.stack([part, part + 1], dim=-1)[..., 0] for part in (draft.ids, draft.counts, draft.prefix)]
    assert not any(part.is_contiguous() for part in parts)
    assert_equal(by_kernel(Draft(*parts), logits, RULES[3], state), by_kernel(draft, logits, RULES[3], state))


@pytest.mark.parametrize("prefix", [False, True])
@pytest.mark.parametrize("rule", [*RULES, Tolerant(WORDS, inf)])
@pytest.mark.parametrize("constraints", [Constraints(forced=4), Constraints(forced_end=True), Constraints(forced=5, forced_end=True)])
def test_forced_tokens_are_accepted_as_by_the_operators(rule: Rule, constraints: Constraints, prefix: bool) -> None:
    draft, logits, state = random_round(48, 5, prefix=prefix, scattered=True)
    state.lengths.clamp_(max=4)
    state.limits.copy_(state.lengths + torch.randint(1, 9, (48,)))
    lengths, nothing = state.lengths[:, None] + torch.arange(6), state.lengths[:, None]
    forced = apply_constraints(constraints, logits.clone(), Prefixes(nothing, lengths, state.limits, nothing), EOS, 0)
    assert not torch.equal(forced, logits)
    assert_equal(by_kernel(draft, logits, rule, state, constraints=constraints), by_operators(draft, forced, rule, state))


def test_a_rule_without_a_kernel_and_missing_logits_are_refused() -> None:
    draft, logits, state = random_round(2, 3, prefix=False, scattered=True)
    with pytest.raises(ValueError, match="does not know the rule Margin"):
        accept(draft, logits.argmax(-1), Margin(1.0), state, EOS)
    with pytest.raises(ValueError, match="needs the logits"):
        accept(draft, logits.argmax(-1), Tolerant(3, 1.0), state, EOS)
