"""Negations that a translation lacks."""

import pytest

from specdec_cli.text.checks import NEGATION, output_warnings
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(("source", "output"), CASES.a_lost_negation_is_found)
def test_a_lost_negation_is_found(source: str, output: str) -> None:
    assert output_warnings(source, output, ("en", "de")) == (NEGATION,)
    assert output_warnings(source, output, ("en", "fr")) == ()


@pytest.mark.parametrize(("source", "output"), CASES.other_translations_have_no_warning)
def test_other_translations_have_no_warning(source: str, output: str) -> None:
    assert output_warnings(source, output, ("en", "de")) == ()
