"""Where runs with --ray store shards, output and dead letters."""

from pathlib import Path

import pytest

from specdec_cli.cluster.inputs import find_inputs
from specdec_cli.commands.cluster.output import Destination
from specdec_cli.errors import UsageError


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
