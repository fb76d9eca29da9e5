"""Engines for several decodings of one model: those of the native engine share its weights."""

from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.decoding.options import DecodingOptions
from specdec_cli.native.model import NativeModel
from specdec_cli.opening.engines import open_beside, open_engine
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from specdec_cli.pipeline.translator import LineTranslator

LINES = ["My friend lives next to the old church.", "It is late. We are going home now.", "I like tea."]
MODEL = ModelChoice("en-de")
ASKED = [
    DecodingOptions(decoding="greedy", with_scores=True),
    DecodingOptions(decoding="beam", beam_size=4, n_best=4),
    DecodingOptions(decoding="lookup", batch_size=8),
    DecodingOptions(decoding="jacobi"),
]


@pytest.mark.parametrize(("first", "loads"), [("specdec", 1), ("greedy", 2)])
def test_native_engines_beside_each_other_load_the_weights_once(first: str, loads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[Any] = []

    class Counted(NativeModel):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            loaded.append(self)

    machine = MachineOptions(threads=1)
    alone = [open_engine(MODEL, machine, each) for each in ASKED]
    expected = [list(LineTranslator.of_bundle(each.engine, each.bundle).translate(LINES)) for each in alone]
    monkeypatch.setattr("specdec_cli.engines.native.NativeModel", Counted)
    opened = open_engine(MODEL, machine, DecodingOptions(decoding=first))
    beside = [open_beside(opened, MODEL, replace(machine, threads=2), each) for each in (*ASKED, DecodingOptions(decoding="specdec"))]
    assert len(loaded) == loads  # again where the drafter is needed first
    found = [list(LineTranslator.of_bundle(each, opened.bundle).translate(LINES)) for each in beside]
    assert found[:-1] == expected
    assert [each.text for each in found[-1]] == [each.text for each in expected[0]]
