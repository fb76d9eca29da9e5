"""Words and forms that corrections leave as they are: technical names, abbreviations, short forms of chats; headlines without articles,
chats in small letters, commands, British collective nouns and verbs.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specdec_cli.english.words import ARTICLES, PLURAL_DETERMINERS, POSSESSIVES, SUBJECTS
from specdec_cli.text.edits import Edit, apply_edits, count_words
from specdec_cli.text.locale.languages import is_abbreviation
from specdec_cli.text.marks import STOPS
from specdec_cli.text.protect.spans import protected_spans
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
    return len(longer) == len(shorter) + 1 and any(longer[:index] + longer[index + 1 :] == shorter for index in range(len(longer)))


def changes_name(edit: Edit) -> bool:
    """Whether an edit replaces or removes a technical name, a short word without vowels (dwm), or a lengthened word (sooo, yesss), takes
    the first letter from a word such as dmenu, or gives a capital to a name in small letters.
    """
    if _adds_capital(edit):
        return edit.source in technical_names()
    new, words = edit.text.lower(), [match.group().lower() for match in WORD.finditer(edit.text)]
    return any(
        word not in new
        and (
            word in technical_names()
            or LENGTHENED.search(word) is not None
            or WITHOUT_VOWELS.fullmatch(word) is not None
            or (PREFIXED.match(word) is not None and word[1:] in words)
        )
        for word in (match.group().lower() for match in WORD.finditer(edit.source))
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
    words = (match.group() for match in WORD.finditer(text))
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
    for match in _STOPPED.finditer(text, 0):
        start, end = match.start(), match.end("word") + 1
        if start < edit.end and edit.start < end and _is_shortened(match, ngrams):
            new = changed[min(start, edit.start) : max(end, edit.end) + longer]
            if text[start:end].lower() not in new.lower():
                return True
    return False


def _is_shortened(match: re.Match[str], ngrams: NgramModel | None) -> bool:
    word, following = match["word"], match["next"] or ""
    if is_abbreviation(f"{word}.", following):
        return True
    if len(word) > _LONGEST_SHORTENED or not (match["pause"] or following[:1].islower() or following[:1].isdigit()):
        return False
    return word.lower() in _SHORTENED or (ngrams is not None and ngrams.count(word.lower()) < _SHORTENED_COUNT)


_WORD_OF_FORM = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_MARKS = str.maketrans("", "", " ,.;:!?")
_LONGEST_OF_CHAT = 12
"""The most words of a line of a chat in small letters."""
_SENTENCE_WORDS = ARTICLES | POSSESSIVES | SUBJECTS | {"there", "this", "that", "these", "those"}
_ARTICLE_AT_END = re.compile(r"(?:^|\s)(?:an?|the)\s?$", re.IGNORECASE)


@dataclass(frozen=True)
class Form:
    """A form of rules/kept-forms.toml: the pattern of an edit that changes it, and those of what is around the edit; "" for none."""

    edit: re.Pattern[str]
    before: re.Pattern[str]
    not_before: re.Pattern[str]
    after: re.Pattern[str]
    over: re.Pattern[str]

    def is_changed(self, text: str, edit: Edit) -> bool:
        """Whether an edit of a text changes the form."""
        if not self.edit.search(f"{edit.source} > {edit.text}") or not self.after.search(text[edit.end :]):
            return False
        before = self.before.search(text, 0, edit.start)
        if before is None or ("name" in before.groupdict() and before["name"] not in technical_names()):
            return False
        if self.not_before.pattern and self.not_before.search(text, 0, edit.start):
            return False
        over = self.over.finditer(text) if self.over.pattern else ()
        return not self.over.pattern or any(edit.start < each.end() and each.start() < edit.end for each in over)


def read_forms() -> dict[str, Any]:
    """The file of forms as it is, with the cases of each form."""
    return tomllib.loads((Path(__file__).parent / "rules" / "kept-forms.toml").read_text(encoding="utf-8"))


@cache
def forms() -> tuple[Form, ...]:
    """The forms of the file."""
    keys = {"edit": r"\A(?:{})\Z", "before": "{}", "not-before": "{}", "after": r"\A(?:{})", "over": "{}"}
    return tuple(Form(*(re.compile(form.format(values.get(key, ""))) for key, form in keys.items())) for values in read_forms()["form"])


def changes_form(text: str, edit: Edit, *, latin: bool = False) -> bool:
    """Whether an edit of a sentence `text` changes one of these forms, but those of `keeps_small_letters`."""
    return (
        any(form.is_changed(text, edit) for form in forms())
        or (is_telegraphic(text) and _completes(text, edit))
        or (_ARTICLE_AT_END.search(edit.text) is not None and _is_before_span(text, edit, latin=latin))
    )


def is_telegraphic(text: str) -> bool:
    """Whether a text has the style of headlines and notes: no stop at its end, and no articles, possessives, or pronouns as subjects."""
    words = [word.lower() for word in _WORD_OF_FORM.findall(text)]
    return text.rstrip()[-1:] not in tuple(STOPS) and len(words) > 1 and _SENTENCE_WORDS.isdisjoint(words)


def _completes(text: str, edit: Edit) -> bool:
    """Whether an edit only adds articles, or a plural that no word before it needs."""
    old, new = ([word.lower() for word in _WORD_OF_FORM.findall(part)] for part in (edit.source, edit.text))
    if len(new) > len(old) == sum(word not in ARTICLES for word in new):
        return True
    before = _WORD_OF_FORM.findall(text[: edit.start].lower())[-1:]
    return edit.text == f"{edit.source}s" and not any(word in PLURAL_DETERMINERS or word.isdecimal() for word in before)


def _is_before_span(text: str, edit: Edit, *, latin: bool) -> bool:
    """Whether a protected span is directly after an edit: a file name or a placeholder needs no article."""
    place = len(text) - len(text[edit.end :].lstrip())
    return not _ARTICLE_AT_END.search(edit.source) and any(start == place for start, _ in protected_spans(text, latin=latin))


def is_in_small_letters(line: str) -> bool:
    """Whether a line is short, in small letters throughout, and ends without a full stop, as those of chats do."""
    return line.islower() and line[0].isalpha() and line.rstrip()[-1:] != "." and count_words(line) <= _LONGEST_OF_CHAT


def is_of_case(edit: Edit) -> bool:
    """Whether an edit changes only capitals and marks."""
    return edit.source.lower().translate(_MARKS) == edit.text.lower().translate(_MARKS)
