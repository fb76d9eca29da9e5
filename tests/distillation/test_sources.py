"""Reading of source lines from plain text and TSV, without repetitions."""

from collections import Counter
from pathlib import Path

import pytest

from specdec_cli.distillation.texts import distinct_lines, sources_digest
from specdec_cli.errors import InputError
from specdec_cli.text.corpus.parallel import read_sources


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
