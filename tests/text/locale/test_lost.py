"""Numbers that a sentence and its translation have in common, and numbers and negations that a translation lacks."""

import pytest

from specdec_cli.text.checks import NEGATION, output_warnings
from specdec_cli.text.locale.matching import lost_numbers, same_numbers
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("source", "output", "lost"), CASES.a_number_of_the_output_stands_for_one_of_the_source)
def test_a_number_of_the_output_stands_for_one_of_the_source(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_numbers(source, output)] == lost


@pytest.mark.parametrize(("source", "target"), CASES.equal_numbers_may_be_written_in_another_way)
def test_equal_numbers_may_be_written_in_another_way(source: str, target: str) -> None:
    assert same_numbers(source, target, ("en", "de"))


@pytest.mark.parametrize(("source", "target"), CASES.other_numbers_differ)
def test_other_numbers_differ(source: str, target: str) -> None:
    assert not same_numbers(source, target, ("en", "de"))


@pytest.mark.parametrize(("source", "output"), CASES.a_lost_negation_is_found)
def test_a_lost_negation_is_found(source: str, output: str) -> None:
    assert output_warnings(source, output, ("en", "de")) == (NEGATION,)
    assert output_warnings(source, output, ("en", "fr")) == ()


@pytest.mark.parametrize(("source", "output"), CASES.other_translations_have_no_warning)
def test_other_translations_have_no_warning(source: str, output: str) -> None:
    assert output_warnings(source, output, ("en", "de")) == ()
