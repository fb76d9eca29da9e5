"""The statistics of a corpus as four SVG charts: by iteration, cumulative, by position, by kind."""

from dataclasses import dataclass

from specdec_cli.visualization.axes import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, Axes, legend, open_mark
from specdec_cli.visualization.corpus import Corpus, Group, Step
from specdec_cli.visualization.corpus_tables import headline
from specdec_cli.visualization.drawing import document, text

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
