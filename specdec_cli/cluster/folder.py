"""The folder of a run: a manifest of its settings, and the output of each finished shard."""

import json
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from specdec_cli.cluster.dead_letters import merge_failed, write_failed
from specdec_cli.cluster.jobs import Output
from specdec_cli.cluster.run import FailedLine
from specdec_cli.cluster.shards import Shard
from specdec_cli.errors import InputError, UsageError
from specdec_cli.files import read_json, write_atomically, write_json

FORMAT = 1
MANIFEST = "manifest.json"


class ShardFolder:
    """The shards in `folder`; creates the folder, or resumes one whose manifest has the same `settings`.

    Shard 0 consists of `shard-00000.out` (output text), `shard-00000.failed` (its dead letters, if any), and `shard-00000.json`
    (file and digest of its input, and counts), which is written last. Raises UsageError if the manifest has other settings, naming
    them, and for a folder with files but no manifest.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        check_manifest(folder, {"format": FORMAT} | dict(settings))

    def has(self, shard: Shard) -> bool:
        """Whether the shard is stored. Raises InputError if the stored one was made from other lines."""
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
        write_atomically(self._path(shard.index, "out"), lambda unfinished: unfinished.write_text(text, encoding="utf-8", newline=""))
        write_failed(self._path(shard.index, "failed"), failed)
        described = {"input": shard.digest(), "file": None if shard.file is None else str(shard.file), "counts": dict(output.counts)}
        write_json(self._path(shard.index, "json"), described)

    def counts(self, count: int) -> Counter[str]:
        """The sums of the counts of the first `count` shards."""
        total: Counter[str] = Counter()
        for index in range(count):
            total.update(self._described(index)["counts"])
        return total

    def merge(self, count: int, targets: Mapping[str | None, Path], failed: Path) -> int:
        """Concatenate the first `count` shards into output files, and their dead letters into `failed`; return the number of these.

        `targets` has the output file of each input file (None: stdin); several inputs may have one output. Files are written
        completely or not at all.
        """
        owners = [targets[self._described(index)["file"]] for index in range(count)]
        for target in dict.fromkeys(targets.values()):
            parts = [self._path(index, "out") for index in range(count) if owners[index] == target]
            write_atomically(target, partial(join_files, parts))
        return merge_failed((self._path(index, "failed") for index in range(count)), failed)

    def remove(self) -> None:
        """Delete the folder."""
        shutil.rmtree(self.folder)

    def _described(self, index: int) -> dict[str, Any]:
        return read_json(self._path(index, "json"), InputError)

    def _path(self, index: int, suffix: str) -> Path:
        return self.folder / f"shard-{index:05d}.{suffix}"


def join_files(parts: Sequence[Path], target: Path) -> None:
    """Concatenate the files `parts` to `target`."""
    with target.open("wb") as whole:
        for part in parts:
            with part.open("rb") as stream:
                shutil.copyfileobj(stream, whole)


def check_manifest(folder: Path, settings: Mapping[str, Any]) -> None:
    """Write the manifest of a new run, or compare that of an earlier one. Raises UsageError, naming the settings that differ."""
    path = folder / MANIFEST
    values = json.loads(json.dumps(settings))  # as the stored ones are, so that the two compare equal
    if path.exists():
        stored = read_json(path, InputError)
        keys = sorted(key for key in stored.keys() | values if stored.get(key) != values.get(key))
        if different := [f"{key} {stored.get(key)!r}, not {values.get(key)!r}" for key in keys]:
            raise UsageError(f"{path}: started with {'; '.join(different)}; use the same settings or a new folder")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: exists and has no {MANIFEST}; give a new folder, or that of an earlier run")
    else:
        write_json(path, values)
