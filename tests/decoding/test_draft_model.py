"""Drafts by another model: the output is greedy's whatever the other model writes, and a model that agrees saves rounds."""

from functools import cache
from math import ceil
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.decoding.bridge import Bridge
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.draft_model import DraftModel
from specdec_cli.decoding.drafters.fallback import Fallback
from specdec_cli.decoding.drafters.suffix import Lookup
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Constraints, Decoding, Exact, Rule, Sampled
from specdec_cli.decoding.sentence import Hypothesis, Sentence, make_sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING, Subwords, train_subwords
from tests.conftest import make_lines
from tests.fakes import VOCABULARY, make_sentences, tiny_transformer

LONGEST = 40


def relative(seed: int = 1, share: float = 0.3, **changes: Any) -> Transformer:
    """The model of `seed` with noise in its weights, so that it agrees with it in a part of the tokens."""
    model = tiny_transformer(seed, **changes)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for weight in model.parameters():
            weight.add_(share * weight.std() * torch.randn_like(weight) if weight.numel() > 1 else 0.0)
    return model


@cache
def drafting(name: str) -> Verifier:
    """A draft model by name: the verifier itself, one that agrees with it in a part of the tokens, others, and one that reads less."""
    changes: dict[str, dict[str, Any]] = {
        "itself": {"seed": 1},
        "stranger": {"seed": 7},
        "endless": {"seed": 7, "ends": 0.0},
        "larger": {"seed": 3, "width": 48, "heads": 3, "decoder_layers": 3},
        "short": {"seed": 1, "max_positions": 32},
    }
    return Verifier(relative() if name == "relative" else tiny_transformer(**changes[name]))


NAMES = ("itself", "relative", "stranger", "endless", "larger", "short")


@cache
def verifier() -> Verifier:
    return Verifier(tiny_transformer(1))


def decoded(drafter: Drafter, sentences: list[Sentence], decoding: Decoding, model: Verifier | None = None) -> list[Hypothesis]:
    """The hypotheses of `sentences`, in their order."""
    return sorted(decode_with(model or verifier(), drafter, sentences, decoding), key=lambda each: each.number)


@given(
    name=st.sampled_from(NAMES),
    width=st.sampled_from((16, 32, 48)),
    count=st.integers(1, 7),
    rows=st.integers(1, 4),
    size=st.sampled_from((1, 2, 3, 5, 9, 1024)),
    longest=st.integers(1, LONGEST),
    rule=st.sampled_from((Exact(), Sampled(1.0, 0, 3), Sampled(0.5, 4, 1))),
)
def test_the_output_is_that_of_decoding_token_by_token(
    name: str, width: int, count: int, rows: int, size: int, longest: int, rule: Rule
) -> None:
    sentences = make_sentences(count, width, seed=count)
    decoding = Decoding(acceptance=rule, batch_size=rows, max_length=longest)
    found = decoded(DraftModel(drafting(name), size, None, rule), sentences, decoding)
    expected = decoded(NoDrafter(), sentences, decoding)
    assert [each.ids for each in found] == [each.ids for each in expected]
    for each in found:
        least = ceil(len(each.ids) / (min(size, (3 * width + 16) // 4) + 1))
        assert least <= each.rounds <= len(each.ids)
        if name == "itself":
            assert each.rounds == least


def test_a_model_that_agrees_in_a_part_saves_rounds() -> None:
    sentences = make_sentences(12, 32, seed=5)
    decoding = Decoding(max_length=LONGEST)
    tokens = [len(each.ids) for each in decoded(NoDrafter(), sentences, decoding)]
    rounds = {
        name: sum(each.rounds for each in decoded(DraftModel(drafting(name), 4, None, Exact()), sentences, decoding))
        for name in ("itself", "relative", "stranger")
    }
    assert rounds["itself"] < rounds["relative"] < rounds["stranger"] <= sum(tokens)
    assert rounds["relative"] < 0.8 * sum(tokens)


def test_a_source_that_the_draft_model_cannot_read_has_no_drafts() -> None:
    sentences = make_sentences(4, 48, seed=2)
    found = decoded(DraftModel(drafting("short"), 4, None, Exact()), sentences, Decoding(max_length=LONGEST))
    assert all(each.rounds == len(each.ids) for each in found)


def test_constraints_of_the_verifier_hold() -> None:
    model = Verifier(tiny_transformer(1), constraints=Constraints(min_length=12, no_repeat_ngram_size=2), forced=9)
    sentences, decoding = make_sentences(5, 32, seed=3), Decoding(max_length=LONGEST, batch_size=2)
    expected = decoded(NoDrafter(), sentences, decoding, model)
    for name in NAMES:
        found = decoded(DraftModel(drafting(name), 5, None, Exact()), sentences, decoding, model)
        assert [each.ids for each in found] == [each.ids for each in expected]
    assert all(each.ids[0] == 9 and len(each.ids) >= 12 for each in expected)


def test_a_chain_takes_the_draft_of_the_other_model_where_the_first_has_none() -> None:
    sentences, decoding = make_sentences(6, 32, seed=4), Decoding(max_length=LONGEST, batch_size=3)
    alone = decoded(DraftModel(drafting("itself"), 5, None, Exact()), sentences, decoding)
    chain = Fallback([Lookup(5, EOS, PADDING), DraftModel(drafting("itself"), 5, None, Exact())], 5)
    found = decoded(chain, sentences, decoding)
    assert [each.ids for each in found] == [each.ids for each in alone]
    assert sum(each.rounds for each in found) < sum(len(each.ids) for each in found)


@pytest.fixture(scope="session")
def other_tokenizer(tokenizer: Subwords, tmp_path_factory: pytest.TempPathFactory) -> Subwords:
    """A tokenizer with a larger vocabulary than `tokenizer`."""
    path = tmp_path_factory.mktemp("other") / "tokenizer.model"
    return train_subwords(make_lines(400, seed=8), path, len(tokenizer) + 60, exact=False, threads=1)


@given(rows=st.integers(1, 3), size=st.integers(1, 6), seed=st.integers(0, 20), pair=st.sampled_from(("smaller", "larger")))
def test_the_output_is_greedys_with_another_vocabulary(
    tokenizer: Subwords, other_tokenizer: Subwords, rows: int, size: int, seed: int, pair: str
) -> None:
    own, other = (tokenizer, other_tokenizer) if pair == "larger" else (other_tokenizer, tokenizer)
    model = Verifier(tiny_transformer(1, vocabulary_size=len(own)))
    drafter = DraftModel(Verifier(tiny_transformer(2, vocabulary_size=len(other))), size, Bridge(own, other), Exact())
    sentences = [make_sentence(own, EOS, number, line) for number, line in enumerate(make_lines(4, seed=seed))]
    sentences = [each for each in sentences if len(each.source) <= 16] or [Sentence(0, [VOCABULARY - 1, EOS])]
    decoding = Decoding(batch_size=rows, max_length=20)
    found, expected = decoded(drafter, sentences, decoding, model), decoded(NoDrafter(), sentences, decoding, model)
    assert [each.ids for each in found] == [each.ids for each in expected]


def test_without_a_text_nothing_is_drafted_for_another_vocabulary(tokenizer: Subwords, other_tokenizer: Subwords) -> None:
    model = Verifier(tiny_transformer(1, vocabulary_size=len(tokenizer)))
    drafter = DraftModel(
        Verifier(tiny_transformer(2, vocabulary_size=len(other_tokenizer))), 4, Bridge(tokenizer, other_tokenizer), Exact()
    )
    found = decoded(drafter, make_sentences(3, 16), Decoding(max_length=20), model)
    assert all(each.rounds == len(each.ids) for each in found)
