"""Signs that a vocabulary lacks are in the output as often as in the source; long code and texts without an output stay."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.checks import EMPTY
from specdec_cli.text.protect.characters import lacking_spans
from specdec_cli.text.protect.spans import protected_spans
from tests.stored_engine import opened
from tests.variants import chosen

LACKING = "#&*+<=>[]^_|~\u20ac\u00a3\u00b0\u00a7\u00bd\u201d"
Model = Callable[[str], str]


def placed(text: str, model: Model) -> tuple[str, list[str]]:
    """The output that is chosen, and the texts that were decoded for it."""
    return chosen(variants_with(LACKING.__contains__, text), model)[:2]


def damaged(source: str) -> str:
    """The output of a model that writes nonsense for signs which it does not know."""
    return "".join("stand" if character in LACKING else character for character in source)


def test_text_without_lacking_characters_is_decoded_as_it_is() -> None:
    assert placed("It costs $5 (or more).", str.upper) == ("IT COSTS $5 (OR MORE).", ["It costs $5 (or more)."])
    assert placed("caf\u00e9 \u2013 no", str.upper) == ("CAF\u00c9 \u2013 NO", ["caf\u00e9 \u2013 no"])


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("The price is \u20ac5.", "The price is $5."),
        ("He has 5 \u20ac.", "He has 5 $."),
        ("I like it [very much].", "I like it (very much)."),
        ("See [1] and (2).", "See (1) and (2)."),
    ],
)
def test_known_characters_stand_for_currencies_and_brackets(text: str, shown: str) -> None:
    assert placed(text, damaged) == (text, [shown])


def test_no_bracket_is_added_to_one_that_is_alone() -> None:
    def closed(source: str) -> str:
        return source.replace("key", "key)") if "(" in source else source

    assert placed("Use the [ key now.", closed) == ("Use the [ key now.", ["Use the K7 key now."])


def test_quotation_marks_become_ascii() -> None:
    assert placed("\u201cYes\u201d or (no)", damaged) == ('"Yes" or (no)', ['"Yes" or (no)'])


def test_amounts_in_two_currencies_are_protected() -> None:
    assert placed("\u20ac5.50, not \u00a3 3 now", damaged) == ("\u20ac5.50, not \u00a3 3 now", ["K7, not K8 now"])
    assert placed("\u20ac5 and $3 here", damaged)[1] == ["K7 and $3 here"]


def test_a_lost_stand_in_is_not_accepted() -> None:
    def spelled(source: str) -> str:
        return source.replace("$5", "five dollars")

    assert placed("He has \u20ac5 now", spelled) == ("He has \u20ac5 now", ["He has K7 now"])


def test_other_signs_are_protected_if_the_model_loses_them() -> None:
    assert placed("It is 20\u00b0C here", str.upper) == ("IT IS 20\u00b0C HERE", ["It is 20\u00b0C here"])
    assert placed("It is 20\u00b0C here", damaged) == ("It is 20\u00b0C here", ["It is K7 here"])


def test_a_number_beside_a_sign_may_be_written_differently() -> None:
    assert placed("It is 1,200\u00b0C here", lambda source: source.replace(",", "."))[0] == "It is 1.200\u00b0C here"


def test_signs_in_protected_spans_have_no_stand_in() -> None:
    assert placed("go to http://a.org/[x]y [now]", lambda source: source)[1] == ["go to http://a.org/[x]y (now)"]


@pytest.mark.parametrize(
    ("text", "spans"),
    [("AT&T & x^2 a", ["AT&T", "x^2"]), ("*very* _a", ["*", "*", "_"]), ("5 < 6 => C++.", ["<", "=>", "C++"]), ("\u00bd cup", ["\u00bd"])],
)
def test_a_span_has_the_word_that_its_sign_belongs_to(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in lacking_spans(text, LACKING)] == spans


@given(st.text(alphabet=LACKING + "ab 5.$()", max_size=30), st.sampled_from([damaged, str.upper, lambda _: "", lambda text: text * 2]))
def test_there_is_always_an_output_with_the_signs(text: str, model: Model) -> None:
    output, _ = placed(text, model)
    for sign in set(LACKING) - {"\u201d", "&"}:
        assert output.count(sign) == text.count(sign)


SIGNED = [*"b5[]()*&", "it", "\u20ac250000", "a**b\u20ac", "2.13.0\u20ac", "http://a.org/[x]", "%s\u00b0", "{n}*", "#12"]


@given(
    st.lists(st.sampled_from(SIGNED), max_size=8),
    st.sampled_from(["", " "]),
    st.sampled_from([damaged, str.upper, lambda _: "", lambda text: " ".join(reversed(text.split()))]),
)
def test_signs_beside_protected_spans_and_the_spans_are_kept(words: list[str], joint: str, model: Model) -> None:
    text = joint.join(words)
    output, _ = placed(text, model)
    for sign in set(LACKING) - {"\u201d", "&"}:
        assert output.count(sign) == text.count(sign)
    spans = [text[start:end] for start, end in protected_spans(text)]
    # The same text may also occur where it is not protected, as an address after a digit.
    assert all(output.count(span) >= spans.count(span) for span in spans)


def test_a_sign_beside_a_protected_span_is_in_the_output() -> None:
    assert placed("It costs \u20ac250000 now.", damaged)[0] == "It costs \u20ac250000 now."
    assert placed("It costs \u20ac250000 now.", lambda source: source.replace("$", ""))[0] == "It costs \u20ac250000 now."
    assert placed("a**b\u20ac", lambda _: "")[0] == "a**b\u20ac"


def test_stand_ins_of_protected_spans_are_not_exchanged() -> None:
    def turned(source: str) -> str:
        return " ".join(reversed(source.split()))

    output = placed("http://a.org/(x) and [y]", turned)[0]
    assert "[y]" in output and "http://a.org/(x)" in output


def test_a_low_quotation_mark_is_not_read_as_a_bracket() -> None:
    found = [text for each in variants_with("\u201a".__contains__, "\u201ayes\u2018") for text in each.segments.texts]
    assert "\u201ayes\u2018" in found
    assert not any("(" in text for text in found)


def test_punctuation_is_not_protected() -> None:
    assert lacking_spans("\u201ayes\u2018", "\u201a\u2018") == []
    assert lacking_spans("No. Is it \u2013 \u201cyes\u201d\u2026?", " .?\u2013\u201c\u201d\u2026") == []


CARRIERS = (
    "As in {}, the field is optional, and the answer has the same form.",
    "Send {} to the server to get the translation of a text.",
    "The call {} draws a line on the page; it returns nothing.",
    "Please use {} if the file is large, or split it first.",
    "`name` in a request, as in {}, is the name of a person.",
)
KEYS, VALUES = (
    ("q", "source", "target", "temperature", "seed", "file", "mode", "text"),
    ('"Good morning!"', '"en"', "0.7", "3", '"a. B"', "null"),
)


def code(draw: random.Random) -> str:
    fields = ", ".join(f'"{key}": {draw.choice(VALUES)}' for key in draw.sample(KEYS, draw.randint(2, 6)))
    return draw.choice(("`{{{}}}`", "`send({{{}}})`", "`curl -d '{{{}}}' localhost`")).format(fields)


@pytest.mark.parametrize("bundle", ["en-de", "de-en"])
def test_long_code_is_not_cut(bundle: str, request: pytest.FixtureRequest) -> None:
    draw = random.Random(3)
    described, engine = opened(bundle, request.config.cache)
    codes = [code(draw) for _ in range(60)]
    lines = [draw.choice(CARRIERS).format(each) for each in codes]
    outputs = [each.text for each in LineTranslator.of_bundle(engine, described).translate(lines)]
    assert [text for text, each in zip(outputs, codes, strict=True) if text.count(each) != 1] == []


def test_a_text_without_an_output_stays(request: pytest.FixtureRequest) -> None:
    described, engine = opened("en-de", request.config.cache)
    words = ["does", "it", "about", "of", "has", "the", "to", "for", "by", "an", "or", "as"]
    translator = LineTranslator.of_bundle(engine, described, labels=False)
    found = list(translator.translate(words))
    assert all(each.text.strip() for each in found)
    left = [word for word, each in zip(words, found, strict=True) if EMPTY in each.warnings]
    assert left and all(each.text == word for word, each in zip(words, found, strict=True) if word in left)
