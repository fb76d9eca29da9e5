"""Pictures as SVG, as self-contained HTML pages, and as coloured text for terminals."""

import json
from collections.abc import Iterable, Mapping
from html import escape
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from specdec_cli.visualization.picture import MEANINGS, Cell, Mark, Picture

_SVG_STYLE = "svg{color:#1f2328;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}"


def document(width: float, height: float, title: str, parts: Iterable[str], style: str = "", *, group: bool = False) -> str:
    """An SVG document of `width` times `height` units with a title and the elements `parts`; `style` is added to the common CSS.

    Its role for screen readers is "img" or, with `group`, "group", so that its elements are read too.
    """
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            f'role="{"group" if group else "img"}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">',
            f"<title>{escape(title)}</title>",
            f"<style>{_SVG_STYLE}{style}</style>",
            *parts,
            "</svg>\n",
        ]
    )


def text(x: float, y: float, words: str, anchor: Literal["start", "middle", "end"] = "middle", **attributes: object) -> str:
    """An SVG element with the text `words`, anchored at `x` and with its baseline at `y`; `words` are escaped.

    `attributes` are added; in their names `_` stands for `-`, and a final `_` is removed (`class_` for `class`).
    """
    more = "".join(f' {name.rstrip("_").replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'


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
            parts += [_svg_cell(column, y, cell) for column, cell in enumerate(row) if cell]
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


def _svg_cell(column: int, y: float, cell: Cell) -> str:
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


_PAGE_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --page: #fff; --line: #d0d7de; --soft: #59636e; --focus: #0969da }
@media (prefers-color-scheme: dark) {
  :root { --text: #e6edf3; --page: #0d1117; --line: #3d444d; --soft: #9198a1; --focus: #4493f8 }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 1.5rem }
h1 { font-size: 1.2rem; margin: 0 } p { margin: .4rem 0 } .soft { color: var(--soft) }
.wide { overflow-x: auto; padding-bottom: .5rem }
figure { margin: 0 }
#detail { min-height: 1.6em; font-variant-numeric: tabular-nums }
"""
_PAGE_SCRIPT = """
const detail = document.getElementById('detail');
for (const grid of document.querySelectorAll('[data-grid]')) {
  const cells = [...grid.querySelectorAll('[data-row]')];
  const at = (row, column) => cells.find(c => +c.dataset.row === row && +c.dataset.column === column);
  if (!cells.some(c => c.tabIndex === 0)) cells.forEach((c, place) => c.setAttribute('tabindex', place ? -1 : 0));
  for (const cell of cells) {
    const show = () => detail.textContent = cell.getAttribute('aria-label');
    cell.addEventListener('mouseenter', show);
    cell.addEventListener('focus', show);
    cell.addEventListener('keydown', event => {
      const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
      const next = step && at(+cell.dataset.row + step[0], +cell.dataset.column + step[1]);
      if (!next) return;
      event.preventDefault();
      cell.setAttribute('tabindex', -1);
      next.setAttribute('tabindex', 0);
      next.focus();
    });
  }
}
"""


def page(title: str, body: str, data: Mapping[str, Any], *, style: str = "", script: str = "") -> str:
    """A self-contained HTML page with the HTML `body` and with `data` as JSON; `style` and `script` are added to CSS and JavaScript.

    In an element with the attribute `data-grid`, arrow keys move between the elements with `data-row` and `data-column`. The
    `aria-label` of the focused one, or of the one under the mouse, is shown in the element with the id `detail`.
    """
    # "<" is escaped, so that no text in the data can close the script element.
    json_text = json.dumps(data, ensure_ascii=False).replace("<", "\\u003c")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{_PAGE_STYLE}{style}</style></head><body>
<h1>{escape(title)}</h1>
{body}
<script id=picture type="application/json">{json_text}</script><script>{_PAGE_SCRIPT}{script}</script>
</body></html>
"""


_END = "</s>"
_TABLE_STYLE = """
table { border-collapse: separate; border-spacing: 2px; font-size: 13px }
th { font-weight: 600; text-align: center; white-space: nowrap; padding: 2px 6px }
tbody th { color: var(--soft); position: sticky; left: 0; background: var(--page) }
td { text-align: center; white-space: nowrap; padding: 2px 6px; border-radius: 3px; min-width: 3.2em }
td small { display: block; color: var(--soft); font-size: 10px }
td:focus { outline: 3px solid var(--focus); outline-offset: -1px }
td.linked { outline: 2px dashed var(--soft) }
td s { color: var(--soft) }
"""
_ALIGNED = f"""
table.aligned {{ table-layout: fixed; border-spacing: 0; width: 0 }}
table.aligned th, table.aligned td {{ box-sizing: border-box; width: {WIDTH}px; padding: 2px 0; overflow: hidden }}
table.aligned tr > :first-child {{ width: {LEFT}px }}
table.aligned td {{ border: 1px solid var(--page); min-width: 0 }}
"""
_LINK_SCRIPT = """
const cells = [...document.querySelectorAll('td[data-row]')];
const edges = JSON.parse(document.getElementById('picture').textContent).edges;
function link(cell) {
  const waitedFor = new Set(edges.filter(e => e[1] === +cell.dataset.column).map(e => e[0]));
  cells.forEach(c => c.classList.toggle('linked', waitedFor.has(+c.dataset.column)));
}
cells.forEach(cell => ['mouseenter', 'focus'].forEach(what => cell.addEventListener(what, () => link(cell))));
"""


def to_html(picture: Picture) -> str:
    """A self-contained HTML page with the graph (if any) and the table of a picture, and with the picture as JSON."""
    graph = f"<figure>{to_svg(picture, grid=False)}</figure>" if picture.edges else ""
    legend = " · ".join(f'<span style="color:{COLOURS[mark]}">{SIGNS[mark]}</span> {MEANINGS[mark]}' for mark in picture.marks)
    body = f"""<p>{escape(_words(picture.source))}<br>{escape(_words(picture.target))}</p>
<p class=soft>{legend}. Arrow keys move from cell to cell.</p>
<p id=detail aria-live=polite class=soft>Point at a cell for its numbers.</p>
<div class=wide>{graph}<table data-grid{" class=aligned" if graph else ""}>
<caption class=soft>{picture.row_name.capitalize()}s from top to bottom, tokens from left to right</caption>
<thead><tr><th scope=col>{picture.row_name}</th>{"".join(f"<th scope=col>{escape(piece)}</th>" for piece in picture.target)}</tr></thead>
<tbody>
{_body(picture)}
</tbody></table></div>"""
    return page(picture.title, body, picture.to_dict(), style=_TABLE_STYLE + _ALIGNED, script=_LINK_SCRIPT)


def _words(pieces: tuple[str, ...]) -> str:
    return "".join(piece for piece in pieces if piece != _END).replace("\u2581", " ").strip()


def _body(picture: Picture) -> str:
    lines, first = [], True
    for number, row in enumerate(picture.rows, start=1):
        cells = []
        for column, cell in enumerate(row):
            cells.append("<td></td>" if cell is None else _html_cell(cell, number, column, first))
            first = first and cell is None
        lines.append(f"<tr><th scope=row>{number}</th>{''.join(cells)}</tr>")
    return "\n".join(lines)


def _html_cell(cell: Cell, row: int, column: int, first: bool) -> str:
    share = 8 if cell.mark == "known" else round(14 + 45 * (cell.probability if cell.probability is not None else 0.2))
    number = "" if cell.probability is None else f" {cell.probability:.2f}"
    rejected = "" if cell.instead_of is None else f"<s>{escape(cell.instead_of)}</s> "
    return (
        f'<td data-row="{row}" data-column="{column}" tabindex="{0 if first else -1}" aria-label="{escape(cell_text(cell))}" '
        f'style="background:color-mix(in srgb, {COLOURS[cell.mark]} {share}%, transparent)">'
        f"{rejected}{escape(cell.piece)}<small>{SIGNS[cell.mark]}{number}</small></td>"
    )


_STYLES: dict[Mark, str] = {
    "right": "green",
    "wrong": "red",
    "accepted": "green",
    "rejected": "red strike",
    "verified": "bold blue",
    "known": "dim",
}


def print_picture(picture: Picture, console: Console) -> None:
    """Print a picture: its source, a line for each row, the meanings of the marks, and the dependencies between tokens.

    A mark is shown as a colour, or without colours as a sign after the token. A rejected token is printed before the verifier's
    token that replaced it. A gap between tokens of a row is printed as one "…".
    """
    console.print(f"{picture.title}, {len(picture.target) / len(picture.rows):.2f} tokens each")
    console.print(f"source: {' '.join(picture.source)}", soft_wrap=True, highlight=False, markup=False)
    for number, row in enumerate(picture.rows, start=1):
        line = Text.assemble((f"{number:>4} ", "dim"))
        shown = max(column for column, cell in enumerate(row) if cell) + 1
        for column, cell in enumerate(row[:shown]):
            if cell is None:
                if column == 0 or row[column - 1] is not None:
                    line.append("… ", style="dim")
                continue
            if cell.instead_of is not None:
                line.append(f"{cell.instead_of}{'' if console.color_system else SIGNS['rejected']}", style=_STYLES["rejected"])
                line.append(" ")
            sign = "" if console.color_system or cell.mark == "known" else SIGNS[cell.mark]
            line.append(f"{cell.piece}{sign}", style=_STYLES[cell.mark])
            line.append(" ")
        console.print(line, soft_wrap=True, highlight=False)
    signs = SIGNS if console.color_system else {**SIGNS, "known": "without a sign:"}
    legend = Text("  ").join(Text(f"{signs[mark]} {MEANINGS[mark]}", style=_STYLES[mark]) for mark in picture.marks)
    console.print(legend, soft_wrap=True, highlight=False)
    if picture.edges:
        dependencies: dict[int, list[str]] = {}
        for i, j in picture.edges:
            dependencies.setdefault(j, []).append(f"{picture.target[i]} ({i + 1})")
        for j, before in dependencies.items():
            console.print(f"{picture.target[j]} ({j + 1}) depends on {', '.join(before)}", soft_wrap=True, highlight=False, markup=False)
