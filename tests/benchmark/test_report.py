"""Results as JSON and tables; `UPDATE_GOLDEN=1 pytest tests/benchmark` rewrites the golden JSON."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.benchmark.results import COLUMNS, Column, Measured, Result, summarise, to_json
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.benchmark.tables import Table, main_table, profile_table, sweep_table, tolerance_table
from specdec_cli.benchmark.views import histogram_table

GOLDEN = Path(__file__).parents[1] / "golden" / "bench.json"

SPECDEC = Result(
    row=Row("specdec++", "high-quality"),
    settings={
        "preset": "high-quality",
        "block_size": 8,
        "top_beta": 3,
        "tolerance": 1.0,
        "max_length": None,
        "batch_size": 1,
        "threads": 2,
    },
    quality={"bleu": 26.915, "chrf": 55.5},
    numbers={
        "tokens_per_sentence": 18.25,
        "repetition": 0.0024,
        "iterations": 4.0,
        "tokens_per_round": 7.5619,
        "block_size": 8.25,
        "drafted": 0.96,
        "ms_per_sentence.median": 12.3456,
        "ms_per_sentence.p95": 40.0,
        "tokens_per_second": 1234.5,
        "spread": 0.07,
        "speedup_vs_greedy": 3.3,
        "speedup_vs_beam": 3.79,
        "identical": (7, 10),
        "peak_memory_mb": 376.2,
    },
    first_difference=3,
)
UNMEASURED = Result(
    row=Row("ctranslate2-beam", "int8").changed(batch_size=32),
    settings={"compute_type": "int8", "beam_size": 5, "length_penalty": 1.0, "max_length": None, "batch_size": 32, "threads": 2},
    quality={},
    numbers={
        "tokens_per_sentence": 17.5,
        "repetition": 0.0,
        "iterations": None,
        "tokens_per_round": None,
        "block_size": None,
        "drafted": None,
        "ms_per_sentence.median": None,
        "ms_per_sentence.p95": None,
        "tokens_per_second": 800.0,
        "spread": None,
        "speedup_vs_greedy": None,
        "speedup_vs_beam": None,
        "identical": None,
        "peak_memory_mb": None,
    },
    first_difference=None,
)


def test_json_equals_the_golden_file() -> None:
    record = to_json([SPECDEC, UNMEASURED], {"cpu": "some", "threads": 2}, {"name": "a.tsv", "lines": 10}, {"bleu": "b", "chrf": "c"})
    text = json.dumps(record, indent=2) + "\n"
    if "UPDATE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_main_table_has_the_numbers_of_its_rows() -> None:
    table = main_table([SPECDEC, UNMEASURED])
    cells = ["26.91", "55.50", "4.00", "7.56", "8.2", "96%", "12.3", "1,234", "7%", "3.30x", "3.79x", "1.54x", "7 of 10", "376"]
    assert table.rows[0] == ("specdec++:high-quality", *cells)
    assert table.rows[1] == ("ctranslate2-beam:int8", *"——————", "—", "800", "—", "—", "—", "1.00x", "—", "—")
    assert len(table.columns) == 15
    assert table.columns[5:7] == ("block size", "rounds with a draft")
    assert table.columns[9] == "spread" and table.columns[12] == "speedup vs ctranslate2-beam"


def test_repeated_tokens_are_shown_for_unverified_decodings() -> None:
    masked = replace(SPECDEC, row=Row("mask-predict", "4").changed(iterations=4))
    for table in (main_table([masked, UNMEASURED]), sweep_table([masked, UNMEASURED], {"length-beam": (1,)})):
        place = table.columns.index("repeated tokens")
        assert [row[place] for row in table.rows] == ["0.24%", "0.00%"]
    assert "repeated tokens" not in main_table([SPECDEC]).columns


def test_one_entry_adds_a_column(monkeypatch: pytest.MonkeyPatch) -> None:
    column = Column("rounds", "rounds", lambda one: one.rounds, ",.0f", "main")
    for module in ("results", "tables"):
        monkeypatch.setattr(f"specdec_cli.benchmark.{module}.COLUMNS", (*COLUMNS, column))
    runs = (Run(2.0, (Output("a", ((5, 6, 3),), 2),)),)
    results = summarise([Measured(Row("specdec"), {}, runs)], lambda _: None)
    assert (main_table(results).columns[-1], main_table(results).rows[0][-1]) == ("rounds", "2")
    assert "rounds" not in sweep_table(results, {}).columns
    assert to_json(results, {}, {}, {})["rows"][0]["rounds"] == 2


def test_the_sweep_table_shows_the_varied_settings() -> None:
    table = sweep_table([SPECDEC, UNMEASURED], {"top-beta": (3,), "batch-size": (1, 32)})
    assert table.columns[:3] == ("decoding", "top beta", "batch size")
    assert [row[1:3] for row in table.rows] == [("3", "1"), ("—", "32")]
    assert table.columns[-2:] == ("speedup vs greedy", "speedup vs beam")
    assert [row[-2:] for row in table.rows] == [("3.30x", "3.79x"), ("—", "—")]


def test_the_tolerance_table_has_the_grid_of_the_paper() -> None:
    table = tolerance_table([SPECDEC, UNMEASURED], {"top-beta": (3, 5), "tolerance": (1.0, 2.0)})
    assert table.columns == ("tolerance", "top-3", "top-5")
    assert table.rows == (("1.0", "7.56 / 26.91", "—"), ("2.0", "—", "—"))


def test_the_profile_table_has_shares() -> None:
    table = profile_table(
        {"specdec": {"encoder": 0.5, "drafter": 1.0, "verifier": 2.0, "others": 0.5}}, sentences=10, iterations={"specdec": 3.5}
    )
    assert table.columns == ("module", "specdec, ms", "share")
    assert table.rows[0] == ("encoder", "50.00", "12.5%")
    assert table.rows[-2] == ("total", "400.00", "100.0%")
    assert table.rows[-1] == ("a round", "100.00", "—")
    apart = profile_table({"specdec": {"encoder": 0.5, "drafter's encoder": 0.5, "others": 1.0}}, sentences=5, iterations={"specdec": 2.0})
    assert apart.rows[-1] == ("a round", "100.00", "—")
    unknown = profile_table({"specdec": {"encoder": 0.5, "others": 0.5}}, sentences=10, iterations={})
    assert unknown.rows[-1] == ("a round", "—", "—")


def test_models_with_different_vocabularies_are_compared() -> None:
    settings = ({"vocabulary": 4000}, {"vocabulary": 8000})
    results = [replace(SPECDEC, row=replace(SPECDEC.row, model=name), settings=own) for name, own in zip("ab", settings, strict=True)]
    table = main_table(results)
    assert table.columns[:3] == ("model", "vocabulary", "decoding") and table.names == 3
    assert [row[:2] for row in table.rows] == [("a", "4000"), ("b", "8000")]
    assert table.rows[0][table.columns.index("tokens a sentence")] == "18.25"
    assert "vocabulary" not in main_table([results[0], results[0]]).columns and "tokens a sentence" not in main_table([SPECDEC]).columns


def test_the_histogram_table_has_bars() -> None:
    table = histogram_table([{"low": 0.5, "count": 1}, {"low": 1.0, "count": 4}])
    assert table.rows == (("0.5x to 1.0x", "█" * 10, "1", "20.0%"), ("1.0x to 1.5x", "█" * 40, "4", "80.0%"))


def test_tables_are_written_as_markdown_and_split_into_parts() -> None:
    table = Table(("row", "a", "b", "c"), (("x", "1", "2", "3"),))
    assert table.to_markdown() == "| row | a | b | c |\n| :-- | --: | --: | --: |\n| x | 1 | 2 | 3 |\n"
    left, right = table.part(0, 2), table.part(2, 3)
    assert (left.columns, right.columns) == (("row", "a", "b"), ("row", "c"))
    assert (left.rows, right.rows) == ((("x", "1", "2"),), (("x", "3"),))
