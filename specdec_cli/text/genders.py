"""Genders of German nouns by their endings, whether the article before a noun fits its gender, and words for people of all genders.

Endings are those of word formation (-ung, -chen) and the last parts of frequent compounds (-vertrag, -karte). The longest ending that is
listed decides; a noun without one has no known gender.
"""

import re
from functools import cache
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import known, known_pairs
from specdec_cli.text.protect.spans import changed_outside

_SMALL = "[a-z\u00e4\u00f6\u00fc\u00df]"
_SIGN = re.compile(rf"(?<={_SMALL})(?:(?:[*:_\u00b7]|/-?)(?=in(?:nen)?\b)|(?P<capital>I)(?=nnen\b))")
"""The sign in Kolleg*innen, Sch\u00fcler:in and Lehrer/-innen, and the capital in LehrerInnen."""
_UNDERLINE = re.compile(r"(?<![\w/.-])([A-Z\u00c4\u00d6\u00dc][a-z\u00e4\u00f6\u00fc\u00df]+)_(in(?:nen)?)\b")
"""The sign in Leser_innen, which would be a name of a program otherwise."""
_SIGN_OF_ENDING = re.compile(r"\b(?P<word>(?:[km]?ein|jed|dein|sein|welch|lieb)e?)[*:_](?P<ending>e[rnms]?|[rnms])\b", re.IGNORECASE)
"""The sign in jede*r and ein:e."""
_AMBIGUOUS = ("sein", "ihr")
"""Words that are determiners if they fit a noun, and else probably a verb or a pronoun."""
_WORD = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]++)\s++\Z")
_ADJECTIVE = re.compile(r"[^\W\d_]+e[nmrs]?")
_MOST_ADJECTIVES = 2
_RELATIVE = re.compile(r",\s*\Z")
"""What stands before a relative pronoun, which looks like an article."""


@cache
def _endings() -> dict[str, str]:
    genders = known("de")["genders"].items()
    return {ending: "" if gender == "unknown" else gender for gender, endings in genders for ending in endings.split()}


@cache
def _articles() -> dict[str, dict[str, str]]:
    """For each article, or other determiner, of one word, the forms of its group with the genders that they stand before."""
    articles = known("de")["articles"]
    groups = [known_pairs(group.split(", ")) for group in articles["forms"]]
    for stems, endings in articles["stems"].items():
        forms = known_pairs(endings.split(", "))
        groups += [{stem + ending: genders for ending, genders in forms.items()} for stem in stems.split()]
    return {article: forms for forms in groups for article in forms if " " not in article}


def gender(noun: str) -> str:
    """The gender of a German noun in the singular: m, f or n; "" if its ending does not tell it."""
    endings, word = _endings(), noun.lower()
    return next((endings[word[start:]] for start in range(len(word)) if word[start:] in endings), "")


class Article(NamedTuple):
    """The article of a noun, from the offset `start` up to `end` of its text: whether it `fits` the gender of the noun, and its forms
    that do.
    """

    start: int
    end: int
    fits: bool
    forms: tuple[str, ...]


def article_of(text: str, start: int, end: int) -> Article | None:
    """The article of the German noun in the singular from `start` to `end` of `text`; adjectives may be between them. None without an
    article, or if the gender is not known.
    """
    known, place = gender(text[start:end]), start
    if not known or not text[start].isupper():
        return None
    for _ in range(_MOST_ADJECTIVES + 1):
        found = _WORD.search(text, 0, place)
        if found is None:
            return None
        written, place = found["word"], found.start()
        forms = _articles().get(written.lower(), {})
        if forms and not _RELATIVE.search(text, 0, place):
            fitting = [form for form, genders in forms.items() if known in genders]
            if written.lower() in _AMBIGUOUS and written.lower() not in fitting:
                return None
            cased = tuple(form[0].upper() + form[1:] for form in fitting) if written[0].isupper() else tuple(fitting)
            return Article(*found.span("word"), written.lower() in fitting, cased)
        if not _ADJECTIVE.fullmatch(written):
            return None
    return None


def without_gender_signs(text: str, language: str) -> str:
    """Return a German `text` with the words for women in place of those for people of all genders (Kolleg*innen, LehrerInnen): models know
    these, and most other languages have one word for both.
    """
    if short_code(language) != "de" or not (_SIGN.search(text) or _SIGN_OF_ENDING.search(text)):
        return text

    def plain(part: str) -> str:
        return _SIGN_OF_ENDING.sub(_joined, _SIGN.sub(lambda sign: "i" if sign["capital"] else "", part))

    return changed_outside(_UNDERLINE.sub(r"\1\2", text), plain)


def _joined(found: re.Match[str]) -> str:
    """A word and its ending, with one "e" between them."""
    return found["word"] + found["ending"].removeprefix("e" if found["word"].endswith("e") else "")
