"""Greetings of several people, measures, references to parts of texts, fields in a line, lists of dates and amounts, and months beside
nouns and in ranges, drawn from templates: how many are in the translations as the target language writes them.
"""

import random
import re

import pytest

from tests.drawn import Drawn, Kind, check_translations, kinds
from tests.tables import tables

TEXTS = tables(__file__)

PART_WORDS = r"Abb|S|Kap|Bd|Abschn|Abbildung|Seiten?|Kapitel|Band|Abschnitt|Figur|Bild|Volumen"
ENGLISH_PART_WORDS = r"[Ff]ig|[Ff]igs|p|pp|[Cc]h|[Vv]ol|[Ss]ec|[Ff]igure|[Pp]ages?|[Cc]hapter|[Vv]olume|[Ss]ection|[Ii]mage|[Pp]icture"


def _people(draw: random.Random) -> list[tuple[str, str, str]]:
    """Two people, each as the name, the greeting in front of it in German, and whether it is a family name with a title."""
    if draw.random() < 0.4:
        one, two = draw.sample(TEXTS.families, 2)
        return [(f"Mr. {one}", "Herr", one), (f"Mrs. {two}", "Frau", two)][:: draw.choice((1, -1))]
    return draw.sample([(draw.choice(TEXTS.women), "e", ""), (draw.choice(TEXTS.men), "er", "")], 2)


def greetings(draw: random.Random) -> Drawn:
    """Two or three people, before a sentence or alone."""
    (one, _, title), (two, _, _) = _people(draw)
    greeting, after = draw.choice(("Dear", "Hi", "Hello")), draw.choice(TEXTS.after_greeting)[0]
    third = draw.choice(("Ben", "Mia", "Kate")) if not title and draw.random() < 0.3 else ""
    people = f"{one}, {two} and {third}" if third else f"{one} {draw.choice(('and', 'and', '&'))} {two}"
    names = [each.split()[-1] for each in (one, two, third) if each]
    begin = r"^(?:Liebe|Lieber|Hallo|Sehr geehrter?|Hi)\b.*" + ".*".join(rf"\b{name}\b" for name in names)
    return Drawn(f"{greeting} {people},{after}", has=(begin + r",(?:$| [^\W\d_])",), lacks=(r"\b(?:Mr|Mrs|Dear|and)\b",))


def greetings_in_german(draw: random.Random) -> Drawn:
    """Two people, before a sentence or alone."""
    (one, first, title), (two, second, _) = _people(draw)
    after = draw.choice(TEXTS.after_greeting)[1]
    names = [each.split()[-1] for each in (one, two)]
    if title:
        kind = draw.choice(("Sehr geehrt", "Lieb"))
        greeted = [f"{kind}{'e' if each == 'Frau' else 'er'} {each} {name}" for each, name in zip((first, second), names, strict=True)]
        people = f"{greeted[0]}, {greeted[1][0].lower()}{greeted[1][1:]}"
    else:
        people = f"Lieb{first} {one}, lieb{second} {two}"
        people = draw.choice((people, people.replace(", ", " und "), f"Hallo {one} und {two}"))
    begin = r"^(?:Dear|Hello|Hi)\b.*" + ".*".join(rf"\b{name}\b" for name in names)
    return Drawn(f"{people},{after}", has=(begin + r",(?:$| [^\W\d_])",), lacks=(r"(?i)\b(?:herr|frau|love|better|very|prefer\w*|und)\b",))


def measures(draw: random.Random) -> Drawn:
    """Feet and inches, degrees, and inches alone."""
    return _measures(draw, TEXTS.lengths, TEXTS.places, TEXTS.screens)


def measures_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    return _measures(draw, TEXTS.german_lengths, TEXTS.german_places, TEXTS.german_screens)


def _measures(draw: random.Random, lengths: tuple[str, ...], places: tuple[str, ...], screens: tuple[str, ...]) -> Drawn:
    small, large, other = draw.randrange(2, 9), draw.randrange(12, 90), draw.randrange(10, 60)
    kind = draw.randrange(3)
    text = (f"{small}'{draw.choice(('', ' '))}{draw.randrange(1, 12)}\"", f"{large}° {other}' {draw.randrange(1, 60)}\"", f'{large}"')[kind]
    is_alone = kind == 2
    keeps = () if is_alone else (text,)
    has = (rf'\b{large}(?:"|[ -](?:Zoll|inch))',) if is_alone else ()
    return Drawn(draw.choice((lengths, places, screens)[kind]).format(text), has=has, keeps=keeps, lacks=("[«»“”„`]",))


def parts(draw: random.Random) -> Drawn:
    """Abbreviations before the number of a part of a text."""
    number = draw.choice((f"{draw.randrange(2, 200)}", f"{draw.randrange(2, 20)}{draw.choice('ab')}"))
    text = f"{draw.choice(TEXTS.parts)[0]} {number}"
    return Drawn(draw.choice(TEXTS.in_text).format(text), has=(rf"\b(?:{PART_WORDS})\.? {number}\b",))


def parts_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    number = draw.choice((f"{draw.randrange(2, 200)}", f"{draw.randrange(2, 20)}{draw.choice('ab')}"))
    text = f"{draw.choice(TEXTS.parts)[1]} {number}"
    return Drawn(draw.choice(TEXTS.in_german_text).format(text), has=(rf"\b(?:{ENGLISH_PART_WORDS})\.? {number}\b",))


def laws(draw: random.Random) -> Drawn:
    """Paragraphs of German laws."""
    number, part = draw.randrange(2, 900), draw.randrange(1, 9)
    law = draw.choice(("", "", " BGB", " StGB", " GG"))
    text = f"{draw.choice(('§', '§', 'Art.'))} {number}{draw.choice(('', f' Abs. {part}'))}{law}"
    has = [rf"\b{number}\b"] + ([rf"\b{part}\b"] if "Abs." in text else []) + ([law.strip()] if law else [])
    return Drawn(draw.choice(TEXTS.laws).format(text), has=tuple(has), lacks=(rf"{number}\. ", r"\.\.", "Sounds"))


def fields(draw: random.Random) -> Drawn:
    """Two or three fields with pipes between them."""
    return _fields(draw, TEXTS.fields)


def fields_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    return _fields(draw, TEXTS.german_fields)


def _fields(draw: random.Random, listed: tuple[tuple[str, str], ...]) -> Drawn:
    chosen = draw.sample(listed, draw.choice((2, 2, 3)))
    return Drawn(" | ".join(source for source, _ in chosen), has=("^" + r"[^|]* \| ".join(f"(?:{each})" for _, each in chosen),))


def lists_of_dates(draw: random.Random) -> Drawn:
    """Three or four days in a list."""
    days = sorted(draw.sample([(month, day) for month in range(12) for day in range(1, 29)], draw.choice((3, 3, 4))))
    shown = [f"{TEXTS.months[month]} {day}" for month, day in days]
    text = f"{', '.join(shown[:-1])} {draw.choice(('and', 'or'))} {shown[-1]}"
    return Drawn(draw.choice(TEXTS.on_days).format(text), has=tuple(rf"\b{day}\. {TEXTS.german[month]}\b" for month, day in days))


def lists_of_dates_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    days = sorted(draw.sample([(month, day) for month in range(12) for day in range(1, 29)], draw.choice((3, 3, 4))))
    before = draw.choice(("", "am "))
    shown = [f"{before}{day}. {TEXTS.german[month]}" for month, day in days]
    text = f"{'' if before else 'am '}{', '.join(shown[:-1])} {draw.choice(('und', 'oder'))} {shown[-1]}"
    ends = "(?:st|nd|rd|th)?"
    has = (rf"\b(?:{TEXTS.months[month]} (?:the )?{day}{ends}|{day}{ends} (?:of )?{TEXTS.months[month]})\b" for month, day in days)
    return Drawn(draw.choice(TEXTS.on_german_days).format(text), has=tuple(has))


def lists_of_amounts(draw: random.Random) -> Drawn:
    """Three or four prices or numbers in a list."""
    sign, values = (
        draw.choice(("", "$", "€")),
        [draw.choice((draw.randrange(13, 99), draw.randrange(1000, 90_000))) for _ in range(draw.choice((3, 4)))],
    )
    cents = f".{draw.randrange(11, 99)}" if sign else ""
    shown = [f"{sign}{value:,}{cents}" for value in dict.fromkeys(values)]
    text = f"{', '.join(shown[:-1])} {draw.choice(('and', 'or'))} {shown[-1]}" if len(shown) > 1 else shown[0]
    german = [each.replace(sign, "").translate(str.maketrans(",.", ".,")) for each in shown]
    has = tuple(rf"(?<![\d.,]){re.escape(each)}(?![.,]?\d)" for each in german)
    signs = (rf"(?:\{sign}[^{sign}]*){{{len(shown)}}}",) if sign else ()
    return Drawn(draw.choice(TEXTS.costs if sign else TEXTS.counts).format(text), has=(*has, *signs))


def lists_of_amounts_in_german(draw: random.Random) -> Drawn:
    """The same in German."""
    sign, values = (
        draw.choice(("", "€")),
        [draw.choice((draw.randrange(13, 99), draw.randrange(1000, 90_000))) for _ in range(draw.choice((3, 4)))],
    )
    cents = f".{draw.randrange(11, 99)}" if sign else ""
    english = [f"{value:,}{cents}" for value in dict.fromkeys(values)]
    shown = [each.translate(str.maketrans(",.", ".,")) + (f" {sign}" if sign else "") for each in english]
    text = f"{', '.join(shown[:-1])} {draw.choice(('und', 'oder'))} {shown[-1]}" if len(shown) > 1 else shown[0]
    has = tuple(rf"(?<![\d.,]){sign}{re.escape(each)}(?![.,]?\d)" for each in english)
    return Drawn(draw.choice(TEXTS.german_costs if sign else TEXTS.german_counts).format(text), has=has)


def months_before_nouns(draw: random.Random) -> Drawn:
    """A month with its year before a noun."""
    month, year = draw.randrange(12), draw.randrange(2001, 2039)
    text = draw.choice(TEXTS.before_noun).format(f"{TEXTS.months[month]} {year}").replace(" a A", " an A").replace(" a O", " an O")
    return Drawn(text, has=(rf"\b{TEXTS.german[month]}s? {year}\b",))


def own_letters(draw: random.Random) -> Drawn:
    """German words with a letter that the vocabulary has only as bytes."""
    german, english = draw.choice(TEXTS.own_letters)
    templates = TEXTS.for_names if english == "Austria" else TEXTS.for_verbs if english == "(?i:open)" else TEXTS.for_things
    source = draw.choice(templates).format(german, draw.choice(TEXTS.people), draw.choice(TEXTS.times))
    return Drawn(source, has=(rf"\b{english}",), lacks=("Ö",))


def ranges_of_months(draw: random.Random) -> Drawn:
    """Ranges of months in German, most with a year."""
    first, last = sorted(draw.sample(range(12), 2))
    year = draw.choice(("", f" {draw.randrange(2001, 2039)}", f" {draw.randrange(2001, 2039)}"))
    between = "(?:to|until|till|through|\u2013|and)"
    pattern = rf"\b{TEXTS.months[first]} {between} {TEXTS.months[last]}{year}\b"
    return Drawn(
        draw.choice(TEXTS.ranges_of_months).format(TEXTS.german[first], f"{TEXTS.german[last]}{year}"), has=(pattern,), lacks=(r"\bby ",)
    )


def people_of_all_genders(draw: random.Random) -> Drawn:
    """German words for women and men in one (Lehrer*innen, Lehrer:innen, LehrerInnen)."""
    person, sign = draw.choice(list(TEXTS.groups)), draw.choice(("*i", ":i", "_i", "/-i", "/i", "I"))
    sentence = draw.choice(("Die {} sind hier.", "Wir danken allen {}.", "Viele {} kommen heute.", "Unsere {} arbeiten zu Hause."))
    return Drawn(sentence.format(f"{person}{sign}nnen"), has=(rf"(?i)\b(?:{TEXTS.groups[person]})\b",), lacks=(r"[*:_/]", "innen"))


KINDS = (
    *kinds(97, greetings, measures, fields, lists_of_dates, months_before_nouns),
    *kinds(95, parts, lists_of_amounts),
    *kinds(97, greetings_in_german, measures_in_german, laws, fields_in_german, bundle="de-en"),
    *kinds(97, lists_of_dates_in_german, lists_of_amounts_in_german, ranges_of_months, bundle="de-en"),
    *kinds(95, people_of_all_genders, parts_in_german, own_letters, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [41, 42])
def test_drawn_phrases_come_out_right(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_translations(kind, seed, pytestconfig.cache, are_warned=False)
