"""Positions are judged alike by sessions, passes and PyTorch: a prefix, then a forced token, then the rule under the constraints."""

import math
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.decoding.drafters.copying import GivenDrafts, SourceCopy
from specdec_cli.decoding.loop import decode_with
from specdec_cli.decoding.methods import GIVEN
from specdec_cli.decoding.options import Decoding, DecodingOptions, resolve
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.engines.reference import Engine
from specdec_cli.errors import NotFiniteError
from specdec_cli.model.bundle import Bundle
from specdec_cli.native.model import NativeModel
from specdec_cli.native.network import NativeNetwork
from tests.native.comparison import changed, sources_of
from tests.native.decoding_requests import Request, decode

Outcome = tuple[list[int], tuple[float, ...], int]


def outcomes(found: Sequence[Hypothesis]) -> dict[int, Outcome]:
    return {each.number: (each.ids, each.log_probabilities, each.rounds) for each in found}


def by_pytorch(bundle: Bundle, sentences: list[Sentence], request: Request, network: NativeNetwork | None) -> dict[int, Outcome]:
    """The outputs of PyTorch's rounds over the int8 reference, or over passes of the native engine."""
    verifier = Verifier(network or bundle.verifier, request.forced, request.resolved().constraints)
    drafter = GivenDrafts(SourceCopy(request.match, bundle.shape.eos, torch.tensor(bundle.tokenizer.word_starts())))
    decoding = Decoding(max_length=request.max_length, batch_size=request.batch, with_scores=True)
    return outcomes(list(decode_with(verifier, drafter, sentences, decoding)))


def by_all(pair: tuple[Bundle, NativeModel], sources: list[list[int]], request: Request) -> dict[int, Outcome]:
    """The outputs of a session, which those of passes and of PyTorch must equal."""
    bundle, model = pair
    expected = outcomes(list(decode(model, sources, request)))
    for network in (None, NativeNetwork(model, 2)):
        assert by_pytorch(bundle, request.sentences(sources), request, network) == expected
    return expected


@pytest.fixture(scope="module")
def opened(pair: tuple[Bundle, Path]) -> tuple[Bundle, NativeModel]:
    """A bundle in int8, and its native model."""
    return pair[0], NativeModel(pair[0].shape, pair[1])


def given_request(bundle: Bundle, drafts: list[list[int]], prefixes: list[int], **options: Any) -> Request:
    starts = bytes(bundle.tokenizer.word_starts())
    return Request(GIVEN, drafts=drafts, prefix_lengths=prefixes, word_starts=starts, with_scores=True, **options)


@pytest.mark.parametrize(("forced", "score"), [(None, 0.0), (44, 0.0), (9, -math.inf)])
def test_a_prefix_comes_before_a_forced_token(opened: tuple[Bundle, NativeModel], forced: int | None, score: float) -> None:
    found = by_all(opened, [[8, 9, 10, 3]], given_request(opened[0], [[44, 20, 3]], [1], forced=forced, max_length=6))
    ids, scores, _ = found[0]
    assert ids[0] == 44
    assert scores[0] == score if forced is not None else -math.inf < scores[0] < 0


def test_a_token_of_a_prefix_that_a_rule_excludes_has_the_score_minus_infinity(opened: tuple[Bundle, NativeModel]) -> None:
    request = given_request(opened[0], [[44, 20, 44, 20, 3]], [4], no_repeat_ngram_size=2, max_length=8)
    ids, scores, _ = by_all(opened, [[8, 9, 10, 3]], request)[0]
    assert ids[:4] == [44, 20, 44, 20]
    assert [score == -math.inf for score in scores[:4]] == [False, False, False, True]


@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_drawn_prefixes_and_constraints_have_one_answer(opened: tuple[Bundle, NativeModel], data: st.DataObject) -> None:
    bundle, model = opened
    size, eos = len(bundle.tokenizer), bundle.shape.eos
    generator = random.Random(data.draw(st.integers(0, 999)))
    sources = sources_of(size, data.draw(st.integers(1, 5)), 16)
    rules: dict[str, Any] = {
        "forced": data.draw(st.sampled_from((None, 9))),
        "forced_end": data.draw(st.booleans()),
        "no_repeat_ngram_size": data.draw(st.sampled_from((0, 2))),
        "min_length": data.draw(st.sampled_from((0, 6))),
        "max_length": data.draw(st.integers(1, 16)),
        "batch": data.draw(st.integers(1, 3)),
    }
    greedy = {each.number: each.ids for each in decode(model, sources, Request(**rules))}
    drafts = [changed(greedy[number], size, eos, generator) for number in range(len(sources))]
    prefixes = [generator.randrange(len(draft)) for draft in drafts]
    found = by_all(opened, sources, given_request(bundle, drafts, prefixes, **rules))
    for number, (ids, scores, _) in found.items():
        kept = min(prefixes[number], len(ids) - 1)
        assert ids[:kept] == drafts[number][:kept]
        if rules["forced"] is not None and prefixes[number] == 0 and rules["max_length"] > 1:
            assert (ids[0], scores[0]) == (9, 0.0)


@pytest.mark.filterwarnings("ignore:overflow", "ignore:invalid value")
@torch.inference_mode()
def test_logits_that_are_not_finite_are_an_error(make_bundle: Any, tmp_path: Path) -> None:
    from specdec_cli.model.bundle import save_bundle
    from specdec_cli.model.int8 import quantize

    bundle = make_bundle()
    for parameter in bundle.verifier.parameters():
        parameter.mul_(1e30)
    save_bundle(bundle, tmp_path)
    quantize(bundle.verifier)
    model, sources = NativeModel(bundle.shape, tmp_path / "verifier" / "model.safetensors"), [[8, 9, 3], [8, 3]]
    for request in (Request(), Request("lookup", batch=2), Request("beam", beam_size=3), Request(threads=2), Request(forced=9)):
        with pytest.raises(NotFiniteError, match="not finite"):
            list(decode(model, sources, request))
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    decoding = resolve(DecodingOptions(decoding="greedy"), bundle)
    for network in (None, NativeNetwork(model)):
        with pytest.raises(NotFiniteError, match="not finite"):
            list(Engine(replace(bundle, network=network), decoding).decode(sentences))
