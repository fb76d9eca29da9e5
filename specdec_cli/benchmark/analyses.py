"""Analyses of the outputs of a benchmark's rows, each with a table of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from specdec_cli.benchmark.columns import NOTHING, decimals, percent
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.report import Table
from specdec_cli.benchmark.rows import Row
from specdec_cli.errors import UsageError
from specdec_cli.metrics.compounds import compound_bleu
from specdec_cli.metrics.ends import end_precision
from specdec_cli.metrics.significance import RESAMPLES, TRIALS, significance

ENDS = (None, 5, 10, 15, -5, -10, -15)
"""The parts of a hypothesis whose n-grams are counted: all tokens, the first ones, or the last ones (negative)."""
Record = Mapping[str, Any]
"""The values of a line of an analysis by name of their column; None for a value that does not exist."""


@dataclass(frozen=True)
class Outputs:
    """What an analysis reads: the output lines of each row by its label, the references, and the code of the target language."""

    texts: Mapping[str, Sequence[str]]
    references: Sequence[str]
    language: str


@dataclass(frozen=True)
class Analysis:
    """An analysis: its title, the function that computes its records, and how each column of its table formats a value."""

    title: str
    records: Callable[[Outputs], Iterable[Record]]
    columns: Mapping[str, Callable[[Any], str]]

    def table(self, records: Sequence[Record]) -> Table:
        """The table of `records`: a line for each."""
        cells = (tuple(NOTHING if each[key] is None else show(each[key]) for key, show in self.columns.items()) for each in records)
        names = sum(show is str for show in self.columns.values())
        return Table(tuple(self.columns), tuple(cells), names)


def check_analyses(names: Sequence[str]) -> None:
    """Raise UsageError for a name that is no key of ANALYSES."""
    for name in names:
        if name not in ANALYSES:
            raise UsageError(f"analysis {name!r} is not known; known are {', '.join(ANALYSES)}")


def analyse(
    names: Sequence[str], measured: Sequence[RowRuns], references: Sequence[str], language: str, swept: Iterable[str] = ()
) -> dict[str, list[Record]]:
    """The records of the analyses `names`, keys of ANALYSES, by name; an analysis that is named twice is done once.

    `swept` are the keys of the sweep; their values are added to the labels of rows.
    """
    keys = [key.replace("-", "_") for key in swept]
    texts = {_label(one.row, keys): [output.text for output in one.outputs] for one in measured}
    outputs = Outputs(texts, references, language)
    return {name: list(ANALYSES[name].records(outputs)) for name in dict.fromkeys(names)}


def _label(row: Row, keys: Sequence[str]) -> str:
    options = dict(row.options)
    values = ((key.replace("_", " "), options.get(key, getattr(row, key, None))) for key in keys)
    return ", ".join([row.label, *(f"{name} {value}" for name, value in values if value not in (None, ""))])


def _significance(outputs: Outputs) -> Iterable[Record]:
    for name, one in significance(outputs.texts, outputs.references).items():
        yield {"decoding": name, "BLEU": one.bleu, "p, bootstrap": one.bootstrap, "p, randomisation": one.randomisation}


def _ends(outputs: Outputs) -> Iterable[Record]:
    for name, texts in outputs.texts.items():
        for tokens in ENDS:
            part = "all" if tokens is None else f"first {tokens}" if tokens > 0 else f"last {-tokens}"
            shares = {f"{order}-gram": end_precision(texts, outputs.references, order, tokens) for order in (1, 4)}
            yield {"decoding": name, "tokens": part} | shares


def _compounds(outputs: Outputs) -> Iterable[Record]:
    for name, texts in outputs.texts.items():
        yield {"decoding": name, "compound-split BLEU": compound_bleu(texts, outputs.references, outputs.language)}


ANALYSES: Mapping[str, Analysis] = {
    "significance": Analysis(
        f"Probability of the difference in BLEU to the first row by chance (paired bootstrap, {RESAMPLES:,} samples; approximate "
        f"randomisation, {TRIALS:,} trials):",
        _significance,
        {"decoding": str, "BLEU": decimals(2), "p, bootstrap": decimals(4), "p, randomisation": decimals(4)},
    ),
    "ends": Analysis(
        "Precision of 1-grams and 4-grams by part of the output:",
        _ends,
        {"decoding": str, "tokens": str, "1-gram": percent(1), "4-gram": percent(1)},
    ),
    "compounds": Analysis(
        "BLEU of tokens with split compounds (Moses tokeniser):", _compounds, {"decoding": str, "compound-split BLEU": decimals(2)}
    ),
}
"""The analyses by the names that `bench --analysis` takes."""
