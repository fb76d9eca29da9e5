"""What a benchmark shows beside its table: analyses of the outputs, the speedups of single lines as histograms and points, and figures.

Each of these views is a dictionary as it is stored in JSON; the tables and figures are made from the dictionary.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from specdec_cli.benchmark.results import METRICS, Measured, show
from specdec_cli.benchmark.rows import Row, Sweep, swept_label
from specdec_cli.benchmark.tables import Table
from specdec_cli.errors import MissingLibraryError, UsageError
from specdec_cli.files import write_atomically
from specdec_cli.metrics.scoring import compound_bleu, end_precision
from specdec_cli.metrics.significance import RESAMPLES, TRIALS, significance
from specdec_cli.text.edits import word_edit_ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SIGNIFICANCE, OPERATIONS = "significance", "flops"
"""The names of two analyses: the one that compares each row with a baseline, and the one for which the floating-point operations of each
row are counted, in one more run.
"""
ENDS = {"all": None} | {f"{side} {count}": sign * count for side, sign in (("first", 1), ("last", -1)) for count in (5, 10, 15)}
"""The parts of a hypothesis whose n-grams are counted: all tokens, the first ones, or the last ones (negative)."""
Record = Mapping[str, Any]
"""The values of a line of an analysis by name of their column; None for a value that does not exist."""
Records = Callable[[Mapping[str, Measured], Sequence[str], str], Iterable[Record]]
"""Makes the records of an analysis from the rows by label, the references, and the code of the target language."""
FORMATS = (".svg", ".png", ".pdf")
"""The suffixes of figures."""
SPREAD = 0.02
"""The width, in units of the edit ratio, over which points of equal edit ratio are spread."""
BIN = 0.5
"""The width of the bins of a histogram of speedups."""
_BARS, _BAR = 0.8, 40


class Chart(NamedTuple):
    """A bar chart: the title of its y axis, the groups of bars on the x axis, and the values of each series by group (None: no bar)."""

    label: str
    groups: Sequence[str]
    series: Mapping[str, Sequence[float | None]]


@dataclass(frozen=True)
class Analysis:
    """An analysis: its title, and the function that computes its records.

    `columns` maps the keys of a record to the format of their values in the table ("": text). `panels` are the columns that are drawn
    together in a chart, by the title of its y axis, `stacked` or beside each other. `scores`: it compares the outputs with references.
    """

    title: str
    records: Records
    columns: Mapping[str, str]
    panels: Mapping[str, tuple[str, ...]]
    stacked: bool = False
    scores: bool = True

    def table(self, records: Sequence[Record]) -> Table:
        """The table of `records`: a line for each."""
        rows = tuple(tuple(show(each[key], spec) for key, spec in self.columns.items()) for each in records)
        return Table(tuple(self.columns), rows, sum(not spec for spec in self.columns.values()))

    def charts(self, records: Sequence[Record]) -> list[Chart]:
        """The charts of `records`, one for each panel.

        Each row is a group of bars. If an analysis has several records of a row, each kind of record is a group, with a bar for each row.
        """
        row, *kinds = (key for key, spec in self.columns.items() if not spec)
        groups = list(dict.fromkeys(record[kinds[0] if kinds else row] for record in records))
        names = dict.fromkeys(record[row] for record in records)
        return [
            Chart(label, groups, {name: [record[keys[0]] for record in records if record[row] == name] for name in names})
            if kinds
            else Chart(label, groups, {key: [record[key] for record in records] for key in keys})
            for label, keys in self.panels.items()
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
    names: Sequence[str], measured: Sequence[Measured], references: Sequence[str], language: str, sweep: Sweep, baseline: str | None = None
) -> dict[str, list[Record]]:
    """The records of the analyses `names`, keys of ANALYSES, by name.

    The values of `sweep` are added to the labels of rows. `language` is the code of the target language. The first row of the name
    `baseline` is the one that the analysis of significance compares the others with.
    """
    rows = {swept_label(one.row, sweep): one for one in measured}
    first = {label: one for label, one in rows.items() if one.row.name == baseline}
    ordered = dict([*first.items()][:1]) | rows
    return {
        name: list(ANALYSES[name].records(ordered if name == SIGNIFICANCE else rows, references, language)) for name in dict.fromkeys(names)
    }


def _texts(rows: Mapping[str, Measured]) -> dict[str, list[str]]:
    return {label: [output.text for output in row.outputs] for label, row in rows.items()}


def _significance(rows: Mapping[str, Measured], references: Sequence[str], _: str) -> Iterable[Record]:
    for name, one in significance(_texts(rows), references).items():
        yield {"decoding": name, "BLEU": one.bleu, "p, bootstrap": one.bootstrap, "p, randomisation": one.randomisation}


def _ends(rows: Mapping[str, Measured], references: Sequence[str], _: str) -> Iterable[Record]:
    for name, texts in _texts(rows).items():
        for part, tokens in ENDS.items():
            shares = {f"{order}-gram": end_precision(texts, references, order, tokens) for order in (1, 4)}
            yield {"decoding": name, "tokens": part} | shares


def _compounds(rows: Mapping[str, Measured], references: Sequence[str], language: str) -> Iterable[Record]:
    for name, texts in _texts(rows).items():
        yield {"decoding": name, "compound-split BLEU": compound_bleu(texts, references, language)}


def _flops(rows: Mapping[str, Measured], *_: object) -> Iterable[Record]:
    parts = ("encoder", "drafter", "verifier")
    for label, one in rows.items():
        counted, greedy = one.operations, one.greedy and one.greedy.operations
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
        {"decoding": "", "BLEU": ",.2f", "p, bootstrap": ",.4f", "p, randomisation": ",.4f"},
        {"BLEU": ("BLEU",), "probability": ("p, bootstrap", "p, randomisation")},
    ),
    "ends": Analysis(
        "Precision of 1-grams and 4-grams by part of the output:",
        _ends,
        {"decoding": "", "tokens": "", "1-gram": ".1%", "4-gram": ".1%"},
        {"precision of 1-grams": ("1-gram",), "precision of 4-grams": ("4-gram",)},
    ),
    "compounds": Analysis(
        "BLEU of tokens with split compounds (Moses tokeniser):",
        _compounds,
        {"decoding": "", "compound-split BLEU": ",.2f"},
        {"compound-split BLEU": ("compound-split BLEU",)},
    ),
    OPERATIONS: Analysis(
        "Floating-point operations a sentence, in GFLOP, as PyTorch counts them in float32, padding included:",
        _flops,
        {"decoding": ""}
        | dict.fromkeys(("encoder", "drafter", "verifier", "GFLOP"), ",.3f")
        | {"times greedy's": ",.2f", "speedup": ".2fx", "GFLOP / speedup": ",.3f"},
        {"GFLOP a sentence": ("encoder", "drafter", "verifier")},
        stacked=True,
        scores=False,
    ),
}
"""The analyses by the names that `bench --analysis` takes."""


def speedup_histogram(baseline: Sequence[float], times: Sequence[float]) -> list[Record]:
    """The histogram of the speedups `baseline[i]` / `times[i]`, of the times of line i in two decodings, from the smallest to the largest.

    A bin has `count` lines with a speedup from `low` to `low` + BIN (exclusive).
    """
    counts = Counter(int(before / after / BIN) for before, after in zip(baseline, times, strict=True))
    bins = range(min(counts, default=0), max(counts, default=-1) + 1)
    return [{"low": BIN * number, "count": counts[number]} for number in bins]


def histograms(measured: Sequence[Measured]) -> list[Record]:
    """Speedups of lines, by `bins`, of each `row` with drafts over its `baseline`, greedy and, if it was measured, beam search."""
    return [
        {"row": one.row.label, "baseline": other.row.label, "bins": speedup_histogram(other.milliseconds, one.milliseconds)}
        for one in measured
        if one.row.drafts
        for other in (one.greedy, one.beam)
        if other
    ]


def histogram_table(bins: Sequence[Record]) -> Table:
    """The table of a histogram: for each bin of speedups, a bar, and the number and share of its lines (Ge et al. 2022, Figure 8)."""
    total, largest = sum(each["count"] for each in bins), max((each["count"] for each in bins), default=0)
    rows = (
        (f"{low:.1f}x to {low + BIN:.1f}x", "█" * round(_BAR * count / largest), f"{count:,}", f"{count / total:.1%}")
        for low, count in ((each["low"], each["count"]) for each in bins)
    )
    return Table(("speedup", "", "lines", "share"), tuple(rows), names=2)


def edit_points(measured: Sequence[Measured], sources: Sequence[str]) -> dict[str, list[Record]]:
    """For each row with drafts, by its name, a record for each line of `sources` that is not blank: its `edit_ratio`, and the `speedup`
    over greedy decoding of this line. Rows without a greedy baseline are left out.
    """
    points: dict[str, list[Record]] = {}
    for one in measured:
        if one.row.drafts and one.greedy is not None:
            texts = [(source, output.text) for source, output in zip(sources, one.outputs, strict=True) if output.sentences]
            times = zip(texts, one.greedy.milliseconds, one.milliseconds, strict=True)
            points[one.row.name] = [{"edit_ratio": word_edit_ratio(*pair), "speedup": before / after} for pair, before, after in times]
    return points


def quality_points(results: Sequence[Measured], sweep: Sweep) -> tuple[dict[str, tuple[float, float]], str, str]:
    """The points (speedup, quality) of `results` by their labels, with the values of `sweep`, and the titles of both axes.

    Quality is the first metric that was computed; the speedup is that over beam search if a row has one, else over greedy. A row without
    one of them has no point.
    """
    over = "beam" if any(result.measured("speedup_vs_beam") for result in results) else "greedy"
    metric = next((key for key in METRICS if any(key in result.quality for result in results)), "")
    pairs = ((result, result.measured(f"speedup_vs_{over}")) for result in results if metric in result.quality)
    points = {swept_label(result.row, sweep): (speedup, result.quality[metric]) for result, speedup in pairs if speedup is not None}
    return points, f"speedup over {over}", METRICS.get(metric, "")


def profile_chart(profiles: Mapping[str, Mapping[str, float]], sentences: int) -> Chart:
    """The chart of `profiles`, the seconds spent on `sentences` sentences by row and module: milliseconds a sentence."""
    modules = dict.fromkeys(module for seconds in profiles.values() for module in seconds)
    series = {module: [1000 * seconds.get(module, 0.0) / sentences for seconds in profiles.values()] for module in modules}
    return Chart("ms a sentence", list(profiles), series)


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


@contextmanager
def _figure(path: Path, title: str, panels: int = 1, **grid: Any) -> "Iterator[Sequence[Axes]]":
    """Draw a figure with `panels` pairs of axes below each other in a `with` block, and write it to `path` in the format of its suffix."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5 if panels == 1 else 3 * panels), layout="constrained")
    axes: Sequence[Axes] = list(figure.subplots(panels, squeeze=False)[:, 0])
    axes[0].set_title(title)
    yield axes
    for each in axes:
        each.grid(alpha=0.3, **grid)
    write_atomically(path, lambda partial: figure.savefig(partial, format=path.suffix[1:].lower()))


def draw(plot: Path, title: str, results: Sequence[Measured], sweep: Sweep, sentences: int, views: Mapping[str, Any]) -> None:
    """Draw all of `views` that has a figure: in `plot` the points of lines or else of `results`, and histograms, profiles and analyses
    beside it: a-NAME.svg beside a.svg.
    """

    def beside(name: str) -> Path:
        return plot.with_stem(f"{plot.stem}-{name}")

    if "points" in views:
        draw_points(views["points"], plot, title)
    else:
        draw_quality(*quality_points(results, sweep), plot, title)
    if "histograms" in views:
        draw_histograms(views["histograms"], beside("histogram"), title)
    if "profiles" in views:
        draw_bars([profile_chart(views["profiles"], sentences)], beside("profile"), title, stacked=True)
    for name, records in views.get("analyses", {}).items():
        draw_bars(ANALYSES[name].charts(records), beside(name), title, stacked=ANALYSES[name].stacked)


def draw_points(points: Mapping[str, Sequence[Record]], path: Path, title: str) -> None:
    """Draw the scatter plot of `points` (by row name), and write it to `path`."""
    with _figure(path, title) as (axes,):
        axes.axhline(1, color="0.6", linewidth=1)
        for name, of_row in points.items():
            ratios, speedups = ([point[key] for point in of_row] for key in ("edit_ratio", "speedup"))
            axes.scatter(spread_equal(ratios), speedups, s=9, alpha=0.5, linewidths=0, label=name)
        words = f"edit ratio (word edit distance / words of the source); equal ones spread over {SPREAD}"
        axes.set(xlabel=words, ylabel="speedup over greedy")
        axes.set_xlim(left=0)
        axes.set_ylim(bottom=0)
        axes.legend(loc="upper right", frameon=False)


def spread_equal(values: Sequence[float]) -> list[float]:
    """`values` with 0 to SPREAD (0.02) added, so that equal values are spread evenly, and their points do not overlap."""
    counts, seen = Counter(values), Counter[float]()
    moved = []
    for value in values:
        moved.append(value + SPREAD * seen[value] / counts[value])
        seen[value] += 1
    return moved


def draw_quality(points: Mapping[str, tuple[float, float]], speedup: str, quality: str, path: Path, title: str) -> None:
    """Draw `points`, with the titles `speedup` and `quality` of the axes, and write them to `path`; each has its label beside it."""
    with _figure(path, title) as (axes,):
        for label, point in points.items():
            axes.scatter(*point, s=28, label=label)
            axes.annotate(label, point, xytext=(5, 4), textcoords="offset points", fontsize=8)
        axes.axvline(1, color="0.6", linewidth=1)
        axes.set(xlabel=speedup, ylabel=quality)
        axes.margins(y=0.15)
        # A third of the width remains for the labels of the rightmost points.
        axes.set_xlim(0, 1.5 * max([1.0, *(faster for faster, _ in points.values())]))


def draw_histograms(histograms: Sequence[Record], path: Path, title: str) -> None:
    """Draw `histograms`, as `histograms` makes them, and write them to `path`."""
    with _figure(path, title) as (axes,):
        for each in histograms:
            lows = [one["low"] for one in each["bins"]]
            axes.stairs([one["count"] for one in each["bins"]], [*lows, lows[-1] + BIN], label=f"{each['row']} over {each['baseline']}")
        axes.axvline(1, color="0.6", linewidth=1)
        axes.set(xlabel="speedup", ylabel="lines")
        axes.legend(frameon=False)


def draw_bars(charts: Sequence[Chart], path: Path, title: str, *, stacked: bool = False) -> None:
    """Draw `charts` below each other in one figure, and write it to `path`; the bars of a group are `stacked` or beside each other."""
    with _figure(path, title, len(charts), axis="y") as panels:
        for (label, groups, series), axes in zip(charts, panels, strict=True):
            width = _BARS if stacked else _BARS / max(1, len(series))
            below = [0.0] * len(groups)
            for number, (name, values) in enumerate(series.items()):
                shift = 0.0 if stacked else (number - (len(series) - 1) / 2) * width
                heights = [value or 0.0 for value in values]
                axes.bar([index + shift for index in range(len(heights))], heights, width, bottom=below, label=name)
                if stacked:
                    below = [low + height for low, height in zip(below, heights, strict=True)]
            axes.set_xticks(range(len(groups)), groups, rotation=20, ha="right")
            axes.set_ylabel(label)
            if len(series) > 1:
                axes.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1, 0.5))
