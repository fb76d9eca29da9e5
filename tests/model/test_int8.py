"""Models in int8 resemble those in floating point, and their products are exact."""

import copy
from typing import Any

import pytest
import torch
from torch import nn

from specdec_cli.decoding.drafters.networks import Block
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.int8 import quantize
from specdec_cli.model.int8.layers import Int8Linear, Int8SlotLink
from specdec_cli.model.int8.model import Int8Choices
from specdec_cli.model.slot_link import SlotLink
from tests.fakes import DRAFTERS, in_precision, make_sentences, tiny_drafter, tiny_transformer

MODELS: dict[str, dict[str, Any]] = {
    "pre-norm": {"activation": "relu"},
    "post-norm": {"activation": "gelu", "norm": "post", "embedding_norm": True, "position_offset": 2},
    "silu, scaled, untied": {"activation": "silu", "embedding_scale": True, "tied_output": False},
    "narrow heads": {"width": 48, "heads": 6},
}


@pytest.mark.sampled(5)
@pytest.mark.parametrize("rows", [1, 2, 5, 6, 7, 13])
@pytest.mark.parametrize(("inputs", "outputs"), [(16, 16), (32, 48), (64, 64), (48, 130)])
@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "silu"])
def test_a_layer_equals_its_floating_point_form_up_to_rounding(rows: int, inputs: int, outputs: int, activation: str) -> None:
    torch.manual_seed(rows)
    linear, norm = nn.Linear(inputs, outputs), nn.LayerNorm(inputs)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x = torch.randn(rows, inputs)
    functions = {"none": nn.Identity(), "relu": nn.ReLU(), "gelu": nn.GELU(), "silu": nn.SiLU()}
    with torch.inference_mode():
        expected = functions[activation](linear(norm(x)))
        found = Int8Linear(linear, norm, activation)(x)
    assert found.shape == expected.shape
    assert (found - expected).norm() < 0.03 * expected.norm()


@torch.inference_mode()
def test_integer_weights_and_inputs_give_exact_products() -> None:
    linear = nn.Linear(16, 64)
    linear.weight.copy_(torch.randint(-127, 128, (64, 16)))
    linear.weight[:, 0] = 127
    linear.bias.copy_(torch.randint(-9, 9, (64,)))
    x = torch.randint(0, 256, (5, 16)).float()
    x[:, 0], x[:, 1] = 0, 255  # the quantisation step is 1
    assert torch.equal(Int8Linear(linear)(x), x @ linear.weight.T + linear.bias)


@torch.inference_mode()
def test_constant_rows_are_quantised() -> None:
    linear = nn.Linear(32, 32)
    for value in (0.0, -3.0, 5.0):
        x = torch.full((3, 32), value)
        assert torch.allclose(Int8Linear(linear)(x), linear(x), atol=0.1)


@pytest.mark.parametrize("size", [1, 7, 16, 47, 8000])
def test_ties_are_broken_by_the_first_index(size: int) -> None:
    first_choices = Int8Choices().first
    logits = torch.randint(0, 3 if size < 100 else 3000, (2, 9, size)).float()
    assert torch.equal(first_choices(logits), logits.argmax(-1))
    logits[0, 0] = -torch.inf
    assert torch.equal(first_choices(logits), logits.argmax(-1))


@pytest.mark.parametrize("name", MODELS)
@torch.inference_mode()
def test_int8_output_is_close_to_floating_point_output(name: str) -> None:
    plain = tiny_transformer(**MODELS[name])
    small = in_precision(copy.deepcopy(plain), "int8")
    sources = [sentence.source for sentence in make_sentences(3)]
    ids = torch.arange(9, 16).expand(3, -1)
    logits = []
    for model in (plain, small):
        verifier = Verifier(model)
        state = verifier.begin(range(3), sources)
        logits.append(verifier.score(state, Draft(ids, state.lengths * 0 + 7)).logits)
    assert (logits[1] - logits[0]).norm() < 0.1 * logits[0].norm()


@pytest.mark.parametrize("kind", DRAFTERS)
@torch.inference_mode()
def test_int8_drafts_are_close_to_floating_point_drafts(kind: str) -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, **{"chain": 16, "feed_forward": 32} | DRAFTERS[kind])
    in_bytes = copy.deepcopy((verifier, drafter))
    in_precision(in_bytes[0], "int8", in_bytes[1])
    drafts = []
    for model, network in ((verifier, drafter), in_bytes):
        own = Verifier(model)
        state = own.begin(range(6), [sentence.source for sentence in make_sentences(6)])
        block = Block(network, 5)
        drafts.append(block.propose(state, block.begin(state, make_sentences(6)), 0).ids)
    assert (drafts[0] == drafts[1]).float().mean() > 0.6


@torch.inference_mode()
def test_the_int8_slot_link_is_close_to_floating_point() -> None:
    vocabulary = tiny_transformer(output_bias=True)
    chain = SlotLink(vocabulary.config.width, 16)
    nn.init.normal_(chain.unknown)
    for weight in chain.parameters():
        weight.mul_(2.0)
    small = Int8SlotLink(chain, vocabulary, 4)
    states, last = torch.randn(200, 6, vocabulary.config.width), torch.arange(4, 44).repeat(5)
    found, expected = (each.choose(states, last, vocabulary, 4) for each in (small, chain))
    # The first slots are compared: after a slot that differs, those behind it may differ too.
    assert (found[:, :2] == expected[:, :2]).float().mean() > 0.95


@torch.inference_mode()
def test_the_slot_link_reads_the_previous_token() -> None:
    vocabulary = tiny_transformer(output_bias=True)
    chain = SlotLink(vocabulary.config.width, 16)
    for weight in chain.parameters():
        weight.mul_(5.0)
    small = Int8SlotLink(chain, vocabulary, 8)
    states = torch.randn(40, 3, vocabulary.config.width)
    first, second = (small.choose(states, torch.full((40,), token), vocabulary, 8) for token in (7, 8))
    assert not torch.equal(first[:, 0], second[:, 0])
    same = first[:, 0] == second[:, 0]
    assert same.any() and torch.equal(first[same], second[same])


def test_conversion_draws_no_random_numbers() -> None:
    model = tiny_transformer()
    drafter = tiny_drafter(model)
    before = torch.get_rng_state()
    quantize(model, drafter)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.parametrize("size", [48, 130, 8000])
def test_log_probabilities_are_those_of_floating_point_up_to_rounding(size: int) -> None:
    logits, ids = 5 * torch.randn(40, size), torch.randint(0, size, (40,))
    expected = logits.log_softmax(-1).gather(-1, ids[:, None])[:, 0]
    assert torch.allclose(Int8Choices().log_probabilities(logits, ids), expected, atol=1e-5)
