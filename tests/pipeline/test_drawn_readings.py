"""Units of the kitchen, lengths of time, couples, musical keys, lists of weekdays, short forms and names, drawn from templates."""

import random
import re

import pytest

from tests.drawn import Drawn, Kind, check_translations, filled, kinds
from tests.stored_engine import translator
from tests.tables import tables

TEXTS = tables(__file__)


def _food(draw: random.Random) -> tuple[str, str]:
    food: tuple[str, str] = draw.choice([*TEXTS.foods.items()])
    return food


def _pattern(amount: str) -> str:
    return rf"(?<![\w.,/]){amount}"


def kitchen(draw: random.Random) -> Drawn:
    """Amounts in units of the kitchen."""
    (food, german), (unit, own), amount = _food(draw), draw.choice([*TEXTS.units.items()]), draw.choice(TEXTS.amounts)
    of = draw.choice(("", " of"))
    return Drawn(draw.choice(TEXTS.steps).format(f"{amount} {unit}{of} {food}"), (rf"{_pattern(amount)} {own}\b", german[:4]))


def kitchen_in_german(draw: random.Random) -> Drawn:
    """Amounts in units of the kitchen, in German."""
    (english, food), (unit, own), amount = _food(draw), draw.choice([*TEXTS.units_in_german.items()]), draw.choice(TEXTS.amounts)
    return Drawn(draw.choice(TEXTS.steps_in_german).format(f"{amount} {unit} {food}"), (rf"{_pattern(amount)} {own}\b", f"(?i:{english})"))


def lengths(draw: random.Random) -> Drawn:
    """Minutes and seconds."""
    length = f"{draw.randrange(1, 60)}:{draw.randrange(60):02}"
    source = draw.choice(("The song is {} min long.", "He ran it in {} minutes.", "The video lasts {} minutes.", "It takes {} min."))
    return Drawn(source.format(length), (rf"(?<!\d){length} Min",), ("Uhr",))


def lengths_in_german(draw: random.Random) -> Drawn:
    """Minutes and seconds, in German."""
    length = f"{draw.randrange(1, 60)}:{draw.randrange(60):02}"
    source = draw.choice(("Das Lied ist {} Min. lang.", "Er lief {} Minuten.", "Das Video dauert {} Minuten.", "Es dauert {} Min."))
    return Drawn(source.format(length), (rf"(?<!\d){length} min",), (r"[ap]\.?m\b", "[AP]M"))


def couples(draw: random.Random) -> Drawn:
    """A couple with its name."""
    name, between = draw.choice(TEXTS.names), draw.choice(("and", "&"))
    source = draw.choice(("{} live next door.", "I met {} yesterday.", "This is for {}.", "{} are not at home.", "We had dinner with {}."))
    return Drawn(source.format(f"Mr. {between} Mrs. {name}"), (rf"Herrn? und Frau {name}(?!\w)",))


def couples_in_german(draw: random.Random) -> Drawn:
    """A couple with its name, in German."""
    name, between = draw.choice(TEXTS.names), draw.choice(("und", "&"))
    source = draw.choice(("Herr {} wohnen nebenan.", "Ich war bei Herrn {}.", "Das ist für Herrn {}.", "Herr {} sind nicht da."))
    return Drawn(source.format(f"{between} Frau {name}"), (rf"Mr\. and Mrs\. {name}(?!\w)",))


def keys(draw: random.Random) -> Drawn:
    """Musical keys."""
    (note, german), mode = draw.choice([*TEXTS.notes.items()]), draw.choice(("major", "minor"))
    shown = f"{german}-Dur" if mode == "major" else f"{german.lower()}-Moll"
    source = draw.choice(("The song is in {}.", "He played a waltz in {}.", "His third symphony is in {}.", "Sonata in {}"))
    return Drawn(source.format(f"{note} {mode}"), (rf"\bin {shown}(?!\w)",))


def weekdays(draw: random.Random) -> Drawn:
    """Lists of short names of weekdays."""
    days = sorted(draw.sample([*TEXTS.days], draw.choice((2, 3))), key=[*TEXTS.days].index)
    shown = draw.choice((f"{', '.join(days[:-1])} and {days[-1]}", f"{', '.join(days[:-1])} & {days[-1]}", "/".join(days)))
    source = draw.choice(("We are open {}.", "Closed {}", "The course is on {}.", "We meet {} at the station."))
    return Drawn(source.format(shown), tuple(TEXTS.days[each] for each in days), tuple(rf"\b{each}\b" for each in days))


def weekdays_in_german(draw: random.Random) -> Drawn:
    """Lists of short names of weekdays, in German."""
    days = sorted(draw.sample([*TEXTS.german_days], draw.choice((2, 3))), key=[*TEXTS.german_days].index)
    stop = draw.choice(("", "."))
    named = [each + stop for each in days]
    shown = draw.choice((f"{', '.join(named[:-1])} und {named[-1]}", f"{', '.join(named[:-1])} u. {named[-1]}", "/".join(days)))
    source = draw.choice(("Wir haben {} geöffnet.", "{} geschlossen", "Der Kurs ist {} in Berlin.", "Training {}"))
    return Drawn(source.format(shown), tuple(TEXTS.german_days[each] for each in days), (rf"\b{days[0]}\.",))


def _named(draw: random.Random, template: str) -> Drawn:
    names = (draw.choice(TEXTS.first), draw.choice(TEXTS.first), draw.choice(TEXTS.last))
    return Drawn(template.format(*names), tuple(name for place, name in enumerate(names) if f"{{{place}}}" in template))


def names(draw: random.Random) -> Drawn:
    """Names of people without titles."""
    return _named(draw, draw.choice(TEXTS.about))


def names_in_german(draw: random.Random) -> Drawn:
    """Names of people without titles, in German."""
    return _named(draw, draw.choice(TEXTS.about_in_german))


def squares_in_german(draw: random.Random) -> Drawn:
    """Squares that are named after people and towns."""
    square = draw.choice((f"{draw.choice(TEXTS.squares)}platz", f"{draw.choice(TEXTS.towns)} Platz"))
    return Drawn(draw.choice(TEXTS.at_squares).format(square), (square,))


def menus(draw: random.Random) -> Drawn:
    """Paths of menus."""
    (menu, german), (command, own) = draw.choice([*TEXTS.menus.items()]), draw.choice([*TEXTS.commands.items()])
    return Drawn(draw.choice(TEXTS.in_menus).format(f"{menu} > {command}"), (rf"(?i:{german}) > (?i:{own})",))


def menus_in_german(draw: random.Random) -> Drawn:
    """Paths of menus, in German."""
    menu, command = draw.choice([*TEXTS.menus]), draw.choice([*TEXTS.commands])
    path = f"{TEXTS.menus[menu].split('|')[0]} > {TEXTS.commands[command].split('|')[0]}"
    return Drawn(draw.choice(TEXTS.in_menus_in_german).format(path), (rf"(?:{menu}|Extras) > {command}",))


def eras(draw: random.Random) -> Drawn:
    """Years of an era."""
    year = draw.choice((draw.randrange(20, 1000), draw.randrange(1000, 4000)))
    shown, own = draw.choice(((f"{year} BC", "v. Chr."), (f"{year} BCE", "v. Chr."), (f"{year} AD", "n. Chr."), (f"AD {year}", "n. Chr.")))
    return Drawn(draw.choice(TEXTS.in_years).format(shown), (rf"(?<!\d){year} {re.escape(own)}",))


def eras_in_german(draw: random.Random) -> Drawn:
    """Years of an era, in German."""
    year, (era, own) = draw.choice((draw.randrange(20, 1000), draw.randrange(1000, 4000))), draw.choice((("v.", "BC"), ("n.", "AD")))
    return Drawn(draw.choice(TEXTS.in_years_in_german).format(f"{year} {era} Chr.").replace("..", "."), (rf"(?<!\d){year} {own}\b",))


KINDS = (
    *kinds(95, eras, menus, names, kitchen, lengths, couples, keys, weekdays),
    *kinds(95, eras_in_german, menus_in_german, names_in_german, squares_in_german, bundle="de-en"),
    *kinds(95, kitchen_in_german, lengths_in_german, couples_in_german, weekdays_in_german, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [1])
def test_drawn_readings_come_out(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_translations(kind, seed, pytestconfig.cache, are_warned=False)


@pytest.mark.long
@pytest.mark.parametrize(("bundle", "forms"), [("en-de", TEXTS.short), ("de-en", TEXTS.short_in_german)])
def test_short_forms_are_translated_as_their_words(bundle: str, forms: dict[str, str], pytestconfig: pytest.Config) -> None:
    draw = random.Random(5)
    texts = [(filled(draw, template), expected) for template, expected in forms.items() for _ in range(3)]
    outputs = translator(bundle, pytestconfig.cache).translate([text for text, _ in texts])
    faults = [(text, output.text) for (text, expected), output in zip(texts, outputs, strict=True) if not re.search(expected, output.text)]
    print(f"\n{bundle}: {len(texts) - len(faults)} of {len(texts)}")
    assert len(faults) * 20 <= len(texts), faults
