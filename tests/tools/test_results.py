"""Stored results, and their tables."""

import json
from pathlib import Path
from typing import Any

import pytest

from tools import results, tables
from tools.busy.tables import busy
from tools.cold.tables import cold
from tools.floors.tables import floors
from tools.results import Stored, load, names
from tools.serving.tables import NAME as SERVING
from tools.serving.tables import serving, soak

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
ENVIRONMENT = {"cpu": "Some", "cores": 2, "threads": 1, "device": "cpu", "precision": "int8", "specdec": "1", "date": "2026-01-02T03:04"}
RECORD: dict[str, Any] = {"label": "a text", "command": ["bench", "DATA/a b.tsv"], "environment": ENVIRONMENT, "rows": [ROW, OTHER]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    load.cache_clear()
    (tmp_path / "one.json").write_text(json.dumps(RECORD))
    return tmp_path


def test_every_result_is_complete() -> None:
    for name in names():
        stored = load(name)
        assert (
            stored.label
            and stored.record["environment"]["date"]
            and stored.record["command"][0] in ("bench", "visualize", "correct", "serving", "serving.soak", "busy", "floors", "cold")
        )
        assert stored.repeatable or stored.record["needs"]


def test_every_result_is_shown_in_a_page() -> None:
    text = "".join(page.read_text(encoding="utf-8") for page in tables_in_pages())
    shown = (
        {each.name for each in (*tables.COMPARISONS, *tables.WITHOUT_VNNI)}
        | {SERVING}
        | {name for name in names() if f" {name} " in text.replace("-->", " ")}
    )
    assert shown == set(names())


def tables_in_pages() -> list[Path]:
    from tools.pages import pages

    return pages()


@pytest.mark.usefixtures("folder")
def test_a_table_shows_numbers_command_and_machine() -> None:
    text = tables.table("one")
    assert text.splitlines()[0] == "| decoding | BLEU | tokens per round | tokens/s | identical lines |"
    assert "| auto | 30.00 | 2.50 | 1,200 | 3 of 4 |" in text
    assert "| ctranslate2-greedy:int8 | — | 2.50 | 800 | 3 of 4 |" in text
    assert "specdec bench 'DATA/a b.tsv'" in text
    assert "Some; 2 cores, 1 threads; cpu, int8; specdec 1; 2026-01-02." in text


@pytest.mark.usefixtures("folder")
def test_a_comparison_shows_two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "COMPARISONS", (tables.Comparison("one", "auto", "ctranslate2-greedy"),))
    assert "| a text | specdec, no drafts | 1,200 | 800 | 1.50x | 3 of 4 |" in tables.summary()
    assert "int8, 2 threads" in tables.comparison()


def test_the_table_of_the_server_names_the_best_other_servers(folder: Path) -> None:
    servers = {
        "specdec": {"requests_per_second": 90.0, "processor_milliseconds": 2.0},
        "fast": {"requests_per_second": 30.0, "processor_milliseconds": 6.0},
        "lean": {"requests_per_second": 20.0, "processor_milliseconds": 5.0},
    }
    latencies = {name: {"median": 1.0, "p99": 20.25} for name in ("half", "check")}
    record = {"label": "x", "command": ["serving", "--seconds", "5"], "environment": ENVIRONMENT, "clients": 8, "words": 99}
    (folder / "serving.json").write_text(json.dumps(record | {"servers": servers, "latencies": latencies}))
    text = serving()
    assert "| requests a second, 8 clients | 90 | fast | 30 | 3.00x |" in text
    assert "| processor time of a request, 8 clients | 2.00 ms | lean | 5.00 ms | 2.50x |" in text
    assert "| `/v2/check` of 99 words | median 1.0 ms, p99 20.2 ms |" in text
    assert "python -m tools.serving --seconds 5\n" in text


def test_the_table_of_the_soak_test_adds_up_statuses(folder: Path) -> None:
    states = {"warm": {"megabytes": 300.2, "files": 30, "threads": 9}, "last": {"megabytes": 302.0, "files": 20, "threads": 9}}
    counts = {"translate 200": 1200, "document 200": 5, "document 429": 2, "garbage": 7, "last 200": 1}
    record = {"label": "x", "command": ["serving.soak"], "environment": ENVIRONMENT, "counts": counts, "problems": []} | states
    (folder / "soak.json").write_text(json.dumps(record | {"minutes": 10.0, "clients": 12, "exit_code": 0}))
    text = soak()
    assert "| a sentence is translated | 1,200 | 200: 1,200 |" in text
    assert "| a Markdown file is translated | 7 | 200: 5, 429: 2 |" in text
    assert "| what is sent is not HTTP | 7 | \u2014 |" in text
    assert "wrong answers: 0; memory after a fifth of the time and at the end: 300 and 302 MB; open files: 30 and 20" in text
    assert "python -m tools.serving.soak\n" in text


def test_the_table_of_busy_processes_compares_with_the_free_machine_and_one_thread(folder: Path) -> None:
    cases = [
        {"processes": 0, "nice": 0, "default": 2.0, "one": 3.0},
        {"processes": 1, "nice": 0, "default": 3.0, "one": 3.3},
        {"processes": 2, "nice": 19, "default": 2.5, "one": 2.0},
    ]
    (folder / "busy.json").write_text(json.dumps({"label": "x", "command": ["busy"], "environment": ENVIRONMENT, "cases": cases}))
    text = busy()
    assert "| none | 2.00 | 1.00 | 3.00 | 1.50x |" in text
    assert "| 1, the same priority | 3.00 | 1.50 | 3.30 | 1.10x |" in text
    assert "| 2, the lowest priority | 2.50 | 1.25 | 2.00 | 0.80x |" in text
    assert "python -m tools.busy\n" in text


def test_the_table_of_floors_has_both_floors_of_a_part(folder: Path) -> None:
    parts = {
        "step": {"milliseconds": 0.3, "weights": 20_000_000, "products": 20_000_000},
        "verification": {"milliseconds": 0.5, "weights": 20_000_000, "products": 80_000_000},
    }
    models = [{"model": "some", "threads": 2, "parts": parts, "reading": 1e11, "multiplying": 2e11}]
    record = {"label": "x", "command": ["floors"], "environment": ENVIRONMENT, "source": 14, "draft": 3, "models": models}
    (folder / "floors.json").write_text(json.dumps(record))
    text = floors()
    assert "| some | 2 | step | 0.300 | 20.0 | 0.200 | 20 | 0.100 | 1.50 |" in text
    assert "| some | 2 | verification, 3 + 1 tokens | 0.500 | 20.0 | 0.200 | 80 | 0.400 | 1.25 |" in text
    assert "some, 2: 100 and 200." in text


def test_the_table_of_starts_has_the_share_of_packing(folder: Path) -> None:
    sizes = {"lines": 1000, "memory": 80_000_000, "memory_of_many": 130_000_000, "stored": 46_000_000}
    commands = [{"command": "translate", "model": "some", "wall": 0.5, "processor": 0.4, "packing": 0.03} | sizes]
    record = {"label": "x", "command": ["cold"], "environment": ENVIRONMENT, "processes": 7, "commands": commands}
    (folder / "cold.json").write_text(json.dumps(record))
    text = cold()
    assert "peak memory of 1,000 lines, MB |" in text and "least of 7 processes" in text
    assert "| `translate`, some | 500 | 400 | 30 | 8 % | 46 | 80 | 130 |" in text
    assert "python -m tools.cold\n" in text


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
