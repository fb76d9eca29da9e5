"""The table of the stored times of a round's parts, beside the least that the speeds of the machine allow."""

from typing import Any

from tools.results import load
from tools.tables import markdown, sources

NAME = "floors"


def floors() -> str:
    """The Markdown table: a line for each model, number of threads and part."""
    stored = load(NAME)
    rows, speeds = [], []
    for measured in stored.record["models"]:
        name, threads = measured["model"], measured["threads"]
        speeds.append(f"{name}, {threads}: {measured['reading'] / 1e9:.0f} and {measured['multiplying'] / 1e9:.0f}")
        rows += [(name, str(threads), _title(part, stored.record), *_cells(measured, part)) for part in measured["parts"]]
    least = ("weights, MB", "ms to read them", "products, millions", "ms to compute them")
    table = markdown(("model", "threads", "part", "ms", *least, "times the longer"), rows, 3)
    return f"{table}\nSpeeds in GB/s and billions of products a second, by threads: {'; '.join(speeds)}.\n{sources([stored])}"


def _title(part: str, record: dict[str, Any]) -> str:
    """The name of a part, with the numbers of tokens it was measured with."""
    draft = f"{record['draft']} tokens"
    tokens = {"encoder": f"{record['source']} tokens", "verification": f"{record['draft']} + 1 tokens", "draft": draft}
    return f"{part}, {tokens[part]}" if part in tokens else part


def _cells(measured: dict[str, Any], name: str) -> tuple[str, ...]:
    """The measured time of a part, the two least times with what they follow from, and the ratio to the longer one."""
    part = measured["parts"][name]
    reading, multiplying = 1000 * part["weights"] / measured["reading"], 1000 * part["products"] / measured["multiplying"]
    times = part["milliseconds"] / max(reading, multiplying)
    return (
        f"{part['milliseconds']:.3f}",
        f"{part['weights'] / 1e6:.1f}",
        f"{reading:.3f}",
        f"{part['products'] / 1e6:.0f}",
        f"{multiplying:.3f}",
        f"{times:.2f}",
    )
