"""The folder of a run: shards, manifest, dead letters, and the output that is made from them."""

import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from specdec_cli.cluster.folder import ShardFolder
from specdec_cli.cluster.jobs import Output
from specdec_cli.cluster.run import FailedLine
from specdec_cli.cluster.shards import Shard
from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.lines import Line


def shard(index: int, text: str, file: str) -> Shard:
    return Shard(index, index + 1, (Line(1, text, "\n", f"{file}, line 1", Path(file)),))


def test_shards_are_merged_by_file(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "work", {"beam": 1})
    failed = FailedLine(shard(1, "two", "b").lines[0], "out of memory")
    folder.write(shard(1, "two", "b"), Output(("2\n",), Counter(lines=1)), [failed])
    folder.write(shard(0, "one", "a"), Output(("1\n",), Counter(lines=1)), [])
    targets: dict[str | None, Path] = {"a": tmp_path / "A", "b": tmp_path / "B.gz", "empty": tmp_path / "E"}

    assert folder.merge(2, targets, tmp_path / "failed.jsonl", compresses=True) == 1
    assert (tmp_path / "A").read_text() == "1\n"
    assert gzip.decompress((tmp_path / "B.gz").read_bytes()) == b"2\n"
    assert (tmp_path / "E").read_text() == ""
    assert json.loads((tmp_path / "failed.jsonl").read_text()) == {"file": "b", "line": 1, "text": "two", "error": "out of memory"}
    assert folder.counts(2) == {"lines": 2}


def test_only_the_same_lines_resume_a_shard(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "work", {})
    assert not folder.has(shard(0, "one", "a"))
    folder.write(shard(0, "one", "a"), Output(("1\n",)), [])
    assert ShardFolder(tmp_path / "work", {}).has(shard(0, "one", "a"))
    with pytest.raises(InputError, match="a, line 1 and after: other text than in the run"):
        folder.has(shard(0, "two", "a"))


def test_only_the_same_settings_resume_a_run(tmp_path: Path) -> None:
    ShardFolder(tmp_path / "work", {"beam": 1})
    with pytest.raises(UsageError, match="started with beam 1, not 2"):
        ShardFolder(tmp_path / "work", {"beam": 2})


def test_no_dead_letters_leave_no_file(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "work", {})
    (tmp_path / "failed.jsonl").write_text("{}\n")
    folder.write(shard(0, "one", "a"), Output(("1\n",)), [])
    assert folder.merge(1, {"a": tmp_path / "A"}, tmp_path / "failed.jsonl") == 0
    assert not (tmp_path / "failed.jsonl").exists()
