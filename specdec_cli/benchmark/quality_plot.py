"""Plot of quality against speedup, with a point for each row (Xia et al. 2022, Figure 1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.benchmark.report import METRICS
from specdec_cli.benchmark.scatter import new_figure, save
from specdec_cli.benchmark.summary import Result
from specdec_cli.benchmark.sweeps import Sweep, swept_label


@dataclass(frozen=True)
class QualityPlot:
    """The points (speedup, quality) of rows by their labels, and the titles of both axes."""

    points: dict[str, tuple[float, float]]
    speedup: str
    quality: str


def quality_plot(results: Sequence[Result], sweep: Sweep) -> QualityPlot:
    """The plot of `results`: their first quality metric against the speedup over beam search if a row has one, else over greedy.

    The labels have the values of `sweep`. A row without quality, or without the speedup, has no point.
    """
    baseline = "beam" if any(result.measured("speedup_vs_beam") for result in results) else "greedy"
    metric = next((key for key in METRICS if any(key in result.quality for result in results)), "")
    points = {}
    for result in results:
        speedup = result.measured(f"speedup_vs_{baseline}")
        if speedup is not None and metric in result.quality:
            points[swept_label(result.row, sweep)] = (speedup, result.quality[metric])
    return QualityPlot(points, f"speedup over {baseline}", METRICS.get(metric, ""))


def draw_quality(plot: QualityPlot, path: Path, title: str) -> None:
    """Draw `plot`, and write it to `path` in the format of its suffix; each point has its label beside it."""
    figure, (axes,) = new_figure()
    for label, (speedup, quality) in plot.points.items():
        axes.scatter([speedup], [quality], s=28, label=label)
        axes.annotate(label, (speedup, quality), xytext=(5, 4), textcoords="offset points", fontsize=8)
    axes.axvline(1, color="0.6", linewidth=1)
    axes.set(title=title, xlabel=plot.speedup, ylabel=plot.quality)
    axes.margins(y=0.15)
    # A third of the width remains for the labels of the rightmost points.
    axes.set_xlim(0, 1.5 * max([1.0, *(speedup for speedup, _ in plot.points.values())]))
    axes.grid(alpha=0.3)
    save(figure, path)
