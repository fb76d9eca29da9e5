"""Of a teacher's hypotheses, the one that is nearest to a target is kept."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from specdec_cli.distillation.run import DistillationPlan, distill_lines, dropped_of, settings_of
from specdec_cli.distillation.teachers import Translation
from specdec_cli.distillation.texts import Targets
from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import Pair

PAIRS = [Pair("one", "ein Haus am See"), Pair("two", "zwei"), Pair("one", "das Haus beim Meer"), Pair("one", "ein Haus am See")]
HYPOTHESES = {"one": ("ein Haus beim See", "das Haus am Meer", ""), "two": ("drei", "", "")}


class FakeTeacher:
    """A teacher with three hypotheses for a source, of which the last are not finished."""

    def translate(self, sources: Sequence[str]) -> Iterator[tuple[int, Translation]]:
        for index in reversed(range(len(sources))):
            for text in HYPOTHESES[sources[index]]:
                yield index, Translation(text, 4, 5, finished=bool(text))


def test_distinct_targets_of_a_source_are_collected() -> None:
    targets = Targets.of_pairs(PAIRS, 3.0)
    assert targets == Targets({"one": ("ein Haus am See", "das Haus beim Meer"), "two": ("zwei",)}, 3.0)


def test_the_hypothesis_nearest_to_any_target_is_found() -> None:
    targets = Targets.of_pairs([Pair("x", "Der Hund bellt."), Pair("x", "Ein Hund bellt laut.")], 0.0)
    assert targets.nearest("x", ["Hunde bellen.", "Ein Hund bellte laut.", "Der Hund."]) == "Ein Hund bellte laut."
    assert targets.nearest("x", ["Katze", "Katze"]) == "Katze"


def test_a_hypothesis_below_the_minimum_is_refused() -> None:
    assert Targets({"x": ("Der Hund bellt.",)}, 99.0).nearest("x", ["Der Hund bellte."]) is None
    assert Targets({"x": ("Der Hund bellt.",)}, 99.0).nearest("x", ["Der Hund bellt."]) == "Der Hund bellt."


def test_without_targets_the_best_hypothesis_is_kept() -> None:
    reports: list[tuple[str, int]] = []
    outputs, counts = distill_lines(["one", "two"], FakeTeacher(), DistillationPlan(), lambda *values: reports.append(values))
    assert outputs == ["one\tein Haus beim See\n", "two\tdrei\n"]
    assert counts == {"sources": 2, "kept": 2, "tokens": 30}
    assert reports == [("two", 5), ("one", 5)]


def test_with_targets_the_nearest_one_is_kept_and_far_ones_are_counted() -> None:
    targets = Targets({"one": ("das Haus am Meer.",), "two": ("zwei",)}, 50.0)
    outputs, counts = distill_lines(["one", "two"], FakeTeacher(), DistillationPlan(targets=targets))
    assert outputs == ["one\tdas Haus am Meer\n", ""]
    assert (counts["kept"], dropped_of(counts)) == (1, {"far from every target": 1})


def test_the_manifest_depends_on_targets() -> None:
    made = [
        settings_of(DistillationPlan(targets=targets), ["one"]) for targets in (None, Targets({"one": ("a",)}), Targets({"one": ("b",)}))
    ]
    assert "nearest" not in made[0]
    assert made[1] != made[2]


def test_files_without_targets_are_refused(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("one\n")
    with pytest.raises(InputError, match=r"plain, line 1: 1 tab-separated field"):
        Targets.read([tmp_path / "plain"], 0.0)
