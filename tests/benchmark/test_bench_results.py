"""Figures of rows, computed from made-up times, as tables and JSON; `UPDATE_GOLDEN=1 pytest tests/benchmark` rewrites the golden JSON."""

import json
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from specdec_cli.benchmark.measure import cpu_share_of_others, describe_environment
from specdec_cli.benchmark.results import COLUMNS, Column, Measured, Outcome, summarise
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run, timed
from specdec_cli.benchmark.tables import Table, View, machine_lines, main_table, profile_table, tolerance_table
from specdec_cli.benchmark.views import histogram_table, speedup_histogram
from specdec_cli.metrics.scoring import Score

ONE, TWO = (5, 6, 3), (7, 3)


def measured(decoding: str, seconds: Sequence[float], sentences: tuple[tuple[int, ...], ...] = (ONE, TWO), **row: Any) -> Measured:
    """A row of three lines (of one, two and no sentences), each of which takes a third of the time."""
    outputs = [Output("a", sentences[:1], 1), Output("b c", sentences, 3), Output("", (), 0)]
    runs = (Run(each, tuple(replace(output, seconds=each / 3) for output in outputs), 100 + each) for each in seconds)
    return Measured(Row(decoding).changed(**row), {}, tuple(runs))


def violations(rows: Sequence[Measured]) -> list[str]:
    """The broken promises of rows that were measured on a CPU."""
    return Outcome(summarise(rows, no_score), {"device": "cpu", "precision": "int8"}, {}).violations()


def no_score(texts: Sequence[str]) -> None:
    assert texts == ["a", "b c", ""]


def test_the_numbers_of_a_row_are_computed() -> None:
    (result,) = summarise([measured("specdec", [0.9, 0.3, 0.6])], lambda _: Score({"bleu": 1.0}, {}))
    assert result.numbers["iterations"] == pytest.approx(4 / 3)
    assert result.numbers["tokens_per_round"] == pytest.approx(8 / 4)
    assert result.numbers["tokens_per_second"] == pytest.approx(8 / 0.6)
    # In the median run both lines take 200 ms; the second line has two sentences.
    assert result.numbers["ms_per_sentence.median"] == pytest.approx(150)
    assert result.numbers["ms_per_sentence.p95"] == pytest.approx(195)
    assert (result.quality, result.numbers["peak_memory_mb"]) == ({"bleu": 1.0}, 100.9)
    assert result.numbers["spread"] == pytest.approx((0.9 - 0.3) / 0.6)


def test_speedups_are_ratios_of_medians_under_equal_conditions() -> None:
    rows = [
        measured("greedy", [1, 9, 2]),
        measured("beam", [4, 4, 4]),
        measured("greedy", [8, 8, 8], batch_size=2),
        measured("specdec", [0.5, 7, 1]),
        measured("specdec", [2, 2, 2], batch_size=2),
        measured("specdec", [2, 2, 2], threads=2),
    ]
    results = summarise(rows, no_score)
    assert [r.numbers["speedup_vs_greedy"] for r in results] == [1, 0.5, 1, 2, 4, None]
    assert [r.numbers["speedup_vs_beam"] for r in results] == [2, 1, None, 4, None, None]


def test_a_row_is_compared_with_the_greedy_row_of_its_mode() -> None:
    rows = [
        measured("greedy", [4], mode="careful"),
        measured("greedy", [6], (ONE, (7, 8, 3)), mode="thorough"),
        measured("input-guided", [2], (ONE, (7, 8, 3)), mode="thorough"),
        measured("input-guided", [2], mode="balanced"),
    ]
    results = summarise(rows, no_score)
    assert [r.numbers["speedup_vs_greedy"] for r in results] == [1, 1, 3, 2]
    assert [r.differing_lines for r in results] == [[]] * 4


@pytest.mark.parametrize(("chosen", "count"), [("specdec", 1), ("lookup,gs-jacobi", 1), ("beam", 0)])
def test_the_decoding_that_auto_chose_must_be_exact_if_it_says_so(chosen: str, count: int) -> None:
    auto = replace(measured("auto", [1], (ONE, (7, 8, 3))), settings={"chosen": chosen})
    assert len(violations([measured("greedy", [1]), auto])) == count


def test_a_row_with_a_margin_need_not_be_exact() -> None:
    own = replace(measured("input-guided", [1], (ONE, (7, 8, 3))), settings={"margin": 1.0})
    assert violations([measured("greedy", [1]), own]) == []


def test_lines_are_identical_if_their_tokens_are_equal() -> None:
    rows = [measured("greedy", [1]), measured("specdec", [1], (ONE, (7, 8, 3))), measured("beam", [1], ((5, 3), TWO))]
    greedy, specdec, beam = summarise(rows, no_score)
    assert tuple(r.numbers["identical"] for r in (greedy, specdec, beam)) == ((3, 3), (2, 3), (1, 3))
    assert violations(rows) == ["row specdec: 2 of 3 lines equal those of greedy; line 2 does not"]


@pytest.mark.parametrize(("engine", "count"), [("Triton kernels", 1), ("PyTorch's operators", 0)])
@pytest.mark.parametrize("precision", ["float16", "bfloat16", "float32"])
def test_on_a_gpu_what_kernels_compute_must_be_exact(engine: str, count: int, precision: str) -> None:
    rows = [measured("greedy", [1]), replace(measured("specdec", [1], (ONE, (7, 8, 3))), settings={"engine": engine})]
    assert len(Outcome(summarise(rows, no_score), {"device": "cuda", "precision": precision}, {}).violations()) == count


def test_numbers_that_were_not_measured_are_none() -> None:
    runs = tuple(Run(1.0, tuple(Output(text, (ONE,)) for text in ("a", "b c", "")), None) for _ in range(2))
    (result,) = summarise([Measured(Row("ctranslate2-beam"), {}, runs)], no_score)
    assert result.numbers["tokens_per_second"] == 9
    missing = ("iterations", "tokens_per_round", "block_size", "drafted", "peak_memory_mb", "speedup_vs_greedy", "identical")
    assert [result.numbers[name] for name in (*missing, "ms_per_sentence.median", "ms_per_sentence.p95", "speedup_vs_beam")] == [None] * 10
    assert result.quality == {}
    (once,) = summarise([measured("greedy", [1.5])], no_score)
    assert once.numbers["spread"] is None


def test_the_histogram_has_bins_of_one_half() -> None:
    assert speedup_histogram([1, 1, 2.4, 1], [1, 0.9, 1, 2]) == [
        {"low": low, "count": count} for low, count in ((0.5, 1), (1.0, 2), (1.5, 0), (2.0, 1))
    ]
    assert speedup_histogram([], []) == []


def test_lines_are_timed_one_by_one_or_in_batches() -> None:
    def decode(lines: Sequence[str]) -> list[Output]:
        return [Output(line.upper(), ()) for line in lines]

    single, together = timed(decode, ["a", "b"], one_by_one=True), timed(decode, ["a", "b"], one_by_one=False)
    assert [output.text for output in single.outputs] == [output.text for output in together.outputs] == ["A", "B"]
    times = [output.seconds for output in single.outputs]
    assert sum(time for time in times if time is not None) == pytest.approx(single.seconds)
    assert [output.seconds for output in together.outputs] == [None, None]


GOLDEN = Path(__file__).parents[1] / "golden" / "bench.json"

SPECDEC = Measured(
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
    runs=(),
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
)
UNMEASURED = Measured(
    row=Row("ctranslate2-beam", "int8").changed(batch_size=32),
    settings={"compute_type": "int8", "beam_size": 5, "length_penalty": 1.0, "max_length": None, "batch_size": 32, "threads": 2},
    runs=(),
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
)


def test_json_equals_the_golden_file() -> None:
    record = Outcome(
        [SPECDEC, UNMEASURED], {"cpu": "some", "threads": 2}, {"name": "a.tsv", "lines": 10}, {"bleu": "b", "chrf": "c"}
    ).to_json()
    text = json.dumps(record, indent=2) + "\n"
    if "UPDATE_GOLDEN" in os.environ:
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


def test_the_main_table_has_the_numbers_of_its_rows() -> None:
    table = main_table([SPECDEC, UNMEASURED])
    cells = ["26.91", "55.50", "4.00", "7.56", "8.2", "96%", "12.3", "1,234", "7%", "3.30x", "3.79x", "1.54x", "7 of 10", "376"]
    assert table.rows[0] == ("specdec++:high-quality", "—", *cells)
    assert table.rows[1] == ("ctranslate2-beam:int8", "int8", *"——————", "—", "800", "—", "—", "—", "1.00x", "—", "—")
    assert len(table.columns) == 16
    assert table.columns[1] == "format" and table.columns[6:8] == ("block size", "rounds with a draft")
    assert table.columns[10] == "spread" and table.columns[13] == "speedup vs ctranslate2-beam"


def test_repeated_tokens_are_shown_for_unverified_decodings() -> None:
    masked = replace(SPECDEC, row=Row("mask-predict", "4").changed(iterations=4))
    for table in (main_table([masked, UNMEASURED]), main_table([masked, UNMEASURED], {"length-beam": (1,)})):
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
    assert "rounds" not in main_table(results, {"threads": (1,)}).columns
    assert Outcome(results, {}, {}).to_json()["rows"][0]["rounds"] == 2


def test_the_sweep_table_shows_the_varied_settings() -> None:
    table = main_table([SPECDEC, UNMEASURED], {"top-beta": (3,), "batch-size": (1, 32)})
    assert table.columns[:4] == ("decoding", "top beta", "batch size", "format")
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


WIDE = Table(("decoding", *(f"speedup vs {number}" for number in range(12))), (("specdec++:high-efficiency", *["1,234.56"] * 12),))


@pytest.mark.parametrize(("columns", "tables"), [("80", 3), ("200", 1), ("42", 12)])
def test_columns_that_do_not_fit_form_as_few_tables_as_possible(
    columns: str, tables: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    View(markdown=False).table(WIDE)
    shown = capsys.readouterr().out.splitlines()
    assert sum("specdec++:high-efficiency" in line for line in shown) == tables
    assert sum(line.count("1,234.56") for line in shown) == 12
    assert max(map(len, shown)) <= int(columns)


def test_a_busy_machine_is_reported() -> None:
    environment = describe_environment() | {"device": "cpu", "gpu": None, "precision": "int8", "threads": 2, "torch": "2"}
    assert len(machine_lines(environment | {"busy": 0.05})) == len(machine_lines(environment)) == 2
    assert machine_lines(environment | {"busy": 0.472})[2] == "Other processes took 47% of the processors: these times are not reliable."


def test_the_load_of_other_processes_is_a_share() -> None:
    share = cpu_share_of_others(0.05)
    assert share is None or 0 <= share <= 1


def test_a_table_in_a_pipe_has_one_line_of_headers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    View(markdown=False).table(WIDE)
    shown = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    headers, rows = shown[::3], shown[2::3]
    assert len(shown) == 6 and max(map(len, shown)) <= 160
    assert [word for header in headers for word in header.split() if word not in ("decoding", "speedup", "vs")] == [*map(str, range(12))]
    assert [row.split()[0] for row in rows] == ["specdec++:high-efficiency"] * 2
    assert [value for row in rows for value in row.split()[1:]] == ["1,234.56"] * 12
