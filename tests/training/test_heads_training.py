"""Training of heads."""

import random
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path

import numpy
import pytest
import torch

from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.networks import Blockwise
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle import load_bundle
from specdec_cli.model.drafter import Heads
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.recipe import load_recipe
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.training.blocks import simulate
from specdec_cli.training.data import SentencePair
from specdec_cli.training.drafter import DrafterTask, draw_cuts
from specdec_cli.training.recipe import DrafterRecipe
from tests.fakes import HEADS, make_sentences, tiny_heads, tiny_transformer
from tests.training.conftest import RUN, WORDS, Copier, train
from tests.training.test_drafter_training import greedy


def runs(count: int, seed: int) -> list[SentencePair]:
    """Sentences of 2 to 7 successive words to copy: the state that predicts a word determines the next words."""
    generator, words = random.Random(seed), list(WORDS)
    begins = [(generator.randrange(len(words)), generator.randint(2, 7)) for _ in range(count)]
    sentences = [[*(words[(first + place) % len(words)] for place in range(length)), EOS] for first, length in begins]
    return [SentencePair(ids, ids) for ids in sentences]


@pytest.mark.parametrize("chain", [0, 16])
def test_heads_learn_to_copy(copier: Copier, chain: int, tmp_path: Path) -> None:
    torch.manual_seed(3)
    config = HeadsConfig(max_block=3, feed_forward=128, chain=chain)
    network, dev = Heads(config, copier.bundle.verifier), greedy(copier, runs(40, seed=1))
    before = {name: value.clone() for name, value in copier.bundle.verifier.state_dict().items()}
    run = replace(RUN, max_updates=80, evaluate_every=40, batch_tokens=128)
    recipe = DrafterRecipe(drafter=config, cuts=4, vary_block=False, run=run)
    task = DrafterTask(replace(copier.bundle, drafter=network), greedy(copier, runs(300, seed=4)), {"dev": dev}, recipe)
    train(task, run, tmp_path, lambda _: None)
    assert all(torch.equal(before[name], value) for name, value in copier.bundle.verifier.state_dict().items())
    stored = load_bundle(tmp_path).drafter
    assert isinstance(stored, Heads)
    sentences = [Sentence(number, pair.source) for number, pair in enumerate(dev)]
    found = list(decode_with(Verifier(stored.verifier), Blockwise(stored, 3), sentences, Decoding(batch_size=8, max_length=12)))
    rate = sum(len(h.ids) for h in found) / sum(h.rounds for h in found)
    assert rate > 1.5
    assert simulate(stored, dev, 3).tokens_per_round == pytest.approx(rate)


def test_a_fine_tuned_verifier_is_stored_and_evaluated(copier: Copier, tmp_path: Path) -> None:
    torch.manual_seed(3)
    config = HeadsConfig(max_block=3, feed_forward=64, chain=16, start=True)
    bundle = replace(copier.bundle, verifier=deepcopy(copier.bundle.verifier))
    bundle.drafter, dev = Heads(config, bundle.verifier), greedy(copier, runs(40, seed=1))
    before = {name: value.clone() for name, value in bundle.verifier.state_dict().items()}
    run = replace(RUN, max_updates=60, evaluate_every=30, batch_tokens=128)
    recipe = DrafterRecipe(drafter=config, verifier="fine-tuned", cuts=4, vary_block=False, run=run)
    figures: list[Mapping[str, float]] = []
    task = DrafterTask(bundle, greedy(copier, runs(300, seed=4)), {"dev": dev}, recipe)
    train(task, run, tmp_path, lambda report: figures.append(report.figures) if report.figures else None)
    stored = load_bundle(tmp_path)
    assert any(not torch.equal(before[name], value) for name, value in stored.verifier.state_dict().items())
    assert isinstance(stored.drafter, Heads)
    sentences = [Sentence(n, pair.source) for n, pair in enumerate(dev)]
    verifier, options = Verifier(stored.verifier), Decoding(batch_size=8)
    outputs = {h.number: h.ids for h in decode_with(verifier, NoDrafter(), sentences, options)}
    drafted = list(decode_with(verifier, Blockwise(stored.drafter, 3), sentences, options))
    assert {h.number: h.ids for h in drafted} == outputs
    rate = sum(len(h.ids) for h in drafted) / sum(h.rounds for h in drafted)
    best = max(figures, key=lambda found: found["tokens_per_round"])
    assert rate == pytest.approx(best["tokens_per_round"]) and rate > 1.5
    assert best["same_lines"] == sum(outputs[n] == pair.target for n, pair in enumerate(dev)) / len(dev) > 0.5


@pytest.mark.sampled(2)
@pytest.mark.parametrize("block_size", [1, 3, 6])
@pytest.mark.parametrize("kind", HEADS)
def test_simulated_rounds_equal_those_of_decoding(kind: str, block_size: int) -> None:
    network = tiny_heads(tiny_transformer().double(), **HEADS[kind]).double()
    verifier, sentences, options = Verifier(network.verifier), make_sentences(12), Decoding(batch_size=5, max_length=30)
    pairs = {h.number: h.ids for h in decode_with(verifier, NoDrafter(), sentences, options)}
    drafted = {h.number: h.rounds for h in decode_with(verifier, Blockwise(network, block_size), sentences, options)}
    simulated = [simulate(network, [SentencePair(s.source, pairs[s.number])], block_size).rounds for s in sentences]
    assert simulated == [drafted[s.number] for s in sentences]
    assert sum(simulated) < sum(map(len, pairs.values()))


def test_heads_without_start_have_no_block_at_an_empty_prefix() -> None:
    generator = numpy.random.default_rng(0)
    assert draw_cuts(generator, 1, 4, 1) == [-1] * 4
    assert draw_cuts(generator, 2, 1, 1) == [1]
    for length in range(2, 30):
        cuts = draw_cuts(generator, length, 4, 1)
        assert cuts[0] == 1 and all(cut == -1 or 1 <= cut < length for cut in cuts)
    assert {draw_cuts(generator, 6, 1, 1)[0] for _ in range(200)} == {1, 2, 3, 4, 5}


def test_a_recipe_selects_the_kind_of_drafter() -> None:
    assert load_recipe(DrafterRecipe, None, ["drafter.kind=heads", "drafter.max_block=2"]).drafter == HeadsConfig(max_block=2)
    assert load_recipe(DrafterRecipe, None, ["drafter.kind=block", "drafter.layers=2"]).drafter == DrafterConfig(layers=2)
    for changes, words in (
        (["drafter.kind=wings"], r"drafter\.kind must be block or heads"),
        (["drafter.kind=[]"], r"drafter\.kind must be block or heads, not \[\]"),
        (["drafter.kind=heads", "drafter.layers=2"], "unknown key 'layers'"),
        (["drafter.kind=heads", "glancing=[0.5, 0.3]"], "glancing is for block drafters"),
        (["verifier=fine-tuned"], 'verifier "fine-tuned" is for heads'),
    ):
        with pytest.raises(UsageError, match=words):
            load_recipe(DrafterRecipe, None, changes)
