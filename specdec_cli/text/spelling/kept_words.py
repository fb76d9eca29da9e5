"""Words that corrections leave as they are: technical names, abbreviations, and short forms of chats."""

import re
from functools import cache
from pathlib import Path

from specdec_cli.text.edits import Edit

WORD = re.compile(r"(?<![\w'’@#&/\\.-])[A-Za-z]++(?![\w@&/\\-]|\.\w|['’](?!s\b))")  # noqa: RUF001
"""A word of ASCII letters. Parts of longer names (domains, paths, addresses), of words with a hyphen, and of words that end with an
apostrophe ("goin'") do not match; a word before "'s" does.
"""
LENGTHENED = re.compile(r"([aeiouy])\1\1|(.)\2\2$")
WITHOUT_VOWELS = re.compile(r"[b-df-hj-np-tv-xz]{3,4}")
PREFIXED = re.compile(r"([b-df-hj-np-tv-xz])(?!\1)[a-z]{4}")
"""The beginning of a name such as dmenu, of a letter and a word; who writes a letter too many writes the first one twice."""
_CHAT = frozenset(
    "afaik aka asap brb btw fyi gg haha hmm idk iirc imho imo irl jk lmao lol np ok omg pls plz rofl tbh thx ttyl ty".split()  # noqa: SIM905
)
"""Abbreviations of chats, which are written in small letters at the start of a sentence too."""
_LETTERS = re.compile(r"[A-Za-z]+")
_LONGEST_ABBREVIATION = 6
_CAPITAL_INSIDE = re.compile(r"[a-z]+[A-Z]")
_UNIT_SIGN, _AFTER_NUMBER = re.compile(r"[a-z]{1,2}[A-Z][a-z]?|[b-df-hj-np-tv-xz]{2,4}"), re.compile(r"\d\s?\Z")
"""Unit symbols that have a capital inside (kWh) or no vowel (rpm), and the number before such a symbol."""


@cache
def technical_names() -> frozenset[str]:
    """Names of programs, formats and the like, and words of Latin terms, in small letters (names.txt). They are no misspellings, and
    correct none.
    """
    return frozenset(Path(__file__).with_name("names.txt").read_text(encoding="utf-8").split())


def changes_abbreviation(text: str, edit: Edit) -> bool:
    """Whether an edit of `text` only adds a letter to an abbreviation in capitals or takes one from it (IEEE, IEEEE), gives a plural to
    the sign of a unit after a number (20 rpm, 5 mL), or a capital to a name such as macOS. A plural of capitals may be right (CDs).
    """
    old, new = (list(_LETTERS.finditer(each)) for each in (edit.source, edit.text))
    if len(old) != len(new):
        return False
    for before, after in zip(old, new, strict=True):
        own, other = before.group(), after.group()
        if own.isupper() and other.isupper() and 1 < len(own) <= _LONGEST_ABBREVIATION and _differ_by_letter(own, other):
            return True
        if _CAPITAL_INSIDE.match(own) and other == own[0].upper() + own[1:]:
            return True
        if other == f"{own}s" and _UNIT_SIGN.fullmatch(own) and _AFTER_NUMBER.search(text, 0, edit.start + before.start()):
            return True
    return False


def _differ_by_letter(first: str, second: str) -> bool:
    shorter, longer = sorted((first, second), key=len)
    return len(longer) == len(shorter) + 1 and any(longer[:place] + longer[place + 1 :] == shorter for place in range(len(longer)))


def changes_name(edit: Edit) -> bool:
    """Whether an edit replaces or removes a technical name, a short word without vowels (dwm), or a lengthened word (sooo, yesss), takes
    the first letter from a word such as dmenu, or gives a capital to a name or an abbreviation of chats in small letters (lol).
    """
    if edit.source.islower() and edit.text == edit.source.capitalize():
        return edit.source in _CHAT or edit.source in technical_names()
    new, words = edit.text.lower(), [found.group().lower() for found in WORD.finditer(edit.text)]
    return any(
        word not in new
        and (
            word in technical_names()
            or LENGTHENED.search(word) is not None
            or WITHOUT_VOWELS.fullmatch(word) is not None
            or (PREFIXED.match(word) is not None and word[1:] in words)
        )
        for word in (found.group().lower() for found in WORD.finditer(edit.source))
    )
