"""Profiles measure the configuration that bench times."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.benchmark.instruments import TIMED, Stopwatch
from specdec_cli.decoding.drafters import NoDrafter
from specdec_cli.decoding.options import DecodingOptions, resolve
from specdec_cli.decoding.pace import FixedPace
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Draft, State
from specdec_cli.engines.reference import Drafting, Engine
from specdec_cli.model.bundle import Bundle
from specdec_cli.model.drafter import BlockDrafter
from specdec_cli.model.drafter_config import DrafterConfig


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


def test_the_drafters_encoder_is_timed_apart(bundle: Bundle) -> None:
    drafter = BlockDrafter(DrafterConfig(prefix="own", encoder="own", feed_forward=64, max_block=3), bundle.verifier)
    drafting = replace(bundle, drafter=drafter)
    engine = Engine(drafting, resolve(DecodingOptions(decoding="specdec", block_size=3, max_length=6), drafting))
    (stopwatch := Stopwatch(on_gpu=False)).watch(engine)
    list(engine.decode([Sentence(0, [7, 9, 3])]))
    assert all(stopwatch.seconds[part] > 0 for part in TIMED)
