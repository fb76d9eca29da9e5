"""Views of a benchmark beside its table: analyses of the outputs, histograms and points of the speedups of lines, and figures."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from specdec_cli.benchmark.results import NOTHING, Measured, Result, baseline, compare, decimals, percent, ratio
from specdec_cli.benchmark.rows import BASELINES, Row, Sweep, swept_label
from specdec_cli.benchmark.tables import METRICS, Table
from specdec_cli.errors import MissingLibraryError, UsageError
from specdec_cli.files import write_atomically
from specdec_cli.metrics.scoring import compound_bleu, end_precision
from specdec_cli.metrics.significance import RESAMPLES, TRIALS, significance
from specdec_cli.text.edits import word_edit_ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SIGNIFICANCE = "significance"
"""The analysis that compares each row with a baseline."""
OPERATIONS = "flops"
"""The analysis that needs the operations of each row, which are counted in a further run."""
ENDS = (None, 5, 10, 15, -5, -10, -15)
"""The parts of a hypothesis whose n-grams are counted: all tokens, the first ones, or the last ones (negative)."""
Record = Mapping[str, Any]
"""The values of a line of an analysis by name of their column; None for a value that does not exist."""
FORMATS = (".svg", ".png", ".pdf")
"""The suffixes of figures."""
SPREAD = 0.02
"""The width, in units of the edit ratio, over which points of equal edit ratio are spread."""
BIN = 0.5
"""The width of the bins of a histogram of speedups."""
_BARS, _BAR = 0.8, 40


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


@dataclass(frozen=True)
class Analysed:
    """What an analysis reads: the rows with their baselines by label, the references, and the code of the target language.

    `operations` has the numbers of operations of each row by part of the model (None: they cannot be counted). `baseline` is the label
    of the row that the others are compared with (None: the first).
    """

    rows: Mapping[str, Measured]
    references: Sequence[str]
    language: str
    operations: Mapping[Row, Mapping[str, int] | None]
    baseline: str | None = None

    @property
    def texts(self) -> dict[str, list[str]]:
        """The output lines of each row by its label."""
        return {label: [output.text for output in row.outputs] for label, row in self.rows.items()}


@dataclass(frozen=True)
class Analysis:
    """An analysis: its title, the function that computes its records, and how each column of its table formats a value.

    `panels` are the columns that are drawn together in a chart, with the title of its y axis; the bars of a panel are `stacked` or
    beside each other. `scores`: the analysis compares the outputs with references.
    """

    title: str
    records: Callable[[Analysed], Iterable[Record]]
    columns: Mapping[str, Callable[[Any], str]]
    panels: Mapping[str, tuple[str, ...]]
    stacked: bool = False
    scores: bool = True

    def table(self, records: Sequence[Record]) -> Table:
        """The table of `records`: a line for each."""
        cells = (tuple(NOTHING if each[key] is None else show(each[key]) for key, show in self.columns.items()) for each in records)
        names = sum(show is str for show in self.columns.values())
        return Table(tuple(self.columns), tuple(cells), names)

    def charts(self, records: Sequence[Record]) -> list[BarChart]:
        """The charts of `records`, one for each panel.

        Each row is a group of bars. If an analysis has several records of a row, each kind of record is a group, with a bar for each row.
        """
        row, *kinds = (key for key, show in self.columns.items() if show is str)
        if not kinds:
            groups = [record[row] for record in records]
            return [
                BarChart(label, groups, {key: [record[key] for record in records] for key in keys}, self.stacked)
                for label, keys in self.panels.items()
            ]
        groups = list(dict.fromkeys(record[kinds[0]] for record in records))
        rows = dict.fromkeys(record[row] for record in records)
        return [
            BarChart(label, groups, {name: [record[key] for record in records if record[row] == name] for name in rows})
            for label, (key,) in self.panels.items()
        ]


def check_analyses(names: Sequence[str], baseline: str | None = None, *, references: bool) -> None:
    """Raise UsageError for a name that is not a key of ANALYSES, for references that are missing, and for a `baseline` that none reads."""
    for name in names:
        if name not in ANALYSES:
            raise UsageError(f"analysis {name!r} is not known; known are {', '.join(ANALYSES)}")
        if ANALYSES[name].scores and not references:
            raise UsageError(f"analysis {name} needs text with one reference for each line")
    if baseline is not None and SIGNIFICANCE not in names:
        raise UsageError(f"a baseline is for the analysis {SIGNIFICANCE}, which was not asked for")


def check_baseline(name: str | None, rows: Sequence[Row]) -> None:
    """Raise UsageError if none of `rows` has the name `name`; None is the first row."""
    if name is not None and all(row.name != name for row in rows):
        raise UsageError(f"baseline {name}: there is no such row; the rows are {', '.join(dict.fromkeys(row.name for row in rows))}")


def analyse(
    names: Sequence[str],
    measured: Sequence[Measured],
    references: Sequence[str],
    language: str,
    sweep: Sweep,
    operations: Mapping[Row, Mapping[str, int] | None],
    baseline: str | None = None,
) -> dict[str, list[Record]]:
    """The records of the analyses `names`, keys of ANALYSES, by name; an analysis that is named twice is done once.

    The values of `sweep` are added to the labels of rows. `operations` are those of each row, by part of the model. `baseline` is the
    name of a row, as `bench --row` takes it: the first row of that name is the baseline of the analysis of significance.
    """
    rows = {swept_label(one.row, sweep): one for one in compare(measured)}
    label = next((label for label, one in rows.items() if one.row.name == baseline), None)
    everything = Analysed(rows, references, language, operations, label)
    return {name: list(ANALYSES[name].records(everything)) for name in dict.fromkeys(names)}


def _significance(outputs: Analysed) -> Iterable[Record]:
    texts = outputs.texts
    first = {} if outputs.baseline is None else {outputs.baseline: texts[outputs.baseline]}
    for name, one in significance(first | texts, outputs.references).items():
        yield {"decoding": name, "BLEU": one.bleu, "p, bootstrap": one.bootstrap, "p, randomisation": one.randomisation}


def _ends(outputs: Analysed) -> Iterable[Record]:
    for name, texts in outputs.texts.items():
        for tokens in ENDS:
            part = "all" if tokens is None else f"first {tokens}" if tokens > 0 else f"last {-tokens}"
            shares = {f"{order}-gram": end_precision(texts, outputs.references, order, tokens) for order in (1, 4)}
            yield {"decoding": name, "tokens": part} | shares


def _compounds(outputs: Analysed) -> Iterable[Record]:
    for name, texts in outputs.texts.items():
        yield {"decoding": name, "compound-split BLEU": compound_bleu(texts, outputs.references, outputs.language)}


def _flops(measured: Analysed) -> Iterable[Record]:
    parts = ("encoder", "drafter", "verifier")
    for label, one in measured.rows.items():
        counted = measured.operations.get(one.row)
        greedy = None if one.greedy is None else measured.operations.get(one.greedy.row)
        giga = None if counted is None else {part: counted[part] / one.sentences / 1e9 for part in parts}
        total, speedup = None if giga is None else sum(giga.values()), one.speedup_over(one.greedy)
        yield {
            "decoding": label,
            **(giga or dict.fromkeys(parts)),
            "GFLOP": total,
            "times greedy's": sum(counted.values()) / sum(greedy.values()) if counted and greedy else None,
            "speedup": speedup,
            "GFLOP / speedup": total / speedup if total is not None and speedup else None,
        }


ANALYSES: Mapping[str, Analysis] = {
    SIGNIFICANCE: Analysis(
        f"Probability of the difference in BLEU to the first row by chance (paired bootstrap, {RESAMPLES:,} samples; approximate "
        f"randomisation, {TRIALS:,} trials):",
        _significance,
        {"decoding": str, "BLEU": decimals(2), "p, bootstrap": decimals(4), "p, randomisation": decimals(4)},
        {"BLEU": ("BLEU",), "probability": ("p, bootstrap", "p, randomisation")},
    ),
    "ends": Analysis(
        "Precision of 1-grams and 4-grams by part of the output:",
        _ends,
        {"decoding": str, "tokens": str, "1-gram": percent(1), "4-gram": percent(1)},
        {"precision of 1-grams": ("1-gram",), "precision of 4-grams": ("4-gram",)},
    ),
    "compounds": Analysis(
        "BLEU of tokens with split compounds (Moses tokeniser):",
        _compounds,
        {"decoding": str, "compound-split BLEU": decimals(2)},
        {"compound-split BLEU": ("compound-split BLEU",)},
    ),
    OPERATIONS: Analysis(
        "Floating-point operations a sentence, in GFLOP, from the configuration of the model and the counted rounds:",
        _flops,
        {
            "decoding": str,
            **dict.fromkeys(("encoder", "drafter", "verifier", "GFLOP"), decimals(3)),
            "times greedy's": decimals(2),
            "speedup": ratio,
            "GFLOP / speedup": decimals(3),
        },
        {"GFLOP a sentence": ("encoder", "drafter", "verifier")},
        stacked=True,
        scores=False,
    ),
}
"""The analyses by the names that `bench --analysis` takes."""


@dataclass(frozen=True)
class Bin:
    """A bin of a histogram: `count` lines have a speedup from `low` to `low` + 0.5 (exclusive)."""

    low: float
    count: int


def speedup_histogram(baseline: Sequence[float], times: Sequence[float]) -> list[Bin]:
    """The histogram of the speedups `baseline[i]` / `times[i]`, of the times of line i in two decodings.

    The bins go from the smallest to the largest speedup; empty bins between them are included.
    """
    counts = Counter(int(before / after / BIN) for before, after in zip(baseline, times, strict=True))
    return [Bin(BIN * number, counts[number]) for number in range(min(counts, default=0), max(counts, default=-1) + 1)]


def histograms(measured: Sequence[Measured]) -> dict[tuple[str, str], list[Bin]]:
    """Speedups of lines, by bins, of each row with drafts over greedy and, if it was measured, over beam search.

    The keys are the labels of the row and of the other.
    """
    pairs = [(one, baseline(one.row, measured, name)) for one in measured if one.row.drafts for name in BASELINES]
    return {(one.row.label, other.row.label): speedup_histogram(other.milliseconds, one.milliseconds) for one, other in pairs if other}


def histogram_table(bins: Sequence[Bin]) -> Table:
    """The table of a histogram: for each bin of speedups, a bar, and the number and share of its lines (Ge et al. 2022, Figure 8)."""
    total, largest = sum(entry.count for entry in bins), max((entry.count for entry in bins), default=0)
    rows = []
    for entry in bins:
        label = f"{entry.low:.1f}x to {entry.low + BIN:.1f}x"
        rows.append((label, "█" * round(_BAR * entry.count / largest), f"{entry.count:,}", f"{entry.count / total:.1%}"))
    return Table(("speedup", "", "lines", "share"), tuple(rows), names=2)


@dataclass(frozen=True)
class Point:
    """A point of the plot: the edit ratio of a line, and the speedup of a decoding over greedy decoding on this line."""

    edit_ratio: float
    speedup: float


def edit_points(measured: Sequence[Measured], sources: Sequence[str]) -> dict[str, list[Point]]:
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
        times = zip(greedy.milliseconds, one.milliseconds, strict=True)
        points[one.row.name] = [Point(ratio, before / after) for ratio, (before, after) in zip(ratios, times, strict=True)]
    return points


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


def beside(plot: Path, name: str) -> Path:
    """The file of a further figure beside the plot `plot`: a-NAME.svg beside a.svg."""
    return plot.with_stem(f"{plot.stem}-{name}")


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


def draw_points(points: Mapping[str, Sequence[Point]], path: Path, title: str) -> None:
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


def spread_equal(values: Sequence[float]) -> list[float]:
    """`values` with 0 to SPREAD (0.02) added, so that equal values are spread evenly, and their points do not overlap."""
    counts, seen = Counter(values), Counter[float]()
    moved = []
    for value in values:
        moved.append(value + SPREAD * seen[value] / counts[value])
        seen[value] += 1
    return moved


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


def draw_histograms(histograms: Mapping[tuple[str, str], Sequence[Bin]], path: Path, title: str) -> None:
    """Draw `histograms` (by names of a row and its baseline), and write them to `path` in the format of its suffix."""
    figure, (axes,) = new_figure()
    for (row, other), bins in histograms.items():
        axes.stairs([entry.count for entry in bins], [*(entry.low for entry in bins), bins[-1].low + BIN], label=f"{row} over {other}")
    axes.axvline(1, color="0.6", linewidth=1)
    axes.set(title=title, xlabel="speedup", ylabel="lines")
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    save(figure, path)


def profile_chart(profiles: Mapping[str, Mapping[str, float]], sentences: int) -> BarChart:
    """The chart of `profiles`, the seconds spent on `sentences` sentences by row and module: milliseconds a sentence, stacked."""
    modules = dict.fromkeys(module for seconds in profiles.values() for module in seconds)
    series = {module: [1000 * seconds.get(module, 0.0) / sentences for seconds in profiles.values()] for module in modules}
    return BarChart("ms a sentence", list(profiles), series, stacked=True)


def draw_bars(charts: Sequence[BarChart], path: Path, title: str) -> None:
    """Draw `charts` below each other in one figure, and write it to `path` in the format of its suffix."""
    figure, panels = new_figure(len(charts))
    for chart, axes in zip(charts, panels, strict=True):
        width = _BARS if chart.stacked else _BARS / max(1, len(chart.series))
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
