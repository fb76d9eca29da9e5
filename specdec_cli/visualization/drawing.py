"""SVG documents and text elements; their colours follow the light or dark colour scheme of the browser."""

from collections.abc import Iterable
from html import escape
from typing import Literal

_STYLE = "svg{color:#1f2328;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}"


def document(width: float, height: float, title: str, parts: Iterable[str], style: str = "", *, group: bool = False) -> str:
    """An SVG document of `width` times `height` units with a title and the elements `parts`; `style` is added to the common CSS.

    Its role for screen readers is "img" or, with `group`, "group", so that its elements are read too.
    """
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}" '
            f'role="{"group" if group else "img"}" font-family="system-ui, sans-serif" font-size="12" fill="currentColor">',
            f"<title>{escape(title)}</title>",
            f"<style>{_STYLE}{style}</style>",
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
