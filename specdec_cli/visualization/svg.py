"""A picture as SVG: arcs between tokens that depend on each other, above a grid of rows and tokens."""

from html import escape

from specdec_cli.visualization.drawing import document, text
from specdec_cli.visualization.picture import MEANINGS, Cell, Mark, Picture

COLOURS: dict[Mark, str] = {
    "right": "#1a7f37",
    "wrong": "#c4314b",
    "accepted": "#1a7f37",
    "rejected": "#c4314b",
    "verified": "#0969da",
    "known": "#8a8f98",
}
"""The colour of each mark, with sufficient contrast on white and on black. `SIGNS` distinguish the marks without colour."""
SIGNS: dict[Mark, str] = {"right": "✓", "wrong": "✗", "accepted": "✓", "rejected": "✗", "verified": "●", "known": "·"}

WIDTH, LEFT = 74, 64
"""The width of a column, and of the space before the first column, in SVG units."""
_HEIGHT = 34
_LINE = 16
_SHOWN = 9


def to_svg(picture: Picture, *, grid: bool = True) -> str:
    """The SVG document of a picture; without `grid`, only the arcs of its `edges` and the tokens of the output."""
    arcs = max((j - i for i, j in picture.edges), default=0)
    top = 30 + (min(12 * arcs, 160) if arcs else 0) + (_LINE if grid else 0)
    width = LEFT + WIDTH * len(picture.target) + 8
    height = top + _HEIGHT * (len(picture.rows) + 1) + 30 if grid else top + 16
    parts = [_arc(i, j, top, arcs) for i, j in picture.edges]
    parts += [text(_centre(column), top + 4, _short(piece), font_weight=600) for column, piece in enumerate(picture.target)]
    if grid:
        parts.append(text(8, _LINE, f"source: {' '.join(picture.source)}", "start"))
        for number, row in enumerate(picture.rows, start=1):
            y = top + _HEIGHT * number
            parts.append(text(LEFT / 2, y + 4, str(number)))
            parts += [_cell(column, y, cell) for column, cell in enumerate(row) if cell]
        legend = "   ".join(f"{SIGNS[mark]} {MEANINGS[mark]}" for mark in picture.marks)
        parts.append(text(8, height - 10, legend, "start"))
    return document(width, height, picture.title, parts)


def _centre(column: int) -> float:
    return LEFT + WIDTH * (column + 0.5)


def _short(piece: str) -> str:
    return piece if len(piece) <= _SHOWN else piece[: _SHOWN - 1] + "…"


def _arc(i: int, j: int, top: int, longest: int) -> str:
    start, end, bottom = _centre(i), _centre(j), top - 12
    rise = min(160, 12 * longest) * (j - i) / longest + 8
    return (
        f'<path d="M{start:g} {bottom} C{start:g} {bottom - rise:g} {end:g} {bottom - rise:g} {end:g} {bottom}" '
        f'fill="none" stroke="currentColor" stroke-opacity=".45"><title>{j + 1} depends on {i + 1}</title></path>'
    )


def _cell(column: int, y: float, cell: Cell) -> str:
    x, colour = LEFT + WIDTH * column + 2, COLOURS[cell.mark]
    strength = 0.06 if cell.mark == "known" else 0.12 + 0.4 * (cell.probability if cell.probability is not None else 0.2)
    number = "" if cell.probability is None else f"{cell.probability:.2f}"
    below = f"{SIGNS[cell.mark]} {number}"
    rejected = "" if cell.instead_of is None else struck(_centre(column), y + 13, f"{SIGNS['rejected']} {_short(cell.instead_of)}")
    return (
        f'<g><title>{escape(cell_text(cell))}</title><rect x="{x}" y="{y - 12:g}" width="{WIDTH - 4}" height="{_HEIGHT - 4}" rx="3" '
        f'fill="{colour}" fill-opacity="{strength:.2f}" stroke="{colour}" stroke-opacity=".5"/>'
        f"{text(_centre(column), y, _short(cell.piece))}{rejected or text(_centre(column), y + 13, below, font_size=9)}</g>"
    )


def struck(x: float, y: float, words: str) -> str:
    """An SVG element with the text `words` of a rejected token, in small type and struck through, with its baseline at `y`."""
    return text(x, y, words, font_size=9, text_decoration="line-through", fill=COLOURS["rejected"])


def cell_text(cell: Cell) -> str:
    """A description of a cell in words: its token, the meaning of its mark and, where known, replaced token and probability."""
    words = f"{cell.piece}: {MEANINGS[cell.mark]}"
    if cell.instead_of is not None:
        words += f", in place of {cell.instead_of}"
    return words if cell.probability is None else f"{words}, probability {cell.probability:.4f}"
