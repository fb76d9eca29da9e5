"""Converted models of every toolkit say what transformers says with the same weights, token by token."""

from pathlib import Path
from typing import Any

import pytest
import torch

from converters.models import FORMATS
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from tests.conftest import make_lines
from tests.converters.comparison import decode, generate, sources_of

pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
LINES = [*make_lines(30, seed=7), "Unknown: Ünïcode, 12 tokens!", "It's kalo-mita &amp; resu (no).", "zalo kaz z"]


def makers() -> dict[str, Any]:
    """What makes a saved model, by toolkit and architecture."""
    try:
        from tests.converters import fairseq, huggingface, marian
    except ImportError:
        return {}
    return {f"{m.__name__.rpartition('.')[2]}: {name}": make for m in (huggingface, fairseq, marian) for name, make in m.MAKERS.items()}


MAKERS = makers()


@pytest.fixture(scope="module", params=list(MAKERS))
def kind(request: pytest.FixtureRequest) -> str:
    """A toolkit and an architecture."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def made(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A saved model of it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return MAKERS[kind](tmp_path_factory.mktemp("saved"))


@pytest.fixture(scope="module")
def bundle(kind: str, made: Any, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The model, recognised, converted, stored and loaded."""
    folder: Path = tmp_path_factory.mktemp("converted")
    toolkit = kind.partition(":")[0]
    assert FORMATS[toolkit].recognises(made.folder)
    save_bundle(FORMATS[toolkit].convert(made.folder, *made.languages).bundle, folder)
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
    for line in LINES:
        assert bundle.tokenizer.framed(bundle.tokenizer.encode(line)) == made.encode(line)


def test_text_comes_back(bundle: Bundle) -> None:
    for line in make_lines(20, seed=8):
        (target,) = bundle.tokenizer.encode_targets([line])
        assert bundle.tokenizer.decode(bundle.tokenizer.framed_target(target, bundle.verifier.config.eos)) == line
