"""Constrained decoding by the native engine against the reference: ids, rounds and log probabilities are the same, to the bit."""

import copy
import random
from array import array
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.options import BeamSearch, Decoding, DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.engines.native import NativeEngine
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, BundleInfo, save_bundle
from specdec_cli.model.bundle_info import describe_bundle
from specdec_cli.model.int8 import quantize
from specdec_cli.native.library import NativeError
from specdec_cli.native.model import NativeModel
from specdec_cli.text.tokenize.sentencepiece import EOS
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from tests.conftest import THOROUGH
from tests.decoding.copies import form_of
from tests.fakes import redraw, tiny_drafter
from tests.native.comparison import by_number, native, reference
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Expectations

pytestmark = pytest.mark.usefixtures("sharing")
LONGEST = 14
FREQUENT = range(8, 16)
"""Tokens of sources, and of most outputs."""
CONSTRAINTS: dict[str, dict[str, Any]] = {
    "minimal length": {"min_length": 9},
    "a minimal length above every other": {"min_length": 60, "forced_end": True},
    "bigrams": {"no_repeat_ngram_size": 2},
    "unigrams": {"no_repeat_ngram_size": 1},
    "unigrams of the source": {"source_ngram_size": 1},
    "penalty": {"repetition_penalty": 1.7},
    "reward": {"repetition_penalty": 0.8},
    "one copy": {"most_copies": 1},
    "two copies": {"most_copies": 2},
    "all": {
        "most_copies": 1,
        "min_length": 6,
        "no_repeat_ngram_size": 2,
        "source_ngram_size": 3,
        "repetition_penalty": 1.2,
        "forced_end": True,
    },
}
RULES = st.fixed_dictionaries(
    {
        "min_length": st.integers(0, LONGEST + 2),
        "no_repeat_ngram_size": st.integers(0, 4),
        "source_ngram_size": st.integers(0, 3),
        "repetition_penalty": st.sampled_from([1.0, 1.0, 0.5, 1.3, 20.0, 100.0]),
        "forced_end": st.booleans(),
        "most_copies": st.integers(0, 3),
    }
)
DECODINGS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "greedy": ({}, {}),
    "lookup": ({"block_size": 4}, {"block_size": 4}),
    "input-guided": ({"top_beta": 3, "tolerance": 1.5}, {"top_beta": 3, "tolerance": 1.5}),
    "specdec": ({"block_size": 3}, {"block_size": 3}),
    "specdec++": ({"block_size": 5, "top_beta": 40, "tolerance": 1e9}, {"block_size": 5, "top_beta": 40, "tolerance": 1e9}),
    "beam": ({"beam_size": 4, "n_best": 4}, {"beam_size": 4, "n_best": 4}),
}
"""Options of each decoding for the reference engine and for the library."""


@pytest.fixture(scope="module", autouse=True)
def forms() -> Iterator[None]:
    """Replace `Tokenizer.forms`: many target tokens have a letter, some the same form, but few source tokens have a letter.

    If more source tokens had one, most random sources would have repetitions, and `most_copies` would not apply to their outputs.
    """

    def of(tokenizer: Tokenizer) -> tuple[bytes, bytes]:
        ids = range(len(tokenizer.vocabulary()))
        sources = (number if number in (8, 9, 10) else -1 - number for number in ids)
        return array("i", map(form_of, ids)).tobytes(), array("i", sources).tobytes()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Tokenizer, "forms", of)
        yield


@pytest.fixture(scope="module")
def made(make_bundle: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory) -> tuple[Bundle, Path]:
    """A bundle in int8 whose outputs repeat themselves and are of many lengths, and the folder of its weights."""
    import torch

    bundle = copy.deepcopy(make_bundle(output_bias=True, embedding_scale=False, positions="learned"))
    redraw(bundle.verifier, 8)
    with torch.no_grad():
        for name, parameter in bundle.verifier.named_parameters():
            if name.endswith("cross_attention.output.weight"):
                parameter.mul_(3.0)
        bundle.verifier.output.bias[list(FREQUENT)] += 4.0
        bundle.verifier.output.bias[EOS] += 4.2
    bundle.drafter = tiny_drafter(bundle.verifier, chain=16)
    redraw(bundle.drafter, 1)
    folder = tmp_path_factory.mktemp("native")
    save_bundle(bundle, folder)
    quantize(bundle.verifier, bundle.drafter)
    return bundle, folder


def sources_of(count: int, longest: int) -> list[list[int]]:
    generator = random.Random(count)
    return [[*generator.choices(FREQUENT, k=generator.randrange(longest)), EOS] for _ in range(count)]


def open_native(bundle: Bundle, folder: Path) -> NativeModel:
    described = describe_bundle(folder)
    weights = (folder / part / "model.safetensors" for part in ("verifier", "drafter"))
    return NativeModel(bundle.verifier.config, next(weights), described.drafter_config, next(weights))  # type: ignore[arg-type]


def request_of(bundle: Bundle, decoding: str, rules: dict[str, Any]) -> Request:
    word_starts = bytes(bundle.tokenizer.word_starts()) if decoding == "input-guided" else b""
    common = Request(
        decoding.removesuffix("++"), max_length=LONGEST, with_scores=decoding != "beam", word_starts=word_starts, **DECODINGS[decoding][1]
    )
    return replace(common, forms=bundle.tokenizer.forms(), **rules)


def constrained(bundle: Bundle, sources: list[list[int]], decoding: str, rules: dict[str, Any]) -> list[Hypothesis]:
    asked = DecodingOptions(
        decoding=decoding, max_length=LONGEST, with_scores=decoding != "beam", always_draft=True, **DECODINGS[decoding][0]
    )
    return reference(replace(bundle, info=replace(bundle.info, **rules)), sources, asked)


@pytest.mark.parametrize("decoding", DECODINGS)
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_constrained_outputs_are_those_of_the_reference(
    made: tuple[Bundle, Path], name: str, decoding: str, expected: Expectations
) -> None:
    bundle, rules = made[0], CONSTRAINTS[name]
    sources, model = sources_of(12, 14), open_native(*made)
    outputs = expected(constrained, bundle, sources, decoding, rules)
    if decoding != "specdec++":  # which takes most tokens from drafts, and these are not constrained
        assert outputs != expected(constrained, bundle, sources, decoding, {}), "the constraint changes too little to test it"
    for batch, threads in ((1, 1), (1, 3), (3, 2)):
        assert native(model, sources, replace(request_of(bundle, decoding, rules), batch=batch, threads=threads)) == outputs


@settings(max_examples=40 if THOROUGH else 10)
@given(rules=RULES, decoding=st.sampled_from(list(DECODINGS)), seed=st.integers(2, 9), limit=st.integers(1, LONGEST))
def test_any_constraints_give_the_outputs_of_the_reference(
    made: tuple[Bundle, Path], rules: dict[str, Any], decoding: str, seed: int, limit: int
) -> None:
    bundle = made[0]
    sources = sources_of(seed, 12)
    asked = DecodingOptions(
        decoding=decoding, max_length=limit, with_scores=decoding != "beam", always_draft=True, **DECODINGS[decoding][0]
    )
    expected = by_number(reference(replace(bundle, info=replace(bundle.info, **rules)), sources, asked))
    request = replace(request_of(bundle, decoding, rules), max_length=limit)
    assert native(open_native(*made), sources, request) == expected


@pytest.mark.parametrize("stop", ["heuristic", "first", "never", "fairseq"])
def test_beam_search_with_a_forced_token_and_constraints(made: tuple[Bundle, Path], stop: Any, expected: Expectations) -> None:
    from specdec_cli.decoding.beam import beam_search
    from specdec_cli.decoding.options import Constraints
    from specdec_cli.decoding.verifier import Verifier

    bundle, sources = made[0], sources_of(5, 12)
    rules = CONSTRAINTS["all"]
    options = Decoding(search=BeamSearch(beam_size=5, length_penalty=1.0, n_best=5, stop=stop), max_length=LONGEST)
    verifier = Verifier(bundle.verifier, 17, Constraints(**rules, forms=bundle.tokenizer.forms()))
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    outputs = expected(lambda: [each for one in sentences for each in beam_search([verifier], [one], options)])
    request = Request("beam", beam_size=5, n_best=5, max_length=LONGEST, stop=stop, forced=17, forms=bundle.tokenizer.forms(), **rules)
    assert native(open_native(*made), sources, request) == outputs
    assert all(each.ids[0] == 17 for each in outputs.values())


def test_the_engine_takes_the_constraints_of_its_bundle(made: tuple[Bundle, Path], tmp_path: Path) -> None:
    bundle, _ = made
    info = replace(bundle.info, **CONSTRAINTS["all"])
    save_bundle(replace(_unquantized(made), info=info), tmp_path)
    described, constrained = describe_bundle(tmp_path), replace(bundle, info=info)
    sentences = [Sentence(number, source) for number, source in enumerate(sources_of(6, 12))]
    asked = DecodingOptions(decoding="specdec", batch_size=4)
    engines = Engine(constrained, resolve(asked, constrained)), NativeEngine(described, resolve(asked, described), 2)
    reference, ours = ({each.number: each.ids for each in engine.decode(sentences)} for engine in engines)
    assert ours == reference


def _unquantized(made: tuple[Bundle, Path]) -> Bundle:
    from specdec_cli.model.bundle import load_bundle

    return load_bundle(made[1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_length": -1},
        {"no_repeat_ngram_size": -1},
        {"source_ngram_size": -2},
        {"most_copies": -1},
        {"most_copies": 257},
        *({"repetition_penalty": value} for value in (0.0, -1.0, float("nan"), float("inf"))),
    ],
)
def test_constraints_out_of_range_are_refused(made: tuple[Bundle, Path], wrong: dict[str, Any]) -> None:
    with pytest.raises(NativeError, match=f"option {next(iter(wrong))}: out of its range"):
        list(decode(open_native(*made), [[8, 3]], replace(Request(), forms=made[0].tokenizer.forms(), **wrong)))
    assert not BundleInfo().min_length and asdict(Request()).keys() >= wrong.keys()
