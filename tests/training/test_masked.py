"""Training of masked models: masks, loss, and a copy task."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from lightning_fabric import Fabric
from torch.nn import functional as F

from specdec_cli.decoding.mask_predict import mask_predict
from specdec_cli.decoding.options import Decoding
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.errors import ModelError, UsageError
from specdec_cli.model.bundle import Bundle, BundleInfo, load_bundle
from specdec_cli.model.transformer import LengthHead
from specdec_cli.text.tokenize.sentencepiece import EOS, MASK, PADDING, Subwords
from specdec_cli.training.data import SentencePair
from specdec_cli.training.initial import with_order
from specdec_cli.training.trainer import Report, Trainer
from specdec_cli.training.verifier import MaskedObjective, MaskedTask, draw_masks
from tests.fakes import tiny_transformer
from tests.training.conftest import OPTIMIZER, RUN, make_pairs


@given(words=st.lists(st.integers(0, 12), min_size=1, max_size=8), seed=st.integers(0, 2**31))
def test_at_least_one_word_is_masked_and_only_words(words: list[int], seed: int) -> None:
    masked = draw_masks(torch.tensor(words), 14, torch.Generator().manual_seed(seed))
    for number, row in zip(words, masked.tolist(), strict=True):
        assert not any(row[number:])
        assert min(number, 1) <= sum(row) <= number


def test_numbers_and_positions_of_masks_are_uniform() -> None:
    masked = draw_masks(torch.full((6000,), 4), 6, torch.Generator().manual_seed(0))
    numbers = torch.bincount(masked.sum(1), minlength=6)
    assert numbers[0] == numbers[5] == 0
    assert all(abs(count - 1500) < 150 for count in numbers[1:5].tolist())
    assert all(abs(count - 3750) < 200 for count in masked.sum(0)[:4].tolist())


def test_the_loss_covers_masked_tokens_and_lengths() -> None:
    model = tiny_transformer(order="masked", length_reach=2)
    source = torch.tensor([[7, 8, 9, EOS], [7, EOS, PADDING, PADDING]])
    target = torch.tensor([[9, 8, 7, EOS, PADDING, PADDING], [9, 8, 7, 6, 5, EOS]])
    weights = torch.tensor([[1.0, 3.0, 1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]])
    objective = MaskedObjective(model, smoothing=0.1, length_weight=0.5).eval()
    with torch.no_grad():
        loss, weight = objective(source, target, weights)
        masked = draw_masks(torch.tensor([3, 5]), 6, torch.Generator().manual_seed(0))
        tokens = counted = lengths = 0.0
        for row, difference in ((0, 0), (1, 2)):  # a target of 6 tokens for a source of 2 exceeds the reach
            own = int((target[row] != PADDING).sum())
            ids = [MASK if masked[row, place] else int(target[row, place]) for place in range(own)]
            memory = model.encode(source[row : row + 1, : 4 if row == 0 else 2])
            likely = model.output(model.teach(memory, torch.tensor([ids]))).log_softmax(-1)[0]
            for place in range(own):
                if masked[row, place]:
                    tokens -= float(weights[row, place] * likely[place, target[row, place]])
                    counted += float(weights[row, place])
            assert model.length_head is not None
            lengths -= float(model.length_head(memory.states, memory.mask.ends).log_softmax(-1)[0, 2 + difference])
    assert float(weight) == counted
    assert float(loss) == pytest.approx(tokens + 0.5 * lengths, rel=1e-4)


def test_evaluation_uses_the_same_masks_each_time(tokenizer: Subwords) -> None:
    model, pairs = tiny_transformer(order="masked", vocabulary_size=len(tokenizer)), make_pairs(9, seed=1)
    task = MaskedTask(Bundle(BundleInfo(), tokenizer, model), pairs, pairs, RUN)
    task.objective.eval()
    (key,) = task.batches(0)
    with torch.no_grad():
        figures = [task.evaluate() for _ in range(2)]
        assert figures[0] == figures[1]
        task.objective.train()
        assert len({float(task.objective(*task.batch(key))[0]) for _ in range(3)}) > 1
    assert set(figures[0]) == {"dev_loss", "dev_perplexity", "dev_length_accuracy"}


def test_a_masked_model_attends_to_its_row_without_padding() -> None:
    model, source = tiny_transformer(order="masked"), torch.tensor([[7, 9, EOS]])
    ids = torch.tensor([[8, MASK, 6, EOS, PADDING, PADDING]])
    with torch.no_grad():
        states = model.teach(model.encode(source), ids)
        for place in range(4):
            changed = ids.clone()
            changed[0, place] = 11
            assert bool((model.teach(model.encode(source), changed) != states).any(-1)[0, :4].all())
        assert torch.allclose(model.teach(model.encode(source), ids[:, :4]), states[:, :4], atol=1e-5)


def test_lengths_beyond_the_reach_are_clamped() -> None:
    head = LengthHead(16, 3)
    differences = torch.tensor([-9, -3, 0, 2, 9])
    assert head.classes(differences).tolist() == [0, 0, 3, 5, 6]
    assert head.differences(head.classes(differences)).tolist() == [-3, -3, 0, 2, 3]


def test_a_masked_model_is_initialised_from_left_to_right() -> None:
    first = tiny_transformer()
    model = with_order(first, "masked", dropout=0.0, mask=9)
    assert model.config == replace(first.config, order="masked", mask=9)
    own = {name: value for name, value in model.state_dict().items() if not name.startswith("length_head")}
    assert own.keys() == first.state_dict().keys()
    assert all(torch.equal(own[name], value) for name, value in first.state_dict().items())
    with pytest.raises(ModelError, match="order masked needs a mask other than padding and EOS, not 0"):
        with_order(first, "masked", dropout=0.0, mask=PADDING)
    with pytest.raises(UsageError, match="of order masked cannot initialise one of order left-to-right"):
        with_order(model, "left-to-right", dropout=0.0)


def make_stretched(count: int, seed: int) -> list[SentencePair]:
    """Pairs for copying; the first word determines whether the last one is repeated once, twice or three times."""
    words = [list(pair.source[:-1]) for pair in make_pairs(count, seed)]
    return [SentencePair([*each, EOS], [*each, *[each[-1]] * (each[0] % 3), EOS]) for each in words]


def test_a_masked_model_learns_tokens_and_lengths(make_copier: Callable[..., Bundle], tmp_path: Path) -> None:
    made, dev = make_copier(), make_stretched(40, seed=1)
    made.verifier = with_order(made.verifier, "masked", dropout=0.0)
    run, reports = replace(RUN, max_updates=240, evaluate_every=120), list[Report]()
    task, optimizer = MaskedTask(made, make_stretched(400, seed=0), dev, run), replace(OPTIMIZER, learning_rate=5e-3)
    Trainer(task, run, optimizer, tmp_path, Fabric(accelerator="cpu", precision="32-true")).train(reports.append)
    figures = [report.figures for report in reports if report.figures]
    assert figures[-1]["dev_length_accuracy"] > 0.95
    assert figures[-1]["dev_loss"] < 0.3 * figures[0]["dev_loss"]
    model, sentences = load_bundle(tmp_path).verifier, [Sentence(number, pair.source) for number, pair in enumerate(dev)]
    found = list(mask_predict(Verifier(model), sentences, Decoding(iterations=4, length_beam=1, batch_size=8)))
    assert sum(h.ids == pair.target for h, pair in zip(found, dev, strict=True)) >= 0.85 * len(dev)


def test_an_empty_target_has_no_masks() -> None:
    objective = MaskedObjective(tiny_transformer(order="masked"), 0.0, 1.0)
    loss, weight = objective(torch.tensor([[7, EOS]]), torch.tensor([[EOS]]), torch.ones(1, 1))
    assert (float(weight), bool(torch.isfinite(loss))) == (0.0, True)
    assert F.relu(loss) == loss
