"""Numbers of a sentence that its translation lacks."""

import pytest

from specdec_cli.text.locale.matching import lost_numbers
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("source", "output", "lost"), CASES.a_number_of_the_output_stands_for_one_of_the_source)
def test_a_number_of_the_output_stands_for_one_of_the_source(source: str, output: str, lost: list[str]) -> None:
    assert [each.text for each in lost_numbers(source, output)] == lost
