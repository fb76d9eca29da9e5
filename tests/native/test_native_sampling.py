"""Sampling by the native engine: noise and draws have the bits of the reference, and every lossless decoding draws the same tokens."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from specdec_cli.decoding.options import Decoding, DecodingOptions, Sampled, resolve
from specdec_cli.decoding.sampling import gumbel_noise
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.bundle_info import BundleDescription, describe_bundle
from specdec_cli.model.int8 import quantize
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import NativeModel, Resources
from tests.fakes import redraw, tiny_drafter
from tests.native.comparison import sources_of

pytestmark = pytest.mark.usefixtures("sharing")
Drawn = dict[int, tuple[list[int], tuple[float, ...]]]
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"temperature": 0.4, "seed": 2**32 - 1},
    {"temperature": 2.5, "top_k": 5},
    {"top_k": 1024, "max_length": 7},
)


@pytest.fixture(scope="module")
def made(make_bundle: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, BundleDescription]:
    """A bundle in int8 with a drafter, and the description of its folder."""
    bundle = make_bundle(output_bias=True, embedding_scale=False, positions="learned")
    redraw(bundle.verifier, spread=2.0)
    drafter = tiny_drafter(bundle.verifier, chain=16)
    redraw(drafter, 1)
    bundle = replace(bundle, drafter=drafter)
    folder = tmp_path_factory.mktemp("sampled")
    save_bundle(bundle, folder)
    quantize(bundle.verifier, bundle.drafter)
    return bundle, describe_bundle(folder)


def sentences_of(bundle: Bundle, count: int = 16) -> list[Sentence]:
    sources = sources_of(len(bundle.tokenizer), count, 12)
    return [Sentence(number, source, stream=(number * 3, 2**32 - 1 - number)) for number, source in enumerate(sources)]


def drawn(hypotheses: Sequence[Hypothesis]) -> Drawn:
    return {each.number: (each.ids, each.log_probabilities) for each in hypotheses}


@pytest.mark.parametrize(("seed", "stream"), [(1, (0, 0)), (2**32 - 1, (2**32 - 1, 77)), (12345, (9, 2**31))])
def test_noise_has_the_bits_of_the_reference(probe: Any, seed: int, stream: tuple[int, int]) -> None:
    count = 5003
    native = np.zeros(count)
    words = (ctypes.c_uint32 * 2)(*stream)
    probe.probe_gumbel_noise(ctypes.c_int64(seed), words, ctypes.c_int64(41), count, native.ctypes.data_as(ctypes.c_void_p))
    reference = gumbel_noise(seed, torch.tensor([stream]), torch.tensor([[41]]), count)
    assert native.tobytes() == reference.numpy().tobytes()


@pytest.mark.parametrize("settings", SETTINGS)
def test_draws_are_those_of_the_reference(made: tuple[Bundle, BundleDescription], settings: dict[str, Any]) -> None:
    bundle, description = made
    options = DecodingOptions(decoding="greedy", sample=True, with_scores=True, batch_size=4, **settings)
    sentences = sentences_of(bundle)
    reference = drawn(list(Engine(bundle, resolve(options, bundle)).decode(sentences)))
    assert len({tuple(ids) for ids, _ in reference.values()}) > len(reference) // 2
    for decoding in ("greedy", "lookup", "ngram-memory", "input-guided", "specdec"):
        for batch, threads in ((1, 1), (1, 3), (5, 2)):
            asked = replace(options, decoding=decoding, batch_size=batch)
            engine = NativeEngine(description, resolve(asked, description), threads)
            assert drawn(list(engine.decode(sentences))) == reference, (decoding, batch, threads)


def test_constraints_hold_for_draws(made: tuple[Bundle, BundleDescription]) -> None:
    bundle, description = made
    rules: dict[str, Any] = {"no_repeat_ngram_size": 1, "min_length": 6, "forced_end": True, "repetition_penalty": 1.5}
    info = replace(bundle.info, **rules)
    bundle, description = replace(bundle, info=info), replace(description, info=info)
    options = DecodingOptions(decoding="greedy", sample=True, max_length=20, temperature=0.3)
    sentences = sentences_of(bundle)
    reference = drawn(list(Engine(bundle, resolve(options, bundle)).decode(sentences)))
    assert all(len(set(ids)) == len(ids) >= 7 for ids, _ in reference.values())
    for decoding in ("greedy", "lookup", "specdec"):
        engine = NativeEngine(description, resolve(replace(options, decoding=decoding), description), threads=2)
        assert drawn(list(engine.decode(sentences))) == reference


def test_given_drafts_do_not_change_draws(made: tuple[Bundle, BundleDescription]) -> None:
    bundle, description = made
    engine = NativeEngine(description, resolve(DecodingOptions(sample=True), description), threads=1)
    sentences = sentences_of(bundle)
    expected = drawn(list(engine.decode(sentences)))
    with_drafts = [replace(each, draft=[*expected[each.number][0][:-1][: each.number], 9, 3]) for each in sentences]
    assert drawn(list(engine.decode(with_drafts))) == expected


@pytest.mark.parametrize(
    ("acceptance", "fault"),
    [
        (Sampled(float("inf")), "temperature"),
        (Sampled(-1.0), "temperature"),
        (Sampled(1.0, 1025), "top_k"),
        (Sampled(1.0, -1), "top_k"),
    ],
)
def test_values_out_of_range_are_refused(made: tuple[Bundle, BundleDescription], acceptance: Sampled, fault: str) -> None:
    bundle, description = made
    model = NativeModel(bundle.verifier.config, description.path.parent / "verifier" / "model.safetensors")
    with pytest.raises(NativeError, match=fault):
        list(model.decode(sentences_of(bundle, 2), Decoding(acceptance=acceptance), Resources()))
