"""`python -m tools.curves NAME=METRICS...`: store the dev loss of training runs, and draw it against the updates.

METRICS is the log metrics.csv of the output folder of `train-verifier`; NAME is shown in the legend. The points are added to those in
docs/results/training/curves.json, and the figure is written to docs/curves.svg. Without arguments, the figure is drawn anew from the
stored points.
"""

import argparse
import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from specdec_cli.benchmark.scatter import new_figure, save
from specdec_cli.files import make_folder, write_json
from tools.pages import DOCS

STORED = DOCS / "results" / "training" / "curves.json"
FIGURE = DOCS / "curves.svg"
_LOSS = "dev_loss="

Curve = list[tuple[int, float]]
"""The points of a curve: the number of updates, and the dev loss after them in nats per token."""


def read_curve(path: Path) -> Curve:
    """The evaluations in a log metrics.csv."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [(int(row["update"]), row["figures"].split()) for row in csv.DictReader(stream)]
    return [(update, float(one.removeprefix(_LOSS))) for update, figures in rows for one in figures if one.startswith(_LOSS)]


def draw(curves: Mapping[str, Curve], path: Path) -> None:
    """Draw the dev loss against the updates, a line for each run, and write the figure to `path`."""
    figure, (axes,) = new_figure()
    for name, curve in curves.items():
        axes.plot(*zip(*curve, strict=True), marker="o", markersize=4, label=name)
    axes.set(xlabel="updates", ylabel="loss on the dev set (nats per token)")
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    save(figure, path)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the program with command-line `arguments` (default: those of the process)."""
    parser = argparse.ArgumentParser(prog="python -m tools.curves", description=__doc__)
    parser.add_argument("runs", nargs="*", metavar="NAME=METRICS", help="name of a training run, and its metrics.csv")
    asked = parser.parse_args(arguments)
    if asked.runs:
        named = [run.partition("=") for run in asked.runs]
        if any(not path for _, _, path in named):
            parser.error("give NAME=METRICS")
        make_folder(STORED.parent)
        stored = json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}
        write_json(STORED, stored | {name: read_curve(Path(path)) for name, _, path in named})
    draw(json.loads(STORED.read_text(encoding="utf-8")), FIGURE)


if __name__ == "__main__":
    main()
