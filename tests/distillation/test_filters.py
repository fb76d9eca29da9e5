"""Source lines for distillation, and each reason to drop a translation."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from specdec_cli.distillation.run import Filters, reason_to_drop
from specdec_cli.distillation.teachers import Translation
from specdec_cli.distillation.texts import distinct_lines, sources_digest
from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import read_sources

SOURCE = "a source of five words"
GOOD = Translation("ein Satz mit fünf Wörtern", source_tokens=6, tokens=7, finished=True)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, None),
        ({"tokens": 0, "finished": False, "text": ""}, "source too long"),
        ({"finished": False}, "no end within the maximum length"),
        ({"text": " "}, "empty output"),
        ({"text": "ein\tSatz"}, "tab, line break or NUL in the output"),
        ({"text": "ein Satz\n"}, "tab, line break or NUL in the output"),
        ({"text": "ein\u2028Satz"}, None),
        ({"text": "ein \ufffd"}, "broken characters in the output"),
        ({"tokens": 18}, None),
        ({"tokens": 19}, "runaway length"),
        ({"tokens": 10, "source_tokens": 2}, None),
        ({"tokens": 11, "source_tokens": 2}, "runaway length"),
        ({"text": SOURCE + " "}, "copy of the source"),
    ],
)
def test_each_reason_to_drop_is_found(changes: dict[str, object], reason: str | None) -> None:
    assert reason_to_drop(SOURCE, replace(GOOD, **changes), Filters()) == reason  # type: ignore[arg-type]


def test_copies_of_names_and_in_corrections_are_kept() -> None:
    assert reason_to_drop("Johann Sebastian Bach", replace(GOOD, text="Johann Sebastian Bach"), Filters()) is None
    assert reason_to_drop(SOURCE, replace(GOOD, text=SOURCE), Filters(keep_copies=True)) is None


def test_invalid_characters_of_the_source_are_no_reason_to_drop() -> None:
    assert reason_to_drop("a \ufffd source", replace(GOOD, text="ein \ufffd"), Filters()) is None


@pytest.mark.parametrize(
    "text", ["a b\n\nc\n", "a b\tx\n\nc\ty\n", "news\ta b\tx\n\nweb\tc\ty\n"], ids=["plain", "two columns", "three columns"]
)
def test_the_source_column_is_read(text: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(text)
    assert list(read_sources([tmp_path / "text"])) == ["a b", "", "c"]


def test_files_may_have_different_columns(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("a\n")
    (tmp_path / "pairs").write_text("b\tx\n")
    assert list(read_sources([tmp_path / "plain", tmp_path / "pairs"])) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "expected"), [("a\nb\tx\n", "line 2: 2 tab-separated fields, expected 1"), ("a\tb\tc\td\n", "expected 1, 2 or 3")]
)
def test_varying_numbers_of_columns_are_refused(text: str, expected: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text(text)
    with pytest.raises(InputError, match=expected):
        list(read_sources([tmp_path / "text"]))


def test_each_line_is_kept_once() -> None:
    dropped: Counter[str] = Counter()
    assert distinct_lines(["b", "a", " ", "b", "", "b"], dropped) == ["b", "a"]
    assert dropped == {"repeated source": 2, "blank source": 2}


def test_the_digest_depends_on_order_and_line_ends() -> None:
    assert len({sources_digest(lines) for lines in (["a", "b"], ["b", "a"], ["ab"], [])}) == 4
