"""Converted models of every toolkit give the output of transformers with the same weights, token by token."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from converters.conversion import ConversionOptions
from converters.formats import READERS, convert_model
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import make_sentence
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import BeamStop, Bundle, load_bundle, save_bundle
from specdec_cli.pipeline.translator import LineTranslator
from tests.conftest import make_lines
from tests.converters.comparison import LONGEST, decode, generate, sources_of

pytest.importorskip("transformers", reason="transformers is not installed")
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning", "ignore::UserWarning")
LINES = [*make_lines(30, seed=7), "Unknown: Ünïcode, 12 tokens!", "It's kalo-mita &amp; resu (no).", "zalo kaz z"]


def makers() -> dict[str, Any]:
    """The functions that make saved models, by toolkit and architecture."""
    try:
        from tests.converters import fairseq, huggingface, marian
    except ImportError:
        return {}
    return {f"{m.__name__.rpartition('.')[2]}: {name}": make for m in (huggingface, fairseq, marian) for name, make in m.MAKERS.items()}


MAKERS = makers()
USUAL = ("huggingface: Marian", "huggingface: mBART-50", "huggingface: T5 v1.1", "fairseq: BART", "marian: OPUS-MT, two vocabularies")
"""Those that `make test` converts."""
KINDS = [name if name in USUAL else pytest.param(name, marks=pytest.mark.long) for name in MAKERS]


@pytest.fixture(scope="module", params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    """A toolkit and an architecture."""
    name: str = request.param
    return name


@pytest.fixture(scope="module")
def made(kind: str, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A saved model of this toolkit and architecture."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return MAKERS[kind](tmp_path_factory.mktemp("saved"))


@pytest.fixture(scope="module")
def bundle(kind: str, made: Any, tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    """The saved model after detection, conversion, saving and loading."""
    folder: Path = tmp_path_factory.mktemp("converted")
    toolkit, (source, target) = kind.partition(":")[0], made.languages
    assert READERS[toolkit].recognises(made.folder)
    save_bundle(convert_model(made.folder, toolkit, ConversionOptions(source, target, getattr(made, "task", None))).joined(), folder)
    return load_bundle(folder)


def settings_of(bundle: Bundle, beams: int = 1) -> dict[str, Any]:
    """The arguments of generate() for `bundle`, for models of any toolkit."""
    info, eos = bundle.info, bundle.verifier.config.eos
    lengths = {"min_length": info.min_length + 1 if info.min_length else 0, "max_length": LONGEST + 1}
    return {"num_beams": beams, "do_sample": False, "forced_eos_token_id": eos if info.forced_end else None, **lengths}


def test_greedy_output_equals_that_of_transformers(made: Any, bundle: Bundle) -> None:
    sources = sources_of(made)
    made.model.double()
    bundle.verifier.double()
    expected = generate(made, sources, **settings_of(bundle))
    assert decode(bundle, sources, decoding="greedy", batch_size=8) == expected
    assert decode(bundle, sources, decoding="lookup,ngram-memory,gs-jacobi") == expected
    assert len(set(map(tuple, expected))) > len(sources) / 2, "the model says the same to everything: this test would prove nothing"


def test_raw_output_of_float32_is_the_text_of_transformers(kind: str, made: Any, bundle: Bundle) -> None:
    made.model.float()
    bundle.verifier.float()
    engine = Engine(bundle, resolve(DecodingOptions(decoding="greedy", max_length=LONGEST, batch_size=8), bundle))
    found = [each.text for each in LineTranslator.of_bundle(engine, bundle, raw=True).translate(LINES)]
    ids = generate(made, list(map(made.encode, LINES)), **settings_of(bundle))
    assert found == list(map(bundle.tokenizer.decode, ids))
    if kind.startswith("huggingface"):
        from transformers import AutoTokenizer

        tokenizer = AutoTokenizer.from_pretrained(made.folder)
        # Transformers shows the language tokens of M2M-100 and MADLAD-400. These small models emit spaces at the ends and in a row, which
        # it writes in other ways.
        languages = {bundle.tokenizer.id_of(piece) for piece in bundle.tokenizer.config.languages.values()}  # type: ignore[attr-defined]
        written = ([token for token in each if token not in languages] for each in ids)
        texts = (tokenizer.decode(each, skip_special_tokens=True, clean_up_tokenization_spaces=False) for each in written)
        assert list(map(_with_single_spaces, found)) == list(map(_with_single_spaces, texts))


def _with_single_spaces(text: str) -> str:
    return " ".join(text.replace("\u2581", " ").split())


@pytest.mark.parametrize(("early_stopping", "stop"), [(False, "heuristic"), (True, "first"), ("never", "never")])
def test_beam_search_equals_that_of_transformers(made: Any, bundle: Bundle, early_stopping: bool | str, stop: BeamStop) -> None:
    sources = sources_of(made)[:12:2]
    made.model.double()
    bundle.verifier.double()
    stopped = replace(bundle, info=replace(bundle.info, beam_stop=stop))
    expected = generate(made, sources, early_stopping=early_stopping, **settings_of(bundle, 5))
    assert decode(stopped, sources, decoding="beam", beam_size=5) == expected


def test_text_is_encoded_as_by_transformers(made: Any, bundle: Bundle) -> None:
    for line in LINES:
        assert bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) == made.encode(line)


def test_input_guided_decoding_copies_the_source_as_an_output(bundle: Bundle) -> None:
    tokenizer, eos = bundle.tokenizer, bundle.verifier.config.eos
    for line in make_lines(20, seed=9) if tokenizer.shared else ():
        sentence = make_sentence(tokenizer, eos, 0, line)
        assert list(sentence.copy or sentence.source) == tokenizer.add_target_tokens(tokenizer.encode(line), eos)


def test_decoding_restores_the_text(bundle: Bundle) -> None:
    for line in make_lines(20, seed=8):
        (target,) = bundle.tokenizer.encode_targets([line])
        assert bundle.tokenizer.decode(bundle.tokenizer.add_target_tokens(target, bundle.verifier.config.eos)) == line
