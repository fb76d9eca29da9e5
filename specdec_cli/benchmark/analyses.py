"""Analyses of the outputs of a benchmark's rows, each with a table of its own."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from specdec_cli.benchmark.columns import NOTHING, decimals, percent
from specdec_cli.benchmark.records import RowRuns
from specdec_cli.benchmark.report import Table
from specdec_cli.errors import UsageError
from specdec_cli.metrics.compounds import compound_bleu
from specdec_cli.metrics.ends import end_precision
from specdec_cli.metrics.significance import RESAMPLES, TRIALS, significance

ENDS = (None, 5, 10, 15, -5, -10, -15)
"""The parts of a hypothesis whose n-grams are counted: all tokens, the first ones, or the last ones (negative)."""
_ORDERS = (1, 4)


@dataclass(frozen=True)
class Outputs:
    """What an analysis reads: the output lines of each row by its label, the references, and the code of the target language."""

    texts: Mapping[str, Sequence[str]]
    references: Sequence[str]
    language: str


@dataclass(frozen=True)
class Analysis:
    """An analysis: its title and the function that computes its table."""

    title: str
    table: Callable[[Outputs], Table]


def check_analyses(names: Sequence[str]) -> None:
    """Raise UsageError for a name that is no key of ANALYSES."""
    for name in names:
        if name not in ANALYSES:
            raise UsageError(f"analysis {name!r} is not known; known are {', '.join(ANALYSES)}")


def analyse(names: Sequence[str], measured: Sequence[RowRuns], references: Sequence[str], language: str) -> dict[str, Table]:
    """The tables of the analyses `names`, keys of ANALYSES, by name; an analysis that is named twice is done once.

    Rows with the same label (of a sweep) are numbered.
    """
    texts: dict[str, Sequence[str]] = {}
    for one in measured:
        count = sum(other.row.label == one.row.label for other in measured)
        label = f"{one.row.label} {len(texts) + 1}" if count > 1 else one.row.label
        texts[label] = [output.text for output in one.outputs]
    outputs = Outputs(texts, references, language)
    return {name: ANALYSES[name].table(outputs) for name in dict.fromkeys(names)}


def _significance(outputs: Outputs) -> Table:
    if len(outputs.texts) < 2:
        raise UsageError("the analysis of significance needs two rows")
    results = significance(outputs.texts, outputs.references)
    p_value = decimals(4)
    rows = (
        (
            name,
            decimals(2)(one.bleu),
            NOTHING if one.bootstrap is None else p_value(one.bootstrap),
            NOTHING if one.randomisation is None else p_value(one.randomisation),
        )
        for name, one in results.items()
    )
    return Table(("decoding", "BLEU", "p, bootstrap", "p, randomisation"), tuple(rows))


def _ends(outputs: Outputs) -> Table:
    """A line for each part of the hypotheses, and two columns for each row: the precisions of 1-grams and of 4-grams."""
    columns = ("tokens", *(f"{name}, {order}-gram" for name in outputs.texts for order in _ORDERS))
    share = percent(1)
    rows = (
        (
            _part(tokens),
            *(share(end_precision(texts, outputs.references, order, tokens)) for texts in outputs.texts.values() for order in _ORDERS),
        )
        for tokens in ENDS
    )
    return Table(columns, tuple(rows))


def _part(tokens: int | None) -> str:
    return "all" if tokens is None else f"first {tokens}" if tokens > 0 else f"last {-tokens}"


def _compounds(outputs: Outputs) -> Table:
    scores = ((name, decimals(2)(compound_bleu(texts, outputs.references, outputs.language))) for name, texts in outputs.texts.items())
    return Table(("decoding", "compound-split BLEU"), tuple(scores))


ANALYSES: Mapping[str, Analysis] = {
    "significance": Analysis(
        f"Probability of the difference in BLEU to the first row by chance (paired bootstrap, {RESAMPLES:,} samples; approximate "
        f"randomisation, {TRIALS:,} trials):",
        _significance,
    ),
    "ends": Analysis("Precision of 1-grams and 4-grams by part of the output:", _ends),
    "compounds": Analysis("BLEU of tokens with split compounds (Moses tokeniser):", _compounds),
}
"""The analyses by the names that `bench --analysis` takes."""
