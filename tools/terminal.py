"""An animated picture of a terminal: `python -m tools.terminal OUTPUT.svg COMMAND` draws the output of COMMAND, a line after the other."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

from specdec_cli.files import write_text

_PAUSE, _REST = 1.2, 4.0
"""Seconds between two lines, and after the last line until the animation starts again."""


def picture(command: str) -> str:
    """Run `command` in bash, and return an SVG of a terminal with the command and its stdout, in the colours of a terminal.

    Raises subprocess.CalledProcessError if the command fails.
    """
    environment = os.environ | {"FORCE_COLOR": "1", "TERM": "xterm-256color", "COLUMNS": "200", "PYTHONUTF8": "1"}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, check=True)
    lines = Text.from_ansi(f"$ {command}\n{done.stdout.decode('utf-8')}").split("\n")
    console = Console(record=True, file=io.StringIO(), width=max(map(len, lines)), force_terminal=True, highlight=False)
    for line in lines:
        console.print(line)
    seconds = _PAUSE * (len(lines) - 1) + _REST
    rules = [
        f"@keyframes show{number}{{0%,{share:.1f}%{{opacity:0}}{share + 1:.1f}%,100%{{opacity:1}}}}"
        f'[clip-path$="line-{number})"]{{animation:show{number} {seconds:g}s infinite}}'
        for number in range(1, len(lines))
        for share in [100 * _PAUSE * number / seconds]
    ]
    animation = f"@media(prefers-reduced-motion:no-preference){{{''.join(rules)}}}"
    # A viewer of the page loads no fonts from elsewhere.
    svg = re.sub(r" *@font-face \{.*?\n    \}\n", "", console.export_svg(title="specdec"), flags=re.DOTALL)
    return svg.replace("</style>", f"{animation}\n    </style>", 1)


def main(path: Path, command: str) -> None:
    """Write the picture of `command` to `path`."""
    svg = picture(command)
    write_text(path, svg)


if __name__ == "__main__":
    main(Path(sys.argv[1]), " ".join(sys.argv[2:]))
