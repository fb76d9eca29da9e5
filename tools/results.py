"""Stored results: docs/results/NAME.json is the output of `bench --json`, with the command that measured it.

Besides the numbers, a file has the `label` of its text and the `command`: arguments of specdec, in which DATA stands for the folder of data
sets, and OUT for a temporary folder. `needs` names other files that the command needs besides the shipped models and DATA; `notes` is shown
in the pages.
"""

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specdec_cli.files import write_json
from tools.pages import DOCS

FOLDER = DOCS / "results"
_OUTPUT = {"bench": ("--json", "--quiet")}
"""The option of a command for the file that it writes, and its other options."""
_KEPT = ("label", "command", "needs", "notes")


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
        path = FOLDER / f"{name}.json"
        write_json(path, {key: stored.record[key] for key in _KEPT if key in stored.record and key != "notes"} | _measure(stored, data))
        load.cache_clear()
        yield f"{name}: {stored.command}"


def placed(part: str, places: Mapping[str, Path | None]) -> str:
    """`part`, an argument of a command, with the path of its first folder if that is one of `places`, by name."""
    name, slash, rest = part.partition("/")
    return f"{places[name]}/{rest}" if slash and name in places else part


def _measure(stored: Stored, data: Path) -> dict[str, Any]:
    """Run the command of a result and return the record that it writes."""
    with tempfile.TemporaryDirectory(prefix="specdec-") as folder:
        path, places = Path(folder) / "result.json", {"DATA": data, "OUT": Path(folder)}
        command, *arguments = [placed(part, places) for part in stored.record["command"]]
        output = _OUTPUT.get(command, ("--output",))
        program = [sys.executable, "-m", "specdec_cli", command, *arguments]
        subprocess.run([*program, *output[1:], output[0], str(path)], check=True, stdout=subprocess.DEVNULL)
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if command == "bench":
        # The path of the data folder differs between machines.
        return record | {"input": record["input"] | {"name": Path(record["input"]["name"]).name}}
    return record | {"environment": _environment()}


def _environment() -> dict[str, Any]:
    from specdec_cli.benchmark.environment import describe_environment

    return describe_environment() | {"device": "cpu", "precision": "float32", "model": "en-de"}
