"""Runs `specdec bench` in a test."""

from specdec_cli.commands.bench import bench
from tests.command_line import Result, run_function

TSV = "ka lo mi\tta re\nno pe. Di fo su\tka\n\t\n"


def run(*arguments: object, text: str = TSV) -> Result:
    """Run the command with `arguments` on one thread of a CPU, once, on the lines of `text`."""
    common = ("--threads", "1", "--device", "cpu", "--max-length", "12", "--repetitions", "1")
    return run_function(bench, *common, *arguments, text=text)
