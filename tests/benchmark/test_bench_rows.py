"""Rows of bench: their names, sweeps, and those that a bundle supports."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.benchmark.inputs import Examples
from specdec_cli.benchmark.measure import Plan, possible_rows
from specdec_cli.benchmark.options import BenchOptions
from specdec_cli.benchmark.rows import (
    DEFAULT_ROWS,
    FORMATS,
    REWRITING_ROWS,
    Row,
    check_sweep,
    parse_row,
    parse_sweep,
    sweep_defaults,
    sweep_rows,
    swept_label,
)
from specdec_cli.benchmark.runs import Conditions, options_of
from specdec_cli.decoding.methods import DrafterKind, having
from specdec_cli.decoding.options import check_options
from specdec_cli.errors import UsageError
from specdec_cli.model.bundle_info import BundleInfo, Task
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice
from tests.tables import tables

CASES = tables(__file__)


def parse(text: str) -> Row:
    return parse_row(text, Row("greedy").changed(beam_size=3))


@pytest.mark.parametrize("name", [*DEFAULT_ROWS, "lookup,specdec:exact", "ctranslate2-beam:bfloat16"])
def test_the_name_of_a_row_is_its_text_on_the_command_line(name: str) -> None:
    row = parse(name)
    assert row.name == name
    assert row.options.beam_size == 3


def test_only_jacobi_rows_keep_lengths() -> None:
    jacobi = having("stop")
    base = Row("greedy", oracle_length=True).changed(jacobi_length=9)
    rows = [parse_row(name, base) for name in ("greedy", *jacobi, "lookup,jacobi")]
    assert [row.options.jacobi_length for row in rows] == [None, 9, None, 9, None]
    assert [row.oracle_length for row in rows] == [False, True, True, False, False]


def test_a_row_has_the_requirements_of_its_decoding() -> None:
    assert [parse(name).drafts for name in ("greedy", "beam", "drafter", "lookup,specdec")] == [False, False, True, True]
    assert [parse(name).compute_type for name in ("greedy", "ctranslate2-greedy", "ctranslate2-beam:int8")] == [None, "auto", "int8"]


@pytest.mark.parametrize(("text", "words"), CASES.invalid_rows_are_refused)
def test_invalid_rows_are_refused(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"row .*{words}"):
        parse(text)


def test_rows_of_which_the_output_is_that_of_greedy_are_exact() -> None:
    exact = (
        "greedy",
        "specdec",
        "specdec:exact",
        "lookup:exact",
        "lookup,specdec:exact",
        "blockwise",
        "blockwise:exact",
        "input-guided:unique",
    )
    other = ("blockwise:high-quality", "specdec++", "specdec++:high-quality", "drafter", "beam", "auto", "ctranslate2-greedy")
    assert {name: parse(name).exact for name in (*exact, *other)} == dict.fromkeys(exact, True) | dict.fromkeys(other, False)
    assert not parse("specdec").changed(tolerance=1.0).exact


@pytest.mark.parametrize("name", [*DEFAULT_ROWS, *REWRITING_ROWS, "auto", "lookup,specdec:exact", "jacobi:fixed-point", "lookup:exact"])
def test_a_row_asks_for_options_that_its_decoding_has(name: str) -> None:
    row = parse(name).changed(block_size=3, top_beta=2, tolerance=1.0, length_penalty=1.0)
    asked = options_of(row, BundleInfo(source_language="a", target_language="b"))
    if row.toolkit == "specdec" and row.decoding != "auto" and row.variant != "exact":
        check_options(asked, row.decoding)
    given = {option for option in ("block_size", "top_beta", "beam_size") if getattr(asked, option) is not None}
    assert given == {option for option in ("block_size", "top_beta", "beam_size") if row.has(option)}


def test_labels_name_the_swept_settings_that_a_row_has() -> None:
    sweep = {"beam-size": (1, 4), "block-size": (2,), "iterations": (3,), "batch-size": (8,)}
    names = ("greedy", "beam", "specdec", "mask-predict", "mask-predict:4")
    labels = [swept_label(row, sweep) for row in sweep_rows([parse(name) for name in names], sweep)]
    assert labels == [
        "greedy, batch size 8",
        "beam, beam size 1, batch size 8",
        "beam, beam size 4, batch size 8",
        "specdec, block size 2, batch size 8",
        "mask-predict, iterations 3, batch size 8",
        "mask-predict:4, batch size 8",
    ]


def test_mask_predict_takes_iterations_from_its_name_or_a_sweep() -> None:
    named, plain = parse("mask-predict:4"), parse("mask-predict")
    assert (named.name, named.options.iterations, plain.options.iterations) == ("mask-predict:4", 4, None)
    swept = sweep_rows([named, plain], {"iterations": (1, 10), "length-beam": (3,)})
    assert [(row.name, row.options.iterations, row.options.length_beam) for row in swept] == [
        ("mask-predict:4", 4, 3),
        ("mask-predict", 1, 3),
        ("mask-predict", 10, 3),
    ]
    with pytest.raises(UsageError, match="sweep of iterations: none of the rows depends on it"):
        check_sweep([parse("greedy"), named], {"iterations": (4,)})


def test_sweep_values_are_parsed() -> None:
    assert parse_sweep("block-size=8,4,8") == ("block-size", (8, 4))
    assert parse_sweep("block-size=auto,4") == ("block-size", ("auto", 4))
    assert parse_sweep("tolerance=0,2.5") == ("tolerance", (0.0, 2.5))
    assert parse_sweep("mode=careful,thorough") == ("mode", ("careful", "thorough"))


@pytest.mark.parametrize("text", ["depth=1", "block-size", "block-size=", "block-size=0", "threads=2.5", "tolerance=inf", "mode=bold"])
def test_invalid_sweeps_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match=f"sweep {text}: "):
        parse_sweep(text)


def test_modes_and_scores_are_not_swept_together() -> None:
    with pytest.raises(UsageError, match="give one"):
        check_sweep([Row("greedy")], {"mode": ("careful",), "min-score": (-1.0,)})


def test_a_sweep_makes_a_grid_of_the_settings_that_each_row_has() -> None:
    rows = sweep_rows([Row("greedy"), Row("specdec++")], {"block-size": (4, 8), "tolerance": (1.0, 2.0)})
    assert rows[0] == Row("greedy")
    assert [(row.options.block_size, row.options.tolerance) for row in rows[1:]] == [(4, 1.0), (4, 2.0), (8, 1.0), (8, 2.0)]

    rows = sweep_rows([Row("auto"), Row("beam")], {"mode": ("careful", "thorough")})
    assert rows == [Row("auto").changed(mode="careful"), Row("auto").changed(mode="thorough"), Row("beam")]
    rows = sweep_rows([Row("greedy"), Row("beam")], {"batch-size": (1, 32), "beam-size": (5, 10)})
    assert [(row.decoding, row.options.batch_size, row.options.beam_size) for row in rows] == [
        ("greedy", 1, 5),
        ("greedy", 32, 5),
        ("beam", 1, 5),
        ("beam", 1, 10),
        ("beam", 32, 5),
        ("beam", 32, 10),
    ]


def test_a_sweep_without_values_is_refused() -> None:
    with pytest.raises(UsageError, match=r"block-size: none of the rows depends on it \(greedy, beam\)"):
        check_sweep([Row("greedy"), Row("beam")], {"block-size": (4,)})


@pytest.mark.parametrize(("key", "names"), CASES.a_sweep_without_rows_has_default_rows)
def test_a_sweep_without_rows_has_default_rows(key: str, names: list[str]) -> None:
    assert sweep_defaults({key: (1,)}) == names


FOUND = Conditions(ModelChoice("m"), MachineOptions(threads=2, precision="float32"), refused={"int8": "no int8"})


PLOT = Path("a.svg")


def make_plan(*names: str, task: Task = "translate", **options: Any) -> Plan:
    parts = (name.partition(":") for name in names)
    rows = tuple(Row(decoding, variant or None) for decoding, _, variant in parts)
    asked = BenchOptions(**dict[str, Any](device="cpu", batch_size=64) | options)
    return Plan(asked, {"": ModelChoice("m")}, rows, task, Examples("a", ("ka",), None))


def test_default_rows_that_cannot_run_are_left_out() -> None:
    rows, left_out = possible_rows(make_plan("greedy", "specdec", "ctranslate2-beam", "ctranslate2-beam:int8"), "", FOUND)
    assert [row.name for row in rows] == ["greedy", "ctranslate2-beam"]
    assert [row.compute_type for row in rows] == [None, "float32"]
    assert {(row.threads, row.options.batch_size) for row in rows} == {(2, 64)}
    assert left_out == {"specdec": "the bundle has no drafter", "ctranslate2-beam:int8": "no int8"}


def test_a_row_of_ctranslate2_has_the_number_format_of_the_other_rows() -> None:
    names = ("greedy", "ctranslate2-greedy", "ctranslate2-greedy:float32")
    machine = MachineOptions(threads=1, precision="int8")
    rows, _ = possible_rows(make_plan(*names), "", replace(FOUND, machine=machine, refused={}))
    assert [(row.name, row.compute_type) for row in rows] == [(names[0], None), (names[1], "int8"), (names[2], "float32")]
    with pytest.raises(UsageError, match=r"^--row ctranslate2-greedy: no int8$"):
        possible_rows(make_plan(*names, rows=list(names)), "", replace(FOUND, machine=machine))


def test_the_fastest_settings_need_a_number_format() -> None:
    plan = make_plan("greedy", "ctranslate2-greedy:best", rows=["greedy", "ctranslate2-greedy:best"])
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
        (["specdec"], {"rows": ["specdec"]}, "--row specdec: the bundle has no drafter"),
        (["ctranslate2-beam:int8"], {"tune": True}, "--row ctranslate2-beam:int8: no int8"),
        (["greedy"], {"profile": True}, "--profile needs"),
        (["greedy"], {"histogram": True, "batch_size": 1}, "--histogram needs"),
        (["specdec"], {"plot": PLOT, "task": "correct", "batch_size": 1}, "--row specdec|--plot needs"),
        (["greedy", "input-guided"], {"plot": PLOT, "task": "correct", "batch_size": 2}, "--plot needs"),
        (["input-guided"], {"plot": PLOT}, "--plot needs greedy or beam"),
    ],
)
def test_requested_rows_that_cannot_run_are_refused(names: list[str], changes: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        possible_rows(make_plan(*names, **changes), "", FOUND)
