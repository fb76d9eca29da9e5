"""`python -m tools.papers DATA [--bundles BUNDLES]`: measure what docs/papers.md shows, and write the page anew."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.docs import main as write_pages
from tools.papers.runs import measure, runs


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.papers", description=__doc__)
    parser.add_argument("data", type=Path, metavar="DATA", help="folder of data sets: en-de/dev.*.tsv, en-gec/dev.*")
    parser.add_argument("--bundles", type=Path, help="output folder of the recipe papers.sh; runs whose bundles are missing are skipped")
    parser.add_argument("--run", action="append", choices=runs(), metavar="NAME", help="only this run of runs.toml; repeatable")
    parser.add_argument("--again", action="store_true", help="measure again what is stored")
    asked = parser.parse_args(arguments)
    bundles = None if asked.bundles is None else asked.bundles.resolve()
    failed = False
    for line in measure(asked.run or list(runs()), asked.data.resolve(), bundles, asked.again):
        print(line, file=sys.stderr, flush=True)
        failed = failed or line.endswith(": failed")
    write_pages([])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
