"""Protected spans are in the output exactly as often as in the source, whatever the model's output."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.pipeline.variants import variants
from tests.variants import chosen

Model = Callable[[str], str]


def placed(text: str, model: Model, *, latin: bool = False) -> tuple[str, int]:
    """The output that is chosen, and the number of variants that were decoded."""
    found = chosen(variants(text, latin=latin), model)
    return found.text, found.number


def without(text: str) -> Model:
    """A model that removes one text."""
    return lambda source: source.replace(text, "")


def test_prose_has_one_attempt() -> None:
    assert placed("He is here.", lambda _: "") == ("", 1)


def test_a_model_that_keeps_the_spans_has_one_attempt() -> None:
    assert placed("see 2.13.0 and a@b.org now", str.upper)[1] == 2
    assert placed("see 2.13.0 and a@b.org now", lambda source: f"oh {source}") == ("oh see 2.13.0 and a@b.org now", 1)


def test_code_is_a_placeholder_at_once() -> None:
    assert placed("see {a} and %s now", str.lower)[1] > 1
    assert placed("see {a} and %s now", lambda source: source.replace("K7 and K8", "K8 und K7")) == ("see %s und {a} now", 1)


@pytest.mark.parametrize("argument", ["%d", "%Ln", "%(left)5.1f", "{0:.2f}", "{item_count}", "%(n)s", "$total", "{{ num }}"])
def test_numbers_take_the_place_of_numeric_arguments(argument: str) -> None:
    shown = next(variants(f"see {argument} and %s now")).segments.texts
    assert shown == ("see 37 and K8 now",)
    assert placed(f"see {argument} and %s now", without("37"))[0] == f"see {argument} and %s now"


def test_no_number_takes_the_place_of_an_argument_beside_the_same_number() -> None:
    assert next(variants("see %d of 158 now")).segments.texts == ("see K7 of 158 now",)


def test_a_placeholder_replaces_a_lost_span() -> None:
    assert placed("see a@b.org!", without("@")) == ("see a@b.org!", 2)
    assert placed("go<x1/>on", without("<")) == ("go<x1/>on", 1)
    assert placed("K7 says a@b.org!", without("@")) == ("K7 says a@b.org!", 2)


@pytest.mark.parametrize("wrong", ["K70", "XK7", "K7s"])
def test_a_placeholder_inside_a_longer_word_does_not_count(wrong: str) -> None:
    assert placed("use <b>{name}</b> now", lambda source: source.replace("K7", wrong))[0] == "use <b>{name}</b> now"


def test_a_span_inside_a_longer_number_does_not_count() -> None:
    assert placed("at 0x7fff.", lambda source: source.replace("0x7fff", "0x7ffff"))[0] == "at 0x7fff."


def test_a_repeated_span_is_not_accepted() -> None:
    assert placed("ask {name} now", lambda source: source.replace("{name}", "{name} {name}"))[0] == "ask {name} now"


def test_format_specifications_and_tags_keep_their_order() -> None:
    def turned(source: str) -> str:
        return " ".join(reversed(source.split()))

    assert placed("%s or %d", turned)[0] == "%s or %d"
    assert placed("{a} or {b}", turned)[0] == "{b} or {a}"
    assert placed("%1 or %2", turned)[0] == "%2 or %1"


def test_words_of_other_scripts_are_kept_in_latin_text() -> None:
    assert placed("say \u043c\u0438\u0440 now", without("\u043c"), latin=True)[0] == "say \u043c\u0438\u0440 now"
    assert placed("say \u043c\u0438\u0440 now", without("\u043c"))[0] == "say \u0438\u0440 now"


@pytest.mark.parametrize(
    "model", [lambda _: "", lambda _: "x", lambda source: source + source, lambda _: "{name} %s X1 %1 K7 4711", str.upper]
)
@given(text=st.lists(st.sampled_from(["go", "{name}", "%s", "<b>", "</b>", "https://a.org", "2.13.0", "and", ".", "%d"]), max_size=9))
def test_every_span_occurs_as_often_as_in_the_source(model: Model, text: list[str]) -> None:
    source = " ".join(text)
    output, _ = placed(source, model)
    for span in {"{name}", "%s", "<b>", "</b>", "https://a.org", "2.13.0", "%d"} & set(text):
        assert output.count(span) == source.count(span)


def test_tags_that_lost_the_text_between_them_are_not_accepted() -> None:
    output, number = placed("the <b>red</b> house", lambda source: source.replace("K7 red K8", "K7 K8"))
    assert (output, number) == ("the <b>red</b> house", 2)
    assert placed("a <b></b> house", lambda source: source) == ("a <b></b> house", 1)


@pytest.mark.parametrize(
    ("text", "output", "expected"),
    [
        ("#th visit", "37. Besuch", "#. Besuch"),
        ("the {n}th and the %1th visit", "der 37. und der 58. Besuch", "der {n}. und der %1. Besuch"),
        ("Your %dth visit, {name}", "Ihr 37. Besuch, K7", "Ihr %d. Besuch, {name}"),
        ("the {{ n }}nd floor", "der 37. Stock", "der {{ n }}. Stock"),
    ],
)
def test_ordinals_of_placeholders_are_read_as_those_of_numbers(text: str, output: str, expected: str) -> None:
    found = chosen(variants_with(lambda _: False, text, languages=("en", "de")), lambda source: output if "37th" in source else source)
    assert found.text == expected


@pytest.mark.parametrize("text", ["the #theme", "37 58 49 63 74 86 and the #th", "{n} thanks", "the 5th visit"])
def test_other_texts_have_no_ordinals_of_placeholders(text: str) -> None:
    assert all("ordinals" not in each.name for each in variants_with(lambda _: False, text, languages=("en", "de")))
