"""Converted models say what transformers says, token by token."""

from collections.abc import Sequence
from typing import Any

import pytest
import torch

from converters.from_huggingface import from_huggingface
from specdec_cli.decoding.engine import Engine
from specdec_cli.decoding.loop import Sentence
from specdec_cli.decoding.settings import Wishes, settle
from specdec_cli.model.bundle import Bundle, load_bundle, save_bundle
from tests.conftest import make_lines

huggingface = pytest.importorskip("tests.converters.huggingface", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
LONGEST = 40


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


def sources_of(made: Any) -> list[list[int]]:
    """Sources of 1 to 200 tokens beside their frame: real text, and random ids for the long ones."""
    frame = made.encode("")
    texts = [made.encode(line) for line in make_lines(20, seed=5)]
    generator = torch.Generator().manual_seed(1)
    before = [token for token in frame[:1] if token != 2 and frame[0] != made.model.config.eos_token_id]
    after = frame[len(before) :]
    long = [torch.randint(4, 50, (length,), generator=generator).tolist() for length in (1, 2, 3, 16, 17, 40, 99, 200)]
    return texts + [[*before, *text, *after] for text in long]


def decode(bundle: Bundle, sources: Sequence[Sequence[int]], **wishes: Any) -> list[list[int]]:
    """Our ids for each source."""
    engine = Engine(bundle, settle(Wishes(max_length=LONGEST, **wishes), bundle))
    found = {h.number: h.ids for h in engine.decode([Sentence(n, source) for n, source in enumerate(sources)])}
    return [found[n] for n in range(len(sources))]


def generate(made: Any, sources: Sequence[Sequence[int]], beams: int = 1) -> list[list[int]]:
    """transformers' ids for each source, one by one, without the decoder start and what follows EOS."""
    eos, outputs = made.model.config.eos_token_id, []
    for source in sources:
        options = {"num_beams": beams, "do_sample": False, "max_length": LONGEST + 1, "early_stopping": False, **made.generation}
        ids = made.model.generate(torch.tensor([list(source)]), forced_eos_token_id=None, **options)[0, 1:].tolist()
        outputs.append(ids[: ids.index(eos) + 1] if eos in ids else ids)
    return outputs


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
