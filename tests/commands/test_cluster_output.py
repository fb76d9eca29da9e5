"""Where runs with --ray store shards, output and dead letters."""

from pathlib import Path

import pytest

from specdec_cli.cluster.inputs import find_inputs
from specdec_cli.cluster.jobs import Job
from specdec_cli.console.options import ShardOptions
from specdec_cli.errors import UsageError
from specdec_cli.work import cluster
from specdec_cli.work.cluster import Destination, Share
from tests.command_line import run


def test_shards_are_in_a_hidden_folder_beside_the_output(tmp_path: Path) -> None:
    destination = Destination.of(tmp_path / "out.txt")
    assert destination.work == tmp_path / ".out.txt.shards"
    assert destination.dead_letters == tmp_path / "out.txt.failed.jsonl"


def test_the_current_folder_may_be_the_output_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "corrected" / "deep").mkdir(parents=True)
    for current, name in (("corrected", "."), ("corrected/deep", "..")):
        monkeypatch.chdir(tmp_path / current)
        destination = Destination.of(None, Path(name))
        assert destination.work == tmp_path / ".corrected.shards"
        assert destination.dead_letters == tmp_path / "corrected.failed.jsonl"


@pytest.mark.parametrize("is_folder", [False, True])
def test_an_output_inside_an_input_folder_is_refused(is_folder: bool, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("a\n")
    with pytest.raises(UsageError, match="out: is inside the input folder"):
        Destination(tmp_path / "in" / "out", is_folder).targets(find_inputs([tmp_path / "in"]))


def test_the_output_file_is_no_folder_and_in_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    (tmp_path / "out").mkdir()
    with pytest.raises(UsageError, match="out: is a folder"):
        Destination(tmp_path / "out").targets(find_inputs([tmp_path / "a.txt"]))
    with pytest.raises(UsageError, match="no/out: its folder does not exist"):
        Destination(tmp_path / "no" / "out").targets(find_inputs([tmp_path / "a.txt"]))


def test_an_interruption_before_the_first_shard_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        assert (tmp_path / ".out.shards").is_dir()
        raise KeyboardInterrupt

    def make_job(_: Share) -> Job:
        raise NotImplementedError

    monkeypatch.setattr(cluster.Workers, "run", interrupt)
    (tmp_path / "a.txt").write_text("a\n")
    inputs = find_inputs([tmp_path / "a.txt"])
    with pytest.raises(KeyboardInterrupt):
        workers = cluster.Workers(ShardOptions(ray="local"))
        cluster.write_shards(inputs, iter(()), make_job, {}, Destination(tmp_path / "out"), workers)
    assert "interrupted before a shard was finished" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("arguments", [["translate", "-m", "BUNDLE", "IN", "-o", "OUT"], ["distill", "BUNDLE", "OUT", "IN"]])
def test_commands_refuse_outputs_inside_an_input_folder(arguments: list[str], bundle_folder: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_text("a\n")
    paths = {"BUNDLE": bundle_folder, "IN": folder, "OUT": folder / "out"}
    result = run(*(paths.get(each, each) for each in arguments), "--ray")
    assert (result.exit_code, "is inside the input folder" in result.stderr) == (2, True), result.stderr
    assert [path.name for path in folder.iterdir()] == ["a.txt"]
