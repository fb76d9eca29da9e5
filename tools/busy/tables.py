"""The table of the stored measurement beside busy processes."""

from tools.results import load
from tools.tables import markdown, sources

NAME = "busy"


def busy() -> str:
    """The Markdown table of the times of a line beside busy processes, and how much longer they are than on the free machine."""
    stored = load(NAME)
    cases = stored.record["cases"]
    free = next(case["default"] for case in cases if not case["processes"])
    rows = []
    for case in cases:
        priority = "the lowest priority" if case["nice"] else "the same priority"
        beside = f"{case['processes']}, {priority}" if case["processes"] else "none"
        default, one = case["default"], case["one"]
        rows.append((beside, f"{default:.2f}", f"{default / free:.2f}", f"{one:.2f}", f"{one / default:.2f}x"))
    columns = ("busy processes", "ms a line", "times the free machine", "ms with one thread", "times as fast as one thread")
    return markdown(columns, rows, 1) + sources([stored])
