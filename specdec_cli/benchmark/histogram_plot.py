"""Plot of the histograms of speedups, with bars for each row and baseline (Ge et al. 2022, Figure 8)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from specdec_cli.benchmark.histogram import WIDTH, Bin
from specdec_cli.benchmark.scatter import new_figure, save


def draw_histograms(histograms: Mapping[tuple[str, str], Sequence[Bin]], path: Path, title: str) -> None:
    """Draw `histograms` (by names of a row and its baseline), and write them to `path` in the format of its suffix."""
    figure, (axes,) = new_figure()
    for (row, baseline), bins in histograms.items():
        axes.stairs([entry.count for entry in bins], [*(entry.low for entry in bins), bins[-1].low + WIDTH], label=f"{row} over {baseline}")
    axes.axvline(1, color="0.6", linewidth=1)
    axes.set(title=title, xlabel="speedup", ylabel="lines")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    save(figure, path)
