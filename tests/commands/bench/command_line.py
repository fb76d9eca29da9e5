"""Runs `specdec bench` in a test."""

import typer
from typer.testing import CliRunner, Result

from specdec_cli.commands.bench import bench

app = typer.Typer()
app.command()(bench)

TSV = "ka lo mi\tta re\nno pe. Di fo su\tka\n\t\n"


def run(*arguments: object, text: str = TSV) -> Result:
    """Run the command with `arguments` on one thread of a CPU, once, on the lines of `text`."""
    common = ("--threads", "1", "--device", "cpu", "--max-length", "12", "--repetitions", "1")
    return CliRunner().invoke(app, [*common, *map(str, arguments)], input=text)
