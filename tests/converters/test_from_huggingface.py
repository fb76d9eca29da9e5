"""Converted models say what transformers says, token by token."""

from typing import Any

import pytest
import torch

from converters.from_huggingface import from_huggingface
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from tests.conftest import make_lines
from tests.converters.comparison import decode, generate, sources_of

huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")


@pytest.fixture(scope="module", params=list(huggingface.MAKERS))
def made(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A saved model of each architecture."""
    torch.set_num_threads(1)
    return huggingface.MAKERS[request.param](tmp_path_factory.mktemp("saved"))


@pytest.fixture(scope="module")
def bundle(made: Any, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """It, converted, stored and loaded."""
    folder = tmp_path_factory.mktemp("converted")
    save_bundle(from_huggingface(made.folder, *made.languages).bundle, folder)
    return load_bundle(folder)


def test_greedy_output_is_transformers(made: Any, bundle: Bundle) -> None:
    sources = sources_of(made)
    made.model.double()
    bundle.verifier.double()
    expected = generate(made, sources)
    assert decode(bundle, sources, decoding="greedy", batch_size=8) == expected
    assert decode(bundle, sources, decoding="lookup,gs-jacobi") == expected
    assert len(set(map(tuple, expected))) > len(sources) / 2, "the model says the same to everything: this test would prove nothing"


def test_beam_search_is_transformers(made: Any, bundle: Bundle) -> None:
    sources = sources_of(made)[:12]
    made.model.double()
    bundle.verifier.double()
    assert decode(bundle, sources, decoding="beam", beam_size=5) == generate(made, sources, beams=5)


def test_text_has_transformers_ids(made: Any, bundle: Bundle) -> None:
    for line in [*make_lines(30, seed=7), "Unknown: Ünïcode, 12 tokens!"]:
        assert bundle.tokenizer.framed(bundle.tokenizer.encode(line)) == made.encode(line)


def test_text_comes_back(bundle: Bundle) -> None:
    for line in make_lines(20, seed=8):
        (target,) = bundle.tokenizer.encode_targets([line])
        assert bundle.tokenizer.decode(bundle.tokenizer.framed_target(target, bundle.verifier.config.eos)) == line
