"""The loop gives the output of greedy decoding with any drafter, once for each sentence."""

import inspect
from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.decoding import loop
from specdec_cli.decoding.drafters import Drafter, NoDrafter
from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.rounds import RoundTrace
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import UsageError
from specdec_cli.model.network import TorchNetwork
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING
from tests.fake_drafters import GUESSES, FakeDrafter, Guess, TableVerifier, right, wrong
from tests.fakes import DRAFTERS, FEW_DRAFTERS, make_sentences, tiny_drafter, tiny_transformer

LONGEST = 40
WIDTHS = (16, 32, 48)
Pool = tuple[Verifier, list[Sentence], dict[int, list[int]]]


@cache
def pool(width: int, seed: int = 1) -> Pool:
    """A verifier, sentences of one source width, and their greedy outputs, decoded one by one."""
    verifier, sentences = Verifier(tiny_transformer(seed)), make_sentences(12, width, seed=seed)
    found = decode_with(verifier, NoDrafter(), sentences, Decoding(max_length=LONGEST))
    return verifier, sentences, {h.number: h.ids for h in found}


@cache
def endless() -> Pool:
    """A verifier that never emits EOS, sentences, and their greedy outputs."""
    verifier, sentences = Verifier(tiny_transformer(ends=0.0)), make_sentences(5, 16)
    return verifier, sentences, {h.number: h.ids for h in decode_with(verifier, NoDrafter(), sentences, Decoding())}


def model_of(verifier: Verifier) -> Transformer:
    """The model of a verifier that computes with PyTorch."""
    assert isinstance(verifier.network, TorchNetwork)
    return verifier.network.model


def check(found: Sequence[Hypothesis], outputs: Mapping[int, list[int]], count: int, block_size: int, max_length: int) -> None:
    """Assert one hypothesis per sentence with greedy's ids up to the limit, and a possible number of rounds."""
    assert sorted(h.number for h in found) == list(range(count))
    for hypothesis in found:
        assert hypothesis.ids == outputs[hypothesis.number][:max_length]
        assert ceil(len(hypothesis.ids) / (block_size + 1)) <= hypothesis.rounds <= len(hypothesis.ids)


@pytest.mark.parametrize("width", WIDTHS)
def test_greedy_chooses_the_best_token_after_each_prefix(width: int) -> None:
    verifier, sentences, outputs = pool(width)
    for sentence in sentences:
        ids = outputs[sentence.number]
        prefix = torch.tensor([[verifier.config.decoder_start, *ids[:-1]]])
        logits = model_of(verifier)(torch.tensor([sentence.source]), prefix)[0]
        assert torch.allclose(logits.gather(1, torch.tensor(ids)[:, None])[:, 0], logits.amax(1), atol=1e-2)
        assert EOS not in ids[:-1]
        assert ids[-1] == EOS or len(ids) == LONGEST
    assert len({len(ids) for ids in outputs.values()}) > 4


@settings(deadline=None, max_examples=60)
@given(
    width=st.sampled_from(WIDTHS),
    seed=st.sampled_from([1, 3]),
    count=st.integers(1, 12),
    guess=st.sampled_from(GUESSES),
    ragged=st.booleans(),
    block_size=st.integers(1, 30),
    batch_size=st.integers(1, 9),
    max_length=st.integers(1, LONGEST),
)
def test_any_drafter_gives_greedy_output(
    width: int, seed: int, count: int, guess: Guess, ragged: bool, block_size: int, batch_size: int, max_length: int
) -> None:
    verifier, sentences, outputs = pool(width, seed)
    drafter = FakeDrafter(outputs, block_size, guess, ragged=ragged, seed=count)
    found = list(decode_with(verifier, drafter, sentences[:count], Decoding(batch_size=batch_size, max_length=max_length)))
    check(found, outputs, count, block_size, max_length)


@pytest.mark.parametrize("drafter", ["none", "fake", *FEW_DRAFTERS])
def test_a_sentence_may_fill_the_cache(drafter: str) -> None:
    verifier, sentences, outputs = endless()
    assert max(map(len, outputs.values())) == verifier.capacity(16) - 2
    drafters: dict[str, Drafter] = {"none": NoDrafter(), "fake": FakeDrafter(outputs, 9, right)}
    made = drafters.get(drafter) or Block(tiny_drafter(model_of(verifier), **DRAFTERS[drafter]), 6)
    check(list(decode_with(verifier, made, sentences, Decoding(batch_size=5))), outputs, 5, 9, 1000)


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000), st.sampled_from(GUESSES), st.integers(1, 8), st.integers(1, 5))
def test_ties_are_broken_by_the_first_id_with_and_without_drafts(seed: int, guess: Guess, block_size: int, batch_size: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    table = torch.randint(0, 3, (5, 20, 8), generator=generator).float()
    table[:, :, EOS] -= (torch.rand(5, 20, generator=generator) < 0.8).float() * 9
    best = table.argmax(-1).tolist()
    outputs = {number: ids[: ids.index(EOS) + 1 if EOS in ids else len(ids)] for number, ids in enumerate(best)}
    drafter = FakeDrafter(outputs, block_size, guess, seed=seed)
    found = list(decode_with(TableVerifier(table), drafter, make_sentences(5), Decoding(batch_size=batch_size, max_length=20)))
    check(found, outputs, 5, block_size, 20)


def test_ids_that_always_tie_are_not_exchanged() -> None:
    model = tiny_transformer(tied_output=False, output_bias=False)
    with torch.no_grad():
        model.output.weight[1::2] = model.output.weight[::2]
    verifier, sentences = Verifier(model), make_sentences(6)
    outputs = {h.number: h.ids for h in decode_with(verifier, NoDrafter(), sentences, Decoding(max_length=20))}
    assert all(token % 2 == 0 for ids in outputs.values() for token in ids)

    def twin(ids: Tensor, generator: torch.Generator) -> Tensor:  # noqa: ARG001
        return ids ^ 1

    found = list(decode_with(verifier, FakeDrafter(outputs, 5, twin), sentences, Decoding(batch_size=4, max_length=20)))
    check(found, outputs, 6, 0, 20)


@pytest.mark.parametrize("block_size", [1, 4, 30])
def test_right_drafts_take_the_fewest_rounds_and_wrong_ones_the_most(block_size: int) -> None:
    verifier, sentences, outputs = pool(16)
    for hypothesis in decode_with(verifier, FakeDrafter(outputs, block_size, right), sentences, Decoding(batch_size=4, max_length=LONGEST)):
        assert hypothesis.rounds == ceil(len(hypothesis.ids) / (block_size + 1))
    for hypothesis in decode_with(verifier, FakeDrafter(outputs, block_size, wrong), sentences, Decoding(batch_size=4, max_length=LONGEST)):
        assert hypothesis.rounds == len(hypothesis.ids)


def always(ids: Sequence[int], rows: int = 1) -> TableVerifier:
    """A verifier whose output is `ids`, followed by repetitions of the last one."""
    return TableVerifier(torch.nn.functional.one_hot(torch.tensor([ids] * rows), 48).float())


def test_eos_inside_a_draft_ends_the_sentence_there() -> None:
    ids = [7, 8, EOS, 9, 10, 11, 12]
    (found,) = decode_with(always(ids), FakeDrafter({0: ids}, 5, right), make_sentences(1), Decoding())
    assert (found.ids, found.rounds) == ([7, 8, EOS], 1)


def test_a_limit_inside_a_draft_cuts_there() -> None:
    ids = [7, 8, 9, 10, 11, 12]
    (found,) = decode_with(always(ids), FakeDrafter({0: ids}, 5, right), make_sentences(1), Decoding(max_length=4))
    assert (found.ids, found.rounds) == ([7, 8, 9, 10], 1)


def test_padding_inside_a_draft_is_verified_like_other_tokens() -> None:
    ids = [7, PADDING, 8, EOS]
    (found,) = decode_with(always(ids), FakeDrafter({0: ids}, 2, right), make_sentences(1), Decoding())
    assert (found.ids, found.rounds) == (ids, 2)


def test_finished_rows_accept_nothing_and_count_no_rounds() -> None:
    table = torch.nn.functional.one_hot(torch.tensor([[7, EOS, 9, 9, 9, 9]] + [[7, 8, 9, 10, 11, EOS]] * 5), 48).float()
    waited = 0

    def look(seen: RoundTrace) -> None:
        nonlocal waited
        waited += int(seen.state.finished.sum())
        assert not seen.accepted.counts[seen.state.finished].any()

    found = {h.number: h for h in decode_with(TableVerifier(table), NoDrafter(), make_sentences(6), Decoding(batch_size=6), look)}
    assert waited > 0
    assert (found[0].ids, found[0].rounds) == ([7, EOS], 2)
    assert all(found[number].ids == [7, 8, 9, 10, 11, EOS] for number in range(1, 6))


def test_no_sentences_give_no_hypotheses() -> None:
    assert list(decode_with(pool(16)[0], NoDrafter(), [], Decoding(batch_size=4))) == []


@pytest.mark.parametrize("block_size", [0, 7])
def test_an_untrained_block_size_is_refused(block_size: int) -> None:
    with pytest.raises(UsageError, match=f"--block-size {block_size}: .* 1 to 6"):
        Block(tiny_drafter(tiny_transformer()), block_size)


@pytest.mark.parametrize("block_size", [0, 4])
def test_scores_equal_those_of_teacher_forcing(block_size: int) -> None:
    verifier, sentences, outputs = pool(32)
    drafter = FakeDrafter(outputs, block_size, GUESSES[2]) if block_size else NoDrafter()
    for hypothesis in decode_with(verifier, drafter, sentences, Decoding(batch_size=5, max_length=LONGEST, with_scores=True)):
        source = torch.tensor([sentences[hypothesis.number].source])
        prefix = torch.tensor([[verifier.config.decoder_start, *hypothesis.ids[:-1]]])
        likely = model_of(verifier)(source, prefix)[0].log_softmax(-1).gather(1, torch.tensor(hypothesis.ids)[:, None])
        assert hypothesis.score == pytest.approx(float(likely.detach().sum()), rel=1e-4)


def test_scores_are_none_unless_requested() -> None:
    verifier, sentences, _ = pool(16)
    assert all(h.score is None for h in decode_with(verifier, NoDrafter(), sentences, Decoding(batch_size=12, max_length=3)))


def test_the_loop_fits_a_screen() -> None:
    assert len(inspect.getsource(loop.decode).splitlines()) <= 24
