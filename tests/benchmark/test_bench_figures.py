"""Figures of bench: points of rows and of lines, and bar charts."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.benchmark.results import Measured, compare
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.benchmark.views import (
    ANALYSES,
    SPREAD,
    Chart,
    check_plot,
    draw_bars,
    draw_points,
    draw_quality,
    edit_points,
    profile_chart,
    quality_points,
    spread_equal,
)
from specdec_cli.errors import UsageError

BEAM = Measured(Row("beam"), {}, (), quality={"bleu": 27.0}, numbers={"speedup_vs_beam": 1.0, "speedup_vs_greedy": 0.5})
GREEDY = Measured(Row("greedy"), {}, (), quality={"bleu": 26.5}, numbers={"speedup_vs_beam": 2.0, "speedup_vs_greedy": 1.0})


def test_every_row_has_a_point() -> None:
    assert quality_points([BEAM, GREEDY], {}) == ({"beam": (1.0, 27.0), "greedy": (2.0, 26.5)}, "speedup over beam", "BLEU")


def test_without_beam_search_speedups_are_over_greedy() -> None:
    greedy = replace(GREEDY, numbers={"speedup_vs_beam": None, "speedup_vs_greedy": 1.0})
    swept = replace(greedy, row=Row("specdec").changed(block_size=4), quality={"rouge1": 20.0})
    plot = quality_points([greedy, swept, replace(swept, quality={}), replace(greedy, numbers={})], {"block-size": (4,)})
    assert plot == ({"greedy": (1.0, 26.5)}, "speedup over greedy", "BLEU")
    points, _, quality = quality_points([swept], {"block-size": (4,)})
    assert (quality, points) == ("ROUGE-1", {"specdec, block size 4": (1.0, 20.0)})


def test_points_and_axes_are_named(tmp_path: Path) -> None:
    draw_quality(*quality_points([BEAM, GREEDY], {}), tmp_path / "a.svg", "en-de; dev")
    text = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {words} -->" in text for words in ("beam", "greedy", "speedup over beam", "BLEU", "en-de; dev"))
    draw_quality({}, "speedup over greedy", "", tmp_path / "b.png", "nothing")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")


SOURCES = ("he go home", "", "it is so")


def measured(decoding: str, *seconds: float, **row: int) -> Measured:
    """A row with equal outputs for SOURCES that takes `seconds` for each line with text."""
    first, last = seconds
    outputs = (Output("he goes home", ((5, 3),), 1, first), Output("", (), 0, 0.0), Output("it is so", ((6, 3),), 1, last))
    return Measured(Row(decoding).changed(**row), {}, (Run(1.0, outputs),))


def test_each_line_with_text_has_a_point() -> None:
    points = edit_points(compare([measured("greedy", 4.0, 6.0), measured("input-guided", 2.0, 1.0), measured("beam", 1.0, 1.0)]), SOURCES)
    assert points == {"input-guided": [{"edit_ratio": 1 / 3, "speedup": 2.0}, {"edit_ratio": 0.0, "speedup": 6.0}]}


def test_rows_without_a_greedy_row_have_no_points() -> None:
    assert edit_points(compare([measured("greedy", 4.0, 6.0, threads=2), measured("input-guided", 2.0, 1.0)]), SOURCES) == {}


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".png", b"\x89PNG"), (".PDF", b"%PDF")])
def test_the_suffix_of_the_file_decides_its_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"figure{suffix}"
    check_plot(path)
    draw_points({"input-guided": [{"edit_ratio": 0.0, "speedup": 4.0}, {"edit_ratio": 0.5, "speedup": 1.5}]}, path, "en-gec")
    assert path.read_bytes().startswith(start)


def test_figures_name_rows_and_axes(tmp_path: Path) -> None:
    draw_points({"input-guided:nearest": [{"edit_ratio": 0.0, "speedup": 4.0}]}, tmp_path / "a.svg", "en-gec, dev")
    text = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {words}" in text for words in ("input-guided:nearest", "en-gec, dev", "edit ratio", "speedup over greedy"))


def test_equal_points_are_drawn_side_by_side() -> None:
    assert spread_equal([0.0, 0.5, 0.0]) == [0.0, 0.5, SPREAD / 2]


def test_other_figure_formats_and_a_missing_matplotlib_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="must end with one of"):
        check_plot(tmp_path / "figure.html")
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(UsageError, match=r"specdec\[plot\]"):
        check_plot(tmp_path / "figure.svg")


def test_records_of_one_kind_have_a_group_for_each_row() -> None:
    records = [
        {"decoding": name, "BLEU": bleu, "p, bootstrap": p, "p, randomisation": p}
        for name, bleu, p in (("a", 30.0, None), ("b", 31.0, 0.5))
    ]
    assert ANALYSES["significance"].charts(records) == [
        Chart("BLEU", ["a", "b"], {"BLEU": [30.0, 31.0]}),
        Chart("probability", ["a", "b"], {"p, bootstrap": [None, 0.5], "p, randomisation": [None, 0.5]}),
    ]


def test_records_of_several_kinds_have_a_series_for_each_row() -> None:
    records = [
        {"decoding": name, "tokens": part, "1-gram": value, "4-gram": value / 2}
        for name, part, value in (("a", "all", 0.5), ("a", "last 5", 0.4), ("b", "all", 0.6), ("b", "last 5", 0.2))
    ]
    assert ANALYSES["ends"].charts(records) == [
        Chart("precision of 1-grams", ["all", "last 5"], {"a": [0.5, 0.4], "b": [0.6, 0.2]}),
        Chart("precision of 4-grams", ["all", "last 5"], {"a": [0.25, 0.2], "b": [0.3, 0.1]}),
    ]


def test_a_profile_has_milliseconds_a_sentence() -> None:
    chart = profile_chart({"specdec": {"encoder": 0.5, "verifier": 1.0}, "beam": {"verifier": 2.0}}, 10)
    assert chart == Chart("ms a sentence", ["specdec", "beam"], {"encoder": [50.0, 0.0], "verifier": [100.0, 200.0]})


def test_every_series_is_in_the_figure(tmp_path: Path) -> None:
    charts = [
        Chart("GFLOP", ["greedy", "specdec"], {"encoder": [1.0, 1.0], "drafter": [None, 0.5]}),
        Chart("BLEU", ["greedy", "specdec"], {"BLEU": [30.0, 30.0]}),
    ]
    draw_bars(charts, tmp_path / "a.svg", "en-de; dev", stacked=True)
    drawn = (tmp_path / "a.svg").read_text()
    assert all(f"<!-- {words} -->" in drawn for words in ("encoder", "drafter", "greedy", "specdec", "GFLOP", "BLEU", "en-de; dev"))


def test_every_column_that_is_drawn_is_one_of_the_table() -> None:
    assert all(set().union(*analysis.panels.values()) <= set(analysis.columns) for analysis in ANALYSES.values())
