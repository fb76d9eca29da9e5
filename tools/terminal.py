"""An animated SVG of a terminal, in which the lines of the output of a command appear one after the other.

`python -m tools.terminal OUTPUT.svg COMMAND` runs COMMAND, and draws its output with the
colours that it has in a terminal.
"""

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.text import Text

from specdec_cli.files import write_atomically

COLOURS = {1: "#ff7b72", 2: "#56d364", 4: "#79c0ff"}
"""The CSS colours for red, green and blue, by ANSI colour number."""
_BACKGROUND, _FOREGROUND = "#0d1117", "#e6edf3"
_WIDTH, _HEIGHT, _MARGIN = 7.8, 22, 18
_PAUSE, _REST = 1.2, 4.0
"""Seconds between two lines, and after the last line until the animation starts again."""


def run(command: str) -> list[Text]:
    """Run `command` in bash and return the lines of its stdout, with the colours of a terminal.

    Raises subprocess.CalledProcessError if the command fails.
    """
    environment = os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "200", "PYTHONUTF8": "1"}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, check=True)
    return list(Text.from_ansi(done.stdout.decode("utf-8")).split("\n", allow_blank=False))


def to_svg(command: str, lines: Sequence[Text]) -> str:
    """An animated SVG of a terminal that shows `command`, and then the lines of its output one after the other."""
    shown = [Text(f"$ {command}"), *lines]
    width = 2 * _MARGIN + _WIDTH * max(len(line.plain) for line in shown)
    height = 2 * _MARGIN + _HEIGHT * len(shown)
    seconds = _PAUSE * len(lines) + _REST
    parts = []
    for number, line in enumerate(shown):
        y = _MARGIN + _HEIGHT * (number + 0.7)
        parts.append(f'<text x="{_MARGIN}" y="{y:g}" class="line{number}" xml:space="preserve">{"".join(_spans(line))}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" width="{width:.0f}" height="{height}" role="img"',
            f'font-family="ui-monospace, Menlo, Consolas, monospace" font-size="13" fill="{_FOREGROUND}">',
            f"<title>{escape(command)}</title>",
            f"<style>{_animation(len(shown), seconds)}</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{_BACKGROUND}"/>',
            *parts,
            "</svg>\n",
        ]
    )


def _spans(line: Text) -> Iterator[str]:
    for segment in line.render(Console(color_system="standard")):
        if segment.text:
            yield f"<tspan{_attributes(segment.style or Style())}>{escape(segment.text)}</tspan>"


def _attributes(style: Style) -> str:
    found = {
        "fill": COLOURS.get(style.color.number or 0) if style.color else None,
        "font-weight": "bold" if style.bold else None,
        "fill-opacity": ".55" if style.dim else None,
        "text-decoration": "line-through" if style.strike else None,
    }
    return "".join(f' {name}="{value}"' for name, value in found.items() if value)


def _animation(count: int, seconds: float) -> str:
    """The CSS animation that shows the lines one after the other; none for readers who prefer reduced motion."""
    rules = [
        f"@keyframes show{number}{{0%,{share:.1f}%{{opacity:0}}{share + 1:.1f}%,100%{{opacity:1}}}}"
        f".line{number}{{animation:show{number} {seconds:g}s infinite}}"
        for number in range(1, count)
        for share in [100 * _PAUSE * number / seconds]
    ]
    return f"@media(prefers-reduced-motion:no-preference){{{''.join(rules)}}}"


def main(path: Path, command: str) -> None:
    """Run `command`, and write the animated SVG of its output to `path`."""
    picture = to_svg(command, run(command))
    write_atomically(path, lambda partial: partial.write_text(picture, encoding="utf-8"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), " ".join(sys.argv[2:]))
