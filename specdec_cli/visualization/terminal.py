"""A picture as coloured text for terminals."""

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
    """Print a picture: its source, a line for each row, the meanings of the marks, and the dependencies between tokens.

    A mark is shown as a colour, or without colours as a sign after the token. A rejected token is printed before the verifier's
    token that replaced it. A gap between tokens of a row is printed as one "…".
    """
    console.print(f"{picture.title}, {len(picture.target) / len(picture.rows):.2f} tokens each")
    console.print(f"source: {' '.join(picture.source)}", soft_wrap=True, highlight=False, markup=False)
    for number, row in enumerate(picture.rows, start=1):
        line = Text.assemble((f"{number:>4} ", "dim"))
        shown = max(column for column, cell in enumerate(row) if cell) + 1
        for column, cell in enumerate(row[:shown]):
            if cell is None:
                if column == 0 or row[column - 1] is not None:
                    line.append("… ", style="dim")
                continue
            if cell.instead_of is not None:
                line.append(f"{cell.instead_of}{'' if console.color_system else SIGNS['rejected']}", style=_STYLES["rejected"])
                line.append(" ")
            sign = "" if console.color_system or cell.mark == "known" else SIGNS[cell.mark]
            line.append(f"{cell.piece}{sign}", style=_STYLES[cell.mark])
            line.append(" ")
        console.print(line, soft_wrap=True, highlight=False)
    signs = SIGNS if console.color_system else {**SIGNS, "known": "without a sign:"}
    legend = Text("  ").join(Text(f"{signs[mark]} {MEANINGS[mark]}", style=_STYLES[mark]) for mark in picture.marks)
    console.print(legend, soft_wrap=True, highlight=False)
    if picture.edges:
        dependencies: dict[int, list[str]] = {}
        for i, j in picture.edges:
            dependencies.setdefault(j, []).append(f"{picture.target[i]} ({i + 1})")
        for j, before in dependencies.items():
            console.print(f"{picture.target[j]} ({j + 1}) depends on {', '.join(before)}", soft_wrap=True, highlight=False, markup=False)
