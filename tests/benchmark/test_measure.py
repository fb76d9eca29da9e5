"""Measurement of each row in a process of its own."""

import pickle
import subprocess
import sys
from pathlib import Path

import pytest

from specdec_cli.benchmark.measure import measure, open_processes
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Conditions
from specdec_cli.benchmark.worker import inspect
from specdec_cli.opening.machine import MachineOptions
from specdec_cli.opening.models import ModelChoice

MODULE = """
import os
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.processes import serve

asked = []

def prepare(row):
    own = {"chosen": "specdec", "block_size": 8} if row.decoding == "auto" else {}
    return {"batch_size": row.options.batch_size, "pid": os.getpid()} | own

def run(row, lines):
    asked.append(len(lines))
    outputs = tuple(Output(line, ((1, 3),)) for line in lines)
    drafted = row.threads - 1 if row.decoding == "auto" else None
    return Run(len(asked), outputs, 5.0, drafted)

if __name__ == "__main__":
    serve({"open": lambda *_: None, "prepare": prepare, "run": run})
"""
CONDITIONS = {"": Conditions(ModelChoice("model"), MachineOptions(device="cpu"))}


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that answers requests without a model."""
    (tmp_path / "row_server.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return "row_server"


def test_rows_run_alternately_after_a_warm_up(module: str) -> None:
    rows = [Row("greedy"), Row("beam")]
    reports: list[None] = []
    with open_processes(rows, CONDITIONS, shared=False, module=module) as call:
        measured = measure(call, rows, ["a", "b"], 2, lambda: reports.append(None), with_memory=True)
    assert [one.row for one in measured] == rows
    # Each row has a process of its own, whose first request is the warm-up.
    assert [[run.seconds for run in one.runs] for one in measured] == [[2, 3], [2, 3]]
    assert measured[0].settings["pid"] != measured[1].settings["pid"]
    assert [output.text for output in measured[0].outputs] == ["a", "b"]
    assert measured[0].runs[0].peak_memory_mb == 5.0
    assert len(reports) == 4


def test_a_sweep_shares_processes_and_reports_no_memory(module: str) -> None:
    rows = [Row("greedy"), Row("greedy").changed(batch_size=2), Row("greedy", threads=2)]
    with open_processes(rows, CONDITIONS, shared=True, module=module) as call:
        measured = measure(call, rows, ["a"], 1, lambda: None, with_memory=False)
    first, second, third = (one.settings["pid"] for one in measured)
    assert first == second != third
    assert all(run.peak_memory_mb is None for one in measured for run in one.runs)


def test_a_row_whose_drafts_were_left_out_was_decoded_greedily(module: str) -> None:
    rows = [Row("auto"), Row("auto", threads=2)]
    with open_processes(rows, CONDITIONS, shared=False, module=module) as call:
        without, drafting = (one.settings for one in measure(call, rows, ["a"], 1, lambda: None, with_memory=True))
    assert (without["chosen"], "block_size" in without) == ("greedy", False)
    assert (drafting["chosen"], drafting["block_size"]) == ("specdec", 8)


@pytest.mark.parametrize("module", ["runs", "recorded", "toolkits"])
def test_rows_of_ctranslate2_and_the_native_engine_do_not_load_torch(module: str) -> None:
    code = f"import sys, ctranslate2, specdec_cli.benchmark.{module}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_conditions_that_rows_are_sent_do_not_load_torch(bundle_folder: Path, tmp_path: Path) -> None:
    conditions = inspect(Conditions(ModelChoice(str(bundle_folder)), MachineOptions(device="cpu", threads=1)), None, {})
    (tmp_path / "conditions").write_bytes(pickle.dumps(conditions))
    code = "import pickle, sys; pickle.load(open(sys.argv[1], 'rb')); sys.exit('torch' in sys.modules)"
    assert conditions.torch
    assert subprocess.run([sys.executable, "-c", code, str(tmp_path / "conditions")], check=False).returncode == 0
