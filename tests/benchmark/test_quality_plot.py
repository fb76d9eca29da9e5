"""Plots of quality against speedup."""

from dataclasses import replace
from pathlib import Path

from specdec_cli.benchmark.results import Result
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.views import draw_quality, quality_points

BEAM = Result(Row("beam"), {}, {"bleu": 27.0}, {"speedup_vs_beam": 1.0, "speedup_vs_greedy": 0.5})
GREEDY = Result(Row("greedy"), {}, {"bleu": 26.5}, {"speedup_vs_beam": 2.0, "speedup_vs_greedy": 1.0})


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
