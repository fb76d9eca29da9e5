"""Stored results, and their tables."""

import json
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tools import results
from tools.pages import pages
from tools.paper_tables import tables
from tools.results import Stored, load, names

ROW: dict[str, Any] = {
    **{"decoding": "auto", "settings": {"chosen": "specdec"}, "bleu": 30.0, "iterations": None, "tokens_per_round": 2.5, "drafted": 0.0},
    **{"ms_per_sentence": {"median": None, "p95": None}, "tokens_per_second": 1200.0, "identical": [3, 4]},
}
OTHER = ROW | {
    "decoding": "ctranslate2-greedy",
    "settings": {"compute_type": "int8", "threads": 2},
    "tokens_per_second": 800.0,
    "bleu": None,
}
GREEDY = ROW | {"decoding": "greedy", "settings": {}, "tokens_per_second": 1000.0, "drafted": None}
ENVIRONMENT = {"cpu": "Some", "cores": 2, "threads": 1, "device": "cpu", "precision": "int8", "specdec": "1", "date": "2026-01-02T03:04"}
RECORD: dict[str, Any] = {"label": "a text", "command": ["bench", "DATA/a b.tsv"], "environment": ENVIRONMENT, "rows": [ROW, OTHER, GREEDY]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    load.cache_clear()
    (tmp_path / "one.json").write_text(json.dumps(RECORD))
    return tmp_path


def test_every_result_is_complete() -> None:
    for name in names():
        stored = load(name)
        assert stored.label and stored.record["environment"]["date"] and stored.record["command"][0] == "bench"
        assert stored.repeatable or stored.record["needs"]
        assert '"/' not in json.dumps(stored.record), "a path of the machine that measured it"


def test_every_result_is_shown_in_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in pages())
    shown = {each.name for each in chain.from_iterable(results.COMPARISONS.values())}
    shown |= {row.ours.partition(":")[0] for _, rows in tables().values() for row in rows}
    assert set(names()) <= shown | {name for name in names() if f" {name} " in text.replace("-->", " ")}


@pytest.mark.usefixtures("folder")
def test_a_table_shows_numbers_command_and_machine() -> None:
    text = results.table("one")
    assert text.splitlines()[0] == "| decoding | BLEU | tokens per round | tokens/s | identical lines |"
    assert "| auto | 30.00 | 2.50 | 1,200 | 3 of 4 |" in text
    assert "| ctranslate2-greedy:int8 | — | 2.50 | 800 | 3 of 4 |" in text
    assert "\n[one](results/one.json): Some; 2 cores" in text
    assert "Some; 2 cores, 1 thread; cpu, int8; specdec 1; 2026-01-02." in text


def test_a_table_of_several_number_formats_has_a_column_for_them_beside_the_metric(folder: Path) -> None:
    other = RECORD | {"environment": ENVIRONMENT | {"precision": "float32"}, "rows": [ROW | {"precision": 31.5}]}
    (folder / "two.json").write_text(json.dumps(other))
    lines = results.table("one", "two").splitlines()
    assert lines[0].startswith("| number format | decoding | BLEU | precision |")
    assert any(line.startswith("| float32 | auto | 30.00 | 31.50 |") for line in lines)
    assert any(line.startswith("| int8 | auto | 30.00 | — |") for line in lines)


@pytest.mark.usefixtures("folder")
def test_a_comparison_shows_two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "COMPARISONS", {"vnni": (results.Comparison("one", "auto", "ctranslate2-greedy"),)})
    summary = results.summary().splitlines()
    assert "| own greedy, tokens/s | CTranslate2, tokens/s | over own greedy | over CTranslate2 |" in summary[0]
    assert "| a text | specdec, no drafts | 1,200 | 1,000 | 800 | 1.20x | 1.50x | 3 of 4 |" in summary
    assert "int8, 2 threads" in results.comparison("vnni")


def test_measuring_again_replaces_only_the_numbers(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "two.json").write_text(json.dumps(RECORD | {"needs": "a model"}))
    commands = []

    def bench(command: list[str], **_: Any) -> None:
        commands.append(command)
        record = {"environment": ENVIRONMENT | {"date": "2027"}, "input": {"name": command[4], "lines": 2}, "rows": []}
        Path(command[command.index("--json") + 1]).write_text(json.dumps(record))

    monkeypatch.setattr("tools.results.subprocess.run", bench)
    said = list(results.measure_again(Path("/data"), ["one", "two"]))
    assert said[0].startswith("one: specdec bench") and "it needs a model" in said[1]
    (command,) = commands
    assert command[2:5] == ["specdec_cli", "bench", "/data/a b.tsv"]
    load.cache_clear()
    # The path of the data folder is not stored.
    measured = {"environment": ENVIRONMENT | {"date": "2027"}, "input": {"name": "a b.tsv", "lines": 2}, "rows": []}
    expected = {"label": "a text", "command": RECORD["command"], **measured}
    assert load("one") == Stored("one", expected)
    assert json.loads((folder / "two.json").read_text())["rows"] == RECORD["rows"]
