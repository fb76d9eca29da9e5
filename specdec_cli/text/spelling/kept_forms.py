"""Forms that are right in some styles and varieties of English, which corrections leave as they are: headlines without articles, chats
in small letters, commands, British collective nouns and verbs.
"""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from specdec_cli.english.words import ARTICLES, PLURAL_DETERMINERS, POSSESSIVES, SUBJECTS
from specdec_cli.text.edits import Edit, count_words
from specdec_cli.text.marks import STOPS
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.spelling.kept_words import technical_names

_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
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
    words = [word.lower() for word in _WORD.findall(text)]
    return text.rstrip()[-1:] not in tuple(STOPS) and len(words) > 1 and _SENTENCE_WORDS.isdisjoint(words)


def _completes(text: str, edit: Edit) -> bool:
    """Whether an edit only adds articles, or a plural that no word before it needs."""
    old, new = ([word.lower() for word in _WORD.findall(part)] for part in (edit.source, edit.text))
    if len(new) > len(old) == sum(word not in ARTICLES for word in new):
        return True
    before = _WORD.findall(text[: edit.start].lower())[-1:]
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
