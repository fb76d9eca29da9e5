"""Tables of docs/papers.md: our figures beside those that the papers published.

The tables are in tables.toml: by name, the `columns` (keys of a row of `bench --json`), and the `rows`. Each row has the paper's name of
it, our row as `RUN: [MODEL/]DECODING[:VARIANT] [KEY=VALUE...]` ("" if we have none), and the published values in the order of columns.
After ` over `, a row of another model of the run can follow, in the same form, over which the speedups of our row are.
"""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.columns import COLUMNS, NOTHING, decimals
from specdec_cli.benchmark.report import METRICS
from tools.papers.runs import FOLDER, runs
from tools.results import Stored, load
from tools.tables import environment, markdown, row_name

BUSY = 0.1
"""The share of the processors that other programs used from which on a table states it."""
_FILE = Path(__file__).with_name("tables.toml")
_HEADERS = {column.key: (column.header, column.text) for column in COLUMNS} | {
    key: (title, decimals(2 if title != "edit ratio" else 3)) for key, title in METRICS.items()
}


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper's table: its name, our row (see the module; "" for none), and the published values."""

    paper: str
    ours: str
    published: tuple[str, ...]


def paper(name: str) -> str:
    """The Markdown table `name` of tables.toml, with the commands that measured our figures.

    A figure that is not stored is shown as a dash. Raises ValueError if a stored result lacks a row that the table names.
    """
    columns, rows = tables()[name]
    headers = ["", *(header for key in columns for header in (_HEADERS[key][0], "published"))]
    lines = []
    for row in rows:
        ours = _ours(row.ours)
        cells = [_cell(ours, key) for key in columns]
        lines.append((row.paper, *(cell for pair in zip(cells, row.published, strict=True) for cell in pair)))
    return markdown(headers, lines, 1) + sources(list(dict.fromkeys(row.ours.partition(":")[0] for row in rows if row.ours)))


@cache
def tables() -> Mapping[str, tuple[tuple[str, ...], tuple[PaperRow, ...]]]:
    """The columns and rows of each table in tables.toml, by the table's name."""
    values = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {
        name: (tuple(table["columns"]), tuple(PaperRow(named, ours, tuple(published)) for named, ours, *published in table["rows"]))
        for name, table in values.items()
    }


def stored(name: str) -> Stored | None:
    """The stored result of a run, or a result of docs/results that is no run; None if the run is not stored."""
    if name in runs():
        return load(f"papers/{name}") if (FOLDER / f"{name}.json").exists() else None
    return load(name)


def _ours(text: str) -> Mapping[str, Any] | None:
    """The stored row that `text` names; None if there is none, or its run is not stored."""
    run, _, selector = text.partition(": ")
    result = stored(run) if run else None
    if result is None:
        return None
    selected, _, baseline = selector.partition(" over ")
    row = _row(result, selected)
    if not baseline:
        return row
    speedup = _seconds(_row(result, baseline)) / _seconds(row)
    return {**row, "speedup_vs_greedy": speedup, "speedup_vs_beam": speedup}


def _row(result: Stored, selector: str) -> Mapping[str, Any]:
    named, *settings = selector.split()
    found = [row for row in result.rows if _matches(row, named, settings)]
    if len(found) != 1:
        raise ValueError(f"{result.name}, {selector}: {len(found)} rows match")
    return found[0]


def _seconds(row: Mapping[str, Any]) -> float:
    """The mean time of a sentence in seconds."""
    return float(row["iterations"] * row["tokens_per_round"] / row["tokens_per_second"])


def _matches(row: Mapping[str, Any], named: str, settings: Sequence[str]) -> bool:
    model, slash, decoding = named.rpartition("/")
    if slash and Path(row.get("model", "")).name != model:
        return False
    pairs = (setting.split("=") for setting in settings)
    return row_name(dict(row)) == decoding and all(str(row["settings"].get(key)) == value for key, value in pairs)


def _cell(row: Mapping[str, Any] | None, key: str) -> str:
    value = None if row is None else row.get(key)
    return NOTHING if value is None else _HEADERS[key][1](value)


def sources(names: Sequence[str]) -> str:
    """The commands of the runs `names`, the machine and date of those that are stored, and the names of those that are not."""
    commands = "".join(f"{_command(name)}\n" for name in names)
    results = [one for name in names if (one := stored(name)) is not None]
    lines = list(dict.fromkeys(f"{one.label}: {environment(one)}{_updates(one)}{_busy(one)}" for one in results))
    lines += [_made_by(name) for name in names if name not in runs()]
    missing = [name for name in names if stored(name) is None]
    if missing:
        lines.append(f"Not measured yet: {', '.join(missing)}.")
    return f"\n```text\n{commands}```\n\n" + "  \n".join(lines) + "\n"


def _command(name: str) -> str:
    if name in runs():
        return " ".join(["specdec", *runs()[name].command])
    return load(name).command


def _made_by(name: str) -> str:
    """A sentence that says how a result that is no run is measured."""
    result = load(name)
    if result.repeatable:
        return f"{name} is measured by `python -m tools.docs --measure DATA --result {name}`."
    return f"{name} is measured by the command above; it needs {result.record['needs']}."


def minutes() -> str:
    """One sentence: how many runs are stored, how many of these have a wall time, and the sum of the wall times."""
    seconds = [result.record["environment"].get("seconds") for name in runs() if (result := stored(name)) is not None]
    known = [each for each in seconds if each is not None]
    stored_runs = f"{len(seconds)} of {len(runs())} runs are stored"
    return f"{stored_runs}; {len(known)} of them with their wall time, {sum(known) / 60:.0f} minutes in all.\n"


def _updates(result: Stored) -> str:
    updates: Mapping[str, int] = result.record["environment"].get("updates") or {}
    return f" Updates of training: {', '.join(f'{name} {count:,}' for name, count in updates.items())}." if updates else ""


def _busy(result: Stored) -> str:
    share = result.record["environment"].get("busy") or 0.0
    return f" Other programs used {share:.0%} of the processors, so the speeds are not reliable." if share > BUSY else ""
