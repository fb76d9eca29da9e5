"""What every drawing shares: a document that is light or dark as its reader's screen, and text in it."""

from collections.abc import Iterable
from html import escape
from typing import Literal

_STYLE = "svg{color:#1f2328;background:#fff}@media(prefers-color-scheme:dark){svg{color:#e6edf3;background:#0d1117}}"


def document(width: float, height: float, title: str, parts: Iterable[str], style: str = "", *, group: bool = False) -> str:
    """A whole SVG document of so many units, `style` in it after what all drawings share.

    To readers of the screen it is one image, or a group of them.
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
    """A line of text, its base line at `y`; in names of attributes, `_` stands for `-` and vanishes at the end."""
    more = "".join(f' {name.rstrip("_").replace("_", "-")}="{value}"' for name, value in attributes.items())
    return f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{more}>{escape(words)}</text>'
