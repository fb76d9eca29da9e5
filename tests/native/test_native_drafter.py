"""Drafts of a network in the native engine against the reference: ids, rounds and log probabilities are the same, to the bit."""

import copy
import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.decoding.costs import Costs
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.engines.native_costs import NativeBlockSize
from specdec_cli.engines.reference import Engine
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.int8 import quantize
from specdec_cli.native.library import NativeError, load_library
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.machine import Machine
from specdec_cli.opening.models import SHIPPED, open_bundle
from tests.fakes import RELATIVE, RELATIVE_SHAPE, redraw, tiny_drafter
from tests.native.comparison import by_number, native, reference, shipped_sources, sources_of
from tests.native.decoding_requests import Request, decode
from tests.native.expected import Expectations

EVERYTHING = 1e9
"""A tolerance in nats that accepts every token, so that the output shows every drafted token."""
ALIVE: dict[str, Any] = {"positions": "learned", "output_bias": True, "embedding_scale": False}
POST: dict[str, Any] = {"norm": "post", "activation": "gelu", "position_offset": 2, "embedding_norm": True}
ODD: dict[str, Any] = {"width": 48, "heads": 6, "feed_forward": 80, "activation": "silu", "embedding_scale": True, "tied_output": False}
APART: dict[str, Any] = {"shared_embeddings": False, "tied_output": False, "output_bias": False, "decoder_layers": 1}
VARIANTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "plain": (ALIVE, {"chain": 16, "candidates": 4}),
    "recurrent": (ALIVE, {"chain": 48, "candidates": 8, "recurrent": True, "max_block": 9}),
    "post-norm, three layers": (ALIVE | POST, {"layers": 3, "chain": 48, "candidates": 32, "feed_forward": 96, "shortlist": 150}),
    "odd sizes, no link": (ALIVE | ODD, {"chain": 0, "layers": 2, "shortlist": 64}),
    "apart, one candidate": (ALIVE | APART, {"chain": 32, "candidates": 1, "mask": 7, "max_block": 11}),
    "a wide link": (ALIVE, {"chain": 4096, "candidates": 4}),
    "own prefix": (ALIVE, {"prefix": "own", "layers": 2, "chain": 16, "candidates": 4}),
    "own prefix, recurrent": (ALIVE, {"prefix": "own", "chain": 16, "candidates": 4, "recurrent": True}),
    "own prefix, post-norm, no link": (ALIVE | POST, {"prefix": "own", "chain": 0, "shortlist": 150, "max_block": 9}),
    **{
        f"over relative positions of {form}": (RELATIVE_SHAPE | RELATIVE[form], {"chain": 16, "candidates": 4, "max_block": 6})
        for form in RELATIVE
    },
    "sinusoids": ({"output_bias": True}, {"chain": 64, "candidates": 3, "feed_forward": 16, "max_block": 9}),
}


def file_of(folder: Path, part: str) -> Path:
    return folder / part / "model.safetensors"


def open_native(bundle: Bundle, folder: Path) -> NativeModel:
    assert isinstance(bundle.drafter, BlockDrafter)
    return NativeModel(bundle.verifier.config, file_of(folder, "verifier"), bundle.drafter.config, file_of(folder, "drafter"))


@pytest.fixture(scope="module", params=VARIANTS)
def pair(
    request: pytest.FixtureRequest, make_bundle: Callable[..., Bundle], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Bundle, Path]:
    """A bundle in int8 with a drafter, and the folder of its weights."""
    import torch

    changes, own = VARIANTS[request.param]
    made = copy.deepcopy(make_bundle(**changes))
    redraw(made.verifier, spread=2.0)  # positions that differ much
    with torch.no_grad():
        for name, parameter in made.verifier.named_parameters():
            if name.endswith(("cross_attention.output.weight", "outer.weight")):
                parameter.mul_(3.0)
        made.drafter = tiny_drafter(made.verifier, **own)
        redraw(made.drafter, 1)
        for parameter in () if made.drafter.chain is None else made.drafter.chain.parameters():
            parameter.mul_(3.0)
    folder = tmp_path_factory.mktemp("native")
    half = "odd" in request.param
    save_bundle(made, folder, storage="float16" if half else "float32")
    for module in (made.verifier, made.drafter):
        for parameter in module.parameters():
            parameter.data = parameter.data.half().float() if half else parameter.data
    quantize(made.verifier, made.drafter)
    return made, folder


@pytest.mark.parametrize(("block_size", "top_beta"), [(1, 320), (2, 0), (3, 3), (5, 320), (4, 2)])
def test_random_drafters_draft_the_same(
    pair: tuple[Bundle, Path], block_size: int, top_beta: int, expected: Expectations, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle, folder = pair
    tolerance = {0: 0.0, 3: 1.5}.get(top_beta, EVERYTHING)
    sources = sources_of(len(bundle.tokenizer), 5, 20)
    longest = None if block_size == 5 else 12  # without a limit drafts reach beyond the model's positions
    rule: dict[str, Any] = {"top_beta": top_beta, "tolerance": tolerance} if top_beta else {}
    asked = DecodingOptions(
        decoding="specdec++" if top_beta else "specdec", block_size=block_size, max_length=longest, with_scores=True, **rule
    )
    outputs = expected(reference, bundle, sources, asked)
    common = Request("specdec", block_size=block_size, max_length=longest or 0, with_scores=True, **rule)
    for isa in load_library().specdec_instruction_sets().decode().split(","):
        monkeypatch.setenv("SPECDEC_ISA", isa)
        assert native(open_native(bundle, folder), sources, common) == outputs
    if top_beta == 320:
        assert sum(len(each.ids) for each in outputs.values()) > sum(each.rounds for each in outputs.values())


@pytest.mark.parametrize("block_size", [3, 6])
def test_neither_the_batch_nor_threads_nor_the_order_change_drafts(pair: tuple[Bundle, Path], block_size: int) -> None:
    bundle, folder = pair
    sources = sources_of(len(bundle.tokenizer), 40, 24)
    model = open_native(bundle, folder)
    rule: dict[str, Any] = {"top_beta": 320, "tolerance": EVERYTHING}
    expected = native(model, sources, Request("specdec", block_size=block_size, with_scores=True, **rule))
    order = random.Random(1).sample(range(len(sources)), len(sources))
    for batch, threads in ((1, 2), (1, 3), (4, 1), (3, 2), (40, 3)):
        request = Request("specdec", block_size=block_size, batch=batch, threads=threads, with_scores=True, **rule)
        found = native(model, [sources[number] for number in order], request)
        for place, number in enumerate(order):
            assert found[place] == expected[number]


def test_a_pass_of_many_positions_drafts_the_same(pair: tuple[Bundle, Path]) -> None:
    bundle, folder = pair
    sources = sources_of(len(bundle.tokenizer), 90, 9)
    model = open_native(bundle, folder)
    alone, together = (
        native(model, sources, Request("specdec", block_size=6, batch=batch, top_beta=320, tolerance=EVERYTHING, max_length=9))
        for batch in (1, 90)
    )
    assert together == alone


def test_options_that_do_not_fit_are_refused(pair: tuple[Bundle, Path]) -> None:
    bundle, folder = pair
    model, alone = open_native(bundle, folder), NativeModel(bundle.verifier.config, file_of(folder, "verifier"))
    assert bundle.drafter is not None
    largest = bundle.drafter.config.max_block
    for own, request in (
        (model, Request("specdec")),
        (model, Request("specdec", block_size=largest + 1)),
        (alone, Request("specdec", block_size=1)),
        (model, Request("specdec", block_size=1, top_beta=-1)),
        (model, Request("specdec", block_size=1, top_beta=2, tolerance=float("nan"))),
    ):
        with pytest.raises(NativeError, match="option"):
            list(decode(own, [[8, 3]], request))


CHEAP = Costs((3, 10), (1.0, 5.0), ((1.1, 1.5), (6.0, 9.0)), ((0.3, 0.5), (1.0, 2.0)))
DEAR = Costs((3, 10), (1.0, 5.0), ((1.5, 3.5), (9.0, 20.0)), ((1.2, 3.0), (3.0, 9.0)))


@pytest.mark.sampled(4)
@pytest.mark.parametrize("costs", [CHEAP, DEAR], ids=["cheap", "dear"])
@pytest.mark.parametrize("may_skip", [False, True], ids=["always", "auto"])
def test_adaptive_sizes_are_the_same_with_the_same_costs(costs: Costs, may_skip: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = open_bundle("en-de", Machine("cpu", "int8", 1))
    bundle = replace(shipped, info=replace(shipped.info, block_size=10))
    words = [("Tom", "Mary", "The dog", "My brother"), ("is", "was"), ("at home", "in the garden", "very tired"), (".", " today.", "?")]
    lines = [f"{who} {verb} {where}{end}" for who, verb, where, end in itertools.product(*words)]
    sources = [bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(line)) for line in lines]
    monkeypatch.setattr("specdec_cli.engines.reference.round_costs", lambda *_, **__: costs)
    engine = Engine(bundle, resolve(DecodingOptions(decoding="auto" if may_skip else "specdec"), bundle))
    expected = [hypothesis for source in sources for hypothesis in engine.decode([Sentence(0, source)])]
    sizes = NativeBlockSize(costs, 10, 1, 1, may_skip=may_skip)
    request = Request("specdec", block_size=10, adaptive=sizes.address)
    found = list(decode(open_native(bundle, SHIPPED / "en-de"), sources, request))
    assert [(each.ids, each.rounds) for each in found] == [(each.ids, each.rounds) for each in expected]
    assert [each.decoding for each in found] == [each.decoding for each in expected]
    rounds, tokens = sizes.drafts
    assert (rounds, tokens / rounds) == engine.drafted
    if may_skip:
        assert 0 < sum(each.decoding == "specdec" for each in found) <= len(found) * (1.0 if costs == CHEAP else 0.1)


@pytest.mark.parametrize("top_beta", [0, 3])
def test_the_shipped_drafter_drafts_the_same(top_beta: int, data: Path) -> None:
    bundle = open_bundle("en-de", Machine("cpu", "int8", 1))
    sources = shipped_sources(bundle, "en-de", data)
    model = open_native(bundle, SHIPPED / "en-de")
    rule: dict[str, Any] = {"top_beta": top_beta, "tolerance": 1.0} if top_beta else {}
    for size in (2, 3, 5, 10):
        asked = DecodingOptions(decoding="specdec++" if top_beta else "specdec", block_size=size, with_scores=True, **rule)
        expected = by_number(reference(bundle, sources, asked))
        for batch, threads in ((1, 1), (1, 2), (8, 3)):
            request = Request("specdec", block_size=size, batch=batch, threads=threads, with_scores=True, **rule)
            assert native(model, sources, request) == expected
