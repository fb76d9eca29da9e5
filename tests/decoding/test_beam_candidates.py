"""Beam search over pairs (Imamura and Sumita, Algorithm 1) against greedy pairs, itself, and exhaustive search."""

from dataclasses import fields
from itertools import product
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.decoding.beam import beam_search, best_pairs
from specdec_cli.decoding.options import BeamSearch, Decoding
from specdec_cli.decoding.sentence import Alternative, Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.order import Order, fold, unfold
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS
from tests.fakes import ORDERS, in_precision, make_sentences, tiny_transformer

OTHERS = ORDERS[1:]
DOUBLE = ORDERS[2:]
LONGEST = 16


def search(model: Transformer, sentences: list[Sentence], **options: Any) -> list[tuple[Alternative, ...]]:
    """The alternatives of each sentence."""
    names = {field.name for field in fields(BeamSearch)}
    others: dict[str, Any] = {"max_length": LONGEST} | {name: value for name, value in options.items() if name not in names}
    search = BeamSearch(**{"beam_size": 5} | {name: value for name, value in options.items() if name in names})
    chosen = Decoding(search=search, **others)
    found = list(beam_search([Verifier(model)], sentences, chosen))
    assert [h.number for h in found] == [s.number for s in sentences]
    return [h.alternatives for h in found]


@torch.no_grad()
def following(model: Transformer, source: list[int], folded: list[int]) -> Tensor:
    """Log probabilities (step, V) of the tokens of the step after `folded`."""
    logits: Tensor = model(torch.tensor([source]), torch.tensor([[*model.config.start, *folded]]))
    return logits[0, -model.config.step :].log_softmax(-1)


@torch.no_grad()
def log_probabilities(model: Transformer, source: list[int], folded: list[list[int]]) -> list[float]:
    """Log probabilities of folded sentences of one length, by teacher forcing."""
    rows = torch.tensor(folded)
    written = torch.cat([torch.tensor(model.config.start).expand(len(rows), -1), rows], dim=1)[:, : rows.shape[1]]
    likely = model(torch.tensor([source]).expand(len(rows), -1), written).log_softmax(-1)
    return [float(total) for total in likely.gather(2, rows[:, :, None]).sum((1, 2))]


def greedy(model: Transformer, source: list[int]) -> list[int]:
    """The best pair of each step, until one has an EOS."""
    folded: list[int] = []
    while EOS not in folded and len(folded) < LONGEST:
        left, right = following(model, source, folded)
        ended = left[EOS] + right[EOS]
        left[EOS] = -torch.inf
        pair = [int(left.argmax()), int(right.argmax())]
        folded += [EOS, EOS] if ended > left.max() + right.max() else pair
    return unfold(folded, model.config.order, EOS) + [EOS] * (EOS in folded)


@pytest.mark.parametrize("order", DOUBLE)
def test_a_beam_of_one_chooses_the_best_pair_of_each_step(order: Order) -> None:
    model, sentences = tiny_transformer(order=order, ends=0.3), make_sentences(9)
    found = search(model, sentences, beam_size=1, batch_size=4)
    outputs = [alternatives[0].ids for alternatives in found]
    assert outputs == [greedy(model, list(s.source)) for s in sentences]
    assert len({len(ids) for ids in outputs}) > 2


@pytest.mark.parametrize("order", OTHERS)
@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_a_beam_as_large_as_the_space_finds_the_best_output(order: Order, length_penalty: float) -> None:
    words, longest = 6, 4
    model = tiny_transformer(vocabulary_size=words, order=order, decoder_layers=1)
    (sentence,) = make_sentences(1, vocabulary=words)
    inner = [token for token in range(words) if token != EOS]
    spoken = [list(ids) for length in range(longest + 1) for ids in product(inner, repeat=length)]
    written = [fold(ids, order, EOS) for ids in spoken] + [ids for ids in spoken if len(ids) == longest]
    scored: list[tuple[float, list[int]]] = []
    for length in range(1, longest + 1):
        if folded := [ids for ids in written if len(ids) == length]:
            likely = log_probabilities(model, list(sentence.source), folded)
            scored += [(total / length**length_penalty, ids) for total, ids in zip(likely, folded, strict=True)]
    best = sorted(scored, reverse=True)[:4]
    options = {"beam_size": words**longest, "max_length": longest, "n_best": 4, "length_penalty": length_penalty}
    (found,) = search(model, [sentence], **options)
    assert [a.ids for a in found] == [unfold(ids, order, EOS) + [EOS] * (EOS in ids) for _, ids in best]
    assert [a.score for a in found] == pytest.approx([score for score, _ in best], rel=1e-4)


@pytest.mark.parametrize("order", OTHERS)
def test_n_best_lists_are_sorted_distinct_and_scored_by_teacher_forcing(order: Order) -> None:
    model, sentences = tiny_transformer(order=order), make_sentences(5)
    for sentence, found in zip(sentences, search(model, sentences, beam_size=5, n_best=5, batch_size=3), strict=True):
        assert [a.score for a in found] == sorted((a.score for a in found), reverse=True)
        assert len({tuple(a.ids) for a in found}) == len(found) == 5
        for a in found:
            folded = fold(a.ids[:-1], order, EOS) if a.ids[-1] == EOS else None
            if folded is not None:
                assert a.log_probability == pytest.approx(log_probabilities(model, list(sentence.source), [folded])[0], rel=1e-4)
                assert a.score == pytest.approx(a.log_probability / len(folded))
    assert any(a.ids[-1] == EOS for a in found)


@pytest.mark.parametrize("order", OTHERS)
def test_other_sentences_of_the_batch_do_not_change_the_output(order: Order) -> None:
    model, sentences = tiny_transformer(3, order=order), make_sentences(7, 32)
    alone = search(model, sentences, beam_size=3, n_best=3)
    for size in (2, 7):
        together = search(model, sentences, beam_size=3, n_best=3, batch_size=size)
        assert [[a.ids for a in found] for found in together] == [[a.ids for a in found] for found in alone]


@torch.inference_mode()
def test_a_step_of_pairs_in_int8_approximates_floating_point() -> None:
    words = torch.randint(5, 48, (3, 8), generator=torch.Generator().manual_seed(1))

    def logits(precision: str) -> Tensor:
        verifier = Verifier(in_precision(tiny_transformer(order="bidirectional", width=64, feed_forward=128), precision))
        state, found = verifier.begin(range(3), [s.source for s in make_sentences(3)]), []
        for place in range(0, 8, 2):
            found.append(verifier.raw_score(state, Draft(state.tokens[:, :0], state.lengths * 0)).logits)
            state.tokens[:, 2 + place : 4 + place] = words[:, place : place + 2]
            state.lengths += 2
        return torch.cat(found, dim=1)

    exact, rounded = map(logits, ("float32", "int8"))
    assert (rounded - exact).abs().mean() < 0.2 * exact.std()


@pytest.mark.parametrize(("asked", "longest"), [(1, 2), (2, 2), (5, 4), (6, 6)])
def test_a_limit_ends_every_hypothesis(asked: int, longest: int) -> None:
    found = search(tiny_transformer(ends=0.0, order="bidirectional"), make_sentences(3), beam_size=3, n_best=3, max_length=asked)
    assert max(len(a.ids) for alternatives in found for a in alternatives) == longest


def test_the_longest_output_fits_the_cache() -> None:
    model = tiny_transformer(ends=0.0, order="bidirectional", max_positions=32)
    with torch.no_grad():
        model.output.bias[EOS] = -1e9
    ((found,),) = search(model, make_sentences(1), beam_size=1, max_length=0)
    assert len(found.ids) == 28


def test_the_candidates_of_a_step() -> None:
    """Two hypotheses of log probability -1 and -2; tokens 0, 1, 2 and the end 3. By hand: 4 left tokens, then 6 pairs."""
    scores = torch.tensor([[-1.0, -2.0]])
    left = torch.tensor([[[-9.0, -1.0, -9.0, -0.5], [-0.25, -9.0, -3.0, -9.0]]])
    right = torch.tensor([[[-8.0, -0.75, -8.0, -3.75], [-8.0, -8.0, -0.625, -1.0]]])
    best, parents, tokens = best_pairs(scores, left, right, end=3)
    # Left tokens: 3 of the first (-1.5), 1 of the first (-2), 0 of the second (-2.25), 2 of the second (-5).
    assert tokens.tolist() == [[[1, 1], [0, 2], [0, 3], [3, 3], [2, 2], [1, 3]]]
    assert parents.tolist() == [[0, 1, 1, 0, 1, 0]]
    assert best.tolist() == [[-2.75, -2.875, -3.25, -5.25, -5.625, -5.75]]


@given(st.integers(0, 2**16), st.integers(1, 3), st.integers(1, 4), st.integers(2, 9))
def test_candidates_are_the_best_pairs_of_the_best_left_tokens(seed: int, sentences: int, beam: int, vocabulary: int) -> None:
    generator, end = torch.Generator().manual_seed(seed), 1
    scores = torch.randn(sentences, beam, generator=generator).double()
    left, right = (torch.randn(sentences, beam, vocabulary, generator=generator).double() for _ in range(2))
    best, parents, tokens = best_pairs(scores, left, right, end)
    for row in range(sentences):
        lefts = sorted(((scores[row, h] + left[row, h, t], h, t) for h in range(beam) for t in range(vocabulary)), reverse=True)
        pairs = [
            (float(score + right[row, h, second]), h, [t, second])
            for score, h, t in lefts[: 2 * beam]
            for second in range(vocabulary)
            if t != end or second == end
        ]
        expected = sorted(pairs, reverse=True)[: 3 * beam]
        found = list(zip(best[row].tolist(), parents[row].tolist(), tokens[row].tolist(), strict=True))
        assert found[: len(expected)] == expected
        assert all(score == -torch.inf for score, _, _ in found[len(expected) :])
