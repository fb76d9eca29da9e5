"""The picture of a terminal has the colours of the command's output, and shows one line after the other."""

import shlex
import sys
import xml.etree.ElementTree as ElementTree

from tools.pages import DOCS, ROOT
from tools.terminal import picture


def shown(svg: str) -> list[str]:
    """The lines of text in a picture."""
    lines: dict[str, str] = {}
    for part in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text"):
        if clip := part.get("clip-path"):
            lines[clip] = lines.get(clip, "") + (part.text or "").replace("\xa0", " ")
    return [line.rstrip("\n ") for line in lines.values()]


def test_colours_and_lines_of_a_terminal_are_shown() -> None:
    svg = picture("printf '\\033[32mright\\033[0m <plain>\\ntwo\\n'")
    assert shown(svg)[1:] == ["right <plain>", "two"]
    assert svg.count("@keyframes") == 2 and "prefers-reduced-motion" in svg and "url(http" not in svg
    parts = {part.text: part.get("class") for part in ElementTree.fromstring(svg).iter() if part.text}
    assert parts["right"] != parts["two"]


def test_the_picture_of_the_readme_shows_the_rounds_of_its_command() -> None:
    stored = (DOCS / "rounds.svg").read_text(encoding="utf-8")
    (command,) = (
        line.partition(" := ")[2].strip("'") for line in (ROOT / "Makefile").read_text().splitlines() if line.startswith("ROUNDS")
    )
    written = picture(command.replace("specdec", f"{shlex.quote(sys.executable)} -m specdec_cli", 1))
    assert shown(stored)[0] == f"$ {command}"
    assert shown(stored)[1:] == shown(written)[1:], "run `make docs`"
