"""Models in int8: results with and without compiled kernels, and the number of calls."""

import copy
from typing import Any

import pytest
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile

from specdec_cli.decoding.drafters.block import Block
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.kernels.build import Kernels, load_kernels
from specdec_cli.model.int8 import quantize
from specdec_cli.model.int8.choices import Int8Choices
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.int8.slot_link import Int8SlotLink
from specdec_cli.model.slot_link import SlotLink
from tests.fakes import DRAFTERS, in_precision, make_sentences, tiny_drafter, tiny_transformer

BOTH = ["int8", "int8 by operators"]
MODELS: dict[str, dict[str, Any]] = {
    "pre-norm": {"activation": "relu"},
    "post-norm": {"activation": "gelu", "norm": "post", "embedding_norm": True, "position_offset": 2},
    "silu, scaled, untied": {"activation": "silu", "embedding_scale": True, "tied_output": False},
    "narrow heads": {"width": 48, "heads": 6},
}


@pytest.fixture
def kernels() -> Kernels:
    """The compiled kernels, for tests that compare with them or count their calls."""
    found = load_kernels()
    if found is None:
        pytest.skip("no kernels on this machine")
    return found


@pytest.fixture(params=BOTH)
def either(request: pytest.FixtureRequest) -> Kernels | None:
    """The compiled kernels, or none."""
    found: Kernels | None = None if request.param == "int8 by operators" else request.getfixturevalue("kernels")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("rows", [1, 2, 5, 6, 7, 13])
@pytest.mark.parametrize(("inputs", "outputs"), [(16, 16), (32, 48), (64, 64), (48, 130)])
@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "silu"])
def test_a_layer_equals_its_floating_point_form_up_to_rounding(
    rows: int, inputs: int, outputs: int, activation: str, either: Kernels | None
) -> None:
    torch.manual_seed(rows)
    linear, norm = nn.Linear(inputs, outputs), nn.LayerNorm(inputs)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x = torch.randn(rows, inputs)
    functions = {"none": nn.Identity(), "relu": nn.ReLU(), "gelu": nn.GELU(), "silu": nn.SiLU()}
    with torch.inference_mode():
        expected = functions[activation](linear(norm(x)))
        found = Int8Linear(linear, either, norm, activation)(x)
    assert found.shape == expected.shape
    assert (found - expected).norm() < 0.03 * expected.norm()


@torch.inference_mode()
def test_integer_weights_and_inputs_give_exact_products(either: Kernels | None) -> None:
    linear = nn.Linear(16, 64)
    linear.weight.copy_(torch.randint(-127, 128, (64, 16)))
    linear.weight[:, 0] = 127
    linear.bias.copy_(torch.randint(-9, 9, (64,)))
    x = torch.randint(0, 256, (5, 16)).float()
    x[:, 0], x[:, 1] = 0, 255  # the quantisation step is 1
    assert torch.equal(Int8Linear(linear, either)(x), x @ linear.weight.T + linear.bias)


@torch.inference_mode()
def test_constant_rows_are_quantised(either: Kernels | None) -> None:
    linear = nn.Linear(32, 32)
    for value in (0.0, -3.0, 5.0):
        x = torch.full((3, 32), value)
        assert torch.allclose(Int8Linear(linear, either)(x), linear(x), atol=0.1)


@pytest.mark.parametrize("size", [1, 7, 16, 47, 8000])
def test_ties_are_broken_by_the_first_index(size: int, either: Kernels | None) -> None:
    first_choices = Int8Choices(either).first
    logits = torch.randint(0, 3 if size < 100 else 3000, (2, 9, size)).float()
    assert torch.equal(first_choices(logits), logits.argmax(-1))
    logits[0, 0] = -torch.inf
    assert torch.equal(first_choices(logits), logits.argmax(-1))


@pytest.mark.parametrize("precision", BOTH)
@pytest.mark.parametrize("name", MODELS)
@torch.inference_mode()
def test_int8_output_is_close_to_floating_point_output(name: str, precision: str) -> None:
    plain = tiny_transformer(**MODELS[name])
    small = in_precision(copy.deepcopy(plain), precision)
    sources = [sentence.source for sentence in make_sentences(3)]
    ids = torch.arange(9, 16).expand(3, -1)
    logits = []
    for model in (plain, small):
        verifier = Verifier(model)
        state = verifier.begin(range(3), sources)
        logits.append(verifier.score(state, Draft(ids, state.lengths * 0 + 7)).logits)
    assert (logits[1] - logits[0]).norm() < 0.1 * logits[0].norm()


@pytest.mark.parametrize("kind", DRAFTERS)
@pytest.mark.parametrize("precision", BOTH)
@torch.inference_mode()
def test_int8_drafts_are_close_to_floating_point_drafts(kind: str, precision: str) -> None:
    verifier = tiny_transformer()
    drafter = tiny_drafter(verifier, **{"chain": 16, "feed_forward": 32} | DRAFTERS[kind])
    in_bytes = copy.deepcopy((verifier, drafter))
    in_precision(in_bytes[0], precision, in_bytes[1])
    drafts = []
    for model, network in ((verifier, drafter), in_bytes):
        own = Verifier(model)
        state = own.begin(range(6), [sentence.source for sentence in make_sentences(6)])
        block = Block(network, 5)
        state.drafting = block.begin(state)
        drafts.append(block.propose(state).ids)
    assert (drafts[0] == drafts[1]).float().mean() > 0.6


@torch.inference_mode()
def test_the_int8_slot_link_is_close_to_floating_point(either: Kernels | None) -> None:
    vocabulary = tiny_transformer(output_bias=True)
    chain = SlotLink(vocabulary.config.width, 16)
    nn.init.normal_(chain.unknown)
    for weight in chain.parameters():
        weight.mul_(2.0)
    small = Int8SlotLink(chain, vocabulary, either, 4)
    states, last = torch.randn(200, 6, vocabulary.config.width), torch.arange(4, 44).repeat(5)
    found, expected = (each.choose(states, last, vocabulary, 4) for each in (small, chain))
    # The first slots are compared: after a slot that differs, those behind it may differ too.
    assert (found[:, :2] == expected[:, :2]).float().mean() > 0.95


@torch.inference_mode()
def test_the_slot_link_reads_the_previous_token(either: Kernels | None) -> None:
    vocabulary = tiny_transformer(output_bias=True)
    chain = SlotLink(vocabulary.config.width, 16)
    for weight in chain.parameters():
        weight.mul_(5.0)
    small = Int8SlotLink(chain, vocabulary, either, 8)
    states = torch.randn(40, 3, vocabulary.config.width)
    first, second = (small.choose(states, torch.full((40,), token), vocabulary, 8) for token in (7, 8))
    assert not torch.equal(first[:, 0], second[:, 0])
    same = first[:, 0] == second[:, 0]
    assert same.any() and torch.equal(first[same], second[same])


def test_conversion_draws_no_random_numbers() -> None:
    model = tiny_transformer()
    drafter = tiny_drafter(model)
    before = torch.get_rng_state()
    quantize(model, load_kernels(), drafter)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@torch.inference_mode()
def test_a_step_takes_few_operator_calls() -> None:
    def calls(layers: int) -> int:
        verifier = Verifier(in_precision(tiny_transformer(decoder_layers=layers), "int8"))
        state = verifier.begin([0], [make_sentences(1)[0].source])
        draft = Draft(state.tokens[:, :3], state.lengths * 0 + 3)
        with profile(activities=[ProfilerActivity.CPU]) as seen:
            verifier.score(state, draft)
        return sum(event.count for event in seen.key_averages() if event.key.startswith("aten::"))

    assert calls(2) <= 60
    # Besides the one call for all layers, each layer has a view of its part of the cache.
    assert calls(3) - calls(2) <= 3


LAYERS = [(16, 16, 1), (48, 130, 7), (384, 200, 33), (1536, 64, 5), (2048, 96, 6)]


@pytest.mark.parametrize(("inputs", "outputs", "rows"), LAYERS)
@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "silu"])
@torch.inference_mode()
def test_layers_are_bit_identical_without_kernels(inputs: int, outputs: int, rows: int, activation: str, kernels: Kernels) -> None:
    torch.manual_seed(outputs)
    linear, norm = nn.Linear(inputs, outputs), nn.LayerNorm(inputs)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x = 3 * torch.randn(rows, inputs)
    for before in (None, norm):
        found, expected = (Int8Linear(linear, each, before, activation)(x) for each in (kernels, None))
        assert torch.equal(found, expected)


@pytest.mark.parametrize("size", [48, 130, 8000])
def test_log_probabilities_are_bit_identical_without_kernels(size: int, kernels: Kernels) -> None:
    logits, ids = 5 * torch.randn(40, size), torch.randint(0, size, (40,))
    found, expected = (Int8Choices(each).log_probabilities(logits, ids) for each in (kernels, None))
    assert torch.equal(found, expected)
    assert torch.allclose(expected, logits.log_softmax(-1).gather(-1, ids[:, None])[:, 0], atol=1e-5)


WHOLE: dict[str, dict[str, Any]] = {
    "several tiles": {"vocabulary_size": 200, "width": 80, "heads": 5, "feed_forward": 208},
    "odd vocabulary, post-norm": {"vocabulary_size": 131, "activation": "gelu", "norm": "post", "embedding_norm": True},
    "wide heads, silu, scaled": {"width": 160, "heads": 2, "activation": "silu", "embedding_scale": True},
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", WHOLE)
@torch.inference_mode()
def test_states_and_logits_are_bit_identical_without_kernels(
    name: str, threads: int, kernels: Kernels, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "threads", lambda _: threads, raising=False)
    plain = tiny_transformer(**WHOLE[name])
    sentences = make_sentences(9, 32, vocabulary=plain.config.vocabulary_size)
    found = []
    for precision in BOTH:
        verifier = Verifier(in_precision(copy.deepcopy(plain), precision))
        state = verifier.begin([s.number for s in sentences], [s.source for s in sentences])
        scores = verifier.score(state, Draft(state.source[:, :13], state.lengths * 0 + 13))
        found.append((state.memory.states, *state.memory.keys_values, scores.states, scores.logits))
    assert all(torch.equal(mine, theirs) for mine, theirs in zip(*found, strict=True))


@pytest.mark.parametrize("changes", DRAFTERS.values(), ids=list(DRAFTERS))
@torch.inference_mode()
def test_drafts_are_equal_without_kernels(changes: dict[str, Any], kernels: Kernels) -> None:
    assert kernels
    plain = tiny_transformer(vocabulary_size=131)
    pair = (plain, tiny_drafter(plain, **{"chain": 16, "feed_forward": 48} | changes))
    sentences = make_sentences(6, vocabulary=131)
    drafts = []
    for precision in BOTH:
        model, network = copy.deepcopy(pair)
        verifier = Verifier(in_precision(model, precision, network))
        state = verifier.begin(range(6), [sentence.source for sentence in sentences])
        block = Block(network, 5)
        state.drafting = block.begin(state)
        drafts.append(block.propose(state).ids)
    assert torch.equal(*drafts)
