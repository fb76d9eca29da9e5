"""Beam search against greedy decoding, against itself, and against exhaustive search."""

from dataclasses import fields
from itertools import product
from typing import Any

import pytest
import torch

from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import BeamSearch, Decoding
from specdec_cli.decoding.sentence import Alternative, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.transformer import Transformer
from specdec_cli.text.tokenize.sentencepiece import EOS
from tests.fakes import make_sentences, tiny_transformer

LONGEST = 16


def search(model: Transformer, sentences: list[Sentence], models: int = 1, **options: Any) -> list[tuple[Alternative, ...]]:
    """The alternatives of each sentence."""
    names = {field.name for field in fields(BeamSearch)}
    others: dict[str, Any] = {"max_length": LONGEST} | {name: value for name, value in options.items() if name not in names}
    search = BeamSearch(**{"beam_size": 5} | {name: value for name, value in options.items() if name in names})
    chosen = Decoding(search=search, **others)
    found = list(beam_search([Verifier(model)] * models, sentences, chosen))
    assert [h.number for h in found] == [s.number for s in sentences]
    assert all((h.ids, h.score) == (h.alternatives[0].ids, h.alternatives[0].log_probability) for h in found)
    return [h.alternatives for h in found]


@torch.no_grad()
def log_probability(model: Transformer, source: list[int], ids: list[int]) -> float:
    """The log probability of an output by teacher forcing."""
    prefix = torch.tensor([[model.config.decoder_start, *ids[:-1]]])
    likely = model(torch.tensor([source]), prefix)[0].log_softmax(-1)
    return float(likely.gather(1, torch.tensor(ids)[:, None]).sum())


@pytest.mark.parametrize("width", [16, 48])
def test_a_beam_of_one_equals_greedy_decoding(width: int) -> None:
    model, sentences = tiny_transformer(), make_sentences(9, width)
    greedy = {h.number: h.ids for h in decode_with(Verifier(model), NoDrafter(), sentences, Decoding(batch_size=1, max_length=LONGEST))}
    found = search(model, sentences, beam_size=1, batch_size=4)
    assert [alternatives[0].ids for alternatives in found] == [greedy[s.number] for s in sentences]


def test_an_ensemble_of_equal_models_equals_the_model() -> None:
    model, sentences = tiny_transformer(), make_sentences(6)
    single, double = (search(model, sentences, models, beam_size=4, n_best=4, batch_size=3) for models in (1, 2))
    for one, two in zip(single, double, strict=True):
        assert [a.ids for a in one] == [a.ids for a in two]
        assert [a.log_probability for a in one] == pytest.approx([a.log_probability for a in two], rel=1e-4)


@pytest.mark.parametrize("length_penalty", [0.0, 1.0])
def test_n_best_lists_are_sorted_distinct_and_scored_by_teacher_forcing(length_penalty: float) -> None:
    model, sentences = tiny_transformer(), make_sentences(6)
    for sentence, found in zip(sentences, search(model, sentences, beam_size=5, n_best=5, length_penalty=length_penalty), strict=True):
        scores = [a.score for a in found]
        assert scores == sorted(scores, reverse=True)
        assert len({tuple(a.ids) for a in found}) == len(found) == 5
        for a in found:
            assert a.log_probability == pytest.approx(log_probability(model, list(sentence.source), a.ids), rel=1e-4)
            assert a.score == pytest.approx(a.log_probability / len(a.ids) ** length_penalty)


@pytest.mark.parametrize("length_penalty", [0.0, 0.6, 1.0])
def test_a_beam_as_large_as_the_space_finds_the_best_output(length_penalty: float) -> None:
    words, longest = 6, 3
    model = tiny_transformer(vocabulary_size=words)
    complete = [list(ids) for ids in product(range(words), repeat=longest) if EOS not in ids[:-1]]
    ended = [[*ids, EOS] for length in range(longest - 1) for ids in product(range(words), repeat=length) if EOS not in ids]
    for sentence in make_sentences(2, vocabulary=words):
        scored = [(log_probability(model, list(sentence.source), ids) / len(ids) ** length_penalty, ids) for ids in complete + ended]
        best = sorted(scored, reverse=True)[:4]
        options = {"beam_size": words**longest, "max_length": longest, "n_best": 4, "length_penalty": length_penalty}
        (found,) = search(model, [sentence], **options)
        assert [a.ids for a in found] == [ids for _, ids in best]
        assert [a.score for a in found] == pytest.approx([score for score, _ in best], rel=1e-4)


def test_other_sentences_of_the_batch_do_not_change_the_output() -> None:
    model, sentences = tiny_transformer(3), make_sentences(7, 32)
    alone = search(model, sentences, beam_size=3, n_best=3)
    assert search(model, sentences, beam_size=3, n_best=3, batch_size=7) == alone
    assert search(model, sentences, beam_size=3, n_best=3, batch_size=2) == alone


def test_a_limit_ends_every_hypothesis() -> None:
    found = search(tiny_transformer(ends=0.0), make_sentences(3), beam_size=3, n_best=3, max_length=5)
    assert all(len(a.ids) == 5 or a.ids[-1] == EOS for alternatives in found for a in alternatives)
    assert max(len(a.ids) for alternatives in found for a in alternatives) == 5


def test_a_larger_beam_finds_no_worse_score() -> None:
    model, sentences = tiny_transformer(), make_sentences(8)
    small, large = (search(model, sentences, beam_size=size, length_penalty=0.0) for size in (1, 12))
    assert sum(a[0].score for a in large) > sum(a[0].score for a in small)
