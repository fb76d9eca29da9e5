"""Drafts of heads on the verifier's states do not change the output."""

from dataclasses import replace
from functools import cache

import pytest
import torch
from torch import Tensor

from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.networks import Blockwise
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding, DecodingOptions, Exact, Tolerant, resolve
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.drafter import Heads
from tests.fakes import HEADS, in_precision, make_sentences, tiny_heads, tiny_transformer

LONGEST = 40
PRECISIONS = ["float32", "bfloat16", "int8"]


@cache
def made(kind: str, precision: str) -> tuple[Verifier, Heads, dict[int, Hypothesis]]:
    """A verifier, heads, and greedy hypotheses of twelve sentences decoded one by one."""
    model = tiny_transformer()
    network = tiny_heads(model, **HEADS[kind])
    in_precision(model, precision, network if precision.startswith("int8") else None)
    if precision == "bfloat16":
        network.lower_precision(torch.bfloat16)
    verifier = Verifier(model)
    found = decode_with(verifier, NoDrafter(), make_sentences(12), Decoding(max_length=LONGEST))
    return verifier, network, {h.number: h for h in found}


@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("kind", HEADS)
def test_some_drafts_of_heads_are_accepted(kind: str, precision: str) -> None:
    verifier, network, greedy = made(kind, precision)
    found = list(decode_with(verifier, Blockwise(network, 4), make_sentences(12), Decoding(batch_size=5, max_length=LONGEST)))
    assert sum(h.rounds for h in found) < sum(len(greedy[h.number].ids) for h in found)


@pytest.mark.parametrize(("kind", "first"), [("published", 0), ("linked, start", 3)])
def test_the_first_draft_requires_the_encoder_states(kind: str, first: int) -> None:
    verifier, network, _ = made(kind, "float32")
    drafted: list[list[int]] = []
    list(
        decode_with(
            verifier,
            Blockwise(network, 3),
            make_sentences(1),
            Decoding(batch_size=1, max_length=LONGEST),
            lambda seen: drafted.append(seen.draft.counts.tolist()),
        )
    )
    assert drafted[0] == [first]
    assert drafted[1:] == [[3]] * (len(drafted) - 1) != []


@torch.inference_mode()
@pytest.mark.parametrize("rule", [Exact(), Tolerant(3, 2.0)])
def test_a_draft_is_computed_from_the_state_of_the_last_accepted_token(rule: Exact | Tolerant) -> None:
    verifier, network, _ = made("linked", "float32")
    sentences, drafts = make_sentences(5), list[tuple[int, list[int], list[int]]]()

    def look(seen: RoundTrace) -> None:
        rows = zip(seen.state.numbers.tolist(), seen.state.lengths.tolist(), seen.draft.ids.tolist(), strict=True)
        for row, (number, length, ids) in enumerate(rows):
            if length > 1 and not seen.state.finished[row]:
                drafts.append((number, seen.state.tokens[row, :length].tolist(), ids))

    list(decode_with(verifier, Blockwise(network, 4), sentences, Decoding(acceptance=rule, batch_size=3, max_length=LONGEST), look))
    assert len(drafts) > 20
    for number, prefix, ids in drafts:
        top = states_after(verifier, sentences[number], prefix[:-1])
        assert network.choose(network(top, 4), torch.tensor(prefix[-1:]))[0].tolist() == ids


def states_after(verifier: Verifier, sentence: Sentence, prefix: list[int]) -> Tensor:
    """The verifier's top state (1, W) after a prefix that begins with the decoder start, in one pass."""
    state = verifier.begin([0], [sentence.source])
    return verifier.score(state, Draft(torch.tensor([prefix[1:]], dtype=torch.long), state.lengths * 0 + len(prefix) - 1)).states[:, -1]


@pytest.mark.parametrize("precision", PRECISIONS)
def test_the_tolerant_rule_accepts_drafts_of_heads(precision: str) -> None:
    verifier, network, greedy = made("linked", precision)
    rule, sentences = Tolerant(3, 2.0), make_sentences(12)[:6]
    exact = list(decode_with(verifier, Blockwise(network, 4), sentences, Decoding(batch_size=1, max_length=LONGEST)))
    found = list(decode_with(verifier, Blockwise(network, 4), sentences, Decoding(acceptance=rule, batch_size=1, max_length=LONGEST)))
    assert any(h.ids != greedy[h.number].ids for h in found)
    rates = [sum(len(h.ids) for h in each) / sum(h.rounds for h in each) for each in (exact, found)]
    assert rates[0] < rates[1]
    for hypothesis in found:
        state = verifier.begin([0], [sentences[hypothesis.number].source])
        ids = torch.tensor([hypothesis.ids])
        logits = verifier.score(state, Draft(ids, state.lengths * 0 + ids.shape[1])).logits[:, :-1].float()
        chosen = logits.gather(2, ids[..., None])[..., 0]
        assert bool((logits.amax(-1) - chosen <= 2.0 + 1e-5).all())
        assert bool(((logits > chosen[..., None]).sum(-1) < 3).all())


def test_a_block_has_at_most_one_token_per_head() -> None:
    network = made("published", "float32")[1]
    with pytest.raises(UsageError, match="works for 1 to 6"):
        Blockwise(network, 7)


@pytest.fixture
def with_heads(bundle: Bundle) -> Bundle:
    model = tiny_transformer(vocabulary_size=len(bundle.tokenizer))
    return Bundle(BundleInfo(), bundle.tokenizer, model, tiny_heads(model))


@pytest.mark.parametrize("rows", [1, 5])
@pytest.mark.parametrize("decoding", ["auto", "blockwise", "lookup,blockwise", "blockwise,gs-jacobi"])
def test_an_engine_decodes_with_heads(decoding: str, rows: int, with_heads: Bundle) -> None:
    sentences = [*make_sentences(8, 16), *(replace(s, number=s.number + 8) for s in make_sentences(8, 48))]
    greedy, drafted = (
        {
            h.number: h.ids
            for h in Engine(with_heads, resolve(DecodingOptions(decoding=name, batch_size=rows, max_length=20), with_heads)).decode(
                sentences
            )
        }
        for name in ("greedy", decoding)
    )
    assert greedy == drafted


def test_auto_uses_heads_if_they_pay(with_heads: Bundle) -> None:
    chosen = resolve(DecodingOptions(), with_heads)
    assert (chosen.method, chosen.may_skip, chosen.block_size, chosen.acceptance) == ("blockwise", True, 6, Exact())
    assert Engine(with_heads, chosen).drafted == (0, 0.0)
    tolerant = resolve(DecodingOptions(preset="high-quality"), with_heads)
    assert (tolerant.method, tolerant.acceptance, tolerant.adaptive) == ("blockwise", Tolerant(3, 1.0), False)
