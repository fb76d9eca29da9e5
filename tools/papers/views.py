"""Tables of docs/papers.md from what `bench --json` stores beside its rows: analyses, profiles, histograms and points.

Each function takes the name of a run; if the run is not stored, the result has only its command.
"""

from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import Any

from specdec_cli.benchmark.analyses import ANALYSES
from specdec_cli.benchmark.columns import decimals, ratio
from specdec_cli.benchmark.histogram import Bin
from specdec_cli.benchmark.report import histogram_table, profile_table
from tools.papers.tables import sources, stored
from tools.results import Stored
from tools.tables import markdown, row_name

EDIT_RATIOS = (0.0, 0.05, 0.1, 0.2, 0.4, 10.0)
"""The upper ends, inclusive, of the ranges of edit ratios for which speedups are given; the first range holds the unedited lines."""


def paper_analysis(run: str, name: str) -> str:
    """The Markdown table of the analysis `name`, a key of ANALYSES."""
    return _view(run, lambda result: ANALYSES[name].table(result.record["analyses"][name]).to_markdown())


def paper_profile(run: str) -> str:
    """The Markdown table of the time by module of each row that was profiled."""
    return _view(run, _profile)


def paper_histogram(run: str) -> str:
    """Markdown tables of the speedups by sentence of each row that drafts, over each baseline."""
    return _view(run, lambda result: "\n".join(map(_histogram, result.record["histograms"])))


def paper_edits(run: str) -> str:
    """The Markdown table of the median speedup over greedy decoding by edit ratio, for each row that drafts."""
    return _view(run, lambda result: _edits(result.record["points"]))


def _view(run: str, table: Callable[[Stored], str]) -> str:
    result = stored(run)
    return ("" if result is None else table(result)) + sources([run])


def _profile(result: Stored) -> str:
    iterations = {row_name(row): row["iterations"] for row in result.rows}
    return profile_table(result.record["profiles"], result.record["input"]["sentences"], iterations).to_markdown()


def _histogram(record: Mapping[str, Any]) -> str:
    bins = [Bin(**one) for one in record["bins"]]
    return f"Speedup of {record['row']} over {record['baseline']}:\n\n{histogram_table(bins).to_markdown()}"


def _edits(points: Mapping[str, Sequence[Mapping[str, float]]]) -> str:
    rows = []
    for name, of_row in points.items():
        for low, high in zip((-1.0, *EDIT_RATIOS), EDIT_RATIOS, strict=False):
            speedups = [one["speedup"] for one in of_row if low < one["edit_ratio"] <= high]
            label = "0" if low < 0 else f"above {decimals(2)(low)}, up to {decimals(2)(high)}"
            if speedups:
                rows.append((name, label, str(len(speedups)), ratio(median(speedups))))
    return markdown(("decoding", "edit ratio", "lines", "median speedup"), rows, 2)
