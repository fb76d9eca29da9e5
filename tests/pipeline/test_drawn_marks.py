"""Texts with quotations, brackets and repeated words, drawn from templates, in both directions: how many keep their marks.

`pytest tests/pipeline/test_drawn_marks.py -s` prints the table of kinds.
"""

import random
import re
from collections.abc import Callable
from typing import NamedTuple

import pytest

from specdec_cli.pipeline.translator import LineTranslator
from specdec_cli.text.checks import MARKS
from tests.stored_engine import opened
from tests.tables import tables

TEXTS = tables(__file__)


class Words(NamedTuple):
    """What texts of one language are made of; speakers and sayings of questions come after those of statements."""

    quoted: Callable[[str, int], str]
    colon: str
    before: list[str]
    asked_before: list[str]
    after: list[str]
    asked_after: list[str]
    sentences: list[str]
    questions: list[str]
    with_name: list[str]
    repeated: list[str]
    repeated_nouns: list[str]
    with_brackets: list[str]
    outer: list[str]
    inner: list[str]
    with_foreign: list[str]
    foreign: list[str]
    with_span: list[str]
    nouns: list[str]


def _english_marks(text: str, style: int) -> str:
    """A text between double, curly and single marks (0 to 2), and inside of these (3 to 5)."""
    return ('"{}"', "\u201c{}\u201d", "'{}'", "'{}'", "\u2018{}\u2019", '"{}"')[style].format(text)


def _german_marks(text: str, style: int) -> str:
    return ("\u201e{}\u201c" if style < 3 else "\u201a{}\u2018").format(text)


ENGLISH = Words(_english_marks, **TEXTS.english)
GERMAN = Words(_german_marks, **TEXTS.german)


def said(words: Words, draw: random.Random, text: str, style: int) -> str:
    """A statement or question as speech, before or after the words that say who speaks."""
    asks = text.endswith("?")
    if draw.random() < 0.5:
        return f"{draw.choice(words.asked_before if asks else words.before)}{words.colon} {words.quoted(text, style)}"
    after = draw.choice(words.asked_after if asks else words.after)
    if words.colon == ",":
        return f"{words.quoted(text if asks else f'{text[:-1]},', style)} {after}"
    return f"{words.quoted(text if asks else text[:-1], style)}, {after}"


def nested(words: Words, draw: random.Random) -> str:
    style = draw.randrange(3)
    return said(words, draw, draw.choice(words.with_name).format(words.quoted(draw.choice(TEXTS.names), style + 3)), style)


def questions(words: Words, draw: random.Random) -> str:
    text = said(words, draw, draw.choice(words.questions), draw.randrange(3))
    return f"{draw.choice(words.sentences)} {text}" if draw.random() < 0.4 else text


def spanning(words: Words, draw: random.Random) -> str:
    """Speech of two or three sentences."""
    return said(words, draw, " ".join(draw.sample(words.sentences, draw.choice((2, 3)))), draw.randrange(3))


def foreign(words: Words, draw: random.Random) -> str:
    """Speech that contains a word in the quotation marks of the other language."""
    return draw.choice(words.with_foreign).format(draw.choice(words.foreign))


def beside_spans(words: Words, draw: random.Random) -> str:
    """A quotation in a sentence with a placeholder or code."""
    span = draw.choice(("{name}", "`Vec<T>`", "%s", "`x = 1`", "$HOME", "https://example.org/a"))
    return draw.choice(words.with_span).format(span, words.quoted(draw.choice(words.nouns), draw.choice((0, 1, 4))))


def brackets(words: Words, draw: random.Random) -> str:
    return draw.choice(words.with_brackets).format(draw.choice(words.outer), draw.choice(words.inner))


def repeated(words: Words, draw: random.Random) -> str:
    clause, times = draw.choice(words.repeated + words.repeated_nouns), draw.choice((2, 3, 4))
    separator = draw.choice((", ", ", ", "! ", ". "))
    if separator != ", ":
        return separator.join([clause] * times) + separator.strip()
    again = clause if clause in words.repeated_nouns else clause[0].lower() + clause[1:]
    return ", ".join([clause, *[again] * (times - 1)]) + draw.choice("!!.")


_CLOSING = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c", "'": "'", "\u2018": "\u2019", "\u201a": "\u2018", "(": ")"}


def marks(text: str) -> tuple[list[str], str]:
    """The quotations and brackets of a text with their depth and their own ! and ?, in the order of their ends, and those outside of them.

    A mark that lacks its other half is alone.
    """
    opened: list[tuple[str, list[str]]] = [("", [])]
    found = []
    for place, sign in enumerate(text):
        before, after = text[place - 1 : place] if place else " ", text[place + 1 : place + 2]
        if sign in "'\u2019" and before.isalnum() and after.isalnum():
            continue
        if opened[-1][0] and sign == _CLOSING[opened[-1][0]] and before != " ":
            opening, own = opened.pop()
            found.append(f"{opening}{sign}{len(opened)}{''.join(own)}")
        elif sign in _CLOSING and (not before.isalnum() or sign not in "'\"\u2018"):
            opened.append((sign, []))
        elif sign in _CLOSING or sign in _CLOSING.values():
            found.append(f"{sign}0")
        elif sign in "!?":
            opened[-1][1].append(sign)
    return found + [f"{sign}0" for sign, _ in opened[1:]], "".join(opened[0][1])


def faults(source: str, output: str, target: str) -> list[str]:
    """What is wrong with the marks of an output: lost, added, or not those of its language."""
    (own, outside), (new, others) = marks(source), marks(output)
    pairs = {"de": ("\u201e\u201c", "\u201a\u2018"), "en": ('""', "''")}[target]
    expected = sorted(each if each[0] == "(" else pairs[int(each[2]) - 1] + each[2:] for each in own if len(each) > 2)
    found = [] if expected == sorted(new) else [f"{expected} became {sorted(new)}"]
    ends = [re.sub(r"[^.!?]", "", text[len(text.rstrip(".!?\"'\u201c\u201d\u2018\u2019)")) :]) for text in (source, output)]
    found += [f"{one} became {other}" for one, other in (ends, (outside, others)) if one != other]
    clauses = [len(re.findall(r"\w+[\w ]*", text)) for text in (source, output)]
    return [*found, "a clause is lost"] if _is_repeated(source) and clauses[0] != clauses[1] else found


def _is_repeated(text: str) -> bool:
    found = re.findall(r"\w[\w ]*", text.lower())
    return len(found) > 1 and len(set(found)) == 1


KINDS: dict[Callable[[Words, random.Random], str], int] = {
    **dict.fromkeys((nested, questions, spanning, foreign, beside_spans), 97),
    brackets: 80,
    repeated: 90,
}
"""The kinds, and the share of texts, in percent, that must keep all marks."""


@pytest.mark.long
@pytest.mark.parametrize("bundle", ["en-de", "de-en"])
@pytest.mark.parametrize("seed", [31, 32])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_drawn_texts_keep_their_marks_or_have_a_warning(
    kind: Callable[[Words, random.Random], str], bundle: str, seed: int, pytestconfig: pytest.Config
) -> None:
    draw, words = random.Random(f"{kind.__name__} {bundle} {seed}"), ENGLISH if bundle == "en-de" else GERMAN
    texts = dict[str, None]()
    while len(texts) < 60:
        texts[kind(words, draw)] = None
    opening, engine = opened(bundle, pytestconfig.cache)
    source, target = bundle.split("-")
    found = list(LineTranslator(engine, opening.tokenizer, languages=(source, target)).translate(list(texts)))
    wrong = [(text, each.text, each.warnings) for text, each in zip(texts, found, strict=True) if faults(text, each.text, target)]
    unwarned = [each for each in wrong if MARKS not in each[2]]
    print(f"\n{kind.__name__:10} {bundle} seed {seed}: {len(texts) - len(wrong)} of {len(texts)}, {len(unwarned)} wrong without a warning")
    assert 100 * len(wrong) <= (100 - KINDS[kind]) * len(texts), wrong
    assert len(unwarned) <= 1, unwarned
