"""The runs behind docs/papers.md, and their stored results: docs/results/papers/NAME.json, in the format of `bench --json`.

The runs are in runs.toml: by name, the `label` of the text, and the `command`, in which DATA stands for the folder of data sets and
BUNDLES for the output folder of the recipe papers.sh; OUT is a temporary folder for pictures, which are not kept. The environment of
a result has the `seconds` that the command took, and the `updates` of each trained bundle, as far as its folder has the log of its
training.
"""

import csv
import json
import shlex
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

from specdec_cli.files import write_json
from tools.pages import DOCS
from tools.results import placed

FOLDER = DOCS / "results" / "papers"
_FILE = Path(__file__).with_name("runs.toml")
_PREFIX = "BUNDLES/"


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
        return tuple(part.removeprefix(_PREFIX) for part in self.command if part.startswith(_PREFIX))

    @property
    def path(self) -> Path:
        """The file of the stored result."""
        return FOLDER / f"{self.name}.json"


@cache
def runs() -> dict[str, Run]:
    """All runs by name, in the order of runs.toml."""
    values: dict[str, dict[str, str]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {name: Run(name, one["label"], tuple(shlex.split(one["command"])), one.get("needs", "")) for name, one in values.items()}


def measure(wanted: list[str], data: Path, bundles: Path | None, again: bool = False) -> Iterator[str]:
    """Run the runs named in `wanted`, store their results, and yield a message for each.

    `data` is the folder of data sets, `bundles` that of the trained bundles. Runs whose bundles are missing are skipped, and, unless
    `again`, those whose stored result has the same command and the same updates of its bundles. A run whose command fails stores
    nothing; its message ends in "failed".
    """
    for name in wanted:
        run = runs()[name]
        missing = [bundle for bundle in run.bundles if bundles is None or not (bundles / bundle / "bundle.json").exists()]
        if missing:
            yield f"{name}: skipped; {', '.join(missing)} missing; it needs {run.needs or 'the models of the recipe papers.sh'}"
        elif not again and run.path.exists() and _current(run, bundles):
            yield f"{name}: stored already"
        else:
            yield f"{name}: {shlex.join(['specdec', *run.command])}"
            try:
                measured = _measured(run, data, bundles)
            except subprocess.CalledProcessError:
                yield f"{name}: failed"
            else:
                write_json(run.path, {"label": run.label, "command": list(run.command), **_needs(run), **measured})


def _current(run: Run, bundles: Path | None) -> bool:
    """Whether the stored result has the command of the run, and its bundles have not been trained further since."""
    record: dict[str, Any] = json.loads(run.path.read_text(encoding="utf-8"))
    updates = {} if bundles is None else _updates(run, bundles)
    recorded: dict[str, int] = record["environment"].get("updates", {})
    return list(run.command) == record["command"] and updates.items() <= recorded.items()


def _needs(run: Run) -> dict[str, str]:
    needs = run.needs or f"{', '.join(run.bundles)}, trained by the recipe papers.sh"
    return {"needs": needs} if run.bundles else {}


def _measured(run: Run, data: Path, bundles: Path | None) -> dict[str, Any]:
    """Run the command, and return the record that it writes, without paths of this machine."""
    with tempfile.TemporaryDirectory(prefix="specdec-") as folder:
        path, places = Path(folder) / "result.json", {"DATA": data, _PREFIX[:-1]: bundles, "OUT": Path(folder)}
        arguments = [placed(part, places) for part in run.command]
        output = ["--json", str(path), "--quiet"] if run.command[0] == "bench" else ["--output", str(path)]
        start = perf_counter()
        subprocess.run([sys.executable, "-m", "specdec_cli", *arguments, *output], check=True, stdout=subprocess.DEVNULL)
        seconds = perf_counter() - start
        text = path.read_text(encoding="utf-8")
    record: dict[str, Any] = json.loads(text.replace(f"{bundles}/", "").replace(f"{data}/", ""))
    record["environment"]["seconds"] = round(seconds, 1)
    if bundles is not None and (updates := _updates(run, bundles)):
        record["environment"]["updates"] = updates
    return record


def _updates(run: Run, bundles: Path) -> dict[str, int]:
    """The number of updates of the bundles of a run, by name; bundles without metrics.csv are left out."""
    found = {}
    for name in run.bundles:
        log = bundles / name / "metrics.csv"
        if log.exists():
            with log.open(encoding="utf-8", newline="") as stream:
                found[name] = max(int(row["update"]) for row in csv.DictReader(stream))
    return found
