"""Drafts by another model in sessions of the native engine: rounds and outputs are those of the reference, whatever the model writes."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from specdec_cli.decoding.bridge import Bridge
from specdec_cli.decoding.costs import ROWS, Costs
from specdec_cli.decoding.options import Constraints, Decoding, DecodingOptions, Sampled, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence, make_sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.native_costs import MeasuredModel, round_costs
from specdec_cli.engines.native_drafts import WORTH_LOADING_MODEL, WORTH_MEASURING_BATCHES, DraftModelOf
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.bundle_info import BundleDescription, BundleInfo, describe_bundle, weights_file
from specdec_cli.model.int8 import quantize
from specdec_cli.native.draft_model import NativeDraftModel
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import NativeModel, Resources
from specdec_cli.text.tokenize.sentencepiece import train_subwords
from tests.conftest import make_lines
from tests.fakes import redraw

pytestmark = pytest.mark.usefixtures("sharing")
Pair = tuple[Bundle, BundleDescription]
Rounds = list[tuple[int, list[int], int]]
WAYS = ((1, 1), (1, 3), (3, 1), (5, 2))
"""Sentences in a batch, and threads."""


@pytest.fixture(scope="module")
def verifier(make_bundle: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory) -> Pair:
    """A bundle in int8, and the description of its folder."""
    bundle = make_bundle(output_bias=True)
    redraw(bundle.verifier, spread=2.0)
    return stored(bundle, tmp_path_factory)


@pytest.fixture(scope="module")
def others(verifier: Pair, make_bundle: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Pair]:
    """Draft models by name: one that agrees in a part of the tokens, a stranger of another size, one that reads less, and one with
    another vocabulary.
    """
    models = {
        "relative": make_bundle(output_bias=True),
        "stranger": make_bundle(output_bias=True, width=48, heads=3, decoder_layers=3),
        "short": make_bundle(output_bias=True, max_positions=16),
    }
    for number, bundle in enumerate(models.values()):
        redraw(bundle.verifier, number, spread=2.0)
    with torch.random.fork_rng(devices=[]), torch.no_grad():
        torch.manual_seed(0)
        for weight, own in zip(models["relative"].verifier.parameters(), make_float(verifier[1]), strict=True):
            weight.copy_(own + 0.05 * own.std() * torch.randn_like(own) if own.numel() > 1 else own)
    path = tmp_path_factory.mktemp("subwords") / "tokenizer.model"
    subwords = train_subwords(make_lines(400, seed=8), path, len(verifier[0].tokenizer) + 60, exact=False, threads=1)
    models["words"] = replace(make_bundle(output_bias=True, vocabulary_size=len(subwords)), tokenizer=subwords)
    return {name: stored(bundle, tmp_path_factory) for name, bundle in models.items()} | {"itself": verifier}


def make_float(description: BundleDescription) -> list[torch.Tensor]:
    """The weights of a stored verifier."""
    from specdec_cli.model.bundle import load_bundle

    return [weight.detach() for weight in load_bundle(description.path.parent).verifier.parameters()]


def stored(bundle: Bundle, factory: pytest.TempPathFactory) -> Pair:
    """The bundle in int8, and the description of a folder in which it is stored."""
    folder = factory.mktemp("bundle")
    save_bundle(bundle, folder)
    quantize(bundle.verifier)
    return bundle, describe_bundle(folder)


def sentences_of(description: BundleDescription, count: int = 8) -> list[Sentence]:
    made = [
        make_sentence(description.tokenizer, description.shape.eos, n, line, stream=(n, 7))
        for n, line in enumerate(make_lines(count, seed=3))
    ]
    return [each for each in made if len(each.source) <= description.shape.max_positions // 16 * 16]


def rounds_of(hypotheses: Sequence[Hypothesis]) -> Rounds:
    return sorted((each.number, each.ids, each.rounds) for each in hypotheses)


def ids_of(hypotheses: Sequence[Hypothesis]) -> list[tuple[int, list[int]]]:
    return [(number, ids) for number, ids, _ in rounds_of(hypotheses)]


def asked(description: BundleDescription, **options: Any) -> Decoding:
    request = DecodingOptions(decoding="draft-model", draft_model="given", **options)
    return resolve(request, description)


def decoded(
    description: BundleDescription, decoding: Decoding, threads: int = 1, other: BundleDescription | None = None
) -> list[Hypothesis]:
    draft_model = None if other is None else DraftModelOf(description, other.path.parent)
    engine = NativeEngine(description, decoding, threads, draft_model=draft_model)
    return list(engine.decode(sentences_of(description)))


def greedy(description: BundleDescription, **sampling: Any) -> list[tuple[int, list[int]]]:
    return ids_of(decoded(description, resolve(DecodingOptions(decoding="greedy", **sampling), description)))


@pytest.mark.parametrize("name", ["itself", "relative", "stranger", "short", "words"])
def test_the_output_is_greedys(verifier: Pair, others: dict[str, Pair], name: str) -> None:
    description, other = verifier[1], others[name][1]
    expected = greedy(description)
    for size in (1, 4, 9):
        for batch, threads in WAYS:
            found = decoded(description, asked(description, block_size=size, batch_size=batch), threads, other)
            assert ids_of(found) == expected
            assert {each.decoding for each in found} == {"draft-model"}
        if name == "itself":
            assert sum(each.rounds for each in found) < 0.8 * sum(len(each.ids) for each in found)


@pytest.mark.parametrize("name", ["itself", "relative", "stranger"])
def test_rounds_are_those_of_the_reference(verifier: Pair, others: dict[str, Pair], name: str) -> None:
    (bundle, description), (other, described) = verifier, others[name]
    sentences, decoding = sentences_of(description)[:4], asked(description, block_size=4, max_length=20)
    reference = Engine(replace(bundle, draft_model=other), decoding)
    engine = NativeEngine(description, decoding, 1, draft_model=DraftModelOf(description, described.path.parent))
    assert rounds_of(list(engine.decode(sentences))) == rounds_of(list(reference.decode(sentences)))


@pytest.mark.parametrize("name", ["itself", "relative", "words"])
def test_draws_are_those_of_sampling_token_by_token(verifier: Pair, others: dict[str, Pair], name: str) -> None:
    description, sampling = verifier[1], {"sample": True, "temperature": 0.7, "seed": 5}
    expected = greedy(description, **sampling)
    for batch, threads in WAYS:
        found = decoded(description, asked(description, block_size=5, batch_size=batch, **sampling), threads, others[name][1])
        assert ids_of(found) == expected
        if name == "itself":  # the same noise, so that equal distributions give equal draws
            assert sum(each.rounds for each in found) < 0.5 * sum(len(each.ids) for each in found)


def test_sizes_of_drafts_adapt(verifier: Pair, others: dict[str, Pair]) -> None:
    description, expected = verifier[1], greedy(verifier[1])
    draft_model = DraftModelOf(description, others["itself"][1].path.parent)
    for options in ({"block_size": "auto"}, {"batch_size": 4, "block_size": "auto"}):
        engine = NativeEngine(description, asked(description, **options), 2, draft_model=draft_model)
        assert ids_of(list(engine.decode(sentences_of(description)))) == expected
        assert engine.drafted is not None and engine.drafted[0] > 0
        assert engine.measured_costs().sizes == (1, 3, 5, 7, 11, 15)


@pytest.mark.parametrize(("batch", "enough"), [(1, WORTH_LOADING_MODEL), (4, WORTH_MEASURING_BATCHES)])
def test_it_is_loaded_once_enough_sentences_came(
    verifier: Pair, others: dict[str, Pair], batch: int, enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Costs, "can_pay", lambda *_: True)  # a draft model as large as the verifier does not pay
    description = verifier[1]
    decoding = resolve(DecodingOptions(draft_model="given", batch_size=batch), replace(description, info=BundleInfo()))
    draft_model = DraftModelOf(description, others["relative"][1].path.parent)
    engine = NativeEngine(description, decoding, 1, draft_model=draft_model)
    engine.expect(enough - 1)
    assert engine.decoding.method == "greedy" and "loaded" not in vars(draft_model)
    engine.expect(1)
    assert "loaded" in vars(draft_model)
    assert ids_of(list(engine.decode(sentences_of(description)))) == greedy(description)


def test_costs_of_single_sentences_take_no_rounds_of_several(verifier: Pair, others: dict[str, Pair]) -> None:
    description = verifier[1]
    draft_model = DraftModelOf(description, others["stranger"][1].path.parent)
    model = NativeModel(description.shape, weights_file(description.path.parent))
    measured = MeasuredModel(description.shape, draft_model.shape, 5, 1, alone=True)
    costs = round_costs(measured, model, draft_model.loaded.model)
    assert costs.sizes == (1, 3, 5) and costs.plain[1] == ROWS * costs.plain[0] > 0
    assert all(many == ROWS * one > 0 for part in (costs.verifying, costs.drafting) for one, many in zip(*part, strict=True))
    # A draft of five tokens takes five steps of the draft model.
    assert costs.drafting[0] == pytest.approx([size * costs.drafting[0][0] for size in costs.sizes])


class Broken(Bridge):
    """A bridge that answers with anything."""

    def __init__(self, answer: Callable[[], list[int]]) -> None:
        self._answer = answer

    def source(self, text: str) -> list[int]:
        return [9, 10, 3] if text else []

    def read(self, output: Sequence[int]) -> list[int]:  # noqa: ARG002
        return self._answer()

    def continued(self, output: Sequence[int], read: Sequence[int], written: Sequence[int]) -> list[int]:  # noqa: ARG002
        return self._answer()


def fail() -> list[int]:
    raise ValueError("a bridge that fails")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("answer", [lambda: [2**31 - 1], lambda: [-1, 5], lambda: [9] * 10_000, list, fail])
def test_a_bridge_cannot_change_the_output(verifier: Pair, others: dict[str, Pair], answer: Callable[[], list[int]]) -> None:
    description, described = verifier[1], others["stranger"][1]
    sentences = sentences_of(description)
    model, drafting = (NativeModel(each.shape, each.path.parent / "verifier" / "model.safetensors") for each in (description, described))
    draft_model = NativeDraftModel(drafting, Constraints(), Broken(answer), 48)
    found = model.decode(sentences, asked(description, block_size=4), Resources(2, shared_vocabulary=False, draft_model=draft_model))
    assert ids_of(list(found)) == greedy(description)


def test_options_and_sources_of_a_draft_model_are_checked(verifier: Pair, others: dict[str, Pair]) -> None:
    description = verifier[1]
    model = NativeModel(description.shape, description.path.parent / "verifier" / "model.safetensors")
    draft_model = DraftModelOf(description, others["stranger"][1].path.parent).loaded
    sentences = sentences_of(description)[:2]
    with pytest.raises(NativeError, match="draft_model"):
        list(model.decode(sentences, asked(description, block_size=4), Resources()))
    with pytest.raises(NativeError, match="draft_model"):
        list(model.decode(sentences, Decoding(), Resources(draft_model=draft_model)))
    with pytest.raises(NativeError, match="block_size"):
        list(model.decode(sentences, replace(asked(description, block_size=4), block_size=0), Resources(draft_model=draft_model)))
    with pytest.raises(NativeError, match="top_k"):
        wrong = replace(asked(description, block_size=4), acceptance=Sampled(1.0, 5000))
        list(model.decode(sentences, wrong, Resources(draft_model=draft_model)))
    unknown = [replace(each, source=[len(description.tokenizer) + 5, 3]) for each in sentences]
    with pytest.raises(NativeError, match="id"):
        list(model.decode(unknown, asked(description, block_size=4), Resources(draft_model=draft_model)))
