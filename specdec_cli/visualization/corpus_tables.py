"""The statistics of a corpus as tables, for terminals and HTML pages."""

from collections.abc import Iterator
from dataclasses import dataclass

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from specdec_cli.visualization.corpus import Corpus, Group, group

NOTES = (
    "Each iteration predicts the whole output from the prediction of the iteration before it, the first one from padding; the "
    "length of the output is given. A token is counted in the iteration from which on it equals the token of greedy decoding.",
    "rounds earlier: the mean difference from greedy decoding, which has token k after round k. did not wait: the share of tokens "
    "that became right no later than the token before them (without first tokens). word start: a piece that follows white space. "
    "punctuation: other signs inside a word or after it.",
)
_ENDS = (*range(1, 11), 15, 20, 30, 40, 60, 80, 100)
NOTHING = "—"
_WIDTH = 80
_MEANS = ("tokens", "mean iteration", "rounds earlier", "did not wait")


@dataclass(frozen=True)
class Table:
    """A table of text cells with a title and column headers; all columns but the first hold numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def headline(corpus: Corpus) -> str:
    """One line with the numbers of tokens, sentences and iterations of a corpus, and its tokens per iteration."""
    tokens, iterations = len(corpus.tokens), corpus.iterations
    what = f"{tokens:,} tokens of {len(corpus.sentences):,} sentence{'s' if len(corpus.sentences) > 1 else ''}"
    return f"jacobi: {what} in {iterations:,} iterations, {tokens / iterations:.2f} tokens each"


def tables(corpus: Corpus, *, short: bool = False) -> tuple[Table, Table, Table]:
    """The tables of a corpus by iteration, by position and by kind of token.

    With `short`, a line from iteration or position 11 on stands for a range such as 11-15.
    """
    steps, last = corpus.by_iteration(), max(map(len, corpus.sentences))
    iterations = []
    for first, end in _spans(len(steps), short):
        tokens = sum(step.tokens for step in steps[first - 1 : end])
        shares = (tokens / len(corpus.tokens), steps[end - 1].so_far, steps[end - 1].greedy_so_far)
        iterations.append((_span(first, end), f"{tokens:,}", *map(_percent, shares)))
    positions = []
    for first, end in _spans(last, short):
        of = group([token for token in corpus.tokens if first <= token.position <= end])
        positions.append((_span(first, end), *_means(of)))
    kinds = [*corpus.by_kind().items(), ("all", group(corpus.tokens))]
    return (
        Table(
            "Tokens that became right in an iteration, and stayed so",
            ("iteration", "tokens", "share", "right so far", "greedy so far"),
            tuple(iterations),
        ),
        Table("By position in the output", ("position", *_MEANS), tuple(positions)),
        Table(
            "By kind of token",
            ("kind", *_MEANS),
            tuple((kind, *_means(of)) for kind, of in kinds),
        ),
    )


def print_corpus(corpus: Corpus, console: Console) -> None:
    """Print a headline, the short tables of a corpus, and explanations of their columns, which are at most 80 characters wide."""
    console.print(f"{corpus.name}, {headline(corpus)}", soft_wrap=True, highlight=False, markup=False)
    for table in tables(corpus, short=True):
        shown = RichTable(box=SIMPLE_HEAD, title=table.title, title_justify="left", title_style="bold")
        for number, column in enumerate(table.columns):
            shown.add_column(column, justify="right" if number else "left")
        for row in table.rows:
            shown.add_row(*row, style="bold" if row[0] == "all" else None)
        console.print(shown, highlight=False)
    for note in NOTES:
        console.print(note, style="dim", highlight=False, width=min(console.width, _WIDTH))


def _spans(last: int, short: bool) -> Iterator[tuple[int, int]]:
    first = 1
    for end in (*(end for end in _ENDS if short and end < last), *range(last if short else 1, last + 1)):
        yield first, end
        first = end + 1


def _span(first: int, end: int) -> str:
    return str(first) if first == end else f"{first}-{end}"


def _means(of: Group) -> tuple[str, ...]:
    return f"{of.tokens:,}", f"{of.iteration:.2f}", f"{of.earlier:.2f}", _percent(of.did_not_wait)


def _percent(share: float | None) -> str:
    return NOTHING if share is None else f"{share:.1%}"
