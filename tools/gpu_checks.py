"""Stored checks of GPUs: docs/results/gpu/NAME.json is the output of `specdec bench --check-device --json`, with a part on each line.

`python -m tools.gpu_checks NAME FILE` stores one; `make docs` shows all of them in docs/gpu.md.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from specdec_cli.benchmark.results import NOTHING, show
from specdec_cli.files import write_text
from tools.results import FOLDER, markdown

_Parts = Mapping[str, Mapping[str, Any]]
BATCHES = (1, 7, 32, 128, 512)
COLUMNS: Mapping[str, str] = {
    "greedy, kernels": "kernels, batch {}, block size 0",
    "`specdec`, kernels": "kernels, batch {}, block size 4",
    "greedy, captured operators": "operators, batch {}, block size 0",
    "`specdec`, captured operators": "operators, batch {}, block size 4",
    "CTranslate2, greedy": "CTranslate2, batch {}",
    "beam of 5, kernels": "kernels, batch {}, beam of 5",
    "beam of 5, CTranslate2": "CTranslate2, batch {}, beam of 5",
}
"""The columns of a table, and the parts of the check whose speeds they show, by batch size."""
TRAINED, MEANS = ("verifier", "drafter"), ("captured", "eager")
"""What the check trains, and how its updates run."""


def store(name: str, file: Path, folder: Path = FOLDER / "gpu") -> None:
    """Store the results of a check in `file` as `name`. Raises ValueError for a file of something else."""
    parts = json.loads(file.read_text(encoding="utf-8"))
    if not isinstance(parts, dict) or "card" not in parts.get("card", {}):
        raise ValueError(f"{file}: not the results of a check of a GPU")
    lines = ",\n".join(f"{json.dumps(part)}: {json.dumps(found)}" for part, found in parts.items())
    folder.mkdir(parents=True, exist_ok=True)
    write_text(folder / f"{name}.json", f"{{\n{lines}\n}}\n")


def gpu_checks(folder: Path = FOLDER / "gpu") -> str:
    """Agreement, speeds and memory of each stored check in `folder`, in Markdown; nothing if there is none."""
    stored = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]
    return "Checks by the command below that were stored:\n\n" + "".join(map(_check, stored)) if stored else ""


def _check(parts: _Parts) -> str:
    card = parts["card"]
    compared = {name: part for name, part in parts.items() if "same" in part or "different" in part or "error" in part}
    wrong = [name for name, part in compared.items() if part.get("different") or part.get("error")]
    agreement = f"The expected tokens in {len(compared) - len(wrong)} of {len(compared)} parts"
    versions, text = f"PyTorch {card['torch']}, Triton {card['triton']}", f"{card['bundle']}, {card['lines']:,} lines of {card['input']}"
    missing = f"; not as they should be: {'; '.join(wrong)}" if wrong else ""
    table = markdown(("ms a line in batches of 1, else tokens/s", *COLUMNS), list(_rows(parts)), 1)
    shown = f"**{card['card']}**, {versions}; {text}. {agreement}{missing}.\n\n{table}\n"
    if training := list(_training(parts)):
        shown += f"{markdown(('training, target tokens/s', *MEANS), training, 1)}\n"
    return shown + "".join(_memory(part) for part in parts.values() if "second_mb" in part)


def _rows(parts: _Parts) -> Iterator[tuple[str, ...]]:
    for batch in BATCHES:
        cells = [_speed(parts.get(name.format(batch), {}), batch) for name in COLUMNS.values()]
        if set(cells) != {NOTHING}:
            yield str(batch), *cells


def _training(parts: _Parts) -> Iterator[tuple[str, ...]]:
    for trained in TRAINED:
        found = [parts.get(f"training of the {trained}, {means}", {}).get("target_tokens_per_s") for means in MEANS]
        if any(found):
            yield trained, *(show(speed, ",") for speed in found)


def _memory(part: Mapping[str, Any]) -> str:
    halves = f"{part['first_mb']:,} MB while the first half of {part['sentences']:,} drawn sentences was decoded, {part['second_mb']:,} MB"
    graphs = f"; {part['forms']} forms of batches, {part['rounds_a_burst']} rounds a burst" if "forms" in part else ""
    return f"Memory: at most {halves} during the second{graphs}.\n\n"


def _speed(part: Mapping[str, Any], batch: int) -> str:
    if "tokens_per_s" not in part:
        return NOTHING
    return f"{part['ms_a_line']:.1f}" if batch == 1 else f"{part['tokens_per_s']:,}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Store the results of a check."""
    parser = argparse.ArgumentParser(prog="python -m tools.gpu_checks", description="Store the results of a check of a GPU for the pages.")
    parser.add_argument("name", help="name of the stored results, such as h200")
    parser.add_argument("file", type=Path, help="what `specdec bench --check-device --json` wrote")
    store(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    main()
