"""Beam search by the native engine against the reference: hypotheses, log probabilities, scores and rounds are the same, to the bit."""

import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.decoding.beam import beam_search
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.verifier import Verifier
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.choices import SUPPRESSED
from specdec_cli.model.int8 import quantize
from specdec_cli.native.library import NativeError, load_library
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.native.comparison import by_number, native, shipped_sources, sources_of
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Expectations

pytestmark = pytest.mark.usefixtures("sharing")
REQUESTS = {
    "one": Request("beam", beam_size=1, max_length=12),
    "all of five": Request("beam", beam_size=5, n_best=5, max_length=14),
    "without a limit": Request("beam", beam_size=3, n_best=2, length_penalty=0.6),
    "first": Request("beam", beam_size=4, n_best=4, stop="first", length_penalty=0.0),
    "never": Request("beam", beam_size=4, n_best=3, stop="never", length_penalty=1.5, max_length=20),
    "never, without a limit": Request("beam", beam_size=2, n_best=2, stop="never"),
    "fairseq": Request("beam", beam_size=6, n_best=6, stop="fairseq", forced=17, max_length=10),
    "forced": Request("beam", beam_size=3, n_best=3, forced=17, max_length=9, length_penalty=-1.0),
    "a single token": Request("beam", beam_size=3, n_best=3, max_length=1),
    "large": Request("beam", beam_size=32, n_best=32, max_length=8),
}


def searched(bundle: Bundle, sources: list[list[int]], request: Request) -> list[Hypothesis]:
    """What the reference engine finds."""
    options = request.resolved()
    verifier = Verifier(bundle.verifier, request.forced)
    sentences = [Sentence(number, source) for number, source in enumerate(sources)]
    return [each for one in sentences for each in beam_search([verifier], [one], options)]


@pytest.mark.parametrize("request_", REQUESTS.values(), ids=REQUESTS)
def test_random_models_find_the_same(
    pair: tuple[Bundle, Path], request_: Request, expected: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, path = pair
    sources = sources_of(len(bundle.tokenizer), 6, 12)
    outputs = expected(searched, bundle, sources, request_)
    for isa in load_library().specdec_instruction_sets().decode().split(","):
        monkeypatch.setenv("SPECDEC_ISA", isa)
        assert native(NativeModel(bundle.verifier.config, path), sources, request_) == outputs
    monkeypatch.delenv("SPECDEC_ISA")
    model = NativeModel(bundle.verifier.config, path)
    for batch, threads in ((1, 2), (1, 3), (4, 1), (3, 2), (16, 3)):
        assert native(model, sources, replace(request_, batch=batch, threads=threads)) == outputs


def test_suppressed_tokens_keep_their_share_and_are_not_found(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    import torch

    bundle = make_bundle(output_bias=True, tied_output=False)
    suppressed = range(20, len(bundle.tokenizer), 3)
    with torch.no_grad():
        bundle.verifier.output.bias[suppressed] += SUPPRESSED
    save_bundle(bundle, tmp_path)
    quantize(bundle.verifier)
    sources, request = sources_of(len(bundle.tokenizer), 5, 9), Request("beam", beam_size=5, n_best=5, max_length=10)
    found = list(decode(NativeModel(bundle.verifier.config, tmp_path / "verifier" / "model.safetensors"), sources, request))
    assert by_number(found) == by_number(searched(bundle, sources, request))
    assert not {token for each in found for one in each.alternatives for token in one.ids} & set(suppressed)


def test_equal_scores_are_in_the_order_of_tokens(make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    import torch

    bundle = make_bundle(tied_output=False)
    with torch.no_grad():
        bundle.verifier.output.weight[30:90] = bundle.verifier.output.weight[30]
    save_bundle(bundle, tmp_path)
    quantize(bundle.verifier)
    sources, request = sources_of(len(bundle.tokenizer), 5, 9), Request("beam", beam_size=4, n_best=4, max_length=4)
    found = native(NativeModel(bundle.verifier.config, tmp_path / "verifier" / "model.safetensors"), sources, request)
    assert found == by_number(searched(bundle, sources, request))


@pytest.mark.parametrize("wrong", [{"beam_size": 0}, {"beam_size": 33}, {"n_best": 6}, {"n_best": 0}, {"length_penalty": float("nan")}])
def test_options_out_of_range_are_refused(pair: tuple[Bundle, Path], wrong: dict[str, Any]) -> None:
    bundle, path = pair
    with pytest.raises(NativeError, match=f"option {next(iter(wrong))}: out of its range"):
        list(decode(NativeModel(bundle.verifier.config, path), [[8, 3]], replace(Request("beam", beam_size=5), **wrong)))


@pytest.mark.parametrize("name", ["en-de", "en-gec"])
def test_shipped_bundles_find_the_same(name: str, data: Path) -> None:
    bundle = open_bundle(name, Machine("cpu", "int8", 1))
    sources = shipped_sources(bundle, name, data)
    model = NativeModel(bundle.verifier.config, SHIPPED / name / "verifier" / "model.safetensors")
    request = Request("beam", beam_size=5, n_best=5)
    expected = by_number(searched(bundle, sources, request))
    for batch, threads in ((1, 1), (1, 2), (8, 3)):
        assert native(model, sources, replace(request, batch=batch, threads=threads)) == expected
    order = random.Random(1).sample(range(len(sources)), len(sources))
    shuffled = native(model, [sources[place] for place in order], replace(request, batch=5, threads=2))
    assert {order[number]: each for number, each in shuffled.items()} == expected
