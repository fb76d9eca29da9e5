"""A picture as coloured lines of text."""

from rich.console import Console
from rich.text import Text

from specdec_cli.visualization.picture import MEANINGS, Mark, Picture
from specdec_cli.visualization.svg import SIGNS

_STYLES: dict[Mark, str] = {
    "right": "green",
    "wrong": "red",
    "accepted": "green",
    "rejected": "red strike",
    "verified": "bold blue",
    "known": "dim",
}


def print_picture(picture: Picture, console: Console) -> None:
    """The source, then a line for each row; without colours, marks stand behind the tokens.

    A rejected token stands before the verifier's own token that replaced it. Places before the last token of a row that are
    still to be written are one "…".
    """
    console.print(f"{picture.title}, {len(picture.target) / len(picture.rows):.2f} tokens each")
    console.print(f"source: {' '.join(picture.source)}", soft_wrap=True, highlight=False, markup=False)
    for number, row in enumerate(picture.rows, start=1):
        line = Text.assemble((f"{number:>4} ", "dim"))
        shown = max(place for place, cell in enumerate(row) if cell) + 1
        for place, cell in enumerate(row[:shown]):
            if cell is None:
                if place == 0 or row[place - 1] is not None:
                    line.append("… ", style="dim")
                continue
            if cell.instead_of is not None:
                line.append(f"{cell.instead_of}{'' if console.color_system else SIGNS['rejected']}", style=_STYLES["rejected"])
                line.append(" ")
            sign = "" if console.color_system or cell.mark == "known" else SIGNS[cell.mark]
            line.append(f"{cell.piece}{sign}", style=_STYLES[cell.mark])
            line.append(" ")
        console.print(line, soft_wrap=True, highlight=False)
    legend = Text("  ").join(Text(f"{SIGNS[mark]} {MEANINGS[mark]}", style=_STYLES[mark]) for mark in picture.marks)
    console.print(legend, soft_wrap=True, highlight=False)
    if picture.edges:
        waited: dict[int, list[str]] = {}
        for i, j in picture.edges:
            waited.setdefault(j, []).append(f"{picture.target[i]} ({i + 1})")
        for j, before in waited.items():
            console.print(f"{picture.target[j]} ({j + 1}) waited for {', '.join(before)}", soft_wrap=True, highlight=False, markup=False)
