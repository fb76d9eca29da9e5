"""A picture as a self-contained HTML page: the graph, and a table with keyboard control and labels for screen readers."""

from html import escape

from specdec_cli.visualization.page import page
from specdec_cli.visualization.picture import MEANINGS, Cell, Picture
from specdec_cli.visualization.svg import COLOURS, LEFT, SIGNS, WIDTH, cell_text, to_svg

_END = "</s>"
_STYLE = """
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
_SCRIPT = """
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
    return page(picture.title, body, picture.to_dict(), style=_STYLE + _ALIGNED, script=_SCRIPT)


def _words(pieces: tuple[str, ...]) -> str:
    return "".join(piece for piece in pieces if piece != _END).replace("\u2581", " ").strip()


def _body(picture: Picture) -> str:
    lines, first = [], True
    for number, row in enumerate(picture.rows, start=1):
        cells = []
        for column, cell in enumerate(row):
            cells.append("<td></td>" if cell is None else _cell(cell, number, column, first))
            first = first and cell is None
        lines.append(f"<tr><th scope=row>{number}</th>{''.join(cells)}</tr>")
    return "\n".join(lines)


def _cell(cell: Cell, row: int, column: int, first: bool) -> str:
    share = 8 if cell.mark == "known" else round(14 + 45 * (cell.probability if cell.probability is not None else 0.2))
    number = "" if cell.probability is None else f" {cell.probability:.2f}"
    rejected = "" if cell.instead_of is None else f"<s>{escape(cell.instead_of)}</s> "
    return (
        f'<td data-row="{row}" data-column="{column}" tabindex="{0 if first else -1}" aria-label="{escape(cell_text(cell))}" '
        f'style="background:color-mix(in srgb, {COLOURS[cell.mark]} {share}%, transparent)">'
        f"{rejected}{escape(cell.piece)}<small>{SIGNS[cell.mark]}{number}</small></td>"
    )
