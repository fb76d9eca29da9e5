"""The table of the stored times and memory of the start of a command."""

from tools.results import load
from tools.tables import markdown, sources

NAME = "cold"


def cold() -> str:
    """The Markdown table: a line for each command."""
    stored = load(NAME)
    rows = [
        (
            f"`{each['command']}`, {each['model']}",
            f"{1000 * each['wall']:.0f}",
            f"{1000 * each['processor']:.0f}",
            f"{1000 * each['packing']:.0f}",
            f"{100 * each['packing'] / each['processor']:.0f} %",
            f"{each['stored'] / 1e6:.0f}",
            f"{each['memory'] / 1e6:.0f}",
            f"{each['memory_of_many'] / 1e6:.0f}",
        )
        for each in stored.record["commands"]
    ]
    (lines,) = {each["lines"] for each in stored.record["commands"]}
    times = ("ms", "ms of processor time", "of that, packing", "share of packing")
    memory = ("stored weights, MB", "peak memory, MB", f"peak memory of {lines:,} lines, MB")
    table = markdown(("command", *times, *memory), rows, 1)
    return f"{table}\nTimes are the least of {stored.record['processes']} processes, the memory is the largest.\n{sources([stored])}"
