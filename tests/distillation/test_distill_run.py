"""Shards are written completely or not at all, resumed, and checked by their manifest."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from specdec_cli.distillation.run import ENOUGH, DistillationPlan, Progress, Shards, Summary, distill
from specdec_cli.distillation.teachers import Translation
from specdec_cli.errors import InputError, SpecdecError, UsageError

PLAN = DistillationPlan(shard_lines=4)
SOURCES = [f"line {number} of the source" for number in range(10)]


class FakeTeacher:
    """A teacher that returns sources in capitals, the last first; fails at `fails_at`, and returns nothing for `silent_for`."""

    def __init__(self, fails_at: str = "", silent_for: Sequence[str] = ()) -> None:
        self.fails_at, self.silent_for = fails_at, silent_for
        self.asked: list[str] = []

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        for index in reversed(range(len(sources))):
            if sources[index] == self.fails_at:
                raise SpecdecError("out of chalk")
            self.asked.append(sources[index])
            text = "" if sources[index] in self.silent_for else sources[index].upper()
            yield index, Translation(text, 6, 6, True)


def run(folder: Path, teacher: FakeTeacher, reports: list[Progress] | None = None) -> Summary:
    shards = Shards(folder, {"beam_size": 5})
    return distill(SOURCES, teacher, shards, PLAN, (reports if reports is not None else []).append)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_outputs_are_in_the_order_of_sources(tmp_path: Path) -> None:
    reports: list[Progress] = []
    summary = run(tmp_path, FakeTeacher(), reports)

    assert (tmp_path / "distilled.tsv").read_text() == "".join(f"{line}\t{line.upper()}\n" for line in SOURCES)
    assert sorted(contents(tmp_path)) == sorted(
        ["manifest.json", "distilled.tsv", *(f"shard-0000{i}.{kind}" for i in range(3) for kind in ("tsv", "json"))]
    )
    assert (summary.kept, summary.tokens) == (10, 60)
    assert [report.lines for report in reports] == list(range(1, 11))
    assert reports[-1].total == 10
    assert reports[-1].seconds_left == 0


def test_dropped_lines_are_counted(tmp_path: Path) -> None:
    summary = run(tmp_path, FakeTeacher(silent_for=SOURCES[2:5]))

    assert summary.kept == 7
    assert summary.dropped == {"empty output": 3}
    assert SOURCES[3] not in (tmp_path / "distilled.tsv").read_text()


def test_a_stopped_run_keeps_complete_shards(tmp_path: Path) -> None:
    with pytest.raises(SpecdecError, match="chalk"):
        run(tmp_path, FakeTeacher(fails_at=SOURCES[5], silent_for=[SOURCES[0]]))
    assert sorted(contents(tmp_path)) == ["manifest.json", "shard-00000.json", "shard-00000.tsv", "shard-00001.begun"]

    teacher, reports = FakeTeacher(), list[Progress]()
    summary = run(tmp_path, teacher, reports)
    assert sorted(teacher.asked) == [
        *SOURCES[4:7],
        *SOURCES[8:],
    ]
    assert [report.lines for report in reports] == list(range(6, 11))
    assert not list(tmp_path.glob("*.begun"))
    assert len((tmp_path / "distilled.tsv").read_text().splitlines()) == 9
    assert (summary.kept, summary.dropped, summary.tokens) == (9, {"empty output": 1}, 60)


@pytest.mark.parametrize("lost", ["shard-00001.tsv", "shard-00001.json", "distilled.tsv"])
def test_lost_shards_are_made_again(tmp_path: Path, lost: str) -> None:
    run(tmp_path, FakeTeacher())
    before = contents(tmp_path)
    (tmp_path / lost).unlink()

    teacher = FakeTeacher()
    run(tmp_path, teacher)
    assert contents(tmp_path) == before
    assert sorted(teacher.asked) == ([] if lost == "distilled.tsv" else SOURCES[4:8])


def test_other_settings_are_refused(tmp_path: Path) -> None:
    Shards(tmp_path / "out", {"beam_size": 5, "compute_type": "float32", "max_length": 256}).write(0, [], Counter())
    Shards(tmp_path / "out", {"beam_size": 5, "compute_type": "float32", "max_length": 256})
    with pytest.raises(UsageError, match=r"manifest.json: started with beam_size 5, not 1; compute_type 'float32', not 'int8'; use"):
        Shards(tmp_path / "out", {"beam_size": 1, "compute_type": "int8", "max_length": 256})


def test_other_text_and_another_teacher_are_named_in_words(tmp_path: Path) -> None:
    Shards(tmp_path / "out", {"beam_size": 5, "sources": "91ceed0ff821eed8", "teacher": "5d"}).write(0, [], Counter())
    with pytest.raises(UsageError, match=r"manifest\.json: started with other source text; another teacher; use"):
        Shards(tmp_path / "out", {"beam_size": 5, "sources": "c272ad93", "teacher": "6e"})


def test_a_run_without_a_shard_begins_anew_with_other_settings(tmp_path: Path) -> None:
    failed = Shards(tmp_path / "out", {"beam_size": 5, "teacher": "5d"})
    failed.converted.mkdir()
    Shards(tmp_path / "out", {"beam_size": 1, "teacher": "6e"})
    assert json.loads((tmp_path / "out" / "manifest.json").read_text())["beam_size"] == 1
    assert not failed.converted.exists()


def test_another_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "distilled.tsv").write_text("precious\n")
    with pytest.raises(UsageError, match=r"has no manifest\.json"):
        Shards(tmp_path, {})
    assert list(contents(tmp_path)) == ["distilled.tsv"]


def test_damaged_files_are_named(tmp_path: Path) -> None:
    run(tmp_path, FakeTeacher())
    (tmp_path / "shard-00001.json").write_text(json.dumps({"sources": 4}))
    with pytest.raises(InputError, match=r"shard-00001\.json"):
        run(tmp_path, FakeTeacher())
    (tmp_path / "manifest.json").write_text("{")
    with pytest.raises(InputError, match=r"manifest\.json: not readable"):
        run(tmp_path, FakeTeacher())


def test_empty_input_gives_empty_output(tmp_path: Path) -> None:
    summary = distill([], FakeTeacher(), Shards(tmp_path, {}), PLAN, list[Progress]().append)
    assert (summary.kept, summary.dropped) == (0, Counter())
    assert (tmp_path / "distilled.tsv").read_bytes() == b""


class EndlessTeacher:
    """A teacher whose outputs have no end, but for that of `ends`."""

    def __init__(self, ends: int | None = None) -> None:
        self.ends, self.translated = ends, 0

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        for index in range(len(sources)):
            self.translated += 1
            yield index, Translation("text", 6, 6, index == self.ends)


def test_a_greedy_teacher_whose_outputs_do_not_end_is_given_up(tmp_path: Path) -> None:
    plan, sources = DistillationPlan(own_greedy=True), [f"line {number}" for number in range(3 * ENOUGH)]
    teacher = EndlessTeacher()
    with pytest.raises(InputError, match=f"none of the first {ENOUGH} outputs ends within 256 tokens"):
        distill(sources, teacher, Shards(tmp_path / "endless", {}), plan, lambda _: None)
    assert teacher.translated == ENOUGH + 1
    with pytest.raises(InputError, match=f"none of the first {ENOUGH + 1} outputs"):  # when it resumes too
        distill(sources, teacher, Shards(tmp_path / "endless", {}), plan, lambda _: None)
    summary = distill(sources, EndlessTeacher(ends=ENOUGH - 1), Shards(tmp_path / "one", {}), plan, lambda _: None)
    assert summary.kept == 1
