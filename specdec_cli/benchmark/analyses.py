"""Analyses of the outputs of a benchmark's rows, each with a table of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.benchmark.bar_plot import BarChart
from specdec_cli.benchmark.columns import NOTHING, decimals, percent, ratio
from specdec_cli.benchmark.comparison import Comparison, compare
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.report import Table
from specdec_cli.benchmark.rows import Row
from specdec_cli.benchmark.sweeps import Sweep, swept_label
from specdec_cli.errors import UsageError
from specdec_cli.metrics.compounds import compound_bleu
from specdec_cli.metrics.ends import end_precision
from specdec_cli.metrics.significance import RESAMPLES, TRIALS, significance

SIGNIFICANCE = "significance"
"""The analysis that compares each row with a baseline."""
OPERATIONS = "flops"
"""The analysis that needs the operations of each row, which are counted in a further run."""
ENDS = (None, 5, 10, 15, -5, -10, -15)
"""The parts of a hypothesis whose n-grams are counted: all tokens, the first ones, or the last ones (negative)."""
Record = Mapping[str, Any]
"""The values of a line of an analysis by name of their column; None for a value that does not exist."""


@dataclass(frozen=True)
class Measured:
    """What an analysis reads: the rows with their baselines by label, the references, and the code of the target language.

    `operations` has the numbers of operations of each row by part of the model (None: they cannot be counted). `baseline` is the label
    of the row that the others are compared with (None: the first).
    """

    rows: Mapping[str, Comparison]
    references: Sequence[str]
    language: str
    operations: Mapping[Row, Mapping[str, int] | None]
    baseline: str | None = None

    @property
    def texts(self) -> dict[str, list[str]]:
        """The output lines of each row by its label."""
        return {label: [output.text for output in row.measured.outputs] for label, row in self.rows.items()}


@dataclass(frozen=True)
class Analysis:
    """An analysis: its title, the function that computes its records, and how each column of its table formats a value.

    `panels` are the columns that are drawn together in a chart, with the title of its y axis; the bars of a panel are `stacked` or
    beside each other. `scores`: the analysis compares the outputs with references.
    """

    title: str
    records: Callable[[Measured], Iterable[Record]]
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
    measured: Sequence[RowRuns],
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
    rows = {swept_label(one.measured.row, sweep): one for one in compare(measured)}
    label = next((label for label, one in rows.items() if one.measured.row.name == baseline), None)
    everything = Measured(rows, references, language, operations, label)
    return {name: list(ANALYSES[name].records(everything)) for name in dict.fromkeys(names)}


def _significance(outputs: Measured) -> Iterable[Record]:
    texts = outputs.texts
    first = {} if outputs.baseline is None else {outputs.baseline: texts[outputs.baseline]}
    for name, one in significance(first | texts, outputs.references).items():
        yield {"decoding": name, "BLEU": one.bleu, "p, bootstrap": one.bootstrap, "p, randomisation": one.randomisation}


def _ends(outputs: Measured) -> Iterable[Record]:
    for name, texts in outputs.texts.items():
        for tokens in ENDS:
            part = "all" if tokens is None else f"first {tokens}" if tokens > 0 else f"last {-tokens}"
            shares = {f"{order}-gram": end_precision(texts, outputs.references, order, tokens) for order in (1, 4)}
            yield {"decoding": name, "tokens": part} | shares


def _compounds(outputs: Measured) -> Iterable[Record]:
    for name, texts in outputs.texts.items():
        yield {"decoding": name, "compound-split BLEU": compound_bleu(texts, outputs.references, outputs.language)}


def _flops(measured: Measured) -> Iterable[Record]:
    parts = ("encoder", "drafter", "verifier")
    for label, one in measured.rows.items():
        counted = measured.operations.get(one.measured.row)
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
