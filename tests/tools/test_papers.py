"""The tables of the papers: every run can be made, every stored result is shown, and missing ones are left open."""

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_group

from specdec_cli.app import app
from tools import paper_tables, results
from tools.pages import DOCS, ROOT
from tools.paper_tables import PaperRow, Run, paper, paper_runs, paper_view, runs, stored, tables
from tools.papers import measure
from tools.results import Stored, load, store

RESULTS = sorted((DOCS / "results" / "papers").glob("*.json"))
ENVIRONMENT = {"cpu": "Some", "cores": 2, "device": "cpu", "precision": "int8", "specdec": "1", "date": "2026-01-02", "busy": 0.5}
GREEDY = {"decoding": "greedy", "settings": {"batch_size": 1}, "bleu": 30.0, "iterations": 4.0, "tokens_per_round": 2.0}
ROWS = [
    GREEDY | {"tokens_per_second": 80.0},
    GREEDY | {"settings": {"batch_size": 8}, "iterations": 6.0, "tokens_per_round": 1.0, "tokens_per_second": 20.0},
]


@pytest.fixture
def one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Makes `one`, which needs the bundle `small`, the only run; the function stores a result of it in a temporary folder."""
    monkeypatch.setattr(results, "FOLDER", tmp_path / "results")
    (tmp_path / "results" / "papers").mkdir(parents=True)
    run = Run("one", "a text", ("bench", "-m", "BUNDLES/small", "DATA/dev.tsv"))
    monkeypatch.setattr(paper_tables, "runs", lambda: {"one": run})
    load.cache_clear()
    known: dict[str, Any] = {"label": "a text", "command": list(run.command), "environment": ENVIRONMENT, "rows": ROWS}
    return lambda **more: store("papers/one", known | more)


def declare(monkeypatch: pytest.MonkeyPatch, columns: tuple[str, ...], *rows: PaperRow) -> None:
    """Let `t` be the only table."""
    monkeypatch.setattr(paper_tables, "tables", lambda: {"t": (columns, rows)})


def test_every_run_is_a_command_with_models_that_the_script_trains() -> None:
    script = (ROOT / "specdec_cli" / "recipes" / "papers.sh").read_text(encoding="utf-8")
    trained = re.search(r'^all="(.*?)"', script, re.DOTALL | re.MULTILINE)
    assert trained is not None
    assert {bundle for run in runs().values() if not run.needs for bundle in run.bundles} <= set(trained[1].split())
    for run in runs().values():
        assert get_group(app).commands["bench"].make_context("bench", [*run.command[1:], "--json", "x"]).params
        assert run.command[0] == "bench"


def test_every_table_and_every_run_is_on_the_page() -> None:
    parts = re.findall(r"<!-- generated: paper(-\w+)? (\S+)", (DOCS / "papers.md").read_text(encoding="utf-8"))
    assert {name for view, name in parts if not view} == set(tables())
    shown = {row.ours.partition(":")[0] for _, rows in tables().values() for row in rows} | {name for view, name in parts if view}
    assert set(runs()) <= shown
    assert {path.stem for path in RESULTS} <= set(runs())


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.stem)
def test_a_stored_result_is_that_of_its_run(path: Path) -> None:
    record, run = json.loads(path.read_text(encoding="utf-8")), runs()[path.stem]
    assert (record["label"], record["command"]) == (run.label, list(run.command))
    assert record["environment"]["date"] and ("needs" in record) == bool(run.bundles)
    assert '"/' not in json.dumps(record), "a path of the machine that measured it"


def test_figures_stand_beside_the_published_ones(one: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    at = PaperRow("AT", "one: greedy batch_size=1", ("N", "28.7"))
    declare(monkeypatch, ("iterations", "bleu"), at, PaperRow("other", "", ("1", "17.7")))
    assert "| AT | — | N | — | 28.7 |" in paper("t") and paper("t").endswith("\nNot measured yet: `one`.\n")
    one(environment=ENVIRONMENT | {"updates": {"small": 1300}})
    text = paper("t")
    assert "| AT | 4.00 | N | 30.00 | 28.7 |" in text and "| other | — | 1 | — | 17.7 |" in text
    assert "Measured by `one` (a text). Other programs used the processors (50% during `one`), so" in text
    text = paper_runs()
    assert "; 2026-01-02: `one`.\n" in text
    assert "Updates of training: small 1,300." in text
    declare(monkeypatch, ("speedup_vs_greedy",), PaperRow("shallow", "one: greedy batch_size=1 over greedy batch_size=8", ("1.4x",)))
    assert "| shallow | 3.00x | 1.4x |" in paper("t")
    declare(monkeypatch, ("bleu",), PaperRow("AT", "one: greedy", ("1",)))
    with pytest.raises(ValueError, match="2 rows match"):
        paper("t")


@pytest.mark.usefixtures("one")
def test_runs_are_measured_when_their_models_are_there_and_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commands: list[list[str]] = []

    def bench(command: list[str], **_: Any) -> None:
        commands.append(command)
        if len(commands) == 1:
            raise subprocess.CalledProcessError(1, command)
        named = {"input": {"name": f"{tmp_path}/data/dev.tsv"}, "model": f"{tmp_path}/models/small", "environment": ENVIRONMENT}
        Path(command[command.index("--json") + 1]).write_text(json.dumps(named | {"rows": ROWS}))

    def train(updates: int) -> None:
        (bundle / "metrics.csv").write_text(f"time,update\n1,100\n2,{updates}\n")

    monkeypatch.setattr("tools.papers.subprocess.run", bench)
    places, bundle = (tmp_path / "data", tmp_path / "models"), tmp_path / "models" / "small"
    assert "one: skipped; small missing; it needs the models of the recipe papers.sh" in "".join(measure(["one"], *places)) and not commands
    bundle.mkdir(parents=True)
    (bundle / "bundle.json").touch()
    train(300)
    assert list(measure(["one"], *places))[-1] == "one: failed" and stored("one") is None
    list(measure(["one"], *places))
    assert commands[1][3:7] == ["bench", "-m", str(bundle), f"{places[0]}/dev.tsv"]
    result = stored("one")
    assert result is not None and (result.record["model"], result.record["input"]["name"]) == ("small", "dev.tsv")
    assert result.record["environment"] == ENVIRONMENT | {"updates": {"small": 300}}
    assert list(measure(["one"], *places)) == ["one: stored already"]
    train(1200)
    assert "one: specdec bench" in "".join(measure(["one"], *places)) and len(commands) == 3
    assert list(measure(["one"], *places)) == ["one: stored already"]
    assert len(list(measure(["one"], *places, again=True))) == 1 and len(commands) == 4


def test_speedups_are_grouped_by_edit_ratio(one: Callable[..., None]) -> None:
    assert paper_view("paper-edits", "one") == "\nNot measured yet: `one`.\n"
    points = [{"edit_ratio": ratio, "speedup": speedup} for ratio, speedup in ((0, 4.0), (0.05, 3.0), (0.01, 2.0), (0.9, 1.0))]
    one(points={"lookup": points})
    lines = [line for line in paper_view("paper-edits", "one").splitlines() if line.startswith("| lookup")]
    assert lines == [
        "| lookup | 0 | 1 | 4.00x |",
        "| lookup | above 0.00, up to 0.05 | 2 | 2.50x |",
        "| lookup | above 0.40, up to 10.00 | 1 | 1.00x |",
    ]


def test_precision_at_both_ends_has_a_column_for_each_order(one: Callable[..., None]) -> None:
    labels = enumerate(("a greedy", "a beam, beam size 5", "b bidirectional, beam size 5"))
    precisions = [{"decoding": label, "1-gram": 0.1 * place, "4-gram": 0.01 * place} for place, label in labels]
    ends = [{"tokens": part, **values} for values in precisions for part in paper_tables.published_ends()]
    one(analyses={"ends": ends})
    assert "| last 5 | 10.0% | 62.9% | 20.0% | 64.5% | 1.0% | 14.7% | 2.0% | 15.3% |" in paper_view("paper-ends", "one")


def test_rows_are_stored_one_a_line(one: Callable[..., None]) -> None:
    one()
    lines = (results.FOLDER / "papers" / "one.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2 + len(ROWS) and json.loads(lines[1].removesuffix(",")) == ROWS[0]
    assert load("papers/one") == Stored("papers/one", json.loads("".join(lines)))
