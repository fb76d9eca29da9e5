"""Bar charts of the analyses and the profiles of a benchmark."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.benchmark.scatter import new_figure, save

WIDTH = 0.8
"""The width of the bars of a group together; groups are 1 apart."""


@dataclass(frozen=True)
class BarChart:
    """A chart with `groups` of bars on the x axis, and in each a bar for every name of `series`.

    The values of a series are those of its bars by group; None: there is no bar. With `stacked`, the bars of a group stand on each
    other. `label` is the title of the y axis.
    """

    label: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float | None]]
    stacked: bool = False


def profile_chart(profiles: Mapping[str, Mapping[str, float]], sentences: int) -> BarChart:
    """The chart of `profiles`, the seconds spent on `sentences` sentences by row and module: milliseconds a sentence, stacked."""
    modules = dict.fromkeys(module for seconds in profiles.values() for module in seconds)
    series = {module: [1000 * seconds.get(module, 0.0) / sentences for seconds in profiles.values()] for module in modules}
    return BarChart("ms a sentence", list(profiles), series, stacked=True)


def draw_bars(charts: Sequence[BarChart], path: Path, title: str) -> None:
    """Draw `charts` below each other in one figure, and write it to `path` in the format of its suffix."""
    figure, panels = new_figure(len(charts))
    for chart, axes in zip(charts, panels, strict=True):
        width = WIDTH if chart.stacked else WIDTH / max(1, len(chart.series))
        below = [0.0] * len(chart.groups)
        for number, (name, values) in enumerate(chart.series.items()):
            shift = 0.0 if chart.stacked else (number - (len(chart.series) - 1) / 2) * width
            heights = [value or 0.0 for value in values]
            axes.bar([place + shift for place in range(len(heights))], heights, width, bottom=below, label=name)
            if chart.stacked:
                below = [low + height for low, height in zip(below, heights, strict=True)]
        axes.set_xticks(range(len(chart.groups)), chart.groups, rotation=20, ha="right")
        axes.set_ylabel(chart.label)
        axes.grid(axis="y", alpha=0.3)
        if len(chart.series) > 1:
            axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
    panels[0].set_title(title)
    save(figure, path)
