"""Rounds that Triton kernels compute in reused buffers have the output of PyTorch's operators, with and without drafts."""

from array import array
from dataclasses import replace
from typing import Any

import pytest
import torch

pytest.importorskip("triton", reason="triton is not installed: pip install -e '.[kernels-test]'")
from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.constraints import forms_tensor, repeats
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.drafters.suffix import Lookup
from specdec_cli.decoding.loop import decode_by_search, decode_with
from specdec_cli.decoding.options import BeamSearch, Constraints, Decoding, Exact, FixedPoint, Margin, Sampled, Tolerant
from specdec_cli.decoding.rounds import DraftAndVerify, judge_by_operators
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels import copies as kernels
from specdec_cli.kernels.copies import forbidden
from specdec_cli.kernels.drafter import TritonDrafter
from specdec_cli.kernels.network import TritonNetwork
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.decoding.imitation import imitated
from tests.fakes import RELATIVE, RELATIVE_SHAPE, VOCABULARY, make_sentences, tiny_drafter, tiny_transformer

pytestmark = pytest.mark.usefixtures("whole_layers", "short_bursts")

COPIES = 1
FORMS = array("i", [0, 0, -1, -2, *((1 + token // 2 if token % 5 else -token) for token in range(VOCABULARY - 4))]).tobytes()
RULES = Constraints(most_copies=COPIES, forms=(FORMS, FORMS))
ACCEPTANCE = (Exact(), FixedPoint(), Tolerant(1, 0.5), Tolerant(3, 1.0), Tolerant(3, 1e9), Margin(0.4), Sampled(0.5, 3))


def decoded(verifier: Verifier, drafter: Drafter, sentences: list[Sentence], rows: int) -> dict[int, list[int]]:
    options = Decoding(batch_size=rows, max_length=6)
    return {each.number: each.ids for each in decode_with(verifier, drafter, sentences, options)}


@pytest.mark.parametrize("kind", ["none", "block", "unlinked", "own", "lookup"])
def test_rounds_by_kernels_give_the_output_of_the_operators(kind: str) -> None:
    model, sentences = tiny_transformer(decoder_layers=1), make_sentences(3)
    kinds: dict[str, dict[str, Any]] = {"block": {"chain": 8, "recurrent": True}, "own": {"chain": 0, "prefix": "own"}}
    changes = kinds.get(kind, {"chain": 0})
    drafters: dict[str, Drafter] = {"none": NoDrafter(), "lookup": Lookup(3, EOS, PADDING)}
    drafter = drafters.get(kind) or Block(TritonDrafter(tiny_drafter(model, **changes)), 3)
    expected = decoded(Verifier(model, None, RULES), NoDrafter(), sentences, 3)
    assert expected != decoded(Verifier(model), NoDrafter(), sentences, 3)
    imitation = imitated(TritonNetwork(model), None, RULES, calls=True)
    assert decoded(imitation.verifier, drafter, sentences, 2) == expected
    assert imitation.graphs.counts.replays


@pytest.mark.parametrize("kind", ["logits", "shortlist", "copies", "constrained"])
def test_beam_search_by_kernels_finds_the_hypotheses_of_the_operators(kind: str) -> None:
    model, sentences = tiny_transformer(decoder_layers=1, ends=0.3), make_sentences(4)
    rules = {"constrained": Constraints(min_length=3), "copies": RULES}.get(kind)
    options = Decoding(search=BeamSearch(beam_size=3, n_best=3), batch_size=2, max_length=6)
    expected = list(beam_search([Verifier(model, None, rules)], sentences, options))
    if kind == "copies":
        plain = beam_search([Verifier(model)], sentences, options)
        assert [each.alternatives for each in expected] != [each.alternatives for each in plain]
    network = TritonNetwork(model)
    if kind in ("shortlist", "copies"):  # which are for half precision, in which nearly equal scores would differ
        network.value_bytes = 2
    assert network.can_search(6, rules or Constraints()) == (kind in ("shortlist", "copies"))
    imitation = imitated(network, None, rules, calls=True)
    found = sorted(decode_by_search(imitation.verifier, sentences, options), key=lambda each: each.number)
    assert imitation.graphs.counts.replays
    for one, other in zip(expected, found, strict=True):
        assert [each.ids for each in one.alternatives] == [each.ids for each in other.alternatives]
        assert [each.score for each in one.alternatives] == pytest.approx([each.score for each in other.alternatives], rel=1e-4)


def test_a_beam_of_one_has_the_tokens_of_greedy_decoding_by_kernels() -> None:
    network, sentences = TritonNetwork(tiny_transformer(decoder_layers=1, ends=0.3).half()), make_sentences(3)
    imitation = imitated(network, calls=True)
    options = Decoding(search=BeamSearch(beam_size=1), batch_size=2, max_length=6)
    found = {each.number: each.ids for each in decode_by_search(imitation.verifier, sentences, options)}
    greedy = {each.number: each.ids for each in decode_with(Verifier(network), NoDrafter(), sentences, replace(options, batch_size=1))}
    assert found == greedy


@pytest.mark.parametrize(
    ("shape", "changes"),
    [
        ({}, {"recurrent": True}),
        ({}, {"prefix": "own", "layers": 2}),
        ({}, {"prefix": "own", "layout": "unshifted"}),
        (RELATIVE_SHAPE | RELATIVE["gated"], {"recurrent": True}),
    ],
)
@torch.inference_mode()
def test_a_drafter_of_kernels_drafts_what_the_operators_draft(shape: dict[str, Any], changes: dict[str, Any]) -> None:
    model = tiny_transformer(decoder_layers=1, **shape)
    network, sentences = tiny_drafter(model, **changes), make_sentences(3)
    batches = []
    for each in (Block(network, 4), Block(TritonDrafter(network), 4)):
        round_ = DraftAndVerify(Verifier(model), each, Decoding(max_length=10))
        batch = round_.begin(sentences)
        batches.append([round_.play(batch, 0)[0].ids.tolist() for _ in range(3)])
    assert batches[0] == batches[1]
    assert len({str(ids) for ids in batches[0]}) > 1


@pytest.mark.parametrize("drafted", [0, 3])
@torch.inference_mode()
def test_the_forbidden_forms_are_those_of_the_constraint(drafted: int) -> None:
    model = tiny_transformer()
    rows, seen = 6, 0
    for copies in (1, 2):
        rules = Constraints(most_copies=copies, forms=(FORMS, FORMS))
        verifier = Verifier(model, None, rules)
        sources = [[*([7, 9] * 6), EOS] if row % 4 == 0 else [7, 8, 9, EOS] for row in range(rows)]
        state = verifier.begin(range(rows), sources)
        period = torch.randint(1, 4, (rows, 1))
        state.tokens.copy_(5 + (torch.arange(state.tokens.shape[1]) % period) * 3 + (torch.rand(state.tokens.shape) < 0.05))
        state.lengths.copy_(torch.randint(1, 16, (rows,)))
        ids = torch.stack([state.tokens[row, at : at + drafted] for row, at in enumerate(state.lengths.tolist())])
        draft = Draft(ids, state.lengths * 0 + drafted)
        kept = verifier.constrain(torch.zeros(rows, drafted + 1, VOCABULARY), state, draft.ids) == 0
        forms = forms_tensor(FORMS, torch.device("cpu")).int()
        allowed = repeats(rules, state.source, PADDING)
        assert torch.equal(kernels.repeats(state.source, forms, copies), allowed)
        found = forbidden(state.tokens, state.lengths, draft.ids, forms, allowed, copies)
        excluded = ((forms == found[..., None]) & (found[..., None] > 0)).any(2)
        assert torch.equal(excluded, ~kept)
        seen += int(excluded.sum())
        assert bool(allowed[0])
        assert not bool(allowed[1])
    assert seen


@pytest.mark.parametrize("rules", [RULES, replace(RULES, forced=9, forced_end=True)], ids=["copies", "forced"])
@torch.inference_mode()
def test_a_verdict_of_kernels_is_that_of_the_operators_on_all_logits(rules: Constraints, monkeypatch: pytest.MonkeyPatch) -> None:
    """By all rules, with log probabilities; drafts have probable and improbable tokens, and some rows a prefix."""
    network, sentences = TritonNetwork(tiny_transformer(decoder_layers=1, ends=0.3)), make_sentences(7)
    verifier = Verifier(network, rules.forced, rules)
    state = verifier.begin(range(7), [sentence.source for sentence in sentences])
    state.limits[:3] = torch.tensor([2, 4, 5])
    likely = verifier.score(state, Draft(state.tokens[:, :0], state.lengths * 0)).logits[:, 0].topk(3).indices
    seen = 0
    for size, chosen in ((3, ACCEPTANCE), (0, (Tolerant(3, 1.0), Margin(0.4)))):
        ids = likely.gather(1, torch.randint(0, 3, (7, size)))
        prefix = torch.tensor([0, 1, 0, 2, 0, 0, 3]).clamp_max(size)
        draft = Draft(ids, torch.tensor([0, 1, 3, 3, 2, 3, 3]).clamp_max(size), prefix)
        states = verifier.raw_score(state, draft).states
        monkeypatch.setattr(network, "decode", lambda *_, states=states: states)  # a pass takes the interpreter a second
        for rule in chosen:
            assert verifier.judges(rule)
            found = verifier.judge(state, draft, rule, with_scores=True)
            expected = judge_by_operators(verifier, state, draft, rule, with_scores=True)
            counts = expected.accepted.counts
            for name in ("ids", "counts", "bifurcation", "predictions", "drafted"):
                assert torch.equal(getattr(found.accepted, name), getattr(expected.accepted, name)), name
            assert torch.equal(found.ended, expected.ended)
            inside = torch.arange(size + 1) < counts[:, None]
            assert found.log_probabilities is not None and expected.log_probabilities is not None
            torch.testing.assert_close(found.log_probabilities[inside], expected.log_probabilities[inside], rtol=1e-5, atol=1e-5)
            seen += int((counts > 1).sum())
    assert seen > 10


def test_the_rules_that_kernels_judge() -> None:
    network = TritonNetwork(tiny_transformer(decoder_layers=1))
    assert network.can_judge(Exact(), RULES)
    assert network.can_judge(Tolerant(16, 1.0), RULES) and not network.can_judge(Tolerant(17, 1.0), RULES)
    assert network.can_judge(Margin(1.0), RULES) and network.can_judge(Sampled(), RULES)
    assert network.can_judge(Exact(), Constraints(forced=5, forced_end=True))
    assert not network.can_judge(Exact(), Constraints(min_length=3))
    network.value_bytes = 2
    assert network.can_search(32, RULES) and not network.can_search(33, RULES)
    assert not network.can_search(6, Constraints(forced_end=True))
