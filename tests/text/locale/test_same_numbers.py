"""Numbers that a sentence and its translation have in common."""

import pytest

from specdec_cli.text.locale.matching import same_numbers
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("source", "target"), CASES.equal_numbers_may_be_written_in_another_way)
def test_equal_numbers_may_be_written_in_another_way(source: str, target: str) -> None:
    assert same_numbers(source, target, ("en", "de"))


@pytest.mark.parametrize(("source", "target"), CASES.other_numbers_differ)
def test_other_numbers_differ(source: str, target: str) -> None:
    assert not same_numbers(source, target, ("en", "de"))
