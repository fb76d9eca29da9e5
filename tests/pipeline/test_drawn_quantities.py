"""Prices, times, percentages and other quantities in lists, alone in a line and beside placeholders, drawn from templates: how many are in
the translations as the target language writes them, and that no wrong one is without a warning.
"""

import random
import re
from collections.abc import Sequence

import pytest

from specdec_cli.text.glossary import Term
from tests.drawn import Drawn, Kind, check_translations, kinds
from tests.tables import tables

TEXTS = tables(__file__)

TERMS = (Term("device", "Apparat"), Term("manual", "Anleitung"), Term("bike", "Zweirad"))


def _in_german(english: str) -> str:
    return english.translate(str.maketrans(",.", ".,"))


def _number(written: str) -> str:
    """A pattern of a number that is no part of another one."""
    return rf"(?<![\d.,:]){re.escape(written)}(?![.,:]?\d)"


def _german_time(hour: int, minute: int) -> str:
    hours = "|".join(f"0?{each}" for each in {hour, 24 if hour == 0 else hour})
    words = {0: "|Mitternacht", 12: "|[Mm]ittags?"}.get(hour, "") if minute == 0 else ""
    whole = rf"|(?<![\d:.])(?:{hours})(?![:.]?\d)" if minute == 0 else ""
    return rf"(?:(?<![\d:.])(?:{hours})[:.]{minute:02}(?!\d){whole}{words})"


def _english_time(hour: int, minute: int) -> str:
    clock, own = (hour - 1) % 12 + 1, rf"0?{hour}"
    digits = rf"(?:[:.]{minute:02}){'?' * (minute == 0)}(?![:.]?\d)"
    # Of a range, "from 2 to 4 p.m.", one end has the half of the day.
    words = {0: "|midnight", 12: "|noon"}.get(hour, "") if minute == 0 else ""
    other = "a" if hour >= 12 else "p"
    return rf"(?i:(?<![\d:.])(?:0?{clock}|{own}){digits}(?! ?{other}\.?m){words})"


def _times(draw: random.Random, count: int, separators: str) -> list[tuple[int, int, str]]:
    """Times in ascending order, each as hour, minute and text."""
    found = sorted(draw.sample([(hour, minute) for hour in range(7, 21) for minute in (0, 0, 5, 15, 30, 45, 50)], count))
    separator = draw.choice(separators)
    are_bare = draw.random() < 0.5
    return [
        (hour, minute, str(hour) if minute == 0 and are_bare and hour < 13 else f"{hour}{separator}{minute:02}") for hour, minute in found
    ]


def lists_of_times(draw: random.Random) -> Drawn:
    """Times in a list, of which not every one has a word for time before it."""
    template = draw.choice(TEXTS.lists_of_times)
    times = _times(draw, template.count("{}"), ".:" if "at {}" in template else ":")
    return Drawn(template.format(*(text for _, _, text in times)), tuple(_german_time(hour, minute) for hour, minute, _ in times))


def lists_of_german_times(draw: random.Random) -> Drawn:
    """Times in a list in German, of which not every one has "Uhr"."""
    template = draw.choice(TEXTS.lists_of_times_in_german)
    times = _times(draw, template.count("{}"), ".:")
    return Drawn(template.format(*(text for _, _, text in times)), tuple(_english_time(hour, minute) for hour, minute, _ in times))


def amounts_after_at(draw: random.Random) -> Drawn:
    """Amounts that look like times."""
    template = draw.choice(TEXTS.amounts_at)
    amounts = [f"{draw.randrange(1, 24)}.{draw.randrange(0, 60):02}" for _ in range(template.count("{}"))]
    return Drawn(template.format(*amounts), tuple(_number(_in_german(each)) for each in amounts), (r"Uhr",))


def names_of_currencies(draw: random.Random) -> Drawn:
    """Amounts with the name of a currency."""
    return _with_names(draw, TEXTS.with_currency, 1)


def names_of_currencies_in_german(draw: random.Random) -> Drawn:
    """Amounts with the name of a currency, in German."""
    return _with_names(draw, TEXTS.with_currency_in_german, -1)


def _with_names(draw: random.Random, templates: Sequence[str], direction: int) -> Drawn:
    template = draw.choice(templates)
    shown, has = [], []
    values = draw.sample(("2", "3", "12", "20", "1.5", "150", "2.5", "40"), 2)
    for (english, german, sign), value in zip(draw.sample(TEXTS.currencies, 2), values, strict=True):
        power, german_power = draw.choice((("", ""), (" million", " Millionen"), (" billion", " Milliarden"), (" thousand", "tausend")))
        if not power and "." in value:
            value = f"{value}00".replace(".", ",")
        texts = [f"{value}{power} {english}", f"{_in_german(value)}{german_power} {german}".replace("0tausend", "0.000")]
        texts[1] = re.sub(r"(\d)tausend", r"\1 Tausend", texts[1])
        shown.append(texts[0] if direction > 0 else texts[1])
        has.append(rf"(?<!\w){german if direction > 0 else english.rstrip('s') + 's?'}(?!\w)|{re.escape(sign)}")
    count = template.count("{}")
    return Drawn(template.format(*shown[:count]), tuple(has[:count]))


def percentages(draw: random.Random) -> Drawn:
    """Percentages, which have a space before their sign in German."""
    template = draw.choice(TEXTS.with_percent)
    values = [_percentage(draw) for _ in range(template.count("{}"))]
    return Drawn(
        template.format(*(f"{each}%" for each in values)),
        tuple(_number(_in_german(each)) + r"(?:\u00a0%|[ -][Pp]rozent)" for each in values),
    )


def german_percentages(draw: random.Random) -> Drawn:
    """Percentages in German, which have no space before their sign in English."""
    template = draw.choice(TEXTS.with_percent_in_german)
    values = [_percentage(draw) for _ in range(template.count("{}"))]
    space = draw.choice((" ", "\u00a0", ""))
    return Drawn(
        template.format(*(f"{_in_german(each)}{space}%" for each in values)), tuple(_number(each) + "(?:%|[ -]percent)" for each in values)
    )


def _percentage(draw: random.Random) -> str:
    return draw.choice((f"{draw.randrange(2, 100)}", f"{draw.randrange(13, 100)}", f"{draw.randrange(0, 30)}.{draw.randrange(1, 10)}"))


def _quantity_alone(draw: random.Random) -> tuple[str, str]:
    """A quantity as English and as German write it."""
    whole, cents, sign = draw.randrange(2, 9000), draw.randrange(10, 100), draw.choice("$€£")
    amount = f"{whole:,}.{cents}" if draw.random() < 0.7 else f"{whole:,}"
    german = _in_german(amount)
    minus = draw.choice(("", "", "-", "\u2212"))
    hour, minute = draw.randrange(24), draw.choice((0, 15, 30, 45))
    later, end = min(hour + 3, 23), draw.choice((0, 30))
    half = f"{(hour - 1) % 12 + 1}:{minute:02} {'AP'[hour >= 12]}M"
    half_end = f"{(later - 1) % 12 + 1}:{end:02} {'AP'[later >= 12]}M"
    unit = draw.choice(("kg", "km", "GB", "MB", "m", "l", "°C", "cm", "km/h", "m²", "kWh", "ml", "mm", "MHz"))
    dash = draw.choice(("-", "\u2013", " \u2013 ", " - "))
    other = f"{whole + 500:,}.{cents}" if "." in amount else f"{whole + 500:,}"
    percent = f"{draw.randrange(1, 100)}.{draw.randrange(1, 10)}" if draw.random() < 0.5 else f"{draw.randrange(1, 101)}"
    return draw.choice(
        (
            (f"{sign}{amount}", f"{german}\u00a0{sign}"),
            (f"{minus}{sign}{amount}", f"{minus}{german}\u00a0{sign}"),
            (f"{minus}{amount}", f"{minus}{german}"),
            (half, f"{hour}:{minute:02} Uhr"),
            (f"{half}{dash}{half_end}", f"{hour}:{minute:02}{dash}{later}:{end:02} Uhr"),
            (f"{minus}{percent}%", f"{minus}{_in_german(percent)}\u00a0%"),
            (f"{minus}{amount} {unit}", f"{minus}{german} {unit}"),
            (f"{amount}{dash}{other} {unit}", f"{german}{dash}{_in_german(other)} {unit}"),
            (f"{sign}{amount}{dash}{sign}{other}", f"{german}\u00a0{sign}{dash}{_in_german(other)}\u00a0{sign}"),
            (f"{percent}%{dash}{percent}%", f"{_in_german(percent)}\u00a0%{dash}{_in_german(percent)}\u00a0%"),
            (f"{amount} x {other} {unit}", f"{german} x {_in_german(other)} {unit}"),
        )
    )


def _label_alone(draw: random.Random) -> str:
    """What has digits and stays: versions, sections, phone numbers, dates and the like."""
    one, two, three = (draw.randrange(1, 13) for _ in range(3))
    year = draw.randrange(1990, 2030)
    return draw.choice(
        (
            f"v{one}.{two}",
            f"{one}.{two}.{three}",
            f"Version {one}.{two}",
            f"\u00a7 {one}.{two}",
            f"+49 30 {draw.randrange(10**6, 10**7)}",
            f"(555) {draw.randrange(100, 999)}-{draw.randrange(1000, 9999)}",
            f"030/{draw.randrange(10**5, 10**6)}",
            f"1-800-555-01{draw.randrange(10, 99)}",
            f"{one}/{two}/{year}",
            f"{year}-{one:02}-{two:02}",
            f"{one}.{two}.{year}",
            f"{one:02}.{two:02}.{year}",
            f"10.0.{one}.{two}",
            f"{one}:{three % 10}",
            f"{year}",
            f"#{one}",
            f"{one}/{two}",
            f"Windows {one}.1",
            f"{year}/{year % 100 + 1}",
            f"ISBN 3-16-14841{three % 10}-0",
        )
    )


def alone(draw: random.Random) -> Drawn:
    """Quantities in English that are a whole line, and what stays."""
    if draw.random() < 0.35:
        text = _label_alone(draw)
        return Drawn(text, (f"^{re.escape(text)}$",))
    english, german = _quantity_alone(draw)
    return Drawn(english, (f"^{re.escape(german)}$",))


def alone_in_german(draw: random.Random) -> Drawn:
    """Quantities in German that are a whole line, and what stays."""
    if draw.random() < 0.35:
        text = _label_alone(draw)
        is_date = re.fullmatch(r"\d{1,2}\.\d{1,2}\.\d{4}", text) is not None  # its month has its name in English
        return Drawn(text, (rf"^[A-Z][a-z]+ \d{{1,2}}, {text[-4:]}$" if is_date else f"^{re.escape(text)}$",))
    english, german = _quantity_alone(draw)
    if draw.random() < 0.3:
        german = german.replace("\u00a0", " ")
    return Drawn(german, (f"^{re.escape(english)}$",))


def beside_placeholders(draw: random.Random) -> Drawn:
    """Sentences with one or two quantities beside placeholders, code, addresses and terms of a glossary."""
    template = draw.choice(TEXTS.with_placeholder)
    hour, minute, half = draw.randrange(1, 13), draw.choice((0, 15, 30, 45)), draw.choice(("AM", "PM", "a.m.", "p.m."))
    amount, sign, name = f"{draw.randrange(2, 5000):,}.{draw.randrange(10, 100)}", draw.choice("$€£"), draw.choice(TEXTS.placeholders)
    count, size, percent = (
        f"{draw.randrange(1000, 90_000):,}",
        f"{draw.randrange(1, 30)}.{draw.randrange(1, 10)}",
        f"{draw.randrange(2, 99)}",
    )
    unit, code, term = draw.choice(("GB", "MB", "kg")), draw.choice(TEXTS.code), draw.choice(TERMS)
    time = f"{hour}:{minute:02} {half}"
    source = template.format(
        p=name, q=f"{sign}{amount}", t=time, n=count, u=f"{size} {unit}", c=code, g=term.source, e="me@example.org", r=f"{percent}%"
    ).replace("..", ".")
    has = {
        "{q}": rf"{_number(_in_german(amount))}\s?{re.escape(sign)}",
        "{t}": _german_time(hour % 12 + 12 * half.lower().startswith("p"), minute),
        "{n}": _number(_in_german(count)),
        "{u}": _number(_in_german(size)) + rf"[ \u00a0-]?{unit}",
        "{r}": _number(percent) + r"(?:\u00a0%|[ -]Prozent)",
        "{g}": term.target,
    }
    kept = {"{p}": name, "{c}": code, "{e}": "me@example.org"}
    return Drawn(
        source,
        tuple(each for key, each in has.items() if key in template),
        keeps=tuple(each for key, each in kept.items() if key in template),
    )


def hours_behind_weekdays(draw: random.Random) -> Drawn:
    """Ranges of hours behind a weekday, or a range of these, and a comma."""
    first, last = draw.sample(list(TEXTS.weekdays), 2)
    begin, end, dash = draw.randrange(7, 12), draw.randrange(1, 9), draw.choice(("-", " - ", "\u2013", " \u2013 "))
    days = draw.choice((f"{first}-{last}", first))
    source = draw.choice(("{}, {} AM{}{} PM", "Open {}, {} AM{}{} PM", "We are open {}, {} AM{}{} PM.", "{}: {} AM{}{} PM"))
    hours = rf"\b{begin}(?::00)?(?: Uhr)?\s?[-\u2013]\s?{end + 12}(?::00)? Uhr"
    names = [TEXTS.weekdays[day] for day in days.split("-")]
    return Drawn(source.format(days, begin, dash, end), has=(hours, *(f"{name}|{name[:2]}\\b" for name in names)))


KINDS = (
    *kinds(97, lists_of_times, amounts_after_at, names_of_currencies, percentages, alone, beside_placeholders),
    *kinds(85, hours_behind_weekdays),
    *kinds(97, lists_of_german_times, names_of_currencies_in_german, german_percentages, bundle="de-en"),
    *kinds(97, alone_in_german, bundle="de-en"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.draw.__name__)
@pytest.mark.parametrize("seed", [21, 22])
def test_drawn_quantities_come_out_or_have_a_warning(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    # What is wrong of hours is the half of the day, which is no number.
    are_warned, terms = kind.draw is not hours_behind_weekdays, TERMS if kind.draw is beside_placeholders else ()
    check_translations(kind, seed, pytestconfig.cache, terms=terms, are_warned=are_warned)
