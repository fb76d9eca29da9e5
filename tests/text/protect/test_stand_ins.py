"""Earlier translations as drafts for texts with placeholders."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.pipeline.variants import names_for, variants
from specdec_cli.text.protect.stand_ins import with_names
from specdec_cli.text.shape import fit_neighbours
from tests.tables import tables

CASES = tables(__file__)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("%s von %d", "K7 von K8"),
        ("%d von %s", "K8 von K7"),
        ("{name} von %d", "K7 von K8"),
        ("%d von `code`", "K8 von K7"),
        ("nur %d", None),
        ("%s, %d und %s", None),
    ],
)
def test_names_are_in_the_place_of_equal_spans_and_of_others_in_order(text: str, expected: str | None) -> None:
    assert with_names(text, ("%s", "%d"), ("K7", "K8")) == expected


@pytest.mark.parametrize(
    ("text", "span", "first"),
    [
        *(("Page {0}", "{0}", "37"), ("Seite %s", "%s", "37"), ("\u00dcbung {name}", "{name}", "37"), ("Part {count}", "{count}", "37")),
        *(("By {0}", "{0}", "K7"), ("Noch %s", "%s", "K7"), ("The page {0}", "{0}", "K7"), ("page {0}", "{0}", "K7")),
        *(("Siehe a@b.org", "a@b.org", "K7"), ("Page {0}.", "{0}", "K7"), ("{0}", "{0}", "K7"), ("Pages{0}", "{0}", "K7")),
    ],
)
def test_an_argument_behind_a_noun_is_read_as_a_number(text: str, span: str, first: str) -> None:
    assert next(names_for(text, [span], ("K", 7))) == (first,)


def test_drafts_are_written_as_each_variant_needs_them() -> None:
    first, *_, last = variants("ask {name} now")
    assert (first.draft("frag jetzt {name}"), last.draft("frag jetzt {name}")) == ("frag jetzt K7", None)
    assert next(variants("see a@b.org now")).draft("siehe a@b.org") == "siehe a@b.org"
    lacks: Callable[[str], bool] = "\u20ac".__contains__
    assert next(variants_with(lacks, "it is \u20ac5")).draft("es ist \u20ac5") == "es ist $5"


SPANS = st.lists(st.sampled_from(["%s", "{name}", "`a b`", "see", "http://a.org", "\u20ac"]), max_size=6)


@given(SPANS, SPANS)
def test_each_name_is_there_once_or_there_is_no_draft(spans: list[str], parts: list[str]) -> None:
    names = [f"K{number}" for number in range(len(spans))]
    found = with_names(" ".join(parts), spans, names)
    assert found is None or all(found.split().count(name) == 1 for name in names)


@pytest.mark.parametrize(("source", "output", "expected"), CASES.spans_have_the_space_of_the_source_and_no_new_hyphens)
def test_spans_have_the_space_of_the_source_and_no_new_hyphens(source: str, output: str, expected: str) -> None:
    assert fit_neighbours(source, output) == expected
