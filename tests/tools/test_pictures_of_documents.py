"""The picture of a terminal has the colours of the command's output, and shows one line after the other."""

import xml.etree.ElementTree as ElementTree

from rich.text import Text

from tools.pages import DOCS
from tools.terminal import COLOURS, run, to_svg

PICTURE = DOCS / "rounds.svg"


def test_colours_of_a_terminal_are_kept() -> None:
    (line,) = run("printf '\\033[32mright\\033[0m \\033[9;31mwrong\\033[0m <plain>\\n'")
    picture = to_svg("a command", [line])
    assert f'<tspan fill="{COLOURS[2]}">right</tspan>' in picture
    assert f'<tspan fill="{COLOURS[1]}" text-decoration="line-through">wrong</tspan>' in picture
    assert "&lt;plain&gt;" in picture and "$ a command" in picture
    ElementTree.fromstring(picture)


def test_lines_of_output_appear_one_after_the_other() -> None:
    picture = to_svg("c", [Text("one"), Text("two")])
    assert picture.count("@keyframes") == 2 and "prefers-reduced-motion" in picture


def test_the_picture_of_the_readme_shows_the_rounds_of_its_command() -> None:
    root = ElementTree.parse(PICTURE).getroot()
    lines = ["".join(part.text or "" for part in line) for line in root.iter("{http://www.w3.org/2000/svg}text")]
    command = lines[0].removeprefix("$ ")
    assert command.startswith("specdec visualize ")
    written = [line.plain for line in run(command.replace("specdec", f"{__import__('sys').executable} -m specdec_cli", 1))]
    assert lines[1:] == written, "run `make docs`"
