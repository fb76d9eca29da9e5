"""Sentences that are drawn from templates, in which the shipped en-de keeps numbers, prices, times and quotation marks."""

import random
import re
from collections.abc import Callable, Iterator
from typing import NamedTuple

import pytest

from specdec_cli.pipeline.translator import Translator
from tests.stored_engine import opened


class Drawn(NamedTuple):
    """A sentence to translate into German, and patterns: each of `has` is in the translation, and none of `lacks`."""

    source: str
    has: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()


THOUSANDS = (
    "The stadium holds {} people.",
    "There are {} books in the library.",
    "The company has {} employees in {} offices.",
    "They planted {} trees last year.",
    "More than {} visitors came on Sunday.",
    "The mountain is {} metres high.",
    "The road is {} kilometres long.",
    "Our school bought {} chairs.",
    "The ship weighs {} tonnes.",
    "He walked {} steps today.",
    "The disk has {} free bytes, and {} are used.",
    "In total, {} letters were sent.",
    "The farm has {} cows and {} sheep.",
    "The lake is {} m deep.",
    "We need {} bricks for the wall.",
)
DECIMALS = (
    "The child is {} metres tall.",
    "The engine uses {} litres an hour.",
    "The bag weighs {} kg.",
    "Prices rose by {} percent in May.",
    "The screen is {} inches wide.",
    "The water has {} °C.",
    "The film is {} hours long.",
    "The town has {} million inhabitants.",
    "The file is {} MB, and the other one {} GB.",
    "The tower grew by {} cm.",
    "About {}% of the students failed.",
    "The average age is {} years.",
    "It was -{} degrees in the morning.",
    "Add {} g of salt to {} litres of water.",
    "The car is {} seconds faster.",
)
PRICES = (
    "The watch costs {}.",
    "I paid {} for the ticket.",
    "The old house was sold for {}.",
    "You still owe me {}.",
    "A room costs {} per night.",
    "Her salary is {} a month.",
    "The repair will cost about {}.",
    "He won {} in the lottery.",
    "The total is {}.",
    "They spent {} on the new kitchen.",
)
PRICE_PAIRS = (
    "The tickets cost between {} and {}.",
    "We pay {} for the hall and {} for the food.",
    "The price fell from {} to {}.",
    "A small one costs {}, a large one {}.",
    "You can save {} to {} every month.",
)
TIMES = (
    "The concert begins at {}.",
    "The bank closes at {}.",
    "My bus leaves at {} tomorrow.",
    "She woke up at {}.",
    "Dinner is served from {} to {}.",
    "The meeting is at {} on Monday.",
    "The shop is open from {} until {}.",
    "He called me at {}.",
    "The train from Berlin arrives at {}.",
    "Please come before {}.",
    "The match ended at {}.",
)


SPEECH = (
    "Where are you going?",
    "Stop!",
    "I love you,",
    "Who is there?",
    "Come in!",
    "I am tired,",
    "It is late,",
    "We have to go home,",
    "What is your name?",
    "I don't know,",
    "This is my house,",
    "You are right,",
    "Nobody knows the answer,",
    "How much does the ticket cost?",
)
SPEAKERS = ("he", "she", "Tom", "the old man", "the girl", "my mother", "the teacher", "Mary")
SAID = ("said", "asked", "shouted", "whispered", "answered", "replied")
BEFORE_SPEECH = ("He said,", "She asked:", "Tom told me:", "My father always said,", "The teacher answered:")
SENTENCES = ("I am tired.", "Where is the key?", "We are late!", "The train has left.", "I have no time.")


def thousands(draw: random.Random) -> Drawn:
    """Whole numbers with a separator of thousands."""
    template = draw.choice(THOUSANDS)
    values = [
        draw.choice((draw.randrange(1000, 10_000), draw.randrange(1000, 10_000), draw.randrange(10_000, 5_000_000)))
        for _ in range(template.count("{}"))
    ]
    english = [f"{value:,}" for value in values]
    return Drawn(template.format(*english), tuple(_number(each.replace(",", ".")) for each in english), tuple(map(_number, english)))


def decimals(draw: random.Random) -> Drawn:
    """Numbers with a point before their decimals."""
    template = draw.choice(DECIMALS)
    values = [
        f"{draw.randrange(0, 120)}.{draw.choice((draw.randrange(1, 10), draw.randrange(11, 100)))}" for _ in range(template.count("{}"))
    ]
    return Drawn(template.format(*values), tuple(_number(each.replace(".", ",")) for each in values), tuple(map(_number, values)))


def prices(draw: random.Random) -> Drawn:
    """Prices with cents, most of them with a separator of thousands."""
    sign, value = draw.choice("$$€£"), draw.choice((draw.randrange(1000, 90_000), draw.randrange(1000, 90_000), draw.randrange(1, 1000)))
    english = f"{value:,}.{draw.randrange(1, 100):02}"
    german = english.translate(str.maketrans(",.", ".,"))
    priced = rf"(?:{re.escape(sign)}\s?{_number(german)}|{_number(german)}\s?{re.escape(sign)})"
    return Drawn(draw.choice(PRICES).format(sign + english), (priced, rf"^[^{sign}]*{re.escape(sign)}[^{sign}]*$"), (_number(english),))


def price_pairs(draw: random.Random) -> Drawn:
    """Two prices of the same currency."""
    sign = draw.choice("$€£")
    values = [draw.choice((f"{draw.randrange(2, 100)}", f"{draw.randrange(2, 100)}.{draw.randrange(10, 100)}")) for _ in range(2)]
    has = [
        rf"(?:{re.escape(sign)}\s?{_number(german)}|{_number(german)}\s?{re.escape(sign)})"
        for german in (each.replace(".", ",") for each in values)
    ]
    return Drawn(
        draw.choice(PRICE_PAIRS).format(*(sign + each for each in values)),
        (*has, rf"^[^{sign}]*{re.escape(sign)}[^{sign}]*{re.escape(sign)}[^{sign}]*$"),
    )


def times(draw: random.Random) -> Drawn:
    """Times of the 12-hour clock."""
    template = draw.choice(TIMES)
    shown, has = [], []
    for _ in range(template.count("{}")):
        hour, minute, half = (
            draw.randrange(1, 13),
            draw.choice((0, 5, 10, 15, 20, 30, 40, 45, 50)),
            draw.choice(("AM", "PM", "a.m.", "p.m.", "am", "pm")),
        )
        whole = minute == 0 and draw.random() < 0.5
        shown.append(f"{hour} {half}" if whole else f"{hour}:{minute:02} {half}")
        clock = hour % 12 + 12 * half.lower().startswith("p")
        has.append(_clock(clock, minute))
    return Drawn(template.format(*shown).replace("..", "."), tuple(has))


def speech(draw: random.Random) -> Drawn:
    """Direct speech with the words that say who speaks, before or after it."""
    opening, closing = draw.choice(('""', '""', "\u201c\u201d"))
    if draw.random() < 0.25:
        source = f"{draw.choice(BEFORE_SPEECH)} {opening}{draw.choice(SENTENCES)}{closing}"
        return Drawn(source, (r"\w[^\u201e\u201c\"]*\u201e[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*\u201c\.?$",))
    source = f"{opening}{draw.choice(SPEECH)}{closing} {draw.choice(SPEAKERS)} {draw.choice(SAID)}."
    return Drawn(source, (r"^\u201e[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*\u201c[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*$",))


def _number(written: str) -> str:
    """A pattern of a number that is no part of another one."""
    return rf"(?<![\d.,]){re.escape(written)}(?![.,]?\d)"


def _clock(hour: int, minute: int) -> str:
    """A pattern of a time as German writes it."""
    hours = {hour, 24 if hour == 0 else hour}
    digits = "|".join(f"0?{each}" for each in sorted(hours))
    words = {0: "|Mitternacht", 12: "|Mittag|mittags"}.get(hour, "") if minute == 0 else ""
    return (
        rf"(?:(?<![\d:.])(?:{digits})[:.]{minute:02}(?!\d)"
        + (rf"|(?<![\d:.])(?:{digits})(?! ?Uhr \d)(?![:.]\d)(?: (?:bis|und) \d+)? Uhr" if minute == 0 else "")
        + f"{words})"
    )


def wrong(drawn: Drawn, output: str) -> bool:
    """Whether the translation `output` lacks what it must have, or has what it must not have."""
    return not all(re.search(each, output) for each in drawn.has) or any(re.search(each, output) for each in drawn.lacks)


def drawn(kind: Callable[[random.Random], Drawn], seed: int, count: int = 60) -> Iterator[Drawn]:
    """`count` different sentences of a kind."""
    draw, seen = random.Random(f"{kind.__name__} {seed}"), set[str]()
    while len(seen) < count:
        one = kind(draw)
        if one.source not in seen:
            seen.add(one.source)
            yield one


@pytest.mark.long
@pytest.mark.parametrize("kind", [thousands, decimals, prices, price_pairs, times, speech])
@pytest.mark.parametrize("seed", [21, 22])
def test_drawn_sentences_keep_their_values(kind: Callable[[random.Random], Drawn], seed: int, pytestconfig: pytest.Config) -> None:
    bundle, engine = opened("en-de", pytestconfig.cache)
    sentences = list(drawn(kind, seed))
    outputs = Translator(engine, bundle.tokenizer, languages=("en", "de")).translate([each.source for each in sentences])
    faults = [(each.source, line.text) for each, line in zip(sentences, outputs, strict=True) if wrong(each, line.text)]
    assert len(faults) <= 1, faults
