"""The folder of a run: a manifest of its settings, and the output and the failed lines of each finished shard."""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from specdec_cli.cluster.jobs import FailedLine, Output, Shard
from specdec_cli.errors import InputError
from specdec_cli.files import check_manifest, json_text, read_json, write_atomically, write_json, write_text
from specdec_cli.text.io.lines import STDIO
from specdec_cli.text.io.writing import compressed

DEAD_LETTERS = "failed.jsonl"
"""The name of the file in the folder of a run: an object with file, line (from 1), text and error for each failed line."""


def write_failed(path: Path, failed: Sequence[FailedLine]) -> None:
    """Write the failed lines of a shard to `path`, or remove that file if there are none."""
    if not failed:
        path.unlink(missing_ok=True)
        return
    text = "".join(json_text(_record(each)) + "\n" for each in failed)
    write_text(path, text)


def merge_failed(parts: Iterable[Path], path: Path) -> int:
    """Concatenate files of failed lines to `path`, which does not exist afterwards if there are no such lines; return their number."""
    texts = [part.read_text(encoding="utf-8") for part in parts if part.exists()]
    if texts:
        write_text(path, "".join(texts))
    else:
        path.unlink(missing_ok=True)
    return sum(text.count("\n") for text in texts)


def _record(failed: FailedLine) -> dict[str, object]:
    line = failed.line
    return {"file": None if line.file is None else str(line.file), "line": line.number, "text": line.text, "error": failed.error}


FORMAT = 1


class ShardFolder:
    """The shards in `folder`; creates the folder, or resumes one whose manifest has the same `settings`.

    Shard 0 consists of `shard-00000.out` (output text), `shard-00000.failed` (its dead letters, if any), and `shard-00000.json`
    (digest of its input, and counts), which is written last. Raises UsageError if the manifest has other settings, naming
    them, and for a folder with files but no manifest.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        self._files: dict[int, Path] = {}
        advice = f"use the same settings, delete {folder}, or give another output"
        check_manifest(folder, {"format": FORMAT} | dict(settings), advice)

    def has(self, shard: Shard) -> bool:
        """Whether the shard is stored. Raises InputError if the stored one was made from other lines."""
        self._files[shard.index] = shard.file or STDIO
        described = self._path(shard.index, "json")
        if not described.exists():
            return False
        if read_json(described, InputError).get("input") != shard.digest():
            place = f"{shard.lines[0].location} and after"
            raise InputError(f"{place}: other text than in the run that {self.folder} resumes; use the same input, or delete that folder")
        return True

    def write(self, shard: Shard, output: Output, failed: list[FailedLine]) -> None:
        """Store the output of a shard: the file of counts last, so that a shard with counts is complete."""
        text = "".join(output.texts)
        write_text(self._path(shard.index, "out"), text)
        write_failed(self._path(shard.index, "failed"), failed)
        write_json(self._path(shard.index, "json"), {"input": shard.digest(), "counts": dict(output.counts)})

    def counts(self, count: int) -> Counter[str]:
        """The sums of the counts of the first `count` shards."""
        total: Counter[str] = Counter()
        for index in range(count):
            total.update(self._described(index)["counts"])
        return total

    def merge(self, count: int, targets: Mapping[Path, Path], failed: Path) -> int:
        """Concatenate the first `count` shards into output files, and their dead letters into `failed`; return the number of these.

        `targets` has the output file of each input file (`-`: stdin); several inputs may have one output. `has` must have been called
        for each shard: an earlier run may have spelled the input files differently. Outputs whose names end with .gz or .xz are
        compressed. Files are written completely or not at all.
        """
        owners = [targets[self._files[index]] for index in range(count)]
        for target in dict.fromkeys(targets.values()):
            parts = [self._path(index, "out") for index in range(count) if owners[index] == target]
            write_atomically(target, partial(_join, parts, target.suffix))
        return merge_failed((self._path(index, "failed") for index in range(count)), failed)

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder)

    def remove_if_empty(self) -> bool:
        """Delete the folder if no shard was finished, so that the next run may have other settings; return whether it was deleted."""
        is_empty = not any(self.folder.glob("shard-*.json"))
        if is_empty:
            self.remove()
        return is_empty

    def _described(self, index: int) -> dict[str, Any]:
        return read_json(self._path(index, "json"), InputError)

    def _path(self, index: int, suffix: str) -> Path:
        return self.folder / f"shard-{index:05d}.{suffix}"


def _join(parts: Sequence[Path], suffix: str, target: Path) -> None:
    with compressed(target, suffix) as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole)
