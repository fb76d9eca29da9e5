"""Reference engines that measure: the time of each part, the operations, and the lengths of outputs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from specdec_cli.benchmark.instruments import TIMED, CountingEngine, Stopwatch, countable
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import BundleRunner, Conditions
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State
from specdec_cli.engines.reference import Drafting, Engine
from specdec_cli.model import flops
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import BlockDrafter, Heads
from specdec_cli.model.drafter_config import DrafterConfig, HeadsConfig
from specdec_cli.model.transformer import Transformer
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice


class _NeverPays(FixedPace):
    """A pace that always skips the drafter."""

    def pays(self, rows: int) -> bool:  # noqa: ARG002
        return False


class _Never(NoDrafter):
    """A drafter that is always skipped."""

    def propose(self, state: State, memory: Any, size: int) -> Draft:  # noqa: ARG002
        raise AssertionError("this drafter was to be left out")


def test_a_profile_skips_a_drafter_that_does_not_pay(bundle: Bundle) -> None:
    engine = Engine(bundle, replace(resolve(DecodingOptions(decoding="greedy", max_length=6), bundle), may_skip=True))
    engine._drafting = Drafting(_Never(), _NeverPays())
    (stopwatch := Stopwatch(on_gpu=False)).watch(engine)
    (hypothesis,) = engine.decode([Sentence(0, [7, 9, 3])])
    assert hypothesis.rounds == len(hypothesis.ids)
    assert hypothesis.decoding == "greedy"
    assert stopwatch.seconds["verifier"] > 0


@pytest.mark.parametrize("order", ["left-to-right", "bidirectional"])
def test_a_profile_counts_the_steps_of_a_search_as_the_verifiers(order: str, make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order=order, positions="learned")
    decoding = "bidirectional" if order == "bidirectional" else "beam"
    engine = Engine(bundle, resolve(DecodingOptions(decoding=decoding, beam_size=2, max_length=6), bundle))
    (stopwatch := Stopwatch(on_gpu=False)).watch(engine)
    (hypothesis,) = engine.decode([Sentence(0, [7, 9, 3])])
    assert hypothesis.decoding == decoding
    assert stopwatch.seconds["encoder"] > 0 and stopwatch.seconds["verifier"] > 0
    assert stopwatch.seconds["drafter"] == stopwatch.seconds["drafter's encoder"] == 0


def test_a_verification_is_counted_once(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = count()
    monkeypatch.setattr("specdec_cli.benchmark.instruments.perf_counter", lambda: next(clock))
    drafting = replace(bundle, drafter=BlockDrafter(DrafterConfig(feed_forward=64, max_block=3), bundle.verifier))
    engine = Engine(drafting, resolve(DecodingOptions(decoding="specdec", block_size=3, max_length=6), drafting))
    (stopwatch := Stopwatch(on_gpu=False)).watch(engine)
    (hypothesis,) = engine.decode([Sentence(0, [7, 9, 3])])
    # The clock ticks when it is read: a method that another timed method calls reads no clock.
    assert (stopwatch.seconds["encoder"], stopwatch.seconds["verifier"]) == (1, hypothesis.rounds)


def test_the_drafters_encoder_is_timed_apart(bundle: Bundle) -> None:
    drafter = BlockDrafter(DrafterConfig(prefix="own", encoder="own", feed_forward=64, max_block=3), bundle.verifier)
    drafting = replace(bundle, drafter=drafter)
    engine = Engine(drafting, resolve(DecodingOptions(decoding="specdec", block_size=3, max_length=6), drafting))
    (stopwatch := Stopwatch(on_gpu=False)).watch(engine)
    list(engine.decode([Sentence(0, [7, 9, 3])]))
    assert all(stopwatch.seconds[part] > 0 for part in TIMED)


LINEAR = {torch.ops.aten.mm, torch.ops.aten.addmm}
SOURCES = [[*range(5, 20), 3], [*range(40, 70, 2), 3]]
OWN = {"prefix": "own", "encoder": "own", "embeddings": "own"}


def with_drafter(bundle: Bundle, decoding: str, changes: dict[str, Any]) -> Bundle:
    torch.manual_seed(1)
    if decoding == "blockwise":
        drafter: Any = Heads(HeadsConfig(max_block=3, feed_forward=64, start=bool(changes)), bundle.verifier)
    else:
        drafter = BlockDrafter(DrafterConfig(feed_forward=64, max_block=3, chain=0, **changes), bundle.verifier)
    return Bundle(bundle.info, bundle.tokenizer, bundle.verifier, drafter)


@pytest.mark.parametrize(
    ("decoding", "changes"),
    [
        ("greedy", {}),
        ("beam", {}),
        ("input-guided", {}),
        ("gs-jacobi", {}),
        ("blockwise", {"start": True}),
        ("specdec", {"layers": 2}),
        ("specdec", OWN),
        ("specdec", OWN | {"attention": "bidirectional"}),
        ("drafter", {}),
        ("drafter", OWN),
        ("drafter", {"prefix": "own"}),
    ],
)
def test_products_with_weights_are_counted(
    decoding: str, changes: dict[str, Any], make_bundle: Callable[..., Bundle], monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = with_drafter(make_bundle(), decoding, changes)
    monkeypatch.setattr(bundle.verifier, "row_multiple", 1)  # no positions of padding
    monkeypatch.setattr(Transformer, "batch_invariant", False)  # the cache of a model in floating point is initialised
    # Attention is over the capacity of the cache, which is not that of the algorithm: leave it out on both sides.
    decode, encode = flops.decode, flops.encode
    monkeypatch.setattr(flops, "decode", lambda config, source, positions, keys: decode(config, source, positions, -source + 0 * keys))
    monkeypatch.setattr(
        flops, "encode", lambda config, source: encode(config, source) - config.encoder_layers * 4 * source**2 * config.width
    )
    request = DecodingOptions(decoding=decoding, block_size=None if decoding in ("greedy", "beam") else 3, max_length=9)
    engine = CountingEngine(bundle, resolve(request, bundle))
    with torch.no_grad(), sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        found = list(engine.decode([Sentence(number, source) for number, source in enumerate(SOURCES)]))
    counted = counter.get_flop_counts()["Global"]
    drafts = 0 if decoding in ("greedy", "beam", "input-guided", "gs-jacobi") else 1
    assert (engine.operations["drafter"] > 0) == bool(drafts)
    assert sum(engine.operations.values()) == sum(number for kind, number in counted.items() if kind in LINEAR)
    assert len(found) == 2


def test_mask_predict_is_counted_for_the_length_of_its_output(make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order="masked")
    counts = {}
    for passes in (1, 4):
        request = DecodingOptions(decoding="mask-predict", iterations=passes, length_beam=2, max_length=6)
        engine = CountingEngine(bundle, resolve(request, bundle))
        (found,) = engine.decode([Sentence(0, SOURCES[0])])
        length, config = len(found.ids), bundle.verifier.config
        counts[passes] = engine.operations["verifier"] - flops.read_memory(config, 16) - 2 * 32 * 129
    first = flops.decode(config, 16, length, length) + flops.project(config, length - 1)
    assert counts[1] == 2 * first
    assert 4 * 2 * first > counts[4] > 2 * 2 * first


def test_chains_with_a_trained_drafter_cannot_be_counted() -> None:
    assert [countable(name) for name in ("specdec", "lookup,gs-jacobi", "lookup,specdec", "auto")] == [True, True, False, True]


LINES = ("ka lo mi. No pe di.", "", "fo su")


def test_known_lengths_are_those_of_greedy_output(bundle: Bundle, bundle_folder: Path) -> None:
    runner = BundleRunner(Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", engine="reference")))
    outputs = runner.run(Row("greedy").changed(max_length=12), LINES).outputs
    lengths = [len(ids) for output in outputs for ids in output.sentences]
    assert len(lengths) == 3
    engine = runner.reference(Row("jacobi", "fixed-point", oracle_length=True).changed(max_length=12), Engine, LINES)
    assert isinstance(engine.drafter, Jacobi)
    texts = ("ka lo mi.", "No pe di.", "fo su")
    sentences = [Sentence(number, bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(text))) for number, text in enumerate(texts)]
    with torch.inference_mode():
        state = engine.verifier.begin([s.number for s in sentences], [s.source for s in sentences], 12)
        assert engine.drafter.begin(state, sentences).ends.tolist() == [1 + length for length in lengths]


def test_a_known_length_saves_passes(bundle_folder: Path) -> None:
    runner = BundleRunner(Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", engine="reference")))
    rounds = [
        sum(output.rounds or 0 for output in runner.run(Row("jacobi", "fixed-point", oracle_length=known), LINES).outputs)
        for known in (True, False)
    ]
    assert rounds[0] <= rounds[1]
