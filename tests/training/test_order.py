"""Tests of training in the five orders: masks, visible tokens, loss and initial weights."""

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch.nn import functional as F

from specdec_cli.errors import UsageError
from specdec_cli.model.attention import step_mask
from specdec_cli.model.bundle import Bundle, BundleInfo
from specdec_cli.model.layers import sinusoids
from specdec_cli.model.order import Order, fold
from specdec_cli.text.tokenize.sentencepiece import EOS, PADDING, Subwords
from specdec_cli.training.data import SentencePair
from specdec_cli.training.initial import with_order
from specdec_cli.training.verifier import VerifierTask
from tests.fakes import ORDERS, tiny_transformer
from tests.training.conftest import RUN

SOURCE = torch.tensor([[7, 9, 11, EOS]])


@pytest.mark.parametrize("step", [1, 2])
def test_the_attention_mask_is_triangular_by_steps(step: int) -> None:
    """Imamura and Sumita, Figure 1: queries are rows, and each sees both tokens of every pair up to its own."""
    length = 6
    expected = torch.zeros(length, length, dtype=torch.bool)
    for query in range(length):
        for key in range(length):
            own, other = query // step, key // step
            expected[query, key] = other <= own
    assert torch.equal(step_mask(length, step, torch.device("cpu")), expected)
    assert expected.sum() == (21 if step == 1 else 24)


@pytest.mark.parametrize("order", ORDERS)
def test_a_step_attends_to_its_own_and_earlier_tokens(order: Order) -> None:
    model = tiny_transformer(order=order)
    step, target = model.config.step, torch.randint(4, 48, (1, 8), generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        logits = model(SOURCE, target)
        for place in range(8):
            changed = target.clone()
            changed[0, place] = 4 + (changed[0, place] - 3) % 44
            differs = (model(SOURCE, changed) != logits).any(-1)[0]
            first = place // step * step
            assert differs.tolist() == [False] * first + [True] * (8 - first)


@pytest.mark.parametrize("order", ORDERS)
def test_the_loss_is_computed_on_folded_sentences(order: Order, tokenizer: Subwords) -> None:
    model = tiny_transformer(order=order, vocabulary_size=len(tokenizer))
    sentences = [[7, 8, 9, 10, 12], [5, 6]]
    pairs = [SentencePair([7, 8, EOS], [*words, EOS]) for words in sentences]
    losses = []
    for words in sentences:
        folded = fold(words, order, EOS)
        written = [*model.config.start, *folded][: len(folded)]
        with torch.no_grad():
            logits = model(torch.tensor([[7, 8, EOS]]), torch.tensor([written]))
        losses.append(F.cross_entropy(logits[0], torch.tensor(folded), reduction="none"))
    with torch.no_grad():
        found = VerifierTask(Bundle(BundleInfo(), tokenizer, model), pairs, pairs, RUN).evaluate()["dev_loss"]
    assert found == pytest.approx(float(torch.cat(losses).mean()), rel=1e-4)


def test_edited_tokens_have_their_weight_in_generation_order(make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order="bidirectional", positions="learned")
    pairs = [SentencePair([7, 8, 9, 10, EOS], [7, 8, 9, 5, EOS])]
    task = VerifierTask(bundle, pairs, pairs, replace(RUN, edit_weight=3.0))
    (key,) = task.batches(0)
    _, target, weights = task.batch(key)
    assert target[0].tolist() == [7, 5, 8, 9, EOS, EOS, PADDING, PADDING]
    assert weights[0].tolist() == [1, 3, 1, 1, 1, 1, 0, 0]


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_other_orders_are_initialised_from_left_to_right(positions: str) -> None:
    first = tiny_transformer(positions=positions, position_offset=2)
    table = first.embedding.positions
    model = with_order(first, "bidirectional", dropout=0.0)
    assert model.config == replace(first.config, order="bidirectional", positions="learned")
    assert torch.equal(model.embedding.positions[:8], table[[0, 1, 2, 2, 3, 3, 4, 4]])
    assert torch.equal(model.encoder.embedding.positions, first.encoder.embedding.positions)
    if positions == "sinusoidal":
        assert torch.equal(model.encoder.embedding.positions, sinusoids(len(table), 32))
    others = {name: value for name, value in first.state_dict().items() if not name.endswith("positions")}
    assert all(torch.equal(model.state_dict()[name], value) for name, value in others.items())
    single = with_order(first, "right-to-left", dropout=0.0)
    assert single.config == replace(first.config, order="right-to-left")
    assert torch.equal(single.embedding.positions, table)


def test_other_orders_can_only_be_initialised_from_left_to_right() -> None:
    model = tiny_transformer(order="right-to-left")
    assert with_order(model, "right-to-left", dropout=0.0) is model
    with pytest.raises(UsageError, match="of order right-to-left cannot initialise one of order bidirectional"):
        with_order(model, "bidirectional", dropout=0.0)
