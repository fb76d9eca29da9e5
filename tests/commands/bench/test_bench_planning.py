"""Rows that a bundle supports, and rows that are refused or left out."""

from dataclasses import replace
from typing import Any

import pytest

from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.measure import FORMATS, Plan, possible_rows
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Conditions
from specdec_cli.decoding.methods import DrafterKind
from specdec_cli.errors import UsageError
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice

FOUND = Conditions(ModelChoice("m"), MachineOptions(threads=2), refused={"int8": "no int8"})


def make_plan(*names: str, **changes: Any) -> Plan:
    parts = (name.partition(":") for name in names)
    rows = tuple(Row(decoding, variant or None) for decoding, _, variant in parts)
    machine = MachineOptions(device="cpu", batch_size=changes.pop("batch_size", 64))
    plan = Plan({"": ModelChoice("m")}, Examples("a", ("ka",), None), rows, machine, asked=False)
    return replace(plan, **changes)


def test_default_rows_that_cannot_run_are_left_out() -> None:
    rows, left_out = possible_rows(make_plan("greedy", "specdec", "ctranslate2-beam", "ctranslate2-beam:int8"), "", FOUND)
    assert [row.name for row in rows] == ["greedy", "ctranslate2-beam"]
    assert {(row.threads, row.options.batch_size) for row in rows} == {(2, 64)}
    assert left_out == {"specdec": "the bundle has no drafter", "ctranslate2-beam:int8": "no int8"}


def test_the_fastest_settings_need_a_number_format() -> None:
    plan = make_plan("greedy", "ctranslate2-greedy:best", asked=True)
    assert len(possible_rows(plan, "", FOUND)[0]) == 2
    with pytest.raises(UsageError, match="--row ctranslate2-greedy:best: no CUDA"):
        possible_rows(plan, "", replace(FOUND, refused=dict.fromkeys(FORMATS, "no CUDA")))


def test_a_row_needs_its_kind_of_drafter() -> None:
    cases: tuple[tuple[DrafterKind, str, str], ...] = (("block", "specdec", "blockwise"), ("heads", "blockwise", "lookup,specdec"))
    for kind, there, missing in cases:
        rows, left_out = possible_rows(make_plan("specdec", "blockwise", missing), "", replace(FOUND, drafter=kind))
        assert there in [row.name for row in rows]
        assert left_out[missing] == {"block": "the bundle has no heads", "heads": "the bundle has no block drafter"}[kind]


@pytest.mark.parametrize(
    ("names", "changes", "words"),
    [
        (["specdec"], {"asked": True}, "--row specdec: the bundle has no drafter"),
        (["ctranslate2-beam:int8"], {"asked": True}, "--row ctranslate2-beam:int8: no int8"),
        (["greedy"], {"profile": True}, "--profile needs"),
        (["greedy"], {"histogram": True, "batch_size": 1}, "--histogram needs"),
        (["specdec"], {"plot": "edits", "batch_size": 1}, "--row specdec|--plot needs"),
        (["greedy", "input-guided"], {"plot": "edits", "batch_size": 2}, "--plot needs"),
        (["input-guided"], {"plot": "quality"}, "--plot needs greedy or beam"),
    ],
)
def test_requested_rows_that_cannot_run_are_refused(names: list[str], changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        possible_rows(make_plan(*names, **changes), "", FOUND)
