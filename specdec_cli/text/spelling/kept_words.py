"""Words that corrections leave as they are: technical names, abbreviations, and short forms of chats."""

import re
from functools import cache
from pathlib import Path

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.conventions import is_abbreviation
from specdec_cli.text.spelling.ngrams import NgramModel

WORD = re.compile(r"(?<![\w'’@#&/\\.-])[A-Za-z]++(?![\w@&/\\-]|\.\w|['’](?!s\b))")  # noqa: RUF001
"""A word of ASCII letters. Parts of longer names (domains, paths, addresses), of words with a hyphen, and of words that end with an
apostrophe ("goin'") do not match; a word before "'s" does.
"""
LENGTHENED = re.compile(r"([aeiouy])\1\1|(.)\2\2$")
WITHOUT_VOWELS = re.compile(r"[b-df-hj-np-tv-xz]{3,4}")
PREFIXED = re.compile(r"([b-df-hj-np-tv-xz])(?!\1)[a-z]{4}")
"""The beginning of a name such as dmenu, of a letter and a word; who writes a letter too many writes the first one twice."""
_NOT_OF_YOU = frozenset({"am", "is", "was", "does", "has"})
"""Forms of verbs that are wrong beside "u"."""
_STOPPED = re.compile(r"(?<![\w.'’-])(?P<word>[^\W\d_]+(?:\.[^\W\d_]+)*)\.(?!\w|\.)(?:\s+(?P<next>\S+)|(?P<pause>[,;:)]))?")  # noqa: RUF001
"""A word with a full stop, and what is behind it."""
_SHORTENED = frozenset({"apt", "avg", "est", "ext", "max", "min", "org", "temp"})
"""Frequent abbreviations that `is_abbreviation` does not know without a number behind them."""
_LONGEST_SHORTENED, _SHORTENED_COUNT = 6, 128
"""The most letters of another abbreviation, and the count in the n-grams that it is below."""
_ET_AL = re.compile(r"\bet al\.,?\s\Z")
_LETTERS = re.compile(r"[A-Za-z]+")
_LONGEST_ABBREVIATION = 6
_CAPITAL_INSIDE = re.compile(r"[a-z]+[A-Z]")
_UNIT_SIGN, _AFTER_NUMBER = re.compile(r"[a-z]{1,2}[A-Z][a-z]?|[b-df-hj-np-tv-xz]{2,4}"), re.compile(r"\d\s?\Z")
"""Unit symbols that have a capital inside (kWh) or no vowel (rpm), and the number before such a symbol."""


@cache
def technical_names() -> frozenset[str]:
    """Names of programs, formats and the like, Latin terms, archaic words, and words of computing, medicine and law that lexicons lack, in
    small letters (names.txt). They are no misspellings, and correct none.
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
    the first letter from a word such as dmenu, or gives a capital to a name in small letters.
    """
    if _adds_capital(edit):
        return edit.source in technical_names()
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


def changes_chat(text: str, edit: Edit) -> bool:
    """Whether an edit of `text` replaces or removes an abbreviation of chats (omg) and does not write what it means (pls, please), gives
    one a capital or one to the beginning of a text in small letters that has one, or puts a verb such as "is" beside "u".
    """
    if not has_chat(text):
        return False
    if _adds_capital(edit):
        return edit.source in chat_words() or (edit.source != "i" and text.islower())
    return _misreads_chat(edit) or (bool(_words(edit.text) & _NOT_OF_YOU) and re.match(r" u\b", text[edit.end :]) is not None)


@cache
def chat_words() -> dict[str, frozenset[str]]:
    """Abbreviations of chats, which are written in small letters at the start of a sentence too, with what they may be replaced by, and by
    nothing else (chat.txt).
    """
    lines = Path(__file__).with_name("chat.txt").read_text(encoding="utf-8").splitlines()
    return {word: frozenset(filter(None, meanings.split(", "))) for word, _, meanings in (line.partition(" = ") for line in lines)}


def has_chat(text: str) -> bool:
    """Whether a text has an abbreviation of chats, such as omg."""
    return bool(_chat(text))


def _misreads_chat(edit: Edit) -> bool:
    return any(edit.source.lower() != word or edit.text.lower() not in chat_words()[word] for word in _chat(edit.source) - _chat(edit.text))


def _chat(text: str) -> set[str]:
    """The abbreviations of chats in a text, in small letters; those of one letter must be written so: R is a language."""
    words = (found.group() for found in WORD.finditer(text))
    return {word.lower() for word in words if len(word) > 1 or word.islower()} & chat_words().keys()


def _adds_capital(edit: Edit) -> bool:
    return edit.source.islower() and edit.text == edit.source.capitalize()


def _words(text: str) -> set[str]:
    return set(_LETTERS.findall(text.lower()))


def changes_shortened(text: str, edit: Edit, ngrams: NgramModel | None) -> bool:
    """Whether an edit of `text` changes an abbreviation that ends with a full stop (dept., approx.), but for capitals, or its stop; or the
    number of the verb after "et al.". A short word with a stop within a sentence is one too, unless it is frequent in `ngrams`.
    """
    if edit.text == f"{edit.source}s" and _ET_AL.search(text, 0, edit.start):
        return True
    changed = apply_edits(text, [edit])
    longer = len(changed) - len(text)
    for found in _STOPPED.finditer(text, 0):
        start, end = found.start(), found.end("word") + 1
        if start < edit.end and edit.start < end and _is_shortened(found, ngrams):
            new = changed[min(start, edit.start) : max(end, edit.end) + longer]
            if text[start:end].lower() not in new.lower():
                return True
    return False


def _is_shortened(found: re.Match[str], ngrams: NgramModel | None) -> bool:
    word, following = found["word"], found["next"] or ""
    if is_abbreviation(f"{word}.", following):
        return True
    if len(word) > _LONGEST_SHORTENED or not (found["pause"] or following[:1].islower() or following[:1].isdigit()):
        return False
    return word.lower() in _SHORTENED or (ngrams is not None and ngrams.count(word.lower()) < _SHORTENED_COUNT)
