"""Which names of people a text shows, and which of them a translation lacks."""

import pytest

from specdec_cli.text.people import lost_names
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("source", "output", "language", "expected"), CASES.names_that_an_output_lacks)
def test_names_that_an_output_lacks(source: str, output: str, language: str, expected: list[str]) -> None:
    assert lost_names(source, output, language) == expected
