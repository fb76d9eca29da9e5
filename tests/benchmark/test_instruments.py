"""Reference engines that measure: the time of each part, the operations, and the lengths of outputs."""

from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path
from time import perf_counter
from typing import Any

import pytest
import torch

from specdec_cli.benchmark.instruments import PARTS, Meter
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import BundleRunner, Conditions
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.drafters.jacobi import Jacobi
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State
from specdec_cli.engines.reference import Drafting, Engine
from specdec_cli.model.bundle import Bundle, save_bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig
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
    meter = Meter(engine, perf_counter)
    (hypothesis,) = engine.decode([Sentence(0, [7, 9, 3])])
    assert hypothesis.rounds == len(hypothesis.ids)
    assert hypothesis.decoding == "greedy"
    assert meter.used["verifier"] > 0


@pytest.mark.parametrize("order", ["left-to-right", "bidirectional"])
def test_a_profile_counts_the_steps_of_a_search_as_the_verifiers(order: str, make_bundle: Callable[..., Bundle]) -> None:
    bundle = make_bundle(order=order, positions="learned")
    decoding = "bidirectional" if order == "bidirectional" else "beam"
    engine = Engine(bundle, resolve(DecodingOptions(decoding=decoding, beam_size=2, max_length=6), bundle))
    meter = Meter(engine, perf_counter)
    (hypothesis,) = engine.decode([Sentence(0, [7, 9, 3])])
    assert hypothesis.decoding == decoding
    assert meter.used["encoder"] > 0 and meter.used["verifier"] > 0
    assert meter.used["drafter"] == meter.used["drafter's encoder"] == 0


def test_a_verification_is_counted_once(bundle: Bundle) -> None:
    clock = count()
    drafting = replace(bundle, drafter=BlockDrafter(DrafterConfig(feed_forward=64, max_block=3), bundle.verifier))
    engine = Engine(drafting, resolve(DecodingOptions(decoding="specdec", block_size=3, max_length=6), drafting))
    meter = Meter(engine, lambda: next(clock))
    (hypothesis,) = engine.decode([Sentence(0, [7, 9, 3])])
    # The clock ticks when it is read: a method that another timed method calls reads no clock.
    assert (meter.used["encoder"], meter.used["verifier"]) == (1, hypothesis.rounds)


def test_the_drafters_encoder_is_timed_apart(bundle: Bundle) -> None:
    drafter = BlockDrafter(DrafterConfig(prefix="own", encoder="own", feed_forward=64, max_block=3), bundle.verifier)
    drafting = replace(bundle, drafter=drafter)
    engine = Engine(drafting, resolve(DecodingOptions(decoding="specdec", block_size=3, max_length=6), drafting))
    meter = Meter(engine, perf_counter)
    list(engine.decode([Sentence(0, [7, 9, 3])]))
    assert all(meter.used[part] > 0 for part in PARTS)


@pytest.mark.parametrize(
    ("decoding", "with_drafter"),
    [("greedy", False), ("beam", False), ("input-guided", False), ("specdec", True), ("drafter", True), ("lookup,specdec", True)],
)
def test_operations_are_counted_by_part(decoding: str, with_drafter: bool, make_bundle: Callable[..., Bundle], tmp_path: Path) -> None:
    bundle = make_bundle()
    save_bundle(replace(bundle, drafter=BlockDrafter(DrafterConfig(feed_forward=64, max_block=3), bundle.verifier)), tmp_path)
    row = Row(decoding).changed(max_length=9, block_size=3)
    counted = BundleRunner(Conditions(ModelChoice(str(tmp_path)), MachineOptions(device="cpu")), row).count(LINES)
    assert counted["encoder"] > 0
    assert (counted["drafter"] > 0) == with_drafter
    assert counted["verifier"] > 0


LINES = ("ka lo mi. No pe di.", "", "fo su")


def test_known_lengths_are_those_of_greedy_output(bundle: Bundle, bundle_folder: Path) -> None:
    conditions = Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", engine="reference"))
    outputs = BundleRunner(conditions, Row("greedy").changed(max_length=12)).run(LINES).outputs
    lengths = [len(ids) for output in outputs for ids in output.sentences]
    assert len(lengths) == 3
    engine = BundleRunner(conditions, Row("jacobi", "fixed-point", oracle_length=True).changed(max_length=12)).reference(LINES)
    assert isinstance(engine.drafter, Jacobi)
    texts = ("ka lo mi.", "No pe di.", "fo su")
    sentences = [Sentence(number, bundle.tokenizer.add_special_tokens(bundle.tokenizer.encode(text))) for number, text in enumerate(texts)]
    with torch.inference_mode():
        state = engine.verifier.begin([s.number for s in sentences], [s.source for s in sentences], 12)
        assert engine.drafter.begin(state, sentences).ends.tolist() == [1 + length for length in lengths]


def test_a_known_length_saves_passes(bundle_folder: Path) -> None:
    conditions = Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", engine="reference"))
    runners = [BundleRunner(conditions, Row("jacobi", "fixed-point", oracle_length=known)) for known in (True, False)]
    rounds = [sum(output.rounds or 0 for output in runner.run(LINES).outputs) for runner in runners]
    assert rounds[0] <= rounds[1]
