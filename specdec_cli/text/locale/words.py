"""Words and signs beside numbers: powers of ten, currencies, halves of the day, numbers in words. Each stands here alone."""

import re
from typing import NamedTuple

CURRENCIES = "$\u20ac\u00a3\u00a5\u20b9"
"""Currency signs, which stand before or after an amount."""
_CURRENCY_NAMES = {
    "$": {"en": "dollars?|bucks", "de": "Dollars?", "fr": "dollars?", "es": "d\u00f3lar(?:es)?", "it": "dollar[oi]"},
    "\u20ac": {"en": "euros?", "de": "Euros?", "fr": "euros?", "es": "euros?", "it": "euro"},
    "\u00a3": {"en": "pounds?", "de": "Pfund(?:s|e|en)?", "fr": "livres?", "es": "libras?", "it": "sterlin[ae]"},
    "\u00a5": {"en": "yen", "de": "Yen", "fr": "yens?", "es": "yen(?:es)?", "it": "yen"},
    "\u20b9": {"en": "rupees?", "de": "Rupien?", "fr": "roupies?", "es": "rupias?", "it": "rupi[ae]"},
}
CURRENCY_CODES = {"$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR"}
CODES = f"(?:{'|'.join([*CURRENCY_CODES.values(), 'CHF'])})"
"""A pattern for codes of currencies that stand before or after amounts."""


_PARTS_IN_ENGLISH = {"p": "page", "pp": "pages", "[Cc]h(?:ap)?": "Chapter", "[Ss]ect?": "Section"}
_PARTS_IN_GERMAN = {"Abschn": "Abschnitt", "Art": "Artikel", "Kap": "Kapitel"}
"""Patterns of abbreviations for parts of a text, and the words that models know."""
_UNITS_IN_ENGLISH = {"hrs": "hours", "secs": "seconds", "yrs": "years", "wks": "weeks"}
_UNITS_IN_GERMAN = {"Std": "Stunden", "Min": "Minuten", "Sek": "Sekunden", "Stk": "St\u00fcck", "Ltr": "Liter"}
_CLOCK = r"(?:[01]?\d|2[0-4])(?:[.:][0-5]\d)?"
BESIDE_NUMBERS = {
    "en": (
        (re.compile(r"(?<!\bis )(?<!\bwas )(?<!\bsays )(?<!\bsay )(?<!\bsaid )\b([Nn])o(s?)\.\s?(?=[A-Z]{0,4}-?\d)"), r"\1umber\2 "),
        (re.compile(r"\b([Gg]et \d+) free(?=\W*$|[.!?,;]| (?:on|with|today|for|every|when|if|in|at)\b)"), r"\1 as a gift"),
        *((re.compile(rf"\b{short}\.\s?(?=\d)"), f"{word} ") for short, word in _PARTS_IN_ENGLISH.items()),
        (re.compile(r"(?<![\w.,])(\d{1,3})(['\"]) by (\d{1,3})(?=\2)"), r"\1\2 x \3"),
        *(
            (re.compile(rf"(?<=\d)\s?{short}\b(?:\.(?=,| (?:ago|and|of|old|or|per|to)\b))?"), f" {word}")
            for short, word in _UNITS_IN_ENGLISH.items()
        ),
        (re.compile(r"(?<![\d.,])1\s?h (?=\d{1,2}\s?min)"), "1 hour "),
        (re.compile(r"(?<=\d)\s?h (?=\d{1,2}\s?min)"), " hours "),
    ),
    "de": (
        (re.compile(r"\bNrn?\.\s?(?=[A-Z]{0,4}-?\d)"), "Nummer "),
        *((re.compile(rf"\b{short}\.\s?(?=\d)"), f"{word} ") for short, word in _PARTS_IN_GERMAN.items()),
        (re.compile(r"(?<=\d )Abs\.\s?(?=\d)"), "Absatz "),
        *((re.compile(rf"(?<=\d)\s?{short}(?!\w)(?:\.(?!$))?"), f" {word}") for short, word in _UNITS_IN_GERMAN.items()),
        (re.compile(rf"(?<![\w.,:/])({_CLOCK})(?=(?: ?[-\u2013] ?| bis (?:zu )?){_CLOCK} ?Uhr\b)"), r"\1 Uhr"),
        (re.compile(r"(?<=\d) J\.(?= (?:alt\b|frei\b|und\b))"), " Jahre"),
        (re.compile(r"(?<=\d\. )OG\b|(?<=\d\.)OG\b"), "Stock"),
    ),
}
"""Abbreviations of "number" and phrases beside numbers, and what models read better in their place."""
ABBREVIATIONS = {
    "en": {"incl.": "including", "excl.": "excluding", "approx.": "approximately", "w/o": "without", "w/": "with", "b/c": "because"}
    | {"dept.": "department", "govt.": "government", "avg.": "average", "a.k.a.": "also known as", "aka": "also known as"}
    | {"pls": "please", "plz": "please", "thx": "thanks", "tmrw": "tomorrow", "cuz": "because", "asap": "as soon as possible"}
    | {"idk": "I don't know", "omg": "oh my God", "tbh": "to be honest", "imo": "in my opinion", "imho": "in my opinion"}
    | {"afaik": "as far as I know", "lmk": "let me know", "brb": "I'll be right back", "wdym": "what do you mean", "dunno": "don't know"}
    | {
        "hbu": "how about you",
        "wyd": "what are you doing",
        "lemme": "let me",
        "RSVP by": "answer by",
        "smth": "something",
        "ttyl": "talk to you later",
    },
    "de": {"d. h.": "das bedeutet", "u. a.": "unter anderem", "i. d. R.": "in der Regel", "v. a.": "besonders", "z. T.": "teilweise"}
    | {"u. U.": "vielleicht", "o. \u00c4.": "oder \u00c4hnliches", "o. \u00e4.": "oder \u00e4hnliches", "inkl.": "einschlie\u00dflich"}
    | {"zzgl.": "plus", "MwSt.": "VAT", "ggf.": "wenn n\u00f6tig", "evtl.": "vielleicht", "bzgl.": "wegen", "vgl.": "vergleiche"}
    | {"s. o.": "siehe oben", "s. u.": "siehe unten", "u. v. m.": "und vieles mehr", "m. E.": "meiner Meinung nach"}
    | {
        "z. Zt.": "zurzeit",
        "z. Z.": "zurzeit",
        "exkl.": "ohne",
        "abzgl.": "minus",
        "mind.": "mindestens",
        "einschl.": "einschlie\u00dflich",
    }
    | {
        "insb.": "insbesondere",
        "bspw.": "zum Beispiel",
        "tgl.": "t\u00e4glich",
        "wg.": "wegen",
        "gez.": "unterschrieben von",
        "lt.": "laut",
        "gem.": "gem\u00e4\u00df",
    }
    | {"Hbf": "Bahnhof", "vllt": "vielleicht", "iwie": "irgendwie", "MEZ": "CET", "MESZ": "CEST", "omg": "oh mein Gott"},
}
"""Abbreviations, which may have no spaces inside, and the words that models read better in their place."""
REFERENCES = (
    ("Fig.", "Abb."),
    ("Figs.", "Abb."),
    ("p.", "S."),
    ("pp.", "S."),
    ("Ch.", "Kap."),
    ("Chap.", "Kap."),
    ("Sec.", "Abschn."),
    ("Sect.", "Abschn."),
    ("Vol.", "Bd."),
    ("Eq.", "Gl."),
    ("App.", "Anh."),
    ("para.", "Abs."),
    ("par.", "Abs."),
    ("Chapter", "Kapitel"),
    ("Section", "Abschnitt"),
    ("Article", "Artikel"),
)
"""English and German abbreviations, and words that models leave as they are, before the numbers of parts of a text. Several of one language
may stand for one of the other.
"""


class Scale(NamedTuple):
    """A power of ten in a language: the word after one and after other amounts, and all forms that are read as it."""

    power: int
    one: str
    many: str
    forms: str

    def word(self, number: str) -> str:
        """The word after a number."""
        return self.one if number == "1" else self.many


SCALES = {
    "en": (
        Scale(3, "thousand", "thousand", "thousands?"),
        Scale(6, "million", "million", r"millions?|mn\b|mln\b|m\b"),
        Scale(9, "billion", "billion", r"billions?|bn\b"),
        Scale(12, "trillion", "trillion", r"trillions?|tn\b"),
    ),
    "de": (
        Scale(3, "Tausend", "Tausend", r"tausend|Tsd\."),
        Scale(6, "Million", "Millionen", r"Million(?:en)?|Mio\b\.?"),
        Scale(9, "Milliarde", "Milliarden", r"Milliarden?|Mrd\b\.?"),
        Scale(12, "Billion", "Billionen", r"Billion(?:en)?|Bio\b\.?"),
    ),
}
_OTHER_SCALES = r"(?:mil|bil|tril)\w+|hundert|hundred|[bk]\b|mld\b\.?"
"""Words for powers of ten in other languages, and those after which an amount is written in the same way in English and German."""
MULTIPLIER = re.compile(
    rf"\s?(?:{'|'.join([*(scale.forms for scales in SCALES.values() for scale in scales), _OTHER_SCALES])})(?!\w)", re.IGNORECASE
)
"""A word for a power of ten, which may stand between an amount and the sign of its currency: 3 Millionen $."""

LATER_WORDS = "afternoons?|evenings?|nights?|tonight|dinner|supper|nachmittags?|abends?|nachts?"
"""What says in an English or German text when on the day its times are, beside a.m. and p.m."""
NOON_WORDS = re.compile(r"\b(?:mittags?|mitternacht|noon|midnight|midi|minuit|mediod\u00eda|medianoche)\b", re.IGNORECASE)
AMOUNT_WORDS = re.compile(
    rf"[{CURRENCIES}%]|\b(?:prices?|priced|shares?|stocks?|rates?|rated|sales|sold|trad(?:e[ds]?|ing)|costs?|valued?|exchange|index|scores?"
    r"|averages?|percent|dollars?|euros?|pounds?|cents?|version|sections?|chapters?)\b",
    re.IGNORECASE,
)
"""Signs and words of an English text about prices, rates and the like, in which "at 12.50" is an amount, not a time.

Form does not tell them apart: "The shop closed at 12.50 on Monday." and "The share closed at 12.50 on Monday." Neither do translations:
models write "um 12,50 Uhr" for both.
"""
_NUMERALS = {
    "0": "null zero z\u00e9ro cero nul mitternacht midnight",
    "1": "ein eine einen einem einer eines eins one once a an un une uno una um uma \u00e9\u00e9n een erste ersten erster erstes first",
    "2": "zwei two deux dos due twee dois duas beide zweite zweiten second",
    "3": "drei three trois tres tre drie tr\u00eas dritte dritten third",
    "4": "vier four quatre cuatro quattro quatro vierte vierten",
    "5": "f\u00fcnf five cinq cinco cinque vijf",
    "6": "sechs six seis sei zes",
    "7": "sieben seven sept siete sette zeven sete",
    "8": "acht eight huit ocho otto oito",
    "9": "neun nine neuf nueve nove negen",
    "10": "zehn ten dix diez dieci tien dez",
    "11": "elf eleven onze once undici",
    "12": "zw\u00f6lf twelve douze doce dodici twaalf doze mittag noon",
}
_UNITS = ("one two three four five six seven eight nine", "ein zwei drei vier f\u00fcnf sechs sieben acht neun")
_TEENS = (
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "dreizehn vierzehn f\u00fcnfzehn sechzehn siebzehn achtzehn neunzehn",
)
_TENS = (
    "twenty thirty forty fifty sixty seventy eighty ninety",
    "zwanzig drei\u00dfig vierzig f\u00fcnfzig sechzig siebzig achtzig neunzig",
)


def _number_words() -> dict[str, str]:
    """The digits of words for numbers: up to 12 in several languages, up to 99 in English and German."""
    found = {word: value for value, words in _NUMERALS.items() for word in words.split()}
    units, teens, tens = (list(zip(*map(str.split, words), strict=True)) for words in (_UNITS, _TEENS, _TENS))
    for number, names in enumerate(teens, 13):
        found |= dict.fromkeys(names, f"{number}")
    for ten, (english, german) in enumerate(tens, 2):
        found |= dict.fromkeys((english, german), f"{ten}0")
        for unit, (small, german_small) in enumerate(units, 1):
            found |= dict.fromkeys((f"{english}-{small}", f"{german_small}und{german}"), f"{ten}{unit}")
    return found


NUMBER_WORDS = _number_words()
"""The digits of each word for a number from 0 to 12, in English and German to 99."""


def half_of_day(suffix: str = "") -> str:
    """A pattern of a.m. and p.m., with the groups "half" (a or p) and "stop" (the full stop after it), each with this suffix."""
    return rf"(?P<half{suffix}>[ap])(?P<stop{suffix}>\.?)\s?m"


def currency_names(sign: str, language: str) -> str:
    """A regular expression that matches the names of the currency with this sign in a language; "" if they are not known."""
    return _CURRENCY_NAMES[sign].get(language, "")


def any_currency_name(sign: str) -> str:
    """A regular expression that matches the names, in all known languages, of the currency with this sign."""
    return "|".join(dict.fromkeys(_CURRENCY_NAMES[sign].values()))
