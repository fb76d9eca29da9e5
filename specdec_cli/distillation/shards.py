"""The output folder: shards that are whole or not there, and a manifest of what they were made with."""

import json
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError, UsageError
from specdec_cli.files import read_json, write_atomically, write_json
from specdec_cli.text.parallel import Pair

FORMAT = 1
DISTILLED = "distilled.tsv"
MANIFEST = "manifest.json"


@dataclass
class ShardCounts:
    """What became of the sources of one shard; `tokens` are the teacher's, EOS included."""

    sources: int = 0
    kept: int = 0
    tokens: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Shards:
    """The shards in `folder`, which is made, or gone on with if it was made with the same `settings`.

    A shard is `shard-00000.tsv` (`source TAB distilled`) and, written after it, its counts in `shard-00000.json`.
    Raises UsageError for a folder that holds something else, naming every setting that differs.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        manifest = folder / MANIFEST
        # Through JSON and back, so that what is compared went the same way.
        values = json.loads(json.dumps({"format": FORMAT} | dict(settings)))
        if manifest.exists():
            _check_same(manifest, values)
        elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
            raise UsageError(f"{folder}: exists and has no {MANIFEST}; give a new folder, or one that a distillation was begun in")
        else:
            write_json(manifest, values)

    def path(self, index: int) -> Path:
        """The pairs of shard `index`."""
        return self.folder / f"shard-{index:05d}.tsv"

    def counts(self, index: int) -> ShardCounts | None:
        """The counts of shard `index`, or None if it is not whole. Raises InputError for a damaged file."""
        path = self.path(index).with_suffix(".json")
        if not (path.exists() and self.path(index).exists()):
            return None
        values = read_json(path, InputError)
        try:
            return ShardCounts(**values | {"dropped": Counter(values["dropped"])})
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: not the counts of a shard ({error})") from error

    def done(self, count: int) -> int:
        """How many of the first `count` shards are whole."""
        return sum(self.counts(index) is not None for index in range(count))

    def write(self, index: int, pairs: Iterable[Pair], counts: ShardCounts) -> None:
        """Store shard `index`; the counts come last, so that a shard with them is whole."""
        text = "".join(f"{pair.source}\t{pair.target}\n" for pair in pairs)
        write_atomically(self.path(index), lambda partial: partial.write_text(text, encoding="utf-8", newline="\n") and None)
        write_json(self.path(index).with_suffix(".json"), vars(counts) | {"dropped": dict(sorted(counts.dropped.items()))})

    def merge(self, count: int) -> Path:
        """Join the first `count` shards, in order, in one file; its path."""

        def join(partial: Path) -> None:
            with partial.open("wb") as merged:
                for index in range(count):
                    with self.path(index).open("rb") as shard:
                        shutil.copyfileobj(shard, merged)

        path = self.folder / DISTILLED
        write_atomically(path, join)
        return path


def _check_same(manifest: Path, values: Mapping[str, Any]) -> None:
    stored = read_json(manifest, InputError)
    keys = sorted(key for key in stored.keys() | values if stored.get(key) != values.get(key))
    different = [f"{key} {stored.get(key)!r}, not {values.get(key)!r}" for key in keys]
    if different:
        raise UsageError(f"{manifest}: begun with {'; '.join(different)}; use the same again, or a new folder")
