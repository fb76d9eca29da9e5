"""`python -m tools.papers DATA [--bundles BUNDLES]`: measure what docs/papers.md shows, and write the page anew."""

import argparse
import csv
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from tools import paper_tables
from tools.docs import write_pages
from tools.paper_tables import BUNDLES, Run, stored
from tools.results import run as run_command
from tools.results import store


def measure(wanted: Iterable[str], data: Path, bundles: Path | None, again: bool = False) -> Iterator[str]:
    """Run the runs named in `wanted`, store their results, and yield a message for each.

    `data` is the folder of data sets, `bundles` that of the trained bundles. Runs whose bundles are missing are skipped, and, unless
    `again`, those whose stored result has the same command and the same updates of its bundles. A run whose command fails stores
    nothing; its message ends in "failed".
    """
    for name in wanted:
        run = paper_tables.runs()[name]
        missing = [bundle for bundle in run.bundles if bundles is None or not (bundles / bundle / "bundle.json").exists()]
        if missing:
            yield f"{name}: skipped; {', '.join(missing)} missing; it needs {run.needs or 'the models of the recipe papers.sh'}"
        elif not again and _is_current(run, bundles):
            yield f"{name}: stored already"
        else:
            yield f"{name}: {shlex.join(['specdec', *run.command])}"
            try:
                measured = _measured(run, data, bundles)
            except subprocess.CalledProcessError:
                yield f"{name}: failed"
            else:
                needs = {"needs": run.needs or f"{', '.join(run.bundles)}, trained by the recipe papers.sh"} if run.bundles else {}
                store(f"papers/{name}", {"label": run.label, "command": list(run.command), **needs, **measured})


def _is_current(run: Run, bundles: Path | None) -> bool:
    """Whether the stored result has the command of the run, and its bundles have not been trained further since."""
    result = stored(run.name)
    if result is None:
        return False
    updates = {} if bundles is None else _updates(run, bundles)
    recorded: dict[str, int] = result.record["environment"].get("updates", {})
    return list(run.command) == result.record["command"] and updates.items() <= recorded.items()


def _measured(run: Run, data: Path, bundles: Path | None) -> dict[str, Any]:
    """The record that the command of a run writes, with the updates of its bundles."""
    record = run_command(run.command, {BUNDLES[:-1]: bundles, "DATA": data})
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


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.papers", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of data sets: en-de/dev.*.tsv, en-gec/dev.*")
    parser.add_argument("--bundles", type=Path, help="output folder of the recipe papers.sh; runs whose bundles are missing are skipped")
    parser.add_argument("--run", action="append", choices=paper_tables.runs(), metavar="NAME", help="only this run; repeatable")
    parser.add_argument("--again", action="store_true", help="measure again what is stored")
    asked = parser.parse_args(arguments)
    bundles = None if asked.bundles is None else asked.bundles.resolve()
    failed = False
    for line in measure(asked.run or paper_tables.runs(), asked.data.resolve(), bundles, asked.again):
        print(line, file=sys.stderr, flush=True)
        failed = failed or line.endswith(": failed")
    write_pages()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
