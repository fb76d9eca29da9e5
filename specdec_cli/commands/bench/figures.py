"""`specdec bench --plot`: the figures of a run."""

from pathlib import Path

from specdec_cli.benchmark.analyses import ANALYSES
from specdec_cli.benchmark.bar_plot import draw_bars, profile_chart
from specdec_cli.benchmark.histogram_plot import draw_histograms
from specdec_cli.benchmark.quality_plot import draw_quality
from specdec_cli.benchmark.scatter import beside, draw
from specdec_cli.commands.bench.run import Outcome


def draw_outcome(outcome: Outcome, plot: Path, title: str) -> None:
    """Draw all of `outcome` that has a figure: in `plot` the rows, and beside it histograms, profiles and analyses."""
    if outcome.quality is None:
        draw(outcome.points, plot, title)
    else:
        draw_quality(outcome.quality, plot, title)
    if outcome.histograms:
        draw_histograms(outcome.histograms, beside(plot, "histogram"), title)
    if outcome.profiles:
        draw_bars([profile_chart(outcome.profiles, outcome.examples["sentences"])], beside(plot, "profile"), title)
    for name, records in outcome.analyses.items():
        draw_bars(ANALYSES[name].charts(records), beside(plot, name), title)
