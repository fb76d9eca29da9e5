"""The tables of the papers: every run can be made, every stored result is shown, and missing ones are left open."""

import json
import re
import subprocess
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tools.pages import DOCS, ROOT
from tools.papers import runs as stored_runs
from tools.papers import tables
from tools.papers.ends import paper_ends
from tools.papers.runs import Run, measure, runs
from tools.papers.tables import paper
from tools.papers.tables import tables as declared
from tools.papers.views import paper_edits
from tools.results import Stored

PAGE = (DOCS / "papers.md").read_text(encoding="utf-8")
RECORD: dict[str, Any] = {
    "environment": {"cpu": "Some", "cores": 2, "device": "cpu", "precision": "int8", "specdec": "1", "date": "2026-01-02", "busy": 0.5},
    "rows": [
        {
            "decoding": "greedy",
            "settings": {"batch_size": 1},
            "bleu": 30.0,
            "iterations": 4.0,
            "tokens_per_round": 2.0,
            "tokens_per_second": 80.0,
        },
        {
            "decoding": "greedy",
            "settings": {"batch_size": 8},
            "bleu": 31.0,
            "iterations": 6.0,
            "tokens_per_round": 1.0,
            "tokens_per_second": 20.0,
        },
    ],
}


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The only run, which needs the bundle `small`; its result would be stored in the temporary folder."""
    monkeypatch.setattr(stored_runs, "FOLDER", tmp_path)
    run = Run("one", "a text", ("bench", "-m", "BUNDLES/small", "DATA/dev.tsv"))
    for module in (stored_runs, tables):
        monkeypatch.setattr(module, "runs", lambda: {"one": run})
    return run


def test_every_run_needs_models_that_the_script_trains() -> None:
    script = (ROOT / "specdec_cli" / "recipes" / "papers.sh").read_text(encoding="utf-8")
    trained = re.search(r'^all="(.*?)"', script, re.DOTALL | re.MULTILINE)
    assert trained is not None
    assert {bundle for run in runs().values() if not run.needs for bundle in run.bundles} <= set(trained[1].split())
    assert {run.command[0] for run in runs().values()} == {"bench"}


def test_every_table_and_every_run_is_on_the_page() -> None:
    parts = re.findall(r"<!-- generated: paper(-\w+)? (\S+)", PAGE)
    assert {name for view, name in parts if not view} == set(declared())
    shown = {row.ours.partition(":")[0] for _, rows in declared().values() for row in rows} | {name for view, name in parts if view}
    assert set(runs()) <= shown
    assert {path.stem for path in stored_runs.FOLDER.glob("*.json")} <= set(runs())


@pytest.mark.parametrize("path", sorted(stored_runs.FOLDER.glob("*.json")), ids=lambda path: path.stem)
def test_a_stored_result_is_that_of_its_run(path: Path) -> None:
    record, run = json.loads(path.read_text(encoding="utf-8")), runs()[path.stem]
    assert (record["label"], record["command"]) == (run.label, list(run.command))
    assert record["environment"]["date"] and "/work" not in path.read_text(encoding="utf-8")
    assert ("needs" in record) == bool(run.bundles)


def test_figures_stand_beside_the_published_ones(one: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (tables.PaperRow("AT", "one: greedy batch_size=1", ("N", "28.7")), tables.PaperRow("other", "", ("1", "17.7")))
    monkeypatch.setattr(tables, "tables", lambda: {"t": (("iterations", "bleu"), rows)})
    assert "| AT | — | N | — | 28.7 |" in paper("t") and "Not measured yet: one." in paper("t")
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    trained = {"environment": RECORD["environment"] | {"updates": {"small": 300}}}
    one.path.write_text(json.dumps({"label": "a text", "command": list(one.command)} | RECORD | trained))
    monkeypatch.setattr(tables, "load", lambda _: Stored("one", json.loads(one.path.read_text())))
    text = paper("t")
    assert "| AT | 4.00 | N | 30.00 | 28.7 |" in text and "| other | — | 1 | — | 17.7 |" in text
    assert "specdec bench -m BUNDLES/small DATA/dev.tsv" in text and "Other programs used 50% of the processors" in text
    assert "Updates of training: small 300." in text
    speeds = ("speedup_vs_greedy",), (tables.PaperRow("shallow", "one: greedy batch_size=1 over greedy batch_size=8", ("1.4x",)),)
    monkeypatch.setattr(tables, "tables", lambda: {"t": speeds})
    assert "| shallow | 3.00x | 1.4x |" in paper("t")
    monkeypatch.setattr(tables, "tables", lambda: {"t": (("bleu",), (tables.PaperRow("AT", "one: greedy", ("1",)),))})
    with pytest.raises(ValueError, match="2 rows match"):
        paper("t")


def test_the_wall_time_of_the_stored_runs_is_added(one: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert tables.minutes().startswith("0 of 1 runs are stored; 0 of them")
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    one.path.touch()
    for environment, expected in (
        ({}, "0 of them with their wall time, 0 min"),
        ({"seconds": 150.0}, "1 of them with their wall time, 2 min"),
    ):
        record = {"environment": environment}
        monkeypatch.setattr(tables, "load", lambda _, record=record: Stored("one", record))
        assert expected in tables.minutes()


def test_the_page_says_how_a_result_that_is_no_run_is_measured() -> None:
    assert "en-de-float32 is measured by `python -m tools.docs --measure DATA --result en-de-float32`." in tables.sources(["en-de-float32"])
    assert "heads-tatoeba is measured by the command above; it needs the heads that" in tables.sources(["heads-tatoeba"])
    assert "measured by" not in tables.sources(["gad"])


def test_runs_are_measured_once_and_skipped_without_their_models(one: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def bench(command: list[str], **_: Any) -> None:
        commands.append(command)
        if len(commands) == 1:
            raise subprocess.CalledProcessError(1, command)
        named = {"input": {"name": f"{tmp_path}/data/dev.tsv"}, "model": f"{tmp_path}/models/small"}
        Path(command[command.index("--json") + 1]).write_text(json.dumps(RECORD | named))

    monkeypatch.setattr("tools.papers.runs.subprocess.run", bench)
    monkeypatch.setattr("tools.papers.runs.perf_counter", partial(next, count(step=7)))
    places = (tmp_path / "data", tmp_path / "models")
    assert "one: skipped; small missing; it needs the models of the recipe papers.sh" in "".join(measure(["one"], *places)) and not commands
    (places[1] / "small").mkdir(parents=True)
    (places[1] / "small" / "bundle.json").touch()
    (places[1] / "small" / "metrics.csv").write_text("time,update\n1,100\n2,300\n")
    assert list(measure(["one"], *places))[-1] == "one: failed" and not one.path.exists()
    list(measure(["one"], *places))
    assert commands[1][3:7] == ["bench", "-m", f"{places[1]}/small", f"{places[0]}/dev.tsv"]
    record = json.loads(one.path.read_text())
    assert (record["model"], record["input"]["name"], record["command"]) == ("small", "dev.tsv", list(one.command))
    assert record["environment"]["updates"] == {"small": 300}
    assert record["environment"]["seconds"] == 7
    assert list(measure(["one"], *places)) == ["one: stored already"]
    assert len(list(measure(["one"], *places, again=True))) == 1 and len(commands) == 3


def test_a_run_is_measured_again_when_its_model_was_trained_further(one: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bench(command: list[str], **_: Any) -> None:
        Path(command[command.index("--json") + 1]).write_text(json.dumps(RECORD))

    monkeypatch.setattr("tools.papers.runs.subprocess.run", bench)
    bundle = tmp_path / "models" / "small"
    bundle.mkdir(parents=True)
    (bundle / "bundle.json").touch()
    for updates in (300, 1200):
        (bundle / "metrics.csv").write_text(f"time,update\n1,100\n2,{updates}\n")
        assert list(measure(["one"], tmp_path, bundle.parent)) == [f"one: specdec {' '.join(one.command)}"]
        assert json.loads(one.path.read_text())["environment"]["updates"] == {"small": updates}
        assert list(measure(["one"], tmp_path, bundle.parent)) == ["one: stored already"]
    (bundle / "metrics.csv").unlink()
    assert list(measure(["one"], tmp_path, bundle.parent)) == ["one: stored already"]


def test_speedups_are_grouped_by_edit_ratio(one: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert paper_edits("one").lstrip().startswith("```text")
    monkeypatch.setattr(tables, "FOLDER", tmp_path)
    points = {"lookup": [{"edit_ratio": ratio, "speedup": speedup} for ratio, speedup in ((0, 4.0), (0.05, 3.0), (0.01, 2.0), (0.9, 1.0))]}
    one.path.write_text(json.dumps({"label": "a text", "command": list(one.command), "points": points} | RECORD))
    monkeypatch.setattr(tables, "load", lambda _: Stored("one", json.loads(one.path.read_text())))
    lines = [line for line in paper_edits("one").splitlines() if line.startswith("| lookup")]
    assert lines == [
        "| lookup | 0 | 1 | 4.00x |",
        "| lookup | above 0.00, up to 0.05 | 2 | 2.50x |",
        "| lookup | above 0.40, up to 10.00 | 1 | 1.00x |",
    ]


def test_precision_at_both_ends_has_a_column_for_each_order(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = ("a greedy", "a beam, beam size 5", "b bidirectional, beam size 5")
    parts = ("all", "first 5", "first 10", "first 15", "last 5", "last 10", "last 15")
    ends = [
        {"decoding": label, "tokens": part, "1-gram": 0.1 * place, "4-gram": 0.01 * place}
        for part in parts
        for place, label in enumerate(labels)
    ]
    record = RECORD | {"command": ["bench"], "label": "a text", "analyses": {"ends": ends}}
    monkeypatch.setattr("tools.papers.ends.stored", lambda _: Stored("one", record))
    monkeypatch.setattr("tools.papers.ends.sources", lambda _: "")
    assert "| last 5 | 10.0% | 62.9% | 20.0% | 64.5% | 1.0% | 14.7% | 2.0% | 15.3% |" in paper_ends("one")
