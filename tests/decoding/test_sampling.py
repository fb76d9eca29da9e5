"""Sampling: the random numbers, the distribution of draws, and that every lossless decoding draws the same tokens."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch

from specdec_cli.decoding.options import DecodingOptions, Sampled, resolve
from specdec_cli.decoding.sampling import gumbel_noise, logarithm, perturbed, philox
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import Bundle
from tests.fakes import make_sentences, tiny_drafter

KNOWN = (
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)
"""Counters, keys and random words, as published with Philox4x32-10."""
LOSSLESS = (
    "lookup",
    "ngram-memory",
    "input-guided",
    "jacobi",
    "gs-jacobi",
    "hybrid-jacobi",
    "specdec",
    "lookup,specdec",
    "lookup,gs-jacobi",
)


@pytest.mark.parametrize(("counter", "key", "words"), KNOWN)
def test_random_words_are_the_published_ones(counter: tuple[int, ...], key: tuple[int, int], words: tuple[int, ...]) -> None:
    assert tuple(int(word) for word in philox(tuple(map(torch.tensor, counter)), key)) == words


def test_logarithms_are_accurate() -> None:
    words = torch.tensor([0, 1, 2, 3, 1 << 16, (1 << 31) - 1, 1 << 31, (1 << 32) - 2, (1 << 32) - 1, *range(7, 1 << 32, 99_991_337)])
    uniform = (words.double() + 0.5) * 2.0**-32
    for value, own in zip(uniform.tolist(), logarithm(uniform).tolist(), strict=True):
        assert own == pytest.approx(math.log(value), rel=2e-15)
    small = -logarithm(uniform)
    for value, own in zip(small.tolist(), logarithm(small).tolist(), strict=True):
        assert own == pytest.approx(math.log(value), rel=2e-15, abs=2e-15)


@pytest.mark.parametrize("rule", [Sampled(1.0), Sampled(0.6, seed=5), Sampled(1.7, 7, seed=2**32 - 1)])
def test_draws_have_the_distribution_of_the_model(rule: Sampled) -> None:
    count, vocabulary = 20_000, 30
    logits = 2 * torch.randn(vocabulary, generator=torch.Generator().manual_seed(3))
    streams = torch.stack([torch.arange(count), torch.full((count,), 65536)], 1)
    drawn = perturbed(logits.expand(count, 1, -1), rule, streams, torch.full((count,), 4)).argmax(-1).flatten()
    scores = logits / rule.temperature
    if rule.top_k:
        scores[logits < logits.topk(rule.top_k).values[-1]] = -math.inf
    expected = count * scores.double().softmax(0)
    counts = torch.bincount(drawn, minlength=vocabulary).double()
    usual = expected >= 5
    rest = (expected[~usual].sum() - counts[~usual].sum()) ** 2 / expected[~usual].sum().clamp_min(1.0)
    statistic = ((counts - expected)[usual] ** 2 / expected[usual]).sum() + rest
    freedom = int(usual.sum())
    assert statistic < freedom + 4 * math.sqrt(2 * freedom)
    assert not counts[expected == 0].any()


def test_noise_depends_on_seed_stream_position_and_token_alone() -> None:
    streams, positions = torch.tensor([[3, 9], [4, 9], [3, 8]]), torch.tensor([[1, 2, 3]] * 3)
    noise = gumbel_noise(7, streams, positions, 50)
    assert torch.equal(noise[:1, 1:2, :31], gumbel_noise(7, streams[:1], torch.tensor([[2]]), 31))
    all_different = [noise[0, 0], noise[1, 0], noise[2, 0], noise[0, 1], gumbel_noise(8, streams, positions, 50)[0, 0]]
    assert len(set(torch.stack(all_different).flatten().tolist())) == 5 * 50


@pytest.fixture(scope="module")
def drafting(bundle: Bundle) -> Bundle:
    """A bundle with a drafter."""
    return replace(bundle, drafter=tiny_drafter(bundle.verifier))


def draw(bundle: Bundle, sentences: list[Sentence], **options: Any) -> dict[int, list[int]]:
    engine = Engine(bundle, resolve(DecodingOptions(sample=True, **options), bundle))
    return {each.number: each.ids for each in engine.decode(sentences)}


def streamed(sentences: list[Sentence], shift: int = 0) -> list[Sentence]:
    return [replace(sentence, stream=(sentence.number + shift, 1)) for sentence in sentences]


@pytest.mark.parametrize("decoding", LOSSLESS)
def test_lossless_decodings_draw_what_drawing_token_by_token_gives(drafting: Bundle, decoding: str) -> None:
    sentences = streamed(make_sentences(12))
    expected = draw(drafting, sentences, decoding="greedy", seed=3)
    for size in (1, 5, 12):
        assert draw(drafting, sentences, decoding=decoding, seed=3, batch_size=size) == expected
    assert draw(drafting, sentences[4:], decoding=decoding, seed=3) == {number: ids for number, ids in expected.items() if number >= 4}
    assert draw(drafting, streamed(sentences, 1000), decoding=decoding, seed=3) != expected
    assert draw(drafting, sentences, decoding=decoding, seed=4) != expected


def test_low_temperatures_and_a_single_candidate_are_greedy(drafting: Bundle) -> None:
    sentences = streamed(make_sentences(12))
    greedy = {each.number: each.ids for each in Engine(drafting, resolve(DecodingOptions(decoding="greedy"), drafting)).decode(sentences)}
    assert draw(drafting, sentences, temperature=1e-6) == greedy
    assert draw(drafting, sentences, top_k=1) == greedy
    assert draw(drafting, sentences) != greedy


def test_drafts_that_come_with_sentences_do_not_change_draws(drafting: Bundle) -> None:
    sentences = streamed(make_sentences(12))
    expected = draw(drafting, sentences)
    with_drafts = [replace(each, draft=[*expected[each.number][: each.number], 9, 3]) for each in sentences]
    assert draw(drafting, with_drafts) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sample": True, "decoding": "beam"}, "--sample: for decodings that give greedy's output, not for beam"),
        ({"sample": True, "decoding": "input-guided", "preset": "high-quality"}, "--sample: for decodings that give greedy's output"),
        ({"sample": True, "decoding": "jacobi", "stop": "fixed-point"}, "--sample: for decodings that give greedy's output"),
        ({"sample": True, "decoding": "drafter"}, "not for drafter"),
        ({"temperature": 0.5}, "--temperature and --top-k: only together with --sample"),
        ({"top_k": 3}, "--temperature and --top-k: only together with --sample"),
        ({"sample": True, "temperature": 0.0}, "--temperature 0.0: a number from 1e-06 to 1000.0 is expected"),
        ({"sample": True, "top_k": 2000}, "--top-k 2000: a number from 1 to 1024 is expected"),
    ],
)
def test_options_that_do_not_go_together_are_refused(drafting: Bundle, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        resolve(DecodingOptions(**options), drafting)
