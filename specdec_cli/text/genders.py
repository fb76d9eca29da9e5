"""Genders of German nouns by their endings, and whether the article before a noun fits its gender.

Endings are those of word formation (-ung, -chen) and the last parts of frequent compounds (-vertrag, -karte). The longest ending that is
listed decides; a noun without one has no known gender.
"""

import re
from functools import cache
from typing import NamedTuple

from specdec_cli.text.locale.languages import known, known_pairs

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
