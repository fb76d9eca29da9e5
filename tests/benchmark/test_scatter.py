"""Figures of speedup against edit ratio, with a point for each line."""

import sys
from pathlib import Path

import pytest

from specdec_cli.benchmark.results import Measured
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.runs import Output, Run
from specdec_cli.benchmark.views import SPREAD, check_plot, draw_points, edit_points, spread_equal
from specdec_cli.errors import UsageError

SOURCES = ("he go home", "", "it is so")


def measured(decoding: str, *seconds: float, **row: int) -> Measured:
    """A row with equal outputs for SOURCES that takes `seconds` for each line with text."""
    first, last = seconds
    outputs = (Output("he goes home", ((5, 3),), 1, first), Output("", (), 0, 0.0), Output("it is so", ((6, 3),), 1, last))
    return Measured(Row(decoding).changed(**row), {}, (Run(1.0, outputs),))


def test_each_line_with_text_has_a_point() -> None:
    points = edit_points([measured("greedy", 4.0, 6.0), measured("input-guided", 2.0, 1.0), measured("beam", 1.0, 1.0)], SOURCES)
    assert points == {"input-guided": [{"edit_ratio": 1 / 3, "speedup": 2.0}, {"edit_ratio": 0.0, "speedup": 6.0}]}


def test_rows_without_a_greedy_row_have_no_points() -> None:
    assert edit_points([measured("greedy", 4.0, 6.0, threads=2), measured("input-guided", 2.0, 1.0)], SOURCES) == {}


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
