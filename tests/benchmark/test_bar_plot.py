"""Bar charts: what is drawn of analyses and profiles."""

from pathlib import Path

from specdec_cli.benchmark.views import ANALYSES, Chart, draw_bars, profile_chart


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
