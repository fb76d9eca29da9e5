"""Reading of the text that bench decodes."""

from pathlib import Path

import pytest

from specdec_cli.benchmark.inputs import Examples, read_files, read_sample, read_table
from specdec_cli.errors import InputError


def test_tables_with_two_or_three_columns_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.tsv"
    path.write_text("ka\tlo\nmi\tta\n")
    assert read_table(path, 1) == Examples(str(path), ("ka",), ("lo",))
    path.write_text("news\tka\tlo\n")
    assert read_table(path) == Examples(str(path), ("ka",), ("lo",))


def test_tables_without_references_are_read(tmp_path: Path) -> None:
    source, reference = tmp_path / "a.en", tmp_path / "a.de"
    source.write_text("ka\nlo\n")
    assert read_files(source, iter(["ka", "lo"]), None, 1) == Examples(str(source), ("ka",), None)
    reference.write_text("mi\nta\n")
    assert read_files(source, ["ka", "lo"], reference).references == ("mi", "ta")
    reference.write_text("mi\n")
    assert read_files(source, ["ka", "lo"], reference, 1).references == ("mi",)
    with pytest.raises(InputError, match=r"a\.de: ends after line 1, but .*a\.en has more"):
        read_files(source, ["ka", "lo"], reference)
    with pytest.raises(InputError, match=r"a\.en: ends after line 0, but .*a\.de has more"):
        read_files(source, [], reference)


def test_the_sample_has_sources_and_references() -> None:
    sample = read_sample()
    assert sample.references is not None
    assert 35 <= len(sample.sources) == len(sample.references) == len(set(sample.sources))
    assert all(line.strip() == line != "" for line in sample.sources + sample.references)
    assert sample.languages == ("en", "de")
    assert not sample.blank
