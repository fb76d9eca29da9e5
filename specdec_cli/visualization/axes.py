"""The frame of a chart: columns from 1 along the bottom, values from 0 up the side."""

from dataclasses import dataclass
from math import ceil, floor, log10

from specdec_cli.visualization.drawing import text

WIDTH, HEIGHT = 480, 290
LEFT, RIGHT, TOP, BOTTOM = 46, WIDTH - 8, 56, HEIGHT - 40
"""Where the plot itself begins and ends; above it are the title and the legend, below it the numbers."""


@dataclass(frozen=True)
class Axes:
    """So many columns, and values up to `most`, which are shares (0.5 is 50%) if `percent`."""

    columns: int
    most: float
    percent: bool = True

    @property
    def step(self) -> float:
        """The distance of two lines of the grid: some four of them reach `most`."""
        return _round_step(self.most / 4)

    @property
    def top(self) -> float:
        """The value at the upper end."""
        return self.step * max(1, ceil(round(self.most / self.step, 6)))

    @property
    def column_width(self) -> float:
        """Units a column."""
        return (RIGHT - LEFT) / self.columns

    def x(self, column: float) -> float:
        """The middle of a column."""
        return LEFT + self.column_width * (column - 0.5)

    def y(self, value: float) -> float:
        """The height of a value."""
        return BOTTOM - (BOTTOM - TOP) * value / self.top

    def frame(self, label: str) -> list[str]:
        """The grid with its numbers; `label` says what the columns are."""
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
        """A column with its `shape`, which says its numbers where it is pointed at or reached by keys."""
        left = LEFT + self.column_width * (column - 1)
        return (
            f'{open_mark(1, column, words)}<rect class="hit" x="{left:g}" y="{TOP}" width="{self.column_width:g}" '
            f'height="{BOTTOM - TOP}"/>{shape}</g>'
        )

    def bar(self, column: int, value: float) -> str:
        """A bar up to a value."""
        gap = min(3.0, self.column_width / 5)
        left, top = LEFT + self.column_width * (column - 1) + gap / 2, self.y(max(value, 0))
        return f'<rect class="bar" x="{left:g}" y="{top:g}" width="{self.column_width - gap:g}" height="{BOTTOM - top:g}"/>'


def open_mark(row: int, column: int, words: str) -> str:
    """Begins the group of a mark, to be closed with </g>."""
    return f'<g class="mark" role="img" data-row="{row}" data-column="{column}" aria-label="{words}"><title>{words}</title>'


def legend(*entries: tuple[str, str]) -> str:
    """Class and meaning of what is drawn, in a line under the title; bars are blocks, the rest lines."""
    parts, x = [], 0.0
    for name, words in entries:
        block = f'<rect class="bar" x="{x:g}" y="30" width="18" height="10"/>'
        parts.append(block if name == "bar" else f'<path class="{name}" d="M{x:g} 35h18"/>')
        parts.append(text(x + 24, 39, words, "start", class_="dim"))
        x += 48 + 6.2 * len(words)
    return "".join(parts)


def _round_step(about: float) -> float:
    """One of 1, 2, 5, 10 and so on, or of their tenths and so on, that is about as large or larger."""
    unit = 10.0 ** floor(log10(about)) if about > 0 else 1.0
    return next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= 0.8 * about)
