"""The runs and tables of docs/papers.md, and its generated parts.

papers.toml has the runs and the tables. A run has the label of its text, and the `command`, in which DATA stands for the folder of data
sets, BUNDLES for the output folder of the recipe papers.sh, and OUT for a temporary folder of pictures, which are not kept. The
environment of its stored result has the `updates` of each trained bundle.

A table has the `columns` (keys of a row of `bench --json`), and the `rows`. Each row has the paper's name of it, our row as
`RUN: [MODEL/]DECODING[:VARIANT] [KEY=VALUE...]` ("" if we have none), and the published values in the order of columns. After ` over `, a
row of another model of the run can follow, in the same form, over which the speedups of our row are.
"""

import shlex
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

from specdec_cli.benchmark.results import COLUMNS, METRICS, show
from specdec_cli.benchmark.tables import profile_table
from specdec_cli.benchmark.views import ANALYSES, histogram_table
from tools.results import Stored, environment, load, markdown, row_name

BUSY = 0.1
"""The share of the processors that other programs used from which on a table states it."""
EDIT_RATIOS = (0.0, 0.05, 0.1, 0.2, 0.4, 10.0)
"""The upper ends, inclusive, of the ranges of edit ratios for which speedups are given; the first range holds the unedited lines."""
LEFT_TO_RIGHT, BOTH_ENDS = "beam, beam size 5", "bidirectional, beam size 5"
BUNDLES = "BUNDLES/"
_HEADERS = {column.key: (column.header, column.spec) for column in COLUMNS} | {
    key: (title, ",.3f" if key == "edit_ratio" else ",.2f") for key, title in METRICS.items()
}


@dataclass(frozen=True)
class Run:
    """A run: its name, the label of the text that it decodes, the arguments of specdec, and bundles that papers.sh does not train."""

    name: str
    label: str
    command: tuple[str, ...]
    needs: str = ""

    @property
    def bundles(self) -> tuple[str, ...]:
        """The names of the trained bundles that the run needs."""
        return tuple(part.removeprefix(BUNDLES) for part in self.command if part.startswith(BUNDLES))


@dataclass(frozen=True)
class PaperRow:
    """A row of a paper's table: its name, our row (see the module; "" for none), and the published values."""

    paper: str
    ours: str
    published: tuple[str, ...]


@cache
def _declared() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8"))


@cache
def runs() -> Mapping[str, Run]:
    """All runs by name, in the order of papers.toml."""
    return {name: Run(name, **(one | {"command": tuple(shlex.split(one["command"]))})) for name, one in _declared()["runs"].items()}


@cache
def tables() -> Mapping[str, tuple[tuple[str, ...], tuple[PaperRow, ...]]]:
    """The tables of papers.toml: for the name of each table, its columns and its rows."""
    return {
        name: (tuple(table["columns"]), tuple(PaperRow(named, ours, tuple(published)) for named, ours, *published in table["rows"]))
        for name, table in _declared()["tables"].items()
    }


def published_ends() -> Mapping[str, Sequence[float]]:
    """The precisions of `[ends]` of papers.toml, in per cent, by part of the output."""
    found: Mapping[str, Sequence[float]] = _declared()["ends"]
    return found


def stored(name: str) -> Stored | None:
    """The stored result of a run, or a result of docs/results that is no run; None if the run is not stored."""
    if name not in runs():
        return load(name)
    try:
        return load(f"papers/{name}")
    except FileNotFoundError:
        return None


def paper(name: str) -> str:
    """The Markdown table `name` of papers.toml, and the runs of our figures.

    A figure that is not stored is shown as a dash; a column without published values is left out. Raises ValueError if a stored result
    lacks a row that the table names.
    """
    columns, rows = tables()[name]
    shown = {"": [row.paper for row in rows]}
    ours = [_ours(row.ours) or {} for row in rows]
    for place, key in enumerate(columns):
        header, spec = _HEADERS[key]
        shown[header] = [show(row.get(key), spec) for row in ours]
        if any(published := [row.published[place] for row in rows]):
            shown[f"published {header}"] = published
    headers = ["published" if header.startswith("published ") else header for header in shown]
    return markdown(headers, list(zip(*shown.values(), strict=True)), 1) + _named(row.ours.partition(":")[0] for row in rows if row.ours)


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


def _named(names: Iterable[str]) -> str:
    """A paragraph with the runs `names` by the text that they decode, those during which others computed, and those not measured."""
    texts: dict[str, list[str]] = defaultdict(list)
    busy, missing = [], []
    for name in dict.fromkeys(names):
        if (result := stored(name)) is None:
            missing.append(f"`{name}`")
            continue
        texts[result.label].append(f"`{name}`")
        if (share := result.record["environment"].get("busy") or 0.0) > BUSY:
            busy.append(f"{share:.0%} during `{name}`")
    by_text = "; ".join(f"{', '.join(of_text)} ({label})" for label, of_text in texts.items())
    said = [f"Measured by {by_text}."] if texts else []
    said += [f"Other programs used the processors ({', '.join(busy)}), so speeds are not reliable."] if busy else []
    said += [f"Not measured yet: {', '.join(missing)}."] if missing else []
    return f"\n{' '.join(said)}\n"


def paper_runs() -> str:
    """Markdown about the runs in the tables: the machine of each, what it needs, and the number of updates of its trained models."""
    others = dict.fromkeys(
        name for _, rows in tables().values() for row in rows if (name := row.ours.partition(":")[0]) not in ("", *runs())
    )
    machines: dict[str, list[str]] = defaultdict(list)
    updates: dict[str, int] = {}
    for name in (*runs(), *others):
        result = stored(name)
        if result is not None:
            machines[environment(result).removesuffix(".")].append(f"`{name}`")
            updates |= result.record["environment"].get("updates") or {}
    lines = [f"* {place}: {', '.join(names)}.\n" for place, names in machines.items()]
    trained = ", ".join(f"{name} {count:,}" for name, count in updates.items())
    needs = [f"* {name} needs {load(name).record['needs']}.\n" for name in others if not load(name).repeatable]
    return f"{''.join(lines)}{''.join(needs)}* Updates of training: {trained}.\n"


def paper_view(kind: str, run: str, *arguments: str) -> str:
    """The Markdown tables of a run that the function of VIEWS for `kind` makes, and the name of the run; only its name if it is not stored.

    `arguments` are those of the function.
    """
    result = stored(run)
    return ("" if result is None else VIEWS[kind](result, *arguments)) + _named([run])


def _analysis(result: Stored, name: str) -> str:
    """The analysis `name`, a key of ANALYSES."""
    return ANALYSES[name].table(result.record["analyses"][name]).to_markdown()


def _profile(result: Stored) -> str:
    """The time by module of each row that was profiled."""
    iterations = {row_name(row): row["iterations"] for row in result.rows}
    return profile_table(result.record["profiles"], result.record["input"]["sentences"], iterations).to_markdown()


def _histograms(result: Stored) -> str:
    """The lines by speedup, of each row that drafts over each baseline."""
    found = result.record["histograms"]
    columns = [{one[0]: f"{one[2]} ({one[3]})" for one in histogram_table(each["bins"]).rows} for each in found]
    speedups = sorted({speedup for column in columns for speedup in column}, key=lambda text: float(text.partition("x")[0]))
    headers = ["speedup", *(f"lines, {each['row']} over {each['baseline']}" for each in found)]
    return markdown(headers, [(speedup, *(column.get(speedup, "0") for column in columns)) for speedup in speedups], 1)


def _edits(result: Stored) -> str:
    """The median speedup over greedy decoding by edit ratio, for each row that drafts."""
    rows = []
    for name, of_row in result.record["points"].items():
        for low, high in zip((-1.0, *EDIT_RATIOS), EDIT_RATIOS, strict=False):
            speedups = [one["speedup"] for one in of_row if low < one["edit_ratio"] <= high]
            label = "0" if low < 0 else f"above {low:.2f}, up to {high:.2f}"
            if speedups:
                rows.append((name, label, str(len(speedups)), f"{median(speedups):.2f}x"))
    return markdown(("decoding", "edit ratio", "lines", "median speedup"), rows, 2)


def _ends(result: Stored) -> str:
    """The precision of 1-grams and 4-grams, from left to right and from both ends, by part of the output, with a beam of 5."""
    ends, lines = result.record["analyses"]["ends"], []
    for part, published in published_ends().items():
        of_part = [one for one in ends if one["tokens"] == part]
        pairs = [next(one for one in of_part if one["decoding"].endswith(f" {label}")) for label in (LEFT_TO_RIGHT, BOTH_ENDS)]
        ours = [f"{one[key]:.1%}" for key in ("1-gram", "4-gram") for one in pairs]
        lines.append((part, *(cell for mine, theirs in zip(ours, published, strict=True) for cell in (mine, f"{theirs:.1f}%"))))
    names = [f"{order}-grams, {way}" for order in (1, 4) for way in ("L2R", "both ends")]
    return markdown(["tokens", *(cell for name in names for cell in (name, "published"))], lines, 1)


VIEWS: Mapping[str, Callable[..., str]] = {
    "paper-analysis": _analysis,
    "paper-profile": _profile,
    "paper-histogram": _histograms,
    "paper-edits": _edits,
    "paper-ends": _ends,
}
"""What the pages show of a run beside its rows, by the name of the generator."""
