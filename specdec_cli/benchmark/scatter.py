"""Scatter plot of speedup against edit ratio, with a point for each line (Ge et al. 2022, Figure 5)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from specdec_cli.benchmark.comparison import baseline, milliseconds_per_sentence
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.errors import MissingLibraryError, UsageError
from specdec_cli.files import write_atomically
from specdec_cli.text.edits import word_edit_ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = (".svg", ".png", ".pdf")
SPREAD = 0.02
"""The width, in units of the edit ratio, over which points of equal edit ratio are spread."""


@dataclass(frozen=True)
class Point:
    """A point of the plot: the edit ratio of a line, and the speedup of a decoding over greedy decoding on this line."""

    edit_ratio: float
    speedup: float


def scatter(measured: Sequence[RowRuns], sources: Sequence[str]) -> dict[str, list[Point]]:
    """The points of the plot for every row with drafts that has a greedy baseline, by name of the row; a point for each line.

    `sources` are the decoded lines; blank lines have no point.
    """
    points: dict[str, list[Point]] = {}
    for one in measured:
        greedy = baseline(one.row, measured, "greedy")
        if not one.row.drafts or greedy is None:
            continue
        texts = [(source, output.text) for source, output in zip(sources, one.outputs, strict=True) if output.sentences]
        ratios = [word_edit_ratio(source, text) for source, text in texts]
        times = zip(milliseconds_per_sentence(greedy), milliseconds_per_sentence(one), strict=True)
        points[one.row.name] = [Point(ratio, before / after) for ratio, (before, after) in zip(ratios, times, strict=True)]
    return points


def spread_equal(values: Sequence[float]) -> list[float]:
    """`values` with 0 to SPREAD (0.02) added, so that equal values are spread evenly, and their points do not overlap."""
    counts, seen = Counter(values), Counter[float]()
    moved = []
    for value in values:
        moved.append(value + SPREAD * seen[value] / counts[value])
        seen[value] += 1
    return moved


def beside(plot: Path, name: str) -> Path:
    """The file of a further figure beside the plot `plot`: a-NAME.svg beside a.svg."""
    return plot.with_stem(f"{plot.stem}-{name}")


def check_plot(path: Path) -> None:
    """Check that a plot can be drawn in the format of the suffix of `path`. Nothing is written.

    Raises UsageError for an unknown suffix, and if matplotlib is not installed.
    """
    if path.suffix.lower() not in FORMATS:
        raise UsageError(f"plot {path}: the name must end with one of {', '.join(FORMATS)}")
    try:
        import matplotlib  # noqa: F401
    except ImportError as error:
        raise MissingLibraryError("a plot needs matplotlib", "plot") from error


def draw(points: Mapping[str, Sequence[Point]], path: Path, title: str) -> None:
    """Draw the scatter plot of `points` (by row name), and write it to `path` in the format of its suffix.

    A horizontal line marks the speedup 1.
    """
    figure, (axes,) = new_figure()
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
    save(figure, path)


def new_figure(panels: int = 1) -> "tuple[Figure, Sequence[Axes]]":
    """A figure with `panels` pairs of axes below each other, of 7 x 4.5 inches (3 inches high if there are several) each.

    It is drawn without a display.
    """
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5 if panels == 1 else 3 * panels), layout="constrained")
    return figure, list(figure.subplots(panels, squeeze=False)[:, 0])


def save(figure: "Figure", path: Path) -> None:
    """Write `figure` to `path` in the format of its suffix."""
    kind = path.suffix[1:].lower()
    write_atomically(path, lambda partial: figure.savefig(partial, format=kind))
