"""Names of people and places that a text shows to be names: those behind titles, those with foreign letters, and those of a list; and words
for people of all genders.
"""

import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import is_told_apart, known
from specdec_cli.text.protect.spans import changed_outside
from specdec_cli.text.quotations import quotations

_CAPITAL = r"[^\W\d_a-z\u00df-\u00f6\u00f8-\u00ff]"
_SMALL = "[a-z\u00e4\u00f6\u00fc\u00df]"
_NAME = rf"{_CAPITAL}[^\W\d_]*+(?:(?:-|['\u2019](?={_CAPITAL}))[^\W\d_]++){{0,8}}+"
_TITLES = {
    "de": re.compile(
        r"(?:\b(?:Herrn?|Frau|Fr\u00e4ulein|Familie|Dr\.|Prof\.|Fa\.|Firma|geb\.|geborene|unterschrieben von)|(?<!\w)i\. ?[AV]\.)"
        r"(?: (?:Dr|Prof)\.)* "
        rf"(?:(?:von|van|de|zu)(?: de[mnr])? )?(?P<name>{_NAME})"
    ),
    "en": re.compile(rf"\b(?:Mr|Mrs|Ms|Dr|Prof)\.? (?P<name>{_NAME}(?: {_NAME}){{0,2}})"),
}
"""A title and the name behind it. In German, another word with a capital may be a noun."""
_STREET = rf"(?:(?!D(?:er|ie|as) ){_CAPITAL}[\w-]*[ -]S|{_CAPITAL}[\w-]*s)t(?:ra(?:\u00df|ss)e|r\.)"
_HOUSE = rf" \d{{1,4}}[a-z]?(?!\w)(?:, (?:\d{{5}} )?{_NAME})?"
_BESIDE = "Am|An der|Auf dem|Im|Zum|Zur"
_STREETS = {
    code: re.compile(
        rf"\b(?P<name>(?:{_STREET}|{_CAPITAL}[\w-]*(?:{ends})){_HOUSE}|(?:{_BESIDE}) {_CAPITAL}[\w-]* \d{{1,4}}[a-z]?, \d{{5}} {_NAME})"
    )
    for code, ends in (("de", "platz|weg|allee|gasse|damm|ufer|ring"), ("en", "platz|allee|gasse"))
}
"""The name of a street of German, in German and English texts, with the number of a house, and perhaps the town."""
_TO_SQUARE = "|".join(rf"(?<=\b{word} )" for word in ("am", "dem", "der", "den", "zum", "vom", "beim"))
_SQUARE = re.compile(
    rf"\b(?P<name>(?P<person>{_CAPITAL}{_SMALL}+?)[sn]?platz|(?:{_TO_SQUARE}){_CAPITAL}{_SMALL}+er (?:Platz|Tor))(?!\w)",
)
"""A square that is named after a person, or a square or gate after a town: Alexanderplatz, Potsdamer Platz; other words end with -platz."""
_FIRMS = known("de")["names"]
_FOREIGN = {
    "en": re.compile(
        rf"\b(?P<name>(?=[^\W\d_]*[^\W\d_\x00-\x7f]){_NAME}(?: {_NAME}){{1,2}}|D(?:er|ie|as|eutsche) {_CAPITAL}{_SMALL}{{2,}}"
        rf"|(?:{_FIRMS})\b)"
    ),
    "de": re.compile(rf"\b(?P<name>{_FIRMS})\b"),
}
"""A name of a list of German firms and the like; in English also one of several words, of which the first has a letter that the language
has not, or is German.
"""
_OFFICE = re.compile(
    r"(?:\w*(?:pr\u00e4sident|minister|kanzler|kommissar|direktor|meister|professor|doktor|senator|general|sekret\u00e4r|botschafter|kolleg"
    r"|vorsitzend|abgeordnet|nachbar|lehrer|pfarrer|richter|anwalt|oberst|ober|gott)(?:in|innen|e[rn]?|[ns])?"
    r"|president|chairman|speaker|secretary|minister|ambassador|commissioner|rapporteur|prime)",
    re.IGNORECASE,
)
"""What a person is, which may stand behind a title, and is translated."""


def lost_names(source: str, output: str, language: str) -> list[str]:
    """The names of `source`, in `language`, that `output` lacks, or has changed; other names (see `names_in`) are not looked for."""
    return [name for name in names_in(source, language) if not all(_has(output, word) for word in name.split())]


def names_in(text: str, language: str) -> Iterator[str]:
    """The names behind titles in a text, such as "Herr Müller", without words for an office; in English also those of several words whose
    first one has a foreign letter (São Paulo), German ones (Die Zeit), and quotations in another language; those of a list, those of German
    streets with their numbers, and in German those of squares.
    """
    code = short_code(language)
    for pattern in filter(None, (_TITLES.get(code), _FOREIGN.get(code))):
        for found in pattern.finditer(text):
            words = found["name"].split()
            while words and _OFFICE.fullmatch(words[0]):
                words.pop(0)
            if words:
                yield " ".join(words)
    if code in _TITLES:
        yield from _listed(text)
        yield from (found["name"] for found in _STREETS[code].finditer(text))
    if code == "en":
        said = (each.content(text).strip(" ,.!?") for each in quotations(text))
        yield from (each for each in said if " " in each and is_told_apart(each, code, "de"))
    if code == "de":
        squares = _SQUARE.finditer(text) if "latz" in text or " Tor" in text else ()
        yield from (found["name"] for found in squares if found["person"] in (None, *_lists()[0], *known("de")["squares"].split()))


_WORD = re.compile(r"(?P<first>(?<![\w@#/.-])[^\W\d_a-z][^\W\d_]+)(?: (?P<last>[^\W\d_a-z][^\W\d_]+))?")
_TRANSLATED = {"Mary", "Maria"}
"""Names that translations write differently."""
_ARTICLES = re.compile(
    r"\b(?:[Dd](?:er|ie|as|en|em|es)|(?:[Ee]|[Kk]e|[MmDdSs]e)in\w{0,2}|[Ii]hr\w{0,2}|[Bb]eim|[Zz]u[mr]|[Vv]om|[Ii]m|[Aa]m) $"
)
"""What is before a noun of German, but not before a name."""


@cache
def _lists() -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    """First names; family names; family names that are also nouns."""
    path = Path(__file__).with_name("corpus") / "people.toml"
    found = {name: frozenset(names.split()) for name, names in tomllib.loads(path.read_text("utf-8")).items()}
    first = (found["female"] | found["male"] | found["german"]) - found["not_replaced"] - _TRANSLATED
    return first, found["german_family"] | (found["family"] - found["not_replaced"]), found["german_nouns"]


def _listed(text: str) -> Iterator[str]:
    """The names of a text that are in a list; family names that are nouns only behind a first name, none behind an article."""
    first, family, nouns = _lists()
    for match in _WORD.finditer(text):
        names = [match["first"]] * (match["first"] in first or (match["first"] in family))
        if match["last"] and (match["last"] in first | family or (match["first"] in first and match["last"] in nouns)):
            names.append(match["last"])
        if names and not _ARTICLES.search(text, max(match.start() - 6, 0), match.start()):
            yield from names


def _has(output: str, word: str) -> bool:
    """Whether an output has a word of a name, which may have lost the s of a genitive, or have an ending."""
    stem = word[:-1] if len(word) > 3 and word.endswith("s") and not re.fullmatch(_FIRMS, word) else word
    return re.search(rf"(?<!\w){re.escape(stem)}(?:e?[ns]|ens)?(?!\w)", output) is not None


_SIGN = re.compile(rf"(?<={_SMALL})(?:(?:[*:_\u00b7]|/-?)(?=in(?:nen)?\b)|(?P<capital>I)(?=nnen\b))")
"""The sign in Kolleg*innen, Sch\u00fcler:in and Lehrer/-innen, and the capital in LehrerInnen."""
_UNDERLINE = re.compile(r"(?<![\w/.-])([A-Z\u00c4\u00d6\u00dc][a-z\u00e4\u00f6\u00fc\u00df]+)_(in(?:nen)?)\b")
"""The sign in Leser_innen, which would be a name of a program otherwise."""
_SIGN_OF_ENDING = re.compile(r"\b(?P<word>(?:[km]?ein|jed|dein|sein|welch|lieb)e?)[*:_](?P<ending>e[rnms]?|[rnms])\b", re.IGNORECASE)
"""The sign in jede*r and ein:e."""


def without_gender_signs(text: str, language: str) -> str:
    """Return a German `text` with the words for women in place of those for people of all genders (Kolleg*innen, LehrerInnen): models know
    these, and most other languages have one word for both.
    """
    if short_code(language) != "de" or not (_SIGN.search(text) or _SIGN_OF_ENDING.search(text)):
        return text

    def plain(part: str) -> str:
        return _SIGN_OF_ENDING.sub(_joined, _SIGN.sub(lambda sign: "i" if sign["capital"] else "", part))

    return changed_outside(_UNDERLINE.sub(r"\1\2", text), plain)


def _joined(match: re.Match[str]) -> str:
    """A word and its ending, with one "e" between them."""
    return match["word"] + match["ending"].removeprefix("e" if match["word"].endswith("e") else "")
