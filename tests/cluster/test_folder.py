"""The folder of a run: shards, manifest, dead letters, and the output that is made from them."""

import gzip
import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from specdec_cli.cluster.folder import ShardFolder
from specdec_cli.cluster.jobs import FailedLine, Output, Shard
from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.io.lines import Line


def shard(index: int, text: str, file: str) -> Shard:
    return Shard(index, index + 1, (Line(1, text, "\n", f"{file}, line 1", Path(file)),))


def store(folder: ShardFolder, shard: Shard, output: Output, failed: Sequence[FailedLine] = ()) -> None:
    assert not folder.has(shard)
    folder.write(shard, output, list(failed))


def test_shards_are_merged_by_file(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "work", {"beam": 1})
    failed = FailedLine(shard(1, "two", "b").lines[0], "out of memory")
    store(folder, shard(1, "two", "b"), Output(("2\n",), Counter(lines=1)), [failed])
    store(folder, shard(0, "one", "a"), Output(("1\n",), Counter(lines=1)))
    targets = {Path("a"): tmp_path / "A", Path("b"): tmp_path / "B.gz", Path("empty"): tmp_path / "E"}

    assert folder.merge(2, targets, tmp_path / "failed.jsonl") == 1
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
    advice = re.escape(f"use the same settings, delete {tmp_path / 'work'}, or give another output")
    with pytest.raises(UsageError, match=f"started with beam 1, not 2; {advice}"):
        ShardFolder(tmp_path / "work", {"beam": 2})


def test_a_run_is_resumed_with_another_path_of_the_same_input(tmp_path: Path) -> None:
    store(ShardFolder(tmp_path / "work", {}), shard(0, "one", "a"), Output(("1\n",)))
    resumed = ShardFolder(tmp_path / "work", {})
    assert resumed.has(shard(0, "one", "/in/a"))
    resumed.merge(1, {Path("/in/a"): tmp_path / "A"}, tmp_path / "failed.jsonl")
    assert (tmp_path / "A").read_text() == "1\n"


def test_a_folder_is_removed_only_without_a_finished_shard(tmp_path: Path) -> None:
    assert ShardFolder(tmp_path / "work", {}).remove_if_empty()
    assert not (tmp_path / "work").exists()
    folder = ShardFolder(tmp_path / "work", {})
    store(folder, shard(0, "one", "a"), Output(("1\n",)))
    assert not folder.remove_if_empty()
    assert folder.has(shard(0, "one", "a"))


def test_no_dead_letters_leave_no_file(tmp_path: Path) -> None:
    folder = ShardFolder(tmp_path / "work", {})
    (tmp_path / "failed.jsonl").write_text("{}\n")
    store(folder, shard(0, "one", "a"), Output(("1\n",)))
    assert folder.merge(1, {Path("a"): tmp_path / "A"}, tmp_path / "failed.jsonl") == 0
    assert not (tmp_path / "failed.jsonl").exists()
