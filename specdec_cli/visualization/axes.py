"""Axes of an SVG chart: columns (from 1) on the x axis, values (from 0) on the y axis."""

from dataclasses import dataclass
from math import ceil, floor, log10

from specdec_cli.visualization.drawing import text

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
