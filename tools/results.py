"""Stored results, and their tables in Markdown: docs/results/NAME.json is the output of `bench --json`, with a row on each line.

Besides the numbers, a file has the `label` of its text and the `command`: arguments of specdec, in which DATA stands for the folder of data
sets, and OUT for a temporary folder. `needs` names other files that the command needs besides the shipped models and DATA; `notes` is shown
in the pages.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.results import COLUMNS, METRICS, NOTHING, number_format, show
from specdec_cli.benchmark.tables import Table
from specdec_cli.files import write_text
from tools.pages import DOCS

FOLDER = DOCS / "results"
_KEPT = ("label", "command")
MOSTLY = 0.5
"""If at most this share of the rounds of a row has a draft, a table states the share."""

_LEFT_OUT = ("block_size", "drafted", "spread")
"""Columns of bench that the pages do not show."""
_Row = dict[str, Any]
_Cell = Callable[[_Row], str | None]


@dataclass(frozen=True)
class Stored:
    """A stored result: the name of its file without suffix, and the content of the file."""

    name: str
    record: dict[str, Any]

    @property
    def label(self) -> str:
        """A name for the text that was decoded, for tables."""
        return str(self.record["label"])

    @property
    def command(self) -> str:
        """The command line that measured the result."""
        return shlex.join(["specdec", *self.record["command"]])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The measured rows of the benchmark, as `bench --json` writes them."""
        return list(self.record["rows"])

    @property
    def repeatable(self) -> bool:
        """Whether the shipped models and the data sets are all that is needed to measure the result again."""
        return "needs" not in self.record


def names() -> list[str]:
    """The names of all stored results, sorted."""
    return sorted(path.stem for path in FOLDER.glob("*.json"))


@cache
def load(name: str) -> Stored:
    """Read the stored result `name`. Raises FileNotFoundError if there is none of this name."""
    return Stored(name, json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def store(name: str, record: Mapping[str, Any]) -> None:
    """Write `record` to the file of the stored result `name`: all but the rows on the first line, and then a row on each line."""
    rest, rows = {key: value for key, value in record.items() if key != "rows"}, record.get("rows", ())
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    text = json.dumps(rest, ensure_ascii=False)[:-1] + (f', "rows": [\n{lines}\n]' if "rows" in record else "") + "}\n"
    write_text(FOLDER / f"{name}.json", text)
    load.cache_clear()


def measure_again(data: Path, wanted: list[str]) -> Iterator[str]:
    """Measure the results named in `wanted` again, overwrite their files, and yield a message for each.

    `data` is the folder of the data sets. Results that need other files are not measured; their message says so. Raises
    subprocess.CalledProcessError if a command fails.
    """
    for name in wanted:
        stored = load(name)
        if not stored.repeatable:
            yield f"{name}: not measured; it needs {stored.record['needs']}"
            continue
        record = run(stored.record["command"], {"DATA": data})
        described = {"input": record["input"] | {"name": Path(record["input"]["name"]).name}}
        store(name, {key: stored.record[key] for key in _KEPT if key in stored.record} | record | described)
        yield f"{name}: {stored.command}"


def run(command: Sequence[str], places: Mapping[str, Path | None]) -> dict[str, Any]:
    """Run `command`, arguments of specdec, and return the record that it writes, without paths of this machine.

    Paths that begin with a name in `places` are in its folder; OUT stands for a temporary folder. Raises subprocess.CalledProcessError if
    the command fails.
    """
    with tempfile.TemporaryDirectory(prefix="specdec-") as folder:
        path, known = Path(folder) / "result.json", {**places, "OUT": Path(folder)}
        parts = (part.partition("/") for part in command)
        arguments = [f"{known[name]}/{rest}" if slash and name in known else f"{name}{slash}{rest}" for name, slash, rest in parts]
        program = [sys.executable, "-m", "specdec_cli", *arguments, "--quiet", "--json", str(path)]
        subprocess.run(program, check=True, stdout=subprocess.DEVNULL)
        text = path.read_text(encoding="utf-8")
    for place in filter(None, places.values()):
        text = text.replace(f"{place}/", "")
    record: dict[str, Any] = json.loads(text)
    return record


# Tables


@dataclass(frozen=True)
class Comparison:
    """A comparison of two rows of the stored result `name`: the decoding `ours` of specdec and `theirs`, of CTranslate2 or `greedy`.

    `geometry` names the model shape in a synthetic result; None for real models.
    """

    name: str
    ours: str
    theirs: str
    geometry: str | None = None


_GREEDY, _BEAM = "ctranslate2-greedy", "ctranslate2-beam"
_SHIPPED = [(text, "auto", _GREEDY) for text in ("cweb-g", "jfleg", "dialogue")]
_SHIPPED += [("dialogue", "auto", _BEAM), ("beam", "beam", _BEAM), ("news", "auto", _GREEDY)]
COMPARISONS = {
    "vnni": (
        *(Comparison(f"speed-{text}", *rows) for text, *rows in _SHIPPED),
        *(Comparison("six-layers", "auto", theirs) for theirs in (_GREEDY, _BEAM)),
        Comparison("speed-synthetic", "specdec", _GREEDY, "base"),
        Comparison("speed-synthetic", "input-guided", _BEAM, "big"),
        *(Comparison("speed-synthetic", "specdec", "greedy", geometry) for geometry in ("marian", "marian-quick")),
    ),
    "avx2": tuple(Comparison(f"avx2-{text}", *rows) for text, *rows in _SHIPPED),
}
"""The rows of the two tables of comparisons: one for processors with VNNI, one for those with AVX2 alone."""


def summary() -> str:
    """The Markdown table of speeds in the README: specdec against its own greedy decoding, which shows what drafting saves, and against
    CTranslate2's, with the shipped models.
    """
    greedy = (each for each in COMPARISONS["vnni"] if each.geometry is None and each.theirs == _GREEDY)
    shown, rows = [each for each in greedy if load(each.name).repeatable], []
    for each in shown:
        ours, theirs = _pair(each)
        own, _ = _pair(replace(each, ours="greedy"))
        speeds = (f"{row['tokens_per_second']:,.0f}" for row in (ours, own, theirs))
        times = (_times(each, ours, other) for other in (own, theirs))
        rows.append((load(each.name).label, _chosen(ours), *speeds, *times, _identical(ours)))
    speeds_of = ("specdec, tokens/s", "own greedy, tokens/s", "CTranslate2, tokens/s")
    columns = ("text", "decoding", *speeds_of, "over own greedy", "over CTranslate2", "greedy's lines")
    return markdown(columns, rows, 2) + "\n" + environment(load(shown[0].name)) + "\n"


def comparison(processor: str) -> str:
    """The Markdown table of COMPARISONS on `processor` with CTranslate2, which has the settings that are fastest for it."""
    rows = []
    for each in COMPARISONS[processor]:
        ours, theirs = _pair(each)
        label = f"{load(each.name).label}, {each.geometry}" if each.geometry else load(each.name).label
        ours_cells = (_chosen(ours), f"{ours['tokens_per_round']:.2f}", f"{ours['tokens_per_second']:,.0f}")
        their_cells = (theirs["decoding"], _setting(theirs["settings"]), f"{theirs['tokens_per_second']:,.0f}")
        rows.append((label, *ours_cells, *their_cells, _times(each, ours, theirs), _identical(ours)))
    columns = ("text", "decoding", "tokens per round", "tokens/s", "against", "its setting", "tokens/s", "times as fast", "greedy's lines")
    stored = [load(name) for name in dict.fromkeys(each.name for each in COMPARISONS[processor])]
    return markdown(columns, rows, 2) + sources(stored)


def drafts(*names: str) -> str:
    """The Markdown table of drafts by another model: a line for each of the stored results `names`."""
    stored, rows = [load(name) for name in names], []
    for one in stored:
        ours, greedy, theirs = (next(row for row in one.rows if row["decoding"] == name) for name in ("draft-model", "greedy", _GREEDY))
        speeds = (_over(ours, greedy), _over(ours, theirs), _over(greedy, theirs))
        threads = str(one.record["environment"]["threads"])
        rows.append((one.label, threads, f"{ours['tokens_per_round']:.2f}", *(f"{times:.2f}x" for times in speeds), _identical(ours)))
    columns = (
        "text",
        "threads",
        "tokens per round",
        "over own greedy",
        "over CTranslate2",
        "own greedy over CTranslate2",
        "greedy's lines",
    )
    return markdown(columns, rows, 1) + sources(stored)


def sizes(*names: str) -> str:
    """The Markdown table of the stored results `names`, one line for each size of model. The columns are the speed of greedy decoding for
    single sentences and for batches of 32, each also relative to CTranslate2, the memory and the processor time of the start.
    """
    stored, rows = [load(name) for name in names], []
    for one in stored:
        cells = []
        for batch_size in (1, 32):
            batch = [row for row in one.rows if row["settings"]["batch_size"] == batch_size]
            ours, theirs = (next(row for row in batch if row["decoding"] == name) for name in ("greedy", _GREEDY))
            cells += [f"{ours['tokens_per_second']:,.0f}", f"{_over(ours, theirs):.2f}x"]
        alone = one.rows[0]
        rows.append((one.label, *cells, f"{alone['peak_memory_mb']:,.0f}", f"{alone['settings']['start_seconds']:.1f}"))
    speeds = (f"{what}, {unit}" for what in ("alone", "batches of 32") for unit in ("tokens/s", "over CTranslate2"))
    return markdown(("size of", *speeds, "memory alone, MB", "start, s"), rows, 1) + sources(stored)


def _over(ours: _Row, theirs: _Row) -> float:
    """How many times as fast as another row a row is."""
    return float(ours["tokens_per_second"]) / float(theirs["tokens_per_second"])


def table(*names: str) -> str:
    """The Markdown table of the stored results `names`: a line for each row of the benchmark, a column for each measured quantity."""
    stored = [load(name) for name in names]
    every = [(one, row) for one in stored for row in one.rows]
    columns: dict[str, list[str | None]] = {}
    if len({one.label for one in stored}) > 1:
        columns["text"] = [one.label for one, _ in every]
    formats = [number_format(row["settings"]) or one.record["environment"]["precision"] for one, row in every]
    if len(set(formats)) > 1:
        columns["number format"] = formats
    if any("model" in row for _, row in every):
        columns["model"] = [Path(row["model"]).name if "model" in row else None for _, row in every]
    columns["decoding"] = [row_name(row) for _, row in every]
    named = len(columns)
    for title, cell in _cells(stored).items():
        values = [cell(row) for _, row in every]
        if any(value is not None for value in values):
            columns[title] = values
    rows = [tuple(NOTHING if value is None else value for value in line) for line in zip(*columns.values(), strict=True)]
    return markdown(tuple(columns), rows, named) + sources(stored)


def environment(stored: Stored) -> str:
    """One line with the machine, number format, versions and date of a stored result, and its number of repetitions."""
    known: Mapping[str, Any] = stored.record["environment"]
    place = known.get("gpu") or known["cpu"]
    parts = [place, ", ".join(filter(None, (known["device"], known["precision"], known.get("engine"))))]
    if "cores" in known:
        counts = {"core": known["cores"], "thread": known.get("threads", 0)}
        parts.insert(1, ", ".join(f"{count} {name}{'s' if count > 1 else ''}" for name, count in counts.items() if count))
    parts += [", ".join(f"{name} {known[name]}" for name in ("specdec", "torch", "ctranslate2") if name in known), known["date"][:10]]
    if known.get("repetitions", 1) > 1:
        parts.append(f"medians of {known['repetitions']} repetitions")
    return "; ".join(parts) + "."


def row_name(row: _Row) -> str:
    """The name of a stored row: its `label` if it has one, else its name as in `bench --row`."""
    settings = row["settings"]
    kind = settings.get("compute_type")
    variant = settings.get("match") or settings.get("preset") or (kind if kind != "float32" else None)
    return str(row.get("label") or (f"{row['decoding']}:{variant}" if variant else row["decoding"]))


def _cells(stored: Sequence[Stored]) -> dict[str, _Cell]:
    """Return, by header, the function that formats a cell for each column: the beam size if the rows have several, the metrics, and the
    columns of the table that bench prints.
    """
    searched = any(len({row["settings"].get("beam_size") for row in one.rows} - {None}) > 1 for one in stored)
    return {
        **({"beam size": lambda row: str(row["settings"].get("beam_size", "")) or None} if searched else {}),
        **{title: _written(metric, ",.2f") for metric, title in METRICS.items()},
        **{column.header: _written(column.key, column.spec) for column in COLUMNS if column.header and column.key not in _LEFT_OUT},
    }


def _written(key: str, spec: str) -> _Cell:
    """Make the function that shows the number with the key `key` in JSON ("a.b": key b of the object a) in the format `spec`."""

    def cell(row: _Row) -> str | None:
        outer, _, inner = key.partition(".")
        value = (row.get(outer) or {}).get(inner) if inner else row.get(outer)
        return None if value is None else show(value, spec)

    return cell


def _pair(each: Comparison) -> tuple[_Row, _Row]:
    rows = [row for row in load(each.name).rows if row["settings"].get("geometry") == each.geometry]
    ours, theirs = (next(row for row in rows if row["decoding"] == name) for name in (each.ours, each.theirs))
    return ours, theirs


def _times(each: Comparison, ours: _Row, theirs: _Row) -> str:
    if each.geometry:
        return f"{load(each.name).record['synthetic'][each.geometry]['speedup_vs'][each.theirs]:.2f}x"
    return f"{_over(ours, theirs):.2f}x"


def _chosen(row: _Row) -> str:
    chosen, drafted = row["settings"].get("chosen", row["decoding"]), row["drafted"]
    if drafted is None or drafted > MOSTLY or chosen == "greedy":
        return str(chosen)
    return f"{chosen}, no drafts" if drafted == 0 else f"{chosen}, drafts in {drafted:.1%} of rounds"


def _setting(settings: Mapping[str, Any]) -> str:
    kind = number_format(settings)
    workers = f"{settings['workers']} x " if settings.get("workers", 1) > 1 else ""
    batch = f", batches of {settings['batch_size']}" if settings.get("batch_size", 1) > 1 else ""
    return f"{kind}, {workers}{settings['threads']} thread{'s' * (settings['threads'] > 1)}{batch}"


def _identical(row: _Row) -> str:
    return "{:,} of {:,}".format(*row["identical"]) if row["identical"] else NOTHING


def sources(stored: Sequence[Stored]) -> str:
    """Links to the files of the results `stored`, with their environments and notes."""
    places: dict[str, list[str]] = defaultdict(list)
    for one in stored:
        notes = f" {one.record['notes']}" if "notes" in one.record else ""
        places[environment(one) + notes].append(f"[{one.name}](results/{one.name}.json)")
    return "\n" + "  \n".join(f"{', '.join(links)}: {place}" for place, links in places.items()) + "\n"


def markdown(columns: Sequence[str], rows: Sequence[tuple[str, ...]], names: int) -> str:
    """A Markdown table with these columns, the first `names` of which are aligned to the left."""
    return Table(tuple(columns), tuple(rows), names).to_markdown()
