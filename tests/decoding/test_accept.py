"""Properties of the acceptance of drafted tokens."""

from dataclasses import replace
from math import inf

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.decoding.accept import accept
from specdec_cli.decoding.options import Exact, FixedPoint, Margin, Rule, Tolerant
from specdec_cli.decoding.state import Draft

WORDS = 7
RULES: tuple[Rule, ...] = (Exact(), Tolerant(1, 0.0), Tolerant(3, 1.0), Tolerant(5, 3.0))


@st.composite
def rounds(draw: st.DrawFn, ties: bool = True) -> tuple[Draft, Tensor]:
    """A draft and logits, with many ties or without ties."""
    rows, size = draw(st.integers(1, 4)), draw(st.integers(0, 5))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 10_000)))
    if ties:
        logits = torch.randint(0, 4, (rows, size + 1, WORDS), generator=generator).float()
    else:
        logits = torch.rand(rows, size + 1, WORDS, generator=generator).argsort(-1).float() / 2
    predictions = logits.argmax(-1)[:, :-1]
    noise = torch.randint(0, WORDS, predictions.shape, generator=generator)
    ids = torch.where(torch.rand(predictions.shape, generator=generator) < 0.7, predictions, noise)
    return Draft(ids, torch.randint(0, size + 1, (rows,), generator=generator)), logits


def passes(rule: Rule, logits: Tensor, token: int) -> bool:
    """A reference implementation of the acceptance rules for one slot."""
    if not isinstance(rule, Tolerant):
        return token == int(logits.argmax())
    better = int((logits > logits[token]).sum())
    return better < rule.top_beta and float(logits.max() - logits[token]) <= rule.tolerance


def test_the_tolerance_bounds_the_distance_to_the_best_token() -> None:
    logits = torch.tensor([[[0.0, 3.0, 1.5, -2.0, -2.0, -2.0, -2.0], [0.0] * 7]])
    draft = Draft(torch.tensor([[2]]), torch.tensor([1]))  # the second best token, 1.5 below the best one
    assert [int(accept(draft, logits, Tolerant(3, tolerance)).bifurcation) for tolerance in (1.4, 1.6)] == [0, 1]
    assert int(accept(draft, logits, Tolerant(1, 1.6)).bifurcation) == 0


@settings(deadline=None)
@given(rounds(), st.sampled_from(RULES))
def test_the_longest_passing_prefix_is_accepted(drafted: tuple[Draft, Tensor], rule: Rule) -> None:
    draft, logits = drafted
    accepted = accept(draft, logits, rule)
    for row, meant in enumerate(draft.counts.tolist()):
        passing = [passes(rule, logits[row, slot], int(draft.ids[row, slot])) for slot in range(meant)]
        assert int(accepted.bifurcation[row]) == [*passing, False].index(False)


@settings(deadline=None)
@given(rounds(), st.sampled_from(RULES))
def test_the_verifiers_token_replaces_the_bifurcation(drafted: tuple[Draft, Tensor], rule: Rule) -> None:
    draft, logits = drafted
    accepted = accept(draft, logits, rule)
    assert torch.equal(accepted.predictions, logits.argmax(-1))
    for row, first in enumerate(accepted.bifurcation.tolist()):
        assert accepted.ids[row, :first].tolist() == draft.ids[row, :first].tolist()
        assert int(accepted.ids[row, first]) == int(logits[row, first].argmax())


@settings(deadline=None)
@given(rounds(), st.sampled_from(RULES))
def test_a_round_adds_one_token_to_the_accepted_draft(drafted: tuple[Draft, Tensor], rule: Rule) -> None:
    accepted = accept(*drafted, rule)
    assert torch.equal(accepted.counts, accepted.bifurcation + 1)


@settings(deadline=None)
@given(rounds(ties=False))
def test_the_narrowest_tolerance_is_exact_without_ties(drafted: tuple[Draft, Tensor]) -> None:
    exact, tolerant = accept(*drafted, Exact()), accept(*drafted, Tolerant(1, 0.0))
    assert torch.equal(exact.bifurcation, tolerant.bifurcation)
    assert torch.equal(exact.ids, tolerant.ids)


def test_exact_rejects_a_token_that_ties_with_the_first_choice() -> None:
    draft = Draft(torch.tensor([[4]]), torch.tensor([1]))
    logits = torch.zeros(1, 2, WORDS)
    logits[0, 0, [2, 4]] = 1.0
    assert int(accept(draft, logits, Tolerant(1, 0.0)).bifurcation) == 1
    exact = accept(draft, logits, Exact())
    assert int(exact.bifurcation) == 0
    assert int(exact.ids[0, 0]) == 2


@settings(deadline=None)
@given(rounds(), st.floats(0.1, 3))
def test_reluctance_keeps_drafted_tokens_that_lead_by_the_margin(drafted: tuple[Draft, Tensor], margin: float) -> None:
    draft, logits = drafted
    accepted = accept(draft, logits, Margin(margin))
    for row, meant in enumerate(draft.counts.tolist()):
        own = []
        for slot in range(meant):
            others = {token: float(logit) for token, logit in enumerate(logits[row, slot]) if token != draft.ids[row, slot]}
            leads = float(logits[row, slot, draft.ids[row, slot]]) - max(others.values()) >= margin
            own.append(int(draft.ids[row, slot]) if leads else max(others, key=lambda token: (others[token], -token)))
        own.append(int(logits[row, meant].argmax()))
        first = next((slot for slot in range(meant) if own[slot] != draft.ids[row, slot]), meant)
        assert int(accepted.bifurcation[row]) == first
        assert accepted.ids[row, : first + 1].tolist() == own[: first + 1]


def test_a_token_that_leads_by_the_margin_exactly_is_kept() -> None:
    draft = Draft(torch.tensor([[4]]), torch.tensor([1]))
    logits = torch.zeros(1, 2, WORDS)
    logits[0, 0, 4] = 1.0
    assert [int(accept(draft, logits, Margin(margin)).bifurcation) for margin in (1.0, 1.25)] == [1, 0]


@settings(deadline=None)
@given(rounds(), st.integers(1, WORDS), st.integers(1, WORDS), st.floats(0, 4), st.floats(0, 4))
def test_more_tolerance_accepts_at_least_as_much(
    drafted: tuple[Draft, Tensor], beta: int, wider: int, tolerance: float, larger: float
) -> None:
    narrow = accept(*drafted, Tolerant(min(beta, wider), min(tolerance, larger)))
    assert bool((narrow.bifurcation <= accept(*drafted, Tolerant(max(beta, wider), min(tolerance, larger))).bifurcation).all())
    assert bool((narrow.bifurcation <= accept(*drafted, Tolerant(min(beta, wider), max(tolerance, larger))).bifurcation).all())


@settings(deadline=None)
@given(rounds(), st.sampled_from((*RULES, FixedPoint(), Margin(1.0))), st.integers(0, 5))
def test_a_prefix_passes_whatever_the_rule_and_the_logits_are(drafted: tuple[Draft, Tensor], rule: Rule, prefix: int) -> None:
    draft, logits = drafted
    kept = draft.counts.clamp_max(prefix)
    draft = replace(draft, prefix=kept)
    logits[:, :-1].scatter_(2, draft.ids[..., None], -torch.inf)  # as constraints exclude a token
    accepted = accept(draft, logits, rule)
    assert torch.equal(accepted.bifurcation, kept)
    for row, count in enumerate(kept.tolist()):
        assert accepted.ids[row, :count].tolist() == draft.ids[row, :count].tolist()


def test_no_tolerance_accepts_an_excluded_token() -> None:
    logits = torch.tensor([[[0.0, -torch.inf, -torch.inf], [1.0, 0.0, 0.0]]])
    for token, passed in ((0, 1), (1, 0), (2, 0)):
        draft = Draft(torch.tensor([[token]]), torch.tensor([1]))
        assert int(accept(draft, logits, Tolerant(3, inf)).bifurcation) == passed
