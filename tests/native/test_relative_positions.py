"""Models with relative positions in the native engine: the bits of the int8 reference, and the same output by every decoding."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import ModelError
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.network import TorchNetwork
from specdec_cli.model.storage import save_weights
from specdec_cli.native.library import load_library
from specdec_cli.native.model import NativeModel
from specdec_cli.native.network import NativeNetwork
from tests.native.comparison import sources_of
from tests.native.conftest import ISAS
from tests.native.decoding_requests import Request, decode
from tests.native.test_network import compare

pytestmark = pytest.mark.usefixtures("sharing")


@pytest.fixture(scope="module")
def opened(relative_pair: tuple[Bundle, Path]) -> tuple[Bundle, NativeModel]:
    """A bundle, and its native model."""
    return relative_pair[0], NativeModel(relative_pair[0].shape, relative_pair[1])


@pytest.mark.parametrize("name", ISAS)
def test_every_instruction_set_has_the_bits_of_the_reference(
    name: str, relative_pair: tuple[Bundle, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name not in str(load_library().specdec_instruction_sets().decode()).split(","):
        pytest.skip(f"this processor has no {name}")
    monkeypatch.setenv("SPECDEC_ISA", name)
    bundle, path = relative_pair
    sources = sorted(sources_of(len(bundle.tokenizer), 7, 40), key=len, reverse=True)  # beyond the reach of 5
    for threads in (1, 3):
        compare(TorchNetwork(bundle.verifier), NativeNetwork(NativeModel(bundle.shape, path), threads), sources)


def test_decodings_without_a_network_have_the_output_of_the_reference(opened: tuple[Bundle, NativeModel]) -> None:
    bundle, model = opened
    sources = sources_of(len(bundle.tokenizer), 8, 30)
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    made = resolve(DecodingOptions(decoding="greedy", max_length=24, with_scores=True), bundle)
    expected = {each.number: (each.ids, each.log_probabilities) for each in Engine(bundle, made).decode(sentences)}
    assert len({tuple(ids) for ids, _ in expected.values()}) > 2
    starts = bytes(bundle.tokenizer.word_starts())
    for name, options in (("greedy", {}), ("input-guided", {"word_starts": starts}), ("lookup", {"block_size": 7}), ("jacobi", {})):
        for batch, threads in ((1, 1), (1, 3), (3, 2)):
            more: dict[str, Any] = options
            request = Request(name, batch=batch, threads=threads, max_length=24, with_scores=True, **more)
            found = {each.number: (each.ids, each.log_probabilities) for each in decode(model, sources, request)}
            assert found == expected, (name, batch, threads)


def test_beam_search_has_the_output_of_the_reference(opened: tuple[Bundle, NativeModel]) -> None:
    bundle, model = opened
    sources = sources_of(len(bundle.tokenizer), 4, 20)
    made = resolve(DecodingOptions(decoding="beam", beam_size=3, max_length=16), bundle)
    reference = Engine(replace(bundle, network=NativeNetwork(model)), made)
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    expected = {each.number: each.ids for each in Engine(bundle, made).decode(sentences)}
    assert {each.number: each.ids for each in reference.decode(sentences)} == expected
    for batch in (1, 2):
        found = decode(model, sources, Request("beam", beam_size=3, batch=batch, max_length=16))
        assert {each.number: each.ids for each in found} == expected


@torch.inference_mode()
def test_biases_are_stored_as_they_are_where_matrices_are_compressed(relative_pair: tuple[Bundle, Path], tmp_path: Path) -> None:
    from specdec_cli.model.transformer import Transformer

    bundle, _ = relative_pair
    assert bundle.verifier.bias is not None
    model, path = Transformer(bundle.shape), tmp_path / "model.safetensors"
    assert model.bias is not None
    model.bias.weight.copy_(bundle.verifier.bias.weight)
    save_weights(model, path, "int8")
    from specdec_cli.model.storage import load_weights

    loaded = Transformer(bundle.shape)
    load_weights(loaded, path)
    assert loaded.bias is not None
    assert torch.equal(loaded.bias.weight, bundle.verifier.bias.weight)


def test_a_table_of_another_size_is_refused(relative_pair: tuple[Bundle, Path]) -> None:
    bundle, path = relative_pair
    with pytest.raises(ModelError, match=r"bias\.weight"):
        NativeModel(replace(bundle.shape, reach=6), path)
