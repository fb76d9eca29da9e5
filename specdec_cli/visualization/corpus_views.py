"""The statistics of a corpus as tables, as SVG charts, and as a self-contained HTML page."""

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from math import ceil, floor, log10

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table as RichTable

from specdec_cli.errors import counted
from specdec_cli.visualization.corpus import Corpus, Group, Step, group
from specdec_cli.visualization.render import document, page, text

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
    what = f"{counted(tokens, 'token')} of {counted(len(corpus.sentences), 'sentence')}"
    return f"jacobi: {what} in {counted(iterations, 'iteration')}, {tokens / iterations:.2f} tokens each"


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


WIDTH, HEIGHT = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 46, WIDTH - 8, 56, HEIGHT - 40
"""The edges of the plot area in SVG units. Title and legend are above it, the numbers of the x axis below."""


@dataclass(frozen=True)
class Axes:
    """Axes with `columns` columns and values from 0 to `largest`; with `percent`, values are shares (0.5 is shown as 50%)."""

    columns: int
    largest: float
    percent: bool = True

    @property
    def step(self) -> float:
        """The difference between the values of two adjacent horizontal grid lines, a round number near a quarter of `largest`."""
        return _round_step(self.largest / 4)

    @property
    def top(self) -> float:
        """The value at the upper end of the y axis: the smallest multiple of `step` that is at least `largest`."""
        return self.step * max(1, ceil(round(self.largest / self.step, 6)))

    @property
    def column_width(self) -> float:
        """Width of a column in SVG units."""
        return (RIGHT - LEFT) / self.columns

    def x(self, column: float) -> float:
        """The x coordinate, in SVG units, of the middle of a column (counted from 1)."""
        return LEFT + self.column_width * (column - 0.5)

    def y(self, value: float) -> float:
        """The y coordinate, in SVG units, of a value."""
        return BOTTOM - (BOTTOM - TOP) * value / self.top

    def frame(self, label: str) -> list[str]:
        """The SVG elements of the grid lines, the numbers of both axes, and `label`, the title of the x axis."""
        parts = []
        for number in range(round(self.top / self.step) + 1):
            value = number * self.step
            words = f"{100 * value:g}%" if self.percent else f"{value:g}"
            parts.append(f'<path class="rule" d="M{LEFT} {self.y(value):g}H{RIGHT}"/>')
            parts.append(text(LEFT - 6, self.y(value) + 4, words, "end", class_="dim"))
        step = max(1, ceil(_round_step(self.columns / 12)))
        marked = [*([1] if step > 2 else []), *range(step, self.columns + 1, step)]
        parts += [text(self.x(column), BOTTOM + 16, str(column), class_="dim") for column in marked]
        return [*parts, text((LEFT + RIGHT) / 2, BOTTOM + 33, label, class_="dim")]

    def mark(self, column: int, words: str, shape: str) -> str:
        """An SVG group of a column (from 1): the SVG element `shape` and a transparent rectangle over the whole column.

        `words` are its title and label, which HTML pages show on hover and focus.
        """
        left = LEFT + self.column_width * (column - 1)
        return (
            f'{open_mark(1, column, words)}<rect class="hit" x="{left:g}" y="{TOP}" width="{self.column_width:g}" '
            f'height="{BOTTOM - TOP}"/>{shape}</g>'
        )

    def bar(self, column: int, value: float) -> str:
        """The SVG element of a bar in a column (from 1), as high as `value`; a negative value is drawn as 0."""
        gap = min(3.0, self.column_width / 5)
        left, top = LEFT + self.column_width * (column - 1) + gap / 2, self.y(max(value, 0))
        return f'<rect class="bar" x="{left:g}" y="{top:g}" width="{self.column_width - gap:g}" height="{BOTTOM - top:g}"/>'


def open_mark(row: int, column: int, words: str) -> str:
    """The opening <g> tag of an element of a chart with the title and label `words`; the caller adds the closing </g>.

    `row` and `column` are the place of the element for arrow keys, both counted from 1.
    """
    return f'<g class="mark" role="img" data-row="{row}" data-column="{column}" aria-label="{words}"><title>{words}</title>'


def legend(*entries: tuple[str, str]) -> str:
    """The SVG elements of a legend; `entries` are pairs of CSS class and meaning.

    An entry of the class "bar" is shown with a rectangle, any other with a line of its class.
    """
    parts, x = [], 0.0
    for name, words in entries:
        block = f'<rect class="bar" x="{x:g}" y="30" width="18" height="10"/>'
        parts.append(block if name == "bar" else f'<path class="{name}" d="M{x:g} 35h18"/>')
        parts.append(text(x + 24, 39, words, "start", class_="dim"))
        x += 48 + 6.2 * len(words)
    return "".join(parts)


def _round_step(about: float) -> float:
    """The smallest number of the form 1, 2 or 5 times a power of 10 that is at least 0.8 times `about`."""
    unit = 10.0 ** floor(log10(about)) if about > 0 else 1.0
    return next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= 0.8 * about)


STYLE = """
.bar,.dot{fill:#1a7f37}.line{fill:none;stroke:#1a7f37;stroke-width:2}
.greedy{fill:none;stroke:currentColor;stroke-opacity:.6;stroke-width:1.5;stroke-dasharray:4 3}
.greedy,.line{pointer-events:none}.rule{stroke:currentColor;stroke-opacity:.15}.dim{fill-opacity:.7}
.hit{fill:currentColor;fill-opacity:0}.mark:hover .hit,.mark:focus .hit{fill-opacity:.12}
.mark:focus{outline:none}.mark:focus .hit{stroke:#0969da;stroke-width:2}
@media(prefers-color-scheme:dark){.bar,.dot{fill:#3fb950}.line{stroke:#3fb950}.mark:focus .hit{stroke:#4493f8}}
"""
_RARE = 10
_GAP, _HEAD = 24, 62


@dataclass(frozen=True)
class Chart:
    """The title and the SVG elements of a chart of WIDTH times HEIGHT (480 times 290) units."""

    title: str
    parts: tuple[str, ...]


def to_corpus_svg(corpus: Corpus) -> str:
    """An SVG document with a headline and the four charts of a corpus's statistics, in two columns."""
    parts = [
        text(_GAP, 28, f"{corpus.name}, decoded in parallel", "start", font_size=16, font_weight=600),
        text(_GAP, 48, _subtitle(corpus), "start", class_="dim"),
    ]
    for number, chart in enumerate(charts(corpus)):
        x, y = _GAP + number % 2 * (WIDTH + _GAP), _HEAD + number // 2 * (HEIGHT + _GAP)
        parts += [f'<g transform="translate({x} {y})">', *chart.parts, "</g>"]
    return document(2 * WIDTH + 3 * _GAP, _HEAD + 2 * (HEIGHT + _GAP), f"{corpus.name}: {headline(corpus)}", parts, STYLE)


def charts(corpus: Corpus) -> list[Chart]:
    """The charts by iteration, cumulative, by position and by kind of token.

    The first three end at the last position that a tenth of the sentences reaches (see `drawn`).
    """
    last = drawn(corpus)
    steps, groups = corpus.by_iteration()[:last], list(corpus.by_position().values())[:last]
    return [_by_iteration(steps), _so_far(steps), _by_position(groups), _by_kind(corpus)]


def drawn(corpus: Corpus) -> int:
    """The last position (from 1) that at least a tenth of the sentences reaches, where the charts end.

    Statistics of later positions would be means over few sentences.
    """
    return max(column for column, of in corpus.by_position().items() if _RARE * of.tokens >= len(corpus.sentences))


def _subtitle(corpus: Corpus) -> str:
    last, longest = drawn(corpus), max(map(len, corpus.sentences))
    return headline(corpus) + (f"; drawn up to {last} of {longest}" if last < longest else "")


def _chart(title: str, parts: list[str]) -> Chart:
    return Chart(title, (text(0, 16, title, "start", font_size=14, font_weight=600), *parts))


def _by_iteration(steps: list[Step]) -> Chart:
    axes = Axes(len(steps), max(max(step.share, step.greedy) for step in steps))
    parts = [legend(("bar", "Jacobi decoding"), ("greedy", "greedy decoding")), *axes.frame("iteration, or round of greedy decoding")]
    for step in steps:
        words = (
            f"Iteration {step.iteration}: {_tokens(step.tokens)} became right, {step.share:.1%} of all; greedy decoding {step.greedy:.1%}"
        )
        parts.append(axes.mark(step.iteration, words, axes.bar(step.iteration, step.share)))
    edges = "".join(f"V{axes.y(step.greedy):g}h{axes.column_width:g}" for step in steps)
    return _chart("Tokens that became right and stayed so", [*parts, f'<path class="greedy" d="M{LEFT} {BOTTOM}{edges}"/>'])


def _so_far(steps: list[Step]) -> Chart:
    axes = Axes(len(steps), 1)
    parts = [legend(("line", "Jacobi decoding"), ("greedy", "greedy decoding")), *axes.frame("iteration, or round of greedy decoding")]
    for step in steps:
        words = f"After iteration {step.iteration}: {step.so_far:.1%} of all tokens right; greedy decoding {step.greedy_so_far:.1%}"
        dot = f'<circle class="dot" cx="{axes.x(step.iteration):g}" cy="{axes.y(step.so_far):g}" r="3"/>'
        parts.append(axes.mark(step.iteration, words, dot))
    for name, values in (("line", [step.so_far for step in steps]), ("greedy", [step.greedy_so_far for step in steps])):
        points = " ".join(f"{axes.x(column):g},{axes.y(value):g}" for column, value in enumerate(values, start=1))
        parts.append(f'<polyline class="{name}" points="{points}"/>')
    return _chart("Tokens that are right so far", parts)


def _by_position(groups: list[Group]) -> Chart:
    axes = Axes(len(groups), max(max(of.earlier for of in groups), 0), percent=False)
    parts = [text(0, 39, "rounds, mean", "start", class_="dim"), *axes.frame("position in the output")]
    for column, of in enumerate(groups, start=1):
        words = f"Position {column}, {_tokens(of.tokens)}: {_mean(of)}"
        parts.append(axes.mark(column, words, axes.bar(column, of.earlier)))
    return _chart("How much earlier than in greedy decoding", parts)


def _by_kind(corpus: Corpus) -> Chart:
    kinds = {name: of for name, of in corpus.by_kind().items() if of.did_not_wait is not None}
    most = max((of.did_not_wait or 0 for of in kinds.values()), default=0) or 1
    left, row = 108, (BOTTOM - TOP) / max(len(kinds), 1)
    parts = [text(0, 39, "share of the tokens that have one before them", "start", class_="dim")]
    for column, (name, of) in enumerate(kinds.items(), start=1):
        share = of.did_not_wait or 0
        words = f"{name}, {_tokens(of.tokens)}: {share:.1%} did not wait for the one before; {_mean(of)}"
        top, width = TOP + row * (column - 1), (RIGHT - left - 64) * share / most
        parts.append(
            f'{open_mark(column, 1, words)}<rect class="hit" x="0" y="{top:g}" width="{RIGHT}" height="{row:g}"/>'
            f'<rect class="bar" x="{left}" y="{top + row * 0.2:g}" width="{width:g}" height="{row * 0.6:g}"/>'
            f"{text(4, top + row / 2 + 4, name, 'start')}"
            f"{text(left + width + 8, top + row / 2 + 4, f'{share:.1%}', 'start', font_weight=600)}</g>"
        )
    return _chart("Tokens that did not wait for the one before", parts)


def _tokens(count: int) -> str:
    return f"{count:,} token{'s' * (count != 1)}"


def _mean(of: Group) -> str:
    return f"right from iteration {of.iteration:.2f} on, {of.earlier:.2f} rounds earlier than in greedy decoding"


_HTML_STYLE = """
body { max-width: 66rem; margin-inline: auto; padding-inline: 1rem }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr)); gap: 1.5rem; margin-top: 1rem }
.charts svg { display: block; width: 100%; height: auto }
#detail { position: sticky; top: 0; background: var(--page); padding: .3rem 0; min-height: 3em; z-index: 1 }
details { border-top: 1px solid var(--line); padding: .5rem 0 }
h2 { font-size: 1.05rem; margin: 1.5rem 0 .5rem }
summary { cursor: pointer; font-weight: 600 }
table { border-collapse: collapse; font-size: 14px; margin-top: .5rem }
th, td { text-align: right; padding: 3px 12px; border-bottom: 1px solid var(--line); white-space: nowrap }
th:first-child { text-align: left; padding-left: 0 }
td { font-variant-numeric: tabular-nums }
thead th { color: var(--soft); font-weight: 400 }
tbody th { font-weight: 600 }
"""
_HINT = "Point at a column for its numbers. The Tab key goes from chart to chart, arrow keys from column to column."


def to_corpus_html(corpus: Corpus) -> str:
    """A self-contained HTML page with charts and tables of the statistics of a corpus, and with all its statistics as JSON."""
    last, longest = drawn(corpus), max(map(len, corpus.sentences))
    rest = f" The charts go up to {last}, which one sentence in ten reaches; the tables to {longest}." if last < longest else ""
    figures = "\n".join(
        f"<figure data-grid>{document(WIDTH, HEIGHT, chart.title, chart.parts, group=True)}</figure>" for chart in charts(corpus)
    )
    body = f"""<p>{escape(headline(corpus))}.{rest}</p>
<p id=detail aria-live=polite class=soft>{_HINT}</p>
<div class=charts>
{figures}
</div>
<h2>Numbers</h2>
{"".join(map(_table, tables(corpus)))}
{"".join(f"<p class=soft>{escape(note)}</p>" for note in NOTES)}"""
    return page(f"{corpus.name}, decoded in parallel", body, corpus.to_dict(), style=STYLE + _HTML_STYLE)


def _table(table: Table) -> str:
    head = "".join(f"<th scope=col>{escape(column)}</th>" for column in table.columns)
    rows = "\n".join(f"<tr><th scope=row>{escape(row[0])}</th>{''.join(f'<td>{cell}</td>' for cell in row[1:])}</tr>" for row in table.rows)
    return (
        f"<details><summary>{escape(table.title)}</summary><div class=wide><table><thead><tr>{head}</tr></thead>\n"
        f"<tbody>\n{rows}\n</tbody></table></div></details>\n"
    )
