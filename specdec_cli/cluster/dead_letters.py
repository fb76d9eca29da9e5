"""Dead letters: the lines that failed on every try, as JSON objects in a file."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from specdec_cli.cluster.run import FailedLine
from specdec_cli.files import json_text, write_atomically

DEAD_LETTERS = "failed.jsonl"
"""The name of the file in the folder of a run: an object with file, line (from 1), text and error for each failed line."""


def write_failed(path: Path, failed: Sequence[FailedLine]) -> None:
    """Write the failed lines of a shard to `path`, or remove that file if there are none."""
    if not failed:
        path.unlink(missing_ok=True)
        return
    text = "".join(json_text(_record(each)) + "\n" for each in failed)
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def merge_failed(parts: Iterable[Path], path: Path) -> int:
    """Concatenate files of failed lines to `path`, which does not exist afterwards if there are no such lines; return their number."""
    texts = [part.read_text(encoding="utf-8") for part in parts if part.exists()]
    if texts:
        write_atomically(path, lambda partial: partial.write_text("".join(texts), encoding="utf-8"))
    else:
        path.unlink(missing_ok=True)
    return sum(text.count("\n") for text in texts)


def _record(failed: FailedLine) -> dict[str, object]:
    line = failed.line
    return {"file": None if line.file is None else str(line.file), "line": line.number, "text": line.text, "error": failed.error}
