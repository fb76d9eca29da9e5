"""A picture as one HTML file that needs nothing else: the graph, and a table that works by keyboard and reads aloud."""

import json
from html import escape

from specdec_cli.visualization.picture import MEANINGS, Cell, Picture
from specdec_cli.visualization.svg import COLOURS, SIGNS, cell_text, to_svg

_END = "</s>"
_STYLE = """
:root { color-scheme: light dark; --text: #1f2328; --page: #fff; --line: #d0d7de; --soft: #59636e }
@media (prefers-color-scheme: dark) { :root { --text: #e6edf3; --page: #0d1117; --line: #3d444d; --soft: #9198a1 } }
body { font: 15px/1.5 system-ui, sans-serif; color: var(--text); background: var(--page); margin: 1.5rem }
h1 { font-size: 1.2rem; margin: 0 } p { margin: .4rem 0 } .soft { color: var(--soft) }
.wide { overflow-x: auto; padding-bottom: .5rem }
table { border-collapse: separate; border-spacing: 2px; font-size: 13px }
th { font-weight: 600; text-align: center; white-space: nowrap; padding: 2px 6px }
tbody th { color: var(--soft); position: sticky; left: 0; background: var(--page) }
td { text-align: center; white-space: nowrap; padding: 2px 6px; border-radius: 3px; min-width: 3.2em }
td small { display: block; color: var(--soft); font-size: 10px }
td:focus { outline: 3px solid #0969da; outline-offset: -1px }
td.linked { outline: 2px dashed var(--soft) }
#detail { min-height: 1.6em; font-variant-numeric: tabular-nums }
figure { margin: 0 }
"""
_SCRIPT = """
const cells = [...document.querySelectorAll('td[data-row]')], detail = document.getElementById('detail');
const edges = JSON.parse(document.getElementById('picture').textContent).edges;
const at = (row, column) => cells.find(c => +c.dataset.row === row && +c.dataset.column === column);
function show(cell) {
  detail.textContent = cell.getAttribute('aria-label');
  cells.forEach(c => c.classList.remove('linked'));
  const column = +cell.dataset.column;
  edges.filter(e => e[1] === column).forEach(e => cells.filter(c => +c.dataset.column === e[0]).forEach(c => c.classList.add('linked')));
}
cells.forEach(cell => {
  cell.addEventListener('mouseenter', () => show(cell));
  cell.addEventListener('focus', () => show(cell));
  cell.addEventListener('keydown', event => {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    const next = step && at(+cell.dataset.row + step[0], +cell.dataset.column + step[1]);
    if (!next) return;
    event.preventDefault();
    cell.tabIndex = -1; next.tabIndex = 0; next.focus();
  });
});
"""


def to_html(picture: Picture) -> str:
    """The whole page; the JSON of the picture is in it."""
    # Nothing in the data may end the script element that holds it.
    data = json.dumps(picture.to_dict(), ensure_ascii=False).replace("<", "\\u003c")
    rows, tokens = len(picture.rows), len(picture.target)
    graph = f"<figure class=wide>{to_svg(picture, grid=False)}</figure>" if picture.edges else ""
    legend = " · ".join(f'<span style="color:{COLOURS[mark]}">{SIGNS[mark]}</span> {MEANINGS[mark]}' for mark in picture.marks)
    title = f"{picture.decoding}: {tokens} tokens in {rows} {picture.row_name}s"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{escape(title)}</title><style>{_STYLE}</style></head><body>
<h1>{escape(title)}</h1>
<p>{escape(_words(picture.source))}<br>{escape(_words(picture.target))}</p>
<p class=soft>{legend}. Arrow keys move from cell to cell.</p>
{graph}
<p id=detail aria-live=polite class=soft>Point at a cell for its numbers.</p>
<div class=wide><table><caption class=soft>{picture.row_name.capitalize()}s from top to bottom, tokens from left to right</caption>
<thead><tr><th scope=col>{picture.row_name}</th>{"".join(f"<th scope=col>{escape(piece)}</th>" for piece in picture.target)}</tr></thead>
<tbody>
{_body(picture)}
</tbody></table></div>
<script id=picture type="application/json">{data}</script><script>{_SCRIPT}</script>
</body></html>
"""


def _words(pieces: tuple[str, ...]) -> str:
    return "".join(piece for piece in pieces if piece != _END).replace("\u2581", " ").strip()


def _body(picture: Picture) -> str:
    lines, first = [], True
    for number, row in enumerate(picture.rows, start=1):
        cells = []
        for place, cell in enumerate(row):
            cells.append("<td></td>" if cell is None else _cell(cell, number, place, first))
            first = first and cell is None
        lines.append(f"<tr><th scope=row>{number}</th>{''.join(cells)}</tr>")
    return "\n".join(lines)


def _cell(cell: Cell, row: int, column: int, first: bool) -> str:
    share = 8 if cell.mark == "known" else round(14 + 45 * (cell.probability if cell.probability is not None else 0.2))
    number = "" if cell.probability is None else f" {cell.probability:.2f}"
    return (
        f'<td data-row="{row}" data-column="{column}" tabindex="{0 if first else -1}" aria-label="{escape(cell_text(cell))}" '
        f'style="background:color-mix(in srgb, {COLOURS[cell.mark]} {share}%, transparent)">'
        f"{escape(cell.piece)}<small>{SIGNS[cell.mark]}{number}</small></td>"
    )
