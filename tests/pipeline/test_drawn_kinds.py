"""Texts of many kinds, drawn from templates, that the shipped bundles translate or correct: how many come out as a reader expects.

`pytest tests/pipeline/test_drawn_kinds.py -s` prints the table of kinds.
"""

import html
import random
import re

import pytest

from specdec_cli.text.locale.languages import is_function_word
from tests.drawn import Drawn, Kind, check_outputs, kinds
from tests.tables import tables

TEXTS = tables(__file__)


def thousands(draw: random.Random) -> Drawn:
    """Whole numbers with a separator of thousands."""
    template = draw.choice(TEXTS.thousands)
    values = [
        draw.choice((draw.randrange(1000, 10_000), draw.randrange(1000, 10_000), draw.randrange(10_000, 5_000_000)))
        for _ in range(template.count("{}"))
    ]
    english = [f"{value:,}" for value in values]
    return Drawn(template.format(*english), tuple(_number(each.replace(",", ".")) for each in english), tuple(map(_number, english)))


def decimals(draw: random.Random) -> Drawn:
    """Numbers with a point before their decimals."""
    template = draw.choice(TEXTS.decimals)
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
    return Drawn(
        draw.choice(TEXTS.prices).format(sign + english), (priced, rf"^[^{sign}]*{re.escape(sign)}[^{sign}]*$"), (_number(english),)
    )


def sides_of_signs(draw: random.Random) -> Drawn:
    """Prices, whose sign is behind the amount in German."""
    sign, value = draw.choice("$€£"), draw.choice((draw.randrange(2, 1000), draw.randrange(1000, 90_000)))
    english = f"{value:,}" + draw.choice(("", f".{draw.randrange(1, 100):02}"))
    german = english.translate(str.maketrans(",.", ".,"))
    has = rf"{_number(german)}\s{re.escape(sign)}(?!\w)"
    return Drawn(draw.choice(TEXTS.prices).format(sign + english), (has,), (rf"{re.escape(sign)}\s?\d",))


def two_currencies(draw: random.Random) -> Drawn:
    """Prices in two of five currencies: each amount has its own sign, and no other sign is there."""
    signs, amounts = draw.sample("$€£¥₹", 2), draw.sample((5, 6, 20, 35, 70, 150, 300, 450, 999), 2)
    source = draw.choice(TEXTS.two_prices).format(*(f"{sign}{amount}" for sign, amount in zip(signs, amounts, strict=True)))
    has = tuple(rf"(?<!\d){amount}\s{re.escape(sign)}(?!\w)" for sign, amount in zip(signs, amounts, strict=True))
    return Drawn(source, has, (r"  |\ufffd", rf"[{''.join(set('$€£¥₹').difference(signs))}]", rf"[{''.join(signs)}][^$€£¥₹]*" * 3))


def halves_of_days(draw: random.Random) -> Drawn:
    """Times of the 24-hour clock, which English writes as p.m., pm or PM, not as P.M."""
    hour, minute = draw.randrange(1, 24), draw.choice((0, 0, 15, 20, 30, 45))
    shown = f"{hour}" if minute == 0 and draw.random() < 0.7 else f"{hour}{draw.choice('.:')}{minute:02}"
    clock = rf"(?<![\d:])(?:0?{hour}|0?{(hour - 1) % 12 + 1})"
    in_digits = rf"{clock}(?::{minute:02})?(?![\d:])" if minute == 0 else f"{clock}:{minute:02}"
    return Drawn(
        draw.choice(TEXTS.times_of_24_hours).format(shown),
        (in_digits + ("|noon" if (hour, minute) == (12, 0) else ""), *([r"(?i:\d ?p\.?m\b)|(?:1[3-9]|2[0-3]):"] if hour > 12 else [])),
        (r"[AP]\.\s?M", r"[ap]\.?m\.\."),
    )


def spaces_in_tags(draw: random.Random) -> Drawn:
    """Tags in HTML with spaces inside them; beside line breaks, other spaces may have become one."""
    before, after = draw.choice((" ", "  ", "\n  ", "")), draw.choice((" ", "\n ", ""))
    source = draw.choice(TEXTS.spaced_tags).format(before, after)
    names = re.findall(r"<(\w+)", source.replace("<i>old", ""))
    first, last = (r"\s+" if each and "\n" in before + after else each for each in (before, after))
    has = (rf"<{name}\b[^<>]*>{first}[^\s<][^<]*(?<=\S){last}</{name}>" for name in names)
    return Drawn(f"<p>{source}</p>\n", tuple(has))


def price_pairs(draw: random.Random) -> Drawn:
    """Two prices of the same currency."""
    sign = draw.choice("$€£")
    values = [draw.choice((f"{draw.randrange(2, 100)}", f"{draw.randrange(2, 100)}.{draw.randrange(10, 100)}")) for _ in range(2)]
    has = [
        rf"(?:{re.escape(sign)}\s?{_number(german)}|{_number(german)}\s?{re.escape(sign)})"
        for german in (each.replace(".", ",") for each in values)
    ]
    template = draw.choice(TEXTS.price_pairs)
    if "save" in template:  # a range may have its sign once
        has = [rf"{_number(values[0].replace('.', ','))}(?:\s?{re.escape(sign)})? (?:bis|auf) ", has[1]]
    else:
        has.append(rf"^[^{sign}]*{re.escape(sign)}[^{sign}]*{re.escape(sign)}[^{sign}]*$")
    return Drawn(template.format(*(sign + each for each in values)), tuple(has))


def times(draw: random.Random) -> Drawn:
    """Times of the 12-hour clock."""
    template = draw.choice(TEXTS.times)
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
        source = f"{draw.choice(TEXTS.before_speech)} {opening}{draw.choice(TEXTS.sentences)}{closing}"
        return Drawn(source, (r"\w[^\u201e\u201c\"]*\u201e[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*\u201c\.?$",))
    source = f"{opening}{draw.choice(TEXTS.speech)}{closing} {draw.choice(TEXTS.speakers)} {draw.choice(TEXTS.said)}."
    return Drawn(source, (r"^\u201e[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*\u201c[^\u201e\u201c\"]*\w[^\u201e\u201c\"]*$",))


_GERMAN_POWERS = {"million": ("Million", "Millionen", "Mio."), "billion": ("Milliarde", "Milliarden", "Mrd.")}


def bare_times(draw: random.Random) -> Drawn:
    """Times without a.m. or p.m., whose hour stays."""
    template = draw.choice(TEXTS.bare_times)
    shown, has = [], []
    for _ in range(template.count("{}")):
        hour, minute = draw.randrange(24), draw.choice((0, 0, 0, 5, 15, 30, 45, draw.randrange(60)))
        is_whole = minute == 0 and 1 <= hour <= 12 and "at {}." in template and draw.random() < 0.4
        is_british = not is_whole and "at {}." in template and hour and draw.random() < 0.2
        shown.append(f"{hour}" if is_whole else f"{hour}.{minute:02}" if is_british else f"{hour}:{minute:02}")
        has.append(_clock(hour, minute) + (rf"|\bum {hour}\.$" if is_whole else ""))
    return Drawn(template.format(*shown), tuple(has))


def bare_times_of_24_hours(draw: random.Random) -> Drawn:
    """Times without "Uhr", whose hour stays or has a.m. or p.m."""
    template = draw.choice(TEXTS.bare_times_of_24_hours)
    shown, has = [], []
    for _ in range(template.count("{}")):
        hour, minute = draw.randrange(1, 24), draw.choice((0, 15, 30, 45, draw.randrange(60)))
        shown.append(f"{hour}{draw.choice('::.') if 'um {}' in template else ':'}{minute:02}")
        clock, later = rf"(?<![\d:])0?{(hour - 1) % 12 + 1}", hour >= 12
        minutes = rf"(?:[:.]{minute:02})" + "?" * (minute == 0)
        own = rf"(?<![\d:])0?{hour}[:.]{minute:02}(?!\d)(?! ?{'a' if later else 'p'}\.?m)"
        words = {(12, 0): "|noon"}.get((hour, minute), "")
        has.append(rf"(?i:{clock}{minutes} ?{'p' if later else 'a'}\.?m|{own}{words})")
    return Drawn(template.format(*shown), tuple(has))


def millions(draw: random.Random) -> Drawn:
    """Amounts of millions and billions of a currency."""
    value = draw.choice(("1", "1", "2", "3", "20", "150", "1.5", "2.5", "0.7", "12.4"))
    power = draw.choice(("million", "million", "billion"))
    sign, name, german = draw.choice((("$", "dollars", "Dollar"), ("€", "euros", "Euro"), ("£", "pounds", "Pfund")))
    form = draw.choice(("sign", "name", "short"))
    short = {"million": "m", "billion": "bn"}[power]
    shown = {"sign": f"{sign}{value} {power}", "name": f"{value} {power} {name}", "short": f"{sign}{value}{short}"}[form]
    one, many, abbreviation = _GERMAN_POWERS[power]
    words = f"(?:{one if value == '1' else many}|{re.escape(abbreviation)})"
    unit = german if form == "name" else rf"(?:{re.escape(sign)}|{german})"
    number = re.escape(value.replace(".", ","))
    return Drawn(draw.choice(TEXTS.millions).format(shown), (rf"(?:(?<![\d.,]){number}|\b[Ee]ine)\s{words}\s{unit}(?!\w)",))


def millions_in_german(draw: random.Random) -> Drawn:
    """Amounts of millions and milliards of a currency, in German."""
    value = draw.choice(("1", "1", "2", "3", "20", "150", "1,5", "2,5", "0,7", "12,4"))
    power = draw.choice(("million", "million", "billion"))
    sign, name, german = draw.choice((("$", "dollars?", "Dollar"), ("€", "euros?", "Euro"), ("£", "pounds?", "Pfund")))
    one, many, abbreviation = _GERMAN_POWERS[power]
    word = draw.choice((one if value == "1" else many, abbreviation))
    unit = draw.choice((german, sign))
    number = rf"(?<![\d.,]){re.escape(value.replace(',', '.'))}"
    has = rf"(?i:{re.escape(sign)}{number} {power}(?!\w)|(?:{number}|\b(?:one|a)) {power} {name}(?!\w))"
    return Drawn(draw.choice(TEXTS.millions_in_german).format(f"{value} {word} {unit}"), (has,))


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


SHOUTED_WORDS = (("YOU", "WE", "THEY"), ("GET", "COME", "GO"), ("DOG", "CAR", "BOY", "MAN", "KEY", "CAT", "BOOK", "HOUSE", "BUS", "GUN"))


def templates(draw: random.Random) -> Drawn:
    """Tags of template languages and arguments of messages."""
    if draw.random() < 0.15:
        source = draw.choice(TEXTS.blocks).format(draw.choice(TEXTS.names))
        return Drawn(source, keeps=tuple(re.findall(r"\{%.*?%\}|<%.*?%>|\{\{.*?\}\}", source)), has=(r"Sie sind|Du bist|Guten Morgen",))
    template = draw.choice(TEXTS.with_tag)
    tags = [
        draw.choice(TEXTS.printf) if draw.random() < 0.25 else draw.choice(TEXTS.tags).format(name)
        for name in draw.sample(TEXTS.names, template.count("{}"))
    ]
    return Drawn(template.format(*tags), keeps=tuple(tags))


def formulas(draw: random.Random) -> Drawn:
    """Formulas in Markdown, many of which have numbers only."""
    template = draw.choice(TEXTS.with_formula)
    shown = [draw.choice(TEXTS.formulas).format(draw.randrange(2, 99)) for _ in range(template.count("{}"))]
    return Drawn(template.format(*shown), keeps=tuple(shown))


def entities(draw: random.Random) -> Drawn:
    """Tags that HTML shows as text."""
    template = draw.choice(TEXTS.with_element)
    shown = [
        html.escape(f"<{draw.choice(('', '', '/'))}{name}>", quote=False) for name in draw.sample(TEXTS.elements, template.count("{}"))
    ]
    return Drawn(f"<p>{template.format(*shown)}</p>\n", keeps=tuple(shown))


def paths(draw: random.Random) -> Drawn:
    """Paths of Windows and Unix, also with spaces."""
    template = draw.choice(TEXTS.with_path)
    shown = []
    for _ in range(template.count("{}")):
        name = draw.choice(TEXTS.files)
        if draw.random() < 0.6:
            shown.append("\\".join([draw.choice(("C:", "D:", "C:")), *draw.sample(TEXTS.folders, draw.randrange(1, 4)), name]))
        else:
            folders = draw.sample(TEXTS.unix, draw.randrange(1, 4))
            shown.append("/".join([draw.choice(("", "", "~")), *folders, name.replace(" ", "_")]))
    return Drawn(template.format(*shown), keeps=tuple(shown))


def code(draw: random.Random) -> Drawn:
    """Adjacent lines of a program."""
    lines = [draw.choice(TEXTS.code).format(*draw.sample(TEXTS.identifiers, 2), draw.randrange(0, 99)) for _ in range(draw.randrange(3, 7))]
    source = "\n".join(["import os", *lines])
    return Drawn(source, has=(f"^{re.escape(source)}$",))


def titles(draw: random.Random) -> Drawn:
    """Titles, whose words have capitals."""
    source = " ".join(draw.choice(words) for words in draw.choice((TEXTS.titles, TEXTS.titles, TEXTS.how_to)))
    return Drawn(source, has=(f"^{re.escape(source)}$",))


def shouted(draw: random.Random) -> Drawn:
    """Short sentences in capitals."""
    source = draw.choice(TEXTS.shouted).format(*map(draw.choice, SHOUTED_WORDS))
    left = [word for word in re.findall(r"[A-Z]+", source) if is_function_word(word, "en") and word.lower() not in TEXTS.shared]
    return Drawn(source, has=(r"^[^a-z\u00e4\u00f6\u00fc]*\w\w[^a-z\u00e4\u00f6\u00fc]*$",), lacks=tuple(rf"\b{word}\b" for word in left))


def spaces(draw: random.Random) -> Drawn:
    """Sentences with spaces before their marks, none after them, or two between words."""
    sentences = draw.sample(TEXTS.statements, 3)
    expected = source = " ".join(sentences)
    while source == expected:
        joined = [draw.choice(TEXTS.joints).format(each[-1]) for each in sentences[:2]]
        source = "".join([*(each[:-1] + joint for each, joint in zip(sentences, joined, strict=False)), sentences[2]])
        source = source[:-1] + draw.choice(("", "", " ")) + source[-1]
        if draw.random() < 0.4:
            source = source.replace(", ", draw.choice((" , ", " ,", ",  ")))
        if draw.random() < 0.4:
            word = draw.choice([found.end() for found in re.finditer(r"[a-z](?= [a-z])", source)])
            source = f"{source[:word]} {source[word:]}"
    return Drawn(source, has=(f"^{re.escape(expected)}$",))


def spaces_that_stay(draw: random.Random) -> Drawn:
    """Numbers, names and abbreviations with stops, and rows of tables, whose spaces are no mistakes."""
    source = draw.choice(TEXTS.with_stops)
    while "{" in source:
        name = source[source.index("{") + 1 : source.index("}")]
        source = source.replace(f"{{{name}}}", draw.choice(TEXTS.spaced[name]), 1)
    with_other_words = re.sub(r"(?:\\?')?[A-Za-z]+(?:\\?'s)?", r"[\\w']+(?: \\w+)?", re.escape(source))
    return Drawn(source, has=(f"^{with_other_words}$",))


def words_of_the_trade(draw: random.Random) -> Drawn:
    """Names and words of people who work with computers, in sentences without a mistake."""
    template = draw.choice(TEXTS.with_trade)
    words = draw.sample(TEXTS.trade, template.count("{}"))
    return Drawn(template.format(*words), keeps=tuple(words))


def labels(draw: random.Random) -> Drawn:
    """Words of interfaces, which stand alone."""
    label, frame = draw.choice(sorted(TEXTS.pool)), draw.choice(TEXTS.frames)
    pattern = re.escape(frame).replace(r"\{\}", f"(?:{TEXTS.pool[label]})")
    return Drawn(frame.replace("{}", label), has=(f"^{pattern}$",))


def decorated_labels(draw: random.Random) -> Drawn:
    """Words of interfaces in marks, or beside signs."""
    label, frame = draw.choice(sorted(TEXTS.pool)), draw.choice(TEXTS.decorated)
    pattern = re.escape(frame).replace(r"\{\}", f"(?:{TEXTS.pool[label]})")
    return Drawn(frame.replace("{}", label), has=(f"^{pattern}$",))


def references(draw: random.Random) -> Drawn:
    """Things with a number after "no."."""
    number = draw.choice(("", "", "A-", "RX-", "INV-")) + str(draw.randrange(1, 99_999))
    source = draw.choice(TEXTS.references).format(f"{draw.choice(('no.', 'No.'))} {number}")
    return Drawn(source, has=(rf"(?<![\w-]){re.escape(number)}(?!\d)",), lacks=(r"(?i)\bn(?:o|ein|icht|ie)\b",))


def references_in_german(draw: random.Random) -> Drawn:
    """Things with a number after "Nr."."""
    number = draw.choice(("", "", "A-", "RX-")) + str(draw.randrange(1, 99_999))
    source = draw.choice(TEXTS.references_in_german).format(f"Nr. {number}")
    return Drawn(source, has=(rf"(?<![\w-]){re.escape(number)}(?!\d)",), lacks=(r"\bNr\b",))


def exclamations(draw: random.Random) -> Drawn:
    """Sentences with several final marks."""
    runs = [draw.choice(TEXTS.runs) for _ in range(draw.choice((1, 1, 2)))]
    source = " ".join(sentence + run for sentence, run in zip(draw.sample(TEXTS.exclaimed, len(runs)), runs, strict=True))
    pattern = "[^!?]+".join(map(re.escape, runs))
    return Drawn(source + draw.choice(("", "", " \U0001f600")), has=(rf"^[^!?]+{pattern}(?: \U0001f600)?$",))


def faces(draw: random.Random) -> Drawn:
    """Sentences of a chat with emoticons."""
    first, second = draw.sample(TEXTS.chatted, 2)
    face = draw.choice(TEXTS.faces)
    form = draw.choice(("{0} {1}", "{0}! {1}", "{0}. {1}", "{1} {0}", "{0} {1} {2}", "{0}. {1} {2}.", "{0} {1} and {2}."))
    return Drawn(form.format(first, face, second), has=(rf"(?:^|\s){re.escape(face)}(?=$|[\s,.])",), keeps=(face,))


def ordinals(draw: random.Random) -> Drawn:
    """Ordinals of placeholders."""
    name = draw.choice(TEXTS.suffixed)
    return Drawn(
        draw.choice(TEXTS.ordinals).format(name + draw.choice(("th", "st", "nd", "rd"))), (rf"{re.escape(name)}\. [A-Z]",), (r"\bth\b",)
    )


WITH_UNIT = ("It have about 20 {} of power.", "The device needs 5 {} at most.", "The value were 300 {} in test.")


def abbreviations(draw: random.Random) -> Drawn:
    """Sentences, right and wrong ones, with abbreviations, names of products, identifiers and units."""
    token, frame = draw.choice(
        [(draw.choice(TEXTS.abbreviations), draw.choice(TEXTS.with_abbreviation)), (draw.choice(TEXTS.units), draw.choice(WITH_UNIT))]
    )
    return Drawn(frame.format(token), keeps=(token,))


def ranges(draw: random.Random) -> Drawn:
    first = draw.choice((draw.randrange(2, 90), draw.randrange(1700, 1990)))
    written = f"{first}\u2013{first + draw.randrange(1, 30)}"
    return Drawn(draw.choice(TEXTS.ranges).format(written), keeps=(written,))


def accounts(draw: random.Random) -> Drawn:
    """Sentences with an IBAN."""
    groups = " ".join(f"{draw.randrange(10_000):04}" for _ in range(draw.choice((3, 4, 5))))
    iban = f"{draw.choice(('DE', 'AT', 'CH', 'FR'))}{draw.randrange(10, 100)} {groups}{draw.choice(('', ' 00'))}"
    sentence = draw.choice(("Bitte zahlen Sie auf das Konto {}.", "Unsere IBAN ist {}.", "Meine Kontonummer lautet {}."))
    return Drawn(sentence.format(iban), keeps=(iban,))


def hours_of_opening(draw: random.Random) -> Drawn:
    first, last = draw.randrange(6, 12), draw.randrange(13, 23)
    sentences = ("Ge\u00f6ffnet von {}\u2013{} Uhr.", "Ge\u00f6ffnet {}-{} Uhr", "Von {} bis {} Uhr sind wir da.")
    afternoon = rf"\b{last - 12}(?::00)? ?[pP]\.?[mM]"
    return Drawn(draw.choice(sentences).format(first, last), has=(rf"\b{first}\b", afternoon), lacks=(rf"\b{last}\b",))


def prices_without_cents(draw: random.Random) -> Drawn:
    value = draw.randrange(2, 950)
    sentence = draw.choice(("Das kostet {},- Euro.", "Preis: {},- \u20ac", "Der Eintritt kostet {},\u2013 \u20ac.", "Nur {},-- \u20ac!"))
    return Drawn(sentence.format(value), has=(rf"\b{value}\b",), lacks=(rf"{value}[.,](?:[ -]|$)(?!$)", ", \u20ac"))


def contracted_speech(draw: random.Random) -> Drawn:
    """Speech in single quotation marks, with an apostrophe in it."""
    speech = draw.choice(("I don't know", "It's late", "We can't go", "I'm tired", "Don't worry", "You're right"))
    speaker = draw.choice(("he said", "she answered", "Tom said", "asked Mary", "my father said", "I replied", "they all said"))
    return Drawn(f"'{speech},' {speaker}" + draw.choice((".", " again.")), has=("\u201c, ",), lacks=(",\u201c",))


def unfinished(draw: random.Random) -> Drawn:
    """Sentences that end with an ellipsis."""
    speech = draw.choice(("I don't know", "Maybe", "If only I knew", "Let me see", "And then he left", "We could try it", "I think so"))
    begin = draw.choice(("", "Well, ", "Yes, ", "No, ", "Oh, ", "Perhaps "))
    text = f"{begin}{speech[0].lower() + speech[1:] if begin and speech[0] != 'I' else speech}"
    return Drawn(text + draw.choice(("\u2026", "...", " \u2026")), has=(r"(?:\u2026|\.\.\.)$",), lacks=(r"\.{4,}",))


def names_behind_titles(draw: random.Random) -> Drawn:
    name, state = draw.choice(TEXTS.german_names), draw.choice(("krank", "hier", "da", "zu Hause", "in Berlin"))
    return Drawn(draw.choice(TEXTS.titled).format(name, state), keeps=(name,))


def foreign_names(draw: random.Random) -> Drawn:
    name, place = draw.choice(TEXTS.foreign_names), draw.choice(("Berlin", "May", "London", "the morning", "Paris"))
    return Drawn(draw.choice(TEXTS.with_name).format(name, place), keeps=(name.removeprefix("Mr. "),))


def escaped(draw: random.Random) -> Drawn:
    """Lines of string literals, with escaped quotation marks and line breaks."""
    first = draw.choice(
        ("It\\'s late.", "You can\\'t do that.", "Don\\'t worry.", "We couldn\\'t find it.", "I haven\\'t seen it.", "She isn\\'t here.")
    )
    second = draw.choice(("Please try again.", "Are you sure?", 'Click \\"OK\\".', 'The file \\"%s\\" is new.', "That\\'s all."))
    break_ = draw.choice(("\\n", "\\n\\n"))
    lacks = (r"(?<!\\)['\"]", r"n\\'t", r"\\\\")
    return Drawn(first + break_ + second, has=(rf"[.!?]{re.escape(break_)}[^\W\d_]",), lacks=lacks)


KINDS = (
    *kinds(100, templates, paths, code),
    *kinds(97, thousands, decimals, prices, price_pairs, sides_of_signs, two_currencies, times, bare_times, speech),
    *kinds(97, contracted_speech, unfinished, foreign_names, escaped, ranges, references, exclamations, faces),
    *kinds(97, ordinals),
    *kinds(95, millions),
    *kinds(90, shouted),
    *kinds(85, labels, decorated_labels),
    *kinds(100, accounts, bundle="de-en"),
    *kinds(97, halves_of_days, bare_times_of_24_hours, names_behind_titles, hours_of_opening, bundle="de-en"),
    *kinds(97, prices_without_cents, references_in_german, bundle="de-en"),
    *kinds(90, millions_in_german, bundle="de-en"),
    *kinds(100, entities, format="html"),
    *kinds(97, spaces_in_tags, format="html"),
    *kinds(100, formulas, format="md"),
    *kinds(100, code, titles, abbreviations, task="correct"),
    *kinds(98, words_of_the_trade, task="correct"),
    *kinds(97, faces, spaces_that_stay, task="correct"),
    *kinds(90, spaces, task="correct"),
)


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.draw.__name__}-{kind.task}")
@pytest.mark.parametrize("seed", [21, 22])
def test_drawn_texts_come_out_as_a_reader_expects(kind: Kind, seed: int, pytestconfig: pytest.Config) -> None:
    check_outputs(kind, seed, pytestconfig.cache)
