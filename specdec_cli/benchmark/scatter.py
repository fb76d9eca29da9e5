"""Speedup against edit ratio, a point a line (technical report, Figure 5)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.benchmark.comparison import milliseconds_per_sentence, reference
from specdec_cli.benchmark.records import Measured
from specdec_cli.errors import UsageError
from specdec_cli.files import write_atomically
from specdec_cli.text.edits import word_edit_ratio

FORMATS = (".svg", ".png", ".pdf")
SPREAD = 0.02
"""Width over which points of one edit ratio are drawn."""


@dataclass(frozen=True)
class Point:
    """A line: word edit distance over words of the source, and the time of greedy over that of the row."""

    edit_ratio: float
    speedup: float


def scatter(measured: Sequence[Measured], sources: Sequence[str]) -> dict[str, list[Point]]:
    """Points of every row that drafts and has a greedy row to compare with, by its name; blank lines have none."""
    points: dict[str, list[Point]] = {}
    for one in measured:
        greedy = reference(one.row, measured, "greedy")
        if not one.row.drafts or greedy is None:
            continue
        texts = [(source, output.text) for source, output in zip(sources, one.outputs, strict=True) if output.sentences]
        ratios = [word_edit_ratio(source, text) for source, text in texts]
        times = zip(milliseconds_per_sentence(greedy), milliseconds_per_sentence(one), strict=True)
        points[one.row.name] = [Point(ratio, before / after) for ratio, (before, after) in zip(ratios, times, strict=True)]
    return points


def spread_equal(values: Sequence[float]) -> list[float]:
    """`values`, of which equal ones are moved up by 0 to `SPREAD` in equal steps, so that points do not hide each other."""
    counts, seen = Counter(values), Counter[float]()
    moved = []
    for value in values:
        moved.append(value + SPREAD * seen[value] / counts[value])
        seen[value] += 1
    return moved


def check_plot(path: Path) -> None:
    """Better now than after all has been measured. Raises UsageError for an unknown format or a missing library."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"plot {path}: the name must end with one of {', '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise UsageError("a plot needs matplotlib: pip install 'specdec[plot]'") from error


def draw(points: Mapping[str, Sequence[Point]], path: Path, title: str) -> None:
    """Store the figure in `path`, whose suffix is its format; the line in it is that of speedup 1."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.axhline(1, color="0.6", linewidth=1)
    for name, of_row in points.items():
        ratios, speedups = [point.edit_ratio for point in of_row], [point.speedup for point in of_row]
        axes.scatter(spread_equal(ratios), speedups, s=9, alpha=0.5, linewidths=0, label=name)
    axes.set(
        title=title,
        xlabel=f"edit ratio (word edit distance / words of the source); equal ones spread over {SPREAD}",
        ylabel="speedup over greedy",
    )
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(loc="upper right", frameon=False)
    kind = path.suffix[1:].lower()
    write_atomically(path, lambda partial: figure.savefig(partial, format=kind))
