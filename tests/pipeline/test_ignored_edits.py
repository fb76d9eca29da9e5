"""Words and categories of errors whose edits are not made."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.error_types.annotation import with_types
from specdec_cli.errors import InputError
from specdec_cli.pipeline.ignored_edits import IgnoredEdits
from specdec_cli.text.edits import Edit, apply_edits, find_edits

WORDS = st.lists(st.sampled_from(["specdec", "Specdec", "SPEC", "dec", "go", "goes", ",", "C++"]), max_size=8).map(" ".join)


def corrected(ignored: IgnoredEdits, source: str, changed: str) -> str:
    """`source` with the wanted edits that turn it into `changed`."""
    return apply_edits(source, ignored.passing(source, with_types(source, find_edits(source, changed))))


def test_ignored_words_do_not_change() -> None:
    ignored = IgnoredEdits.of(["specdec", "iOS", "New Yorker"])
    assert corrected(ignored, "i use specdec now", "I use Spec now") == "I use specdec now"
    assert corrected(ignored, "SPECDEC on iOS and ios", "Specdec on IOS and IOS") == "SPECDEC on iOS and IOS"
    assert corrected(ignored, "the New Yorker say", "the new Yorker says") == "the New Yorker says"
    assert corrected(ignored, "use specdec it", "use specdec, it") == "use specdec, it"


def test_ignored_words_may_overlap() -> None:
    ignored = IgnoredEdits.of(["New York", "York City"])
    assert corrected(ignored, "New York City are big", "New York city is big") == "New York City are big"
    assert corrected(ignored, "In new York City it rain", "In New York city it rains") == "In New York City it rains"


@given(WORDS, WORDS)
def test_the_words_of_the_source_remain(source: str, changed: str) -> None:
    ignored = IgnoredEdits.of(["specdec", "C++"])
    text = corrected(ignored, source, changed)
    assert text.lower().count("specdec") >= source.lower().count("specdec") and text.count("C++") >= source.count("C++")


def test_a_long_line_takes_little_time() -> None:
    source = "She have a dog. " * 20_000
    edits = [Edit(place + 4, place + 8, "have", "has") for place in range(0, len(source), 16)]
    assert IgnoredEdits.of(["dog"]).passing(source, edits) == edits
    assert IgnoredEdits.of(["have"]).passing(source, edits) == []


def test_categories_reject_edits_whose_errors_are_all_of_them() -> None:
    source, changed = "Well he go to school, i always buy a apple", "Well, he goes to school, I always bought an apple"
    for names, expected in (
        (["PUNCT"], "Well he goes to school, I always bought an apple"),
        (["R:VERB:SVA", "ORTH"], "Well, he go to school, i always bought an apple"),
        (["VERB"], "Well, he go to school, I always bought an apple"),
        (["VERB", "DET"], "Well, he go to school, I always buy a apple"),
        (["M", "U", "R"], source),
    ):
        assert corrected(IgnoredEdits.of(categories=names), source, changed) == expected


def test_files_have_a_word_on_each_line(tmp_path: Path) -> None:
    (tmp_path / "words").write_text("\ufeff# names\nspecdec\n\n New  Yorker \nC#\n", encoding="utf-8")
    (tmp_path / "more").write_text("Linux\n", encoding="utf-8")
    files = [tmp_path / "words", tmp_path / "more"]
    assert IgnoredEdits.of(["iOS"], files).words == ("C#", "Linux", "New Yorker", "iOS", "specdec")
    with pytest.raises(InputError, match="no such file"):
        IgnoredEdits.of(files=[tmp_path / "missing"])
