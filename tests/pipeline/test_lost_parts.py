"""Long numbers and names are in the output, numbers written as in the target language."""

import random
from collections.abc import Callable

import pytest

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.text.checks import shortened_names
from specdec_cli.text.locale.matching import lost_long_numbers
from specdec_cli.text.locale.quantities import with_written
from specdec_cli.text.people import lost_names
from tests.tables import tables
from tests.variants import chosen

CASES = tables(__file__)


def placed(text: str, model: Callable[[str], str], lacking: str = "") -> tuple[str, list[str]]:
    """The output that is chosen, and the texts that were decoded until then."""
    found = chosen(variants_with(lacking.__contains__, text, languages=("en", "de")), model)
    return found.text, found.shown


def test_numbers_of_three_digits_are_long() -> None:
    text = "In 2008, 12 of 3,400 paid $19.92 at 11:30 (3.5%)."
    assert lost_long_numbers(text, "") == ["2008", "3,400", "19.92"]


@pytest.mark.parametrize(("source", "output", "names"), CASES.names_may_lose_a_doubled_letter)
def test_names_may_lose_a_doubled_letter(source: str, output: str, names: list[str]) -> None:
    assert shortened_names(source, output, "deu_Latn") == names
    assert shortened_names(source, output, "es") == []


@pytest.mark.parametrize(("number", "source", "target", "written"), CASES.numbers_are_written_as_in_the_target_language)
def test_numbers_are_written_as_in_the_target_language(number: str, source: str, target: str, written: str) -> None:
    text = f"({number})"
    assert with_written(text, [number], source, target) == (f"({written})", [(1, 1 + len(written))])


@pytest.mark.parametrize(("source", "output", "language", "names"), CASES.names_behind_titles_and_with_foreign_letters_may_be_lost)
def test_names_behind_titles_and_with_foreign_letters_may_be_lost(source: str, output: str, language: str, names: list[str]) -> None:
    assert lost_names(source, output, language) == names


def test_an_output_with_its_long_numbers_is_taken() -> None:
    assert placed("It has 250,000 here.", lambda text: text.replace(",", ".")) == ("It has 250.000 here.", ["It has 250,000 here."])


def test_a_lost_number_is_put_in_the_place_of_a_placeholder() -> None:
    def shortened(text: str) -> str:
        return text.replace("250,000", "25000").replace("K7", "viele")

    assert placed("It has 250,000 here.", shortened) == ("It has 250.000 here.", ["It has 250,000 here.", "It has 4711 here."])
    assert placed("2008, 250,000 and 4711.", shortened)[1][:2] == ["2008, 250,000 and 4711.", "2008, K7 and 4711."]
    assert placed("Mr. Manning", lambda text: text.replace("nn", "n")) == ("Mr. Manning", ["Mr. Manning", "Mr. K7"])
    assert placed("See # and 250,000 now.", shortened, "#")[0] == "See # and 250.000 now."


def test_an_output_may_lack_a_number_if_no_placeholder_is_copied() -> None:
    assert placed("It has 250,000 here.", lambda _: "Es hat viel.")[0] == "Es hat viel."


def test_drawn_numbers_with_hyphens_are_lost_as_a_whole() -> None:
    draw = random.Random(7)
    for _ in range(60):
        parts = [str(draw.randint(1, 10 ** draw.randint(1, 5))) for _ in range(draw.randint(2, 3))]
        number = "-".join([*parts, str(draw.randint(1000, 9999))])
        place = draw.randrange(len(parts))
        longer = [part + part[-1] if each == place else part for each, part in enumerate(parts)]
        wrong = "-".join([*longer, number.rpartition("-")[2]])
        assert lost_long_numbers(f"Order {number} is late.", f"Auftrag {wrong} ist zu sp\u00e4t.", ("en", "de")) == [number]
        assert lost_long_numbers(f"Order {number} is late.", f"Auftrag {number} ist zu sp\u00e4t.", ("en", "de")) == []


def test_a_mixed_fraction_is_lost_as_a_whole() -> None:
    assert lost_long_numbers("Add 1 1/2 cups.", "1/2 Tassen hinzu.", ("en", "de")) == ["1 1/2"]
    assert lost_long_numbers("Add 1 1/2 cups.", "1 1/2 Tassen hinzu.", ("en", "de")) == []
