"""Protected spans of texts."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.text.protect import spans
from specdec_cli.text.protect.spans import RECOGNISERS, Recogniser, is_number, keeps_order, kind_of, protected_spans
from tests.tables import tables

CASES = tables(__file__)

_PARTS = ("a", "Z", "é", "www", "http", "com", "md", "x", "v", "def", "1", "12", "2023", "12345", ".", ":", "::", " ", "\t", "\n")
_SIGNS = ("'", '"', "(", ")", "-", "--", ",", ";", "!", "?", "\u2019", "\u201c", "»", "—", "_", "/", "@", "λ", "\u017f")
_EMOJI = ("\U0001f600", "\ufe0f", "\u20e3", "\u200d", "\U000e0067", "#", "*", "\u00a9", "\u203c", "\u2122")


@pytest.mark.parametrize(("text", "spans"), CASES.addresses_and_code_are_protected)
def test_addresses_and_code_are_protected(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(("text", "spans"), CASES.tags_are_protected_with_their_attributes)
def test_tags_are_protected_with_their_attributes(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(("text", "spans"), CASES.format_arguments_may_follow_letters)
def test_format_arguments_may_follow_letters(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(("text", "spans"), CASES.emoji_are_protected_with_what_modifies_them)
def test_emoji_are_protected_with_what_modifies_them(text: str, spans: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == spans


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in RECOGNISERS for text in CASES.examples[kind.name]])
def test_examples_are_spans_of_their_kind(kind: Recogniser, text: str) -> None:
    for before, after in (("", ""), ("see ", " now"), ("(", ")")):
        assert [(start, end) for start, end in protected_spans(before + text + after)] == [(len(before), len(before + text))]
    assert kind_of(text) is kind


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind in RECOGNISERS for text in CASES.counterexamples[kind.name]])
def test_counterexamples_have_no_span_of_the_kind(kind: Recogniser, text: str) -> None:
    text = f"see {text} now"
    assert kind not in [kind_of(text[start:end]) for start, end in protected_spans(text)]


def test_every_kind_has_examples() -> None:
    names = [kind.name for kind in RECOGNISERS]
    assert list(CASES.examples) == list(CASES.counterexamples) == names
    assert [name for name in names if not (CASES.examples[name] or name == "link_start") or not CASES.counterexamples[name]] == []


@pytest.mark.parametrize(("text", "expected"), CASES.spans_in_sentences)
def test_spans_in_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == expected


@pytest.mark.parametrize(("span", "number", "ordered"), CASES.kinds_say_what_stands_for_a_number_and_what_keeps_its_order)
def test_kinds_say_what_stands_for_a_number_and_what_keeps_its_order(span: str, number: bool, ordered: bool) -> None:
    assert (is_number(span), keeps_order(span)) == (number, ordered)


@pytest.mark.parametrize("text", ["a" * 200_000 + "." * 1000, "](" + "a" * 100_000, "1" * 100_000 + "a", "%" + "0" * 100_000 + "bb"])
def test_a_long_word_takes_little_time(text: str) -> None:
    assert [text[start:end] for start, end in protected_spans(text)] == re.findall("a{100,}", text)


def test_only_what_is_too_long_for_a_word_is_protected() -> None:
    word = "ab\u00fc" * 33
    assert protected_spans(f"the {word}, {word}-{word}") == []
    assert protected_spans(f"the {word}d, {word}") == [(4, 104)]


_JOINED = "|".join(f"(?:{kind.pattern.replace('ticks', f'ticks{place}')})" for place, kind in enumerate(RECOGNISERS))
_EXAMPLES = tuple(text for table in (CASES.examples, CASES.counterexamples) for texts in table.values() for text in texts if len(text) < 60)


@given(st.lists(st.sampled_from(_PARTS + _SIGNS + _EMOJI) | st.sampled_from(_EXAMPLES), max_size=9).map("".join), st.booleans())
def test_spans_are_those_of_all_patterns_joined(text: str, latin: bool) -> None:
    pattern = f"{_JOINED}|{spans._OTHER_SCRIPT.pattern}" if latin else _JOINED
    expected = [found.span() for found in re.finditer(pattern, text, re.IGNORECASE)]
    assert protected_spans(text, latin=latin) == expected
