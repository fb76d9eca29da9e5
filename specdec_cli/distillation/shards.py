"""The output folder of a distillation: shards, each written completely or not at all, and a manifest of the settings."""

import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError
from specdec_cli.files import read_json, write_atomically, write_json
from specdec_cli.manifest import MANIFEST, check_manifest

FORMAT = 1
DISTILLED = "distilled.tsv"


@dataclass
class ShardCounts:
    """Counts of one shard: sources, kept translations, output tokens (EOS included), dropped translations by reason."""

    sources: int = 0
    kept: int = 0
    tokens: int = 0
    dropped: Counter[str] = field(default_factory=Counter)


class Shards:
    """The shards in `folder`; creates the folder, or resumes one whose manifest has the same `settings`.

    A run that ended before its first shard, such as one with a wrong teacher, is not resumed: its manifest and its teacher are removed.

    Shards are numbered from 0; number 0 consists of `shard-00000.tsv` (lines of source, tab, translation) and `shard-00000.json`
    (its counts), which is written second. Raises UsageError if the manifest has other settings, naming them, and for a folder with
    files but no manifest.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder
        if (folder / MANIFEST).exists() and not any(folder.glob("shard-*")):
            (folder / MANIFEST).unlink()
            shutil.rmtree(self.converted, ignore_errors=True)
        check_manifest(folder, {"format": FORMAT} | dict(settings))

    @property
    def converted(self) -> Path:
        """Path of the folder for the teacher's CTranslate2 form."""
        return self.folder / "teacher"

    def path(self, index: int) -> Path:
        """Path of the TSV file of shard `index`."""
        return self.folder / f"shard-{index:05d}.tsv"

    def counts(self, index: int) -> ShardCounts | None:
        """The counts of shard `index`; None if one of its two files is missing. Raises InputError for malformed counts."""
        path = self.path(index).with_suffix(".json")
        if not (path.exists() and self.path(index).exists()):
            return None
        values = read_json(path, InputError)
        try:
            return ShardCounts(**values | {"dropped": Counter(values["dropped"])})
        except (KeyError, TypeError) as error:
            raise InputError(f"{path}: not the counts of a shard ({error})") from error

    def complete(self, count: int) -> int:
        """The number of complete shards among the first `count`."""
        return sum(self.counts(index) is not None for index in range(count))

    def write(self, index: int, outputs: Iterable[str], counts: ShardCounts) -> None:
        """Write the files of shard `index`: first the lines `outputs`, then `counts`, so that a shard with counts is complete."""
        text = "".join(outputs)
        write_atomically(self.path(index), lambda partial: partial.write_text(text, encoding="utf-8", newline="\n"))
        write_json(self.path(index).with_suffix(".json"), vars(counts) | {"dropped": dict(sorted(counts.dropped.items()))})

    def merge(self, count: int) -> Path:
        """Concatenate the pairs of the first `count` shards in the file distilled.tsv of the folder, and return its path."""

        def join(partial: Path) -> None:
            with partial.open("wb") as merged:
                for index in range(count):
                    with self.path(index).open("rb") as shard:
                        shutil.copyfileobj(shard, merged)

        path = self.folder / DISTILLED
        write_atomically(path, join)
        return path
