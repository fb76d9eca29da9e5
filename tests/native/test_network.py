"""The network that the native engine's passes compute: the bits of the int8 reference, and decodings equal to the native engine's."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from specdec_cli.decoding.options import Decoding, DecodingOptions, Exact, constraints_of, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.config import TransformerConfig
from specdec_cli.model.network import Network, TorchNetwork
from specdec_cli.model.rows import keep_rows, replace_rows, select_rows
from specdec_cli.native.library import HEADER, NativeError
from specdec_cli.native.model import NativeModel
from specdec_cli.native.network import NativeNetwork
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.native.comparison import sources_of
from tests.native.decoding_requests import Request, decode

pytestmark = pytest.mark.usefixtures("sharing")

METHODS = ("greedy", "jacobi", "gs-jacobi", "hybrid-jacobi", "lookup", "ngram-memory", "lookup,gs-jacobi")


def padded(sources: list[list[int]], config: TransformerConfig) -> Tensor:
    """The ids of sources (B, M) with padding."""
    width = max(map(len, sources))
    return torch.tensor([[*source, *[config.padding] * (width - len(source))] for source in sources])


@torch.inference_mode()
def compare(reference: Network, network: Network, sources: list[list[int]]) -> None:
    """Check that states and logits of two networks are equal, over passes of several widths whose rows move and are replaced."""
    config, generator = reference.config, torch.Generator().manual_seed(1)
    memories = [each.encode(padded(sources, config)) for each in (reference, network)]
    assert torch.equal(memories[0].states, memories[1].states)
    assert torch.equal(memories[0].mask.ends, memories[1].mask.ends)
    caches = [each.new_cache(memory, 48) for each, memory in zip((reference, network), memories, strict=True)]
    caches[1].whole.fill_(torch.nan)  # what was not written is not read
    lengths = torch.zeros(len(sources), dtype=torch.long)
    for step, count in enumerate((1, 5, 3, 12, 2)):
        ids = torch.randint(config.vocabulary_size, (len(lengths), count), generator=generator)
        positions = lengths[:, None] + torch.arange(count)
        states, own = (
            each.decode(ids, positions, positions + 1, memory, cache)
            for each, memory, cache in zip((reference, network), memories, caches, strict=True)
        )
        assert torch.equal(states, own)
        logits = reference.project(states)
        assert torch.equal(logits, network.project(own))
        assert torch.equal(reference.choices.log_softmax(logits), network.choices.log_softmax(logits))
        assert torch.equal(reference.choices.log_probabilities(logits, ids), network.choices.log_probabilities(logits, ids))
        lengths += torch.randint(1, count + 1, lengths.shape, generator=generator)  # some of the draft is rejected
        if step == 1:
            kept = torch.arange(len(lengths)) % 3 != 0
            memories, caches = [keep_rows(each, kept) for each in memories], [keep_rows(each, kept) for each in caches]
            lengths = keep_rows(lengths, kept)
        if step == 2:
            entering = [each.encode(padded(sources[:1], config)) for each in (reference, network)]
            width = memories[0].states.shape[1]
            if entering[0].states.shape[1] == width:
                rows = torch.tensor([1])
                memories = [replace_rows(memory, rows, other) for memory, other in zip(memories, entering, strict=True)]
                lengths[1] = 0
                caches[1].whole[1].fill_(torch.nan)


def test_random_models_have_the_bits_of_the_reference(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 7, 20)
    sources.sort(key=len, reverse=True)
    for threads in (1, 3):
        compare(TorchNetwork(bundle.verifier), NativeNetwork(NativeModel(bundle.shape, path), threads), sources)


@pytest.mark.parametrize("name", ["en-de", "en-gec"])
def test_shipped_models_have_the_bits_of_the_reference(name: str) -> None:
    bundle = open_bundle(name, Machine("cpu", "int8", 1))
    network = NativeNetwork(NativeModel(bundle.shape, SHIPPED / name / "verifier" / "model.safetensors"), 2)
    compare(TorchNetwork(bundle.verifier), network, sorted(sources_of(len(bundle.tokenizer), 5, 20), key=len, reverse=True))


@torch.inference_mode()
def test_rows_of_a_teacher_forced_target_have_the_bits_of_the_cache(pair: tuple[Bundle, Path]) -> None:
    bundle, path = pair
    network = NativeNetwork(NativeModel(bundle.shape, path))
    memory = network.encode(padded(sources_of(len(bundle.tokenizer), 4, 20), bundle.shape))
    target = torch.randint(len(bundle.tokenizer), (4, 9), generator=torch.Generator().manual_seed(2))
    positions = torch.arange(9).expand(4, 9)
    stepwise = network.decode(target, positions, positions + 1, memory, network.new_cache(memory, 20))
    assert torch.equal(network.teach(memory, target), stepwise)
    chosen = torch.tensor([3, 1, 1])
    assert torch.equal(network.teach(select_rows(memory, chosen), target[chosen]), stepwise[chosen])


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_lossless_decodings_have_the_output_of_the_native_engine(opened: tuple[Bundle, NativeModel], data: st.DataObject) -> None:
    bundle, model = opened
    method = data.draw(st.sampled_from(METHODS))
    rules: dict[str, Any] = {
        "no_repeat_ngram_size": data.draw(st.sampled_from((0, 2))),
        "repetition_penalty": data.draw(st.sampled_from((1.0, 1.3))),
        "min_length": data.draw(st.sampled_from((0, 6))),
    }
    sources = sources_of(len(bundle.tokenizer), data.draw(st.integers(1, 6)), 16)
    made = replace(bundle, info=replace(bundle.info, **rules), network=NativeNetwork(model, data.draw(st.integers(1, 3))))
    options = DecodingOptions(
        decoding=method, batch_size=data.draw(st.integers(1, 4)), max_length=16, always_draft=True, with_scores=data.draw(st.booleans())
    )
    decoding: Decoding = resolve(options, made)
    found = Engine(made, decoding).decode([Sentence(number, source) for number, source in enumerate(sources)])
    greedy = decode(model, sources, Request(max_length=16, with_scores=options.with_scores, **rules))
    expected = {each.number: (each.ids, each.log_probabilities) for each in greedy}
    assert {each.number: (each.ids, each.log_probabilities) for each in found} == expected, method


@pytest.fixture(scope="module")
def opened(pair: tuple[Bundle, Path]) -> tuple[Bundle, NativeModel]:
    """A bundle and its native model."""
    return pair[0], NativeModel(pair[0].shape, pair[1])


@pytest.mark.parametrize(
    ("name", "value"),
    [("ids", -1), ("ids", 10**6), ("indices", -1), ("indices", 20), ("ends", 0), ("ends", 21), ("lengths", 0), ("source_lengths", 99)],
)
def test_a_value_out_of_range_is_named(opened: tuple[Bundle, NativeModel], name: str, value: int) -> None:
    bundle, model = opened
    network = NativeNetwork(model)
    memory = network.encode(padded([[8, 9, 3]], bundle.shape))
    cache = network.new_cache(memory, 20)
    arrays = {
        "ids": torch.tensor([[8, 9]]),
        "lengths": torch.tensor([2]),
        "states": torch.empty(1, 2, bundle.shape.width),
        "memories": memory.keys_values[0],
        "caches": cache.whole,
        "source_lengths": torch.tensor([3]),
        "indices": torch.tensor([[0, 1]]),
        "ends": torch.tensor([[1, 2]]),
    }
    arrays[name] = torch.full_like(arrays[name], value)
    rows = HEADER.structs["rows"](threads=1, count=1, width=2, capacity=20)
    for each, tensor in arrays.items():
        setattr(rows, each, tensor.data_ptr())
    rows.memory_size, rows.cache_size = arrays["memories"][0].numel(), arrays["caches"][0].numel()
    with pytest.raises(NativeError, match=f"pass {name}: out of its range"):
        model.run_decoder(rows)
    rows.cache_size -= 1
    with pytest.raises(NativeError, match="pass"):
        model.run_decoder(rows)


@pytest.mark.parametrize(
    ("name", "value"),
    [("drafts", -1), ("drafts", 10**6), ("drafted", -1), ("drafted", 3), ("tokens", -1), ("lengths", 0), ("lengths", 99), ("sources", -1)],
)
@torch.inference_mode()
def test_a_value_out_of_range_of_a_verification_is_named(opened: tuple[Bundle, NativeModel], name: str, value: int) -> None:
    bundle, model = opened
    network, source = NativeNetwork(model), padded([[8, 9, 3]], bundle.shape)
    verifier = Verifier(network)
    state = verifier.begin([0], source.tolist())
    draft = Draft(torch.tensor([[8, 9]]), torch.tensor([2]))
    assert verifier.judge(state, draft, Exact()).accepted.predictions.shape == (1, 3)
    arrays = {"drafts": draft.ids, "drafted": draft.counts, "tokens": state.tokens, "lengths": state.lengths, "sources": state.source}
    arrays[name].fill_(value)
    with pytest.raises(NativeError, match=f"pass {name}: out of its range"):
        verifier.judge(state, draft, Exact())


@pytest.mark.parametrize("name", ["en-de", "en-gec"])
@torch.inference_mode()
def test_a_verification_chooses_by_the_constrained_logits(name: str) -> None:
    bundle = open_bundle(name, Machine("cpu", "int8", 1))
    model = NativeModel(bundle.shape, SHIPPED / name / "verifier" / "model.safetensors")
    rules = replace(constraints_of(bundle), repetition_penalty=1.2, no_repeat_ngram_size=2, min_length=4, forced_end=True)
    verifier, generator = Verifier(NativeNetwork(model, 2), None, rules), torch.Generator().manual_seed(3)
    state = verifier.begin([0, 1, 2], [[*range(20, 27), 3], [20, 20, 20, 20, 3], [40, 3]], 12)
    for count in (0, 5, 3, 7, 1):
        draft = Draft(torch.randint(5, 60, (3, count), generator=generator), torch.tensor([count, count // 2, 0]))
        scores, verdict = verifier.score(state, draft), verifier.judge(state, draft, Exact(), with_scores=True)
        probabilities = verifier.network.choices.log_probabilities(scores.logits, verdict.accepted.ids)
        assert verdict.log_probabilities is not None
        for row, drafted in enumerate(draft.counts.tolist()):
            predicted = verdict.accepted.predictions[row, : drafted + 1]
            assert torch.equal(predicted, scores.logits[row, : drafted + 1].argmax(-1))
            assert torch.equal(verdict.states[row, : drafted + 1], scores.states[row, : drafted + 1])
            reached = int(verdict.accepted.bifurcation[row]) + 1  # other positions have no scores
            assert torch.equal(verdict.log_probabilities[row, :reached], probabilities[row, :reached])
        verifier.append(state, verdict)


@torch.inference_mode()
def test_several_tokens_of_one_call_are_those_of_single_passes(opened: tuple[Bundle, NativeModel]) -> None:
    bundle, model = opened
    rules = replace(constraints_of(bundle), no_repeat_ngram_size=2, min_length=3)
    verifier, generator = Verifier(NativeNetwork(model, 2), None, rules), torch.Generator().manual_seed(4)
    source = [[8, 9, 10, 3], [8, 3], [12, 11, 3]]
    together, single = verifier.begin([0, 1, 2], source), verifier.begin([0, 1, 2], source)
    size = len(bundle.tokenizer)
    for read, count in ((0, 1), (2, 4), (1, 6), (0, 3)):
        counts = torch.tensor([read, read // 2, 0])
        draft = Draft(torch.randint(5, size, (3, read), generator=generator), counts, counts)
        ids = verifier.extend(together, draft, count, Exact())
        has_ended = torch.zeros(3, dtype=torch.bool)
        for number in range(count):
            following = draft if not number else Draft(draft.ids[:, :0], counts * 0)
            token = verifier.predictions(single, following, Exact()).gather(1, following.counts[:, None])
            places = single.lengths[:, None] + torch.arange(read)
            if not number and read:
                known = torch.arange(read) < counts[:, None]
                single.tokens.scatter_(1, places, torch.where(known, draft.ids, single.tokens.gather(1, places)))
            single.lengths += following.counts
            token[has_ended] = bundle.shape.eos
            single.tokens.scatter_(1, single.lengths[:, None], token)
            single.lengths += 1
            assert torch.equal(ids[:, number], token[:, 0])
            has_ended |= token[:, 0] == bundle.shape.eos
        assert torch.equal(together.lengths, single.lengths)
        together.tokens.copy_(single.tokens)


def test_too_many_tokens_of_one_call_are_refused(opened: tuple[Bundle, NativeModel]) -> None:
    verifier = Verifier(NativeNetwork(opened[1]))
    state = verifier.begin([0], [[8, 9, 3]])
    none = Draft(state.tokens[:, :0], state.lengths * 0)
    with pytest.raises(NativeError, match="steps"):
        verifier.extend(state, none, state.cache.capacity + 1, Exact())
    with pytest.raises(NativeError, match="lengths"):
        verifier.extend(state, none, state.cache.capacity, Exact())


def test_a_cache_of_other_memory_is_refused(opened: tuple[Bundle, NativeModel]) -> None:
    bundle, model = opened
    network = NativeNetwork(model)
    memory = network.encode(padded([[8, 9, 3], [8, 3]], bundle.shape))
    cache = network.new_cache(memory, 20)
    cache.whole = cache.whole[:, ::2]
    positions = torch.zeros(2, 1, dtype=torch.long)
    with pytest.raises(ValueError, match=r"caches: a tensor of torch\.float32 on cpu"):
        network.decode(positions, positions, positions + 1, memory, cache)
    with pytest.raises(ValueError, match="caches has 1 rows, ids has 2"):
        network.decode(positions, positions, positions + 1, memory, replace(cache, whole=network.new_cache(memory, 20).whole[:1]))
