"""The common parts of HTML pages: CSS with light and dark colours, and JavaScript for mouse and keyboard control of cells."""

import json
from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = """
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
_SCRIPT = """
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
<title>{escape(title)}</title><style>{_STYLE}{style}</style></head><body>
<h1>{escape(title)}</h1>
{body}
<script id=picture type="application/json">{json_text}</script><script>{_SCRIPT}{script}</script>
</body></html>
"""
