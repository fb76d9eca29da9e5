"""Changes to a sentence that keep its spaces and capitals in order."""

from typing import NamedTuple

from specdec_cli.corruption.tokens import APOSTROPHE, NAME, Sentence, is_first_person


class Edit(NamedTuple):
    """Characters `start` to `end` become `text`; the tokens `first` to `last`, both included, are part of the error.

    Those tokens may be more than the edit changes: what makes it an error must not be changed by another one.
    """

    start: int
    end: int
    text: str
    first: int
    last: int

    def reaching(self, first: int, last: int) -> "Edit":
        """The same change, with all tokens from `first` to `last` part of the error."""
        return self._replace(first=min(self.first, first), last=max(self.last, last))


def cased(word: str, like: str, initial: bool) -> str:
    """`word` with capitals and apostrophes as in `like`, which stands first in its sentence if `initial`."""
    if word == "i" or word.startswith("i'"):
        word = "I" + word[1:]
    elif like.isupper() and len(like) > 1:
        word = word.upper()
    elif like[0].isupper() and (initial or not is_first_person(like)):
        word = word[0].upper() + word[1:]
    return word.replace("'", APOSTROPHE) if APOSTROPHE in like else word


def replaced(sentence: Sentence, i: int, word: str) -> Edit | None:
    """Token i becomes `word` (lower case; it takes over the capitals), or None if that changes nothing."""
    old, start, end = sentence.tokens[i]
    new = cased(word, old, i in sentence.initials) if word else ""
    return Edit(start, end, new, i, i) if new and new != old else None


def dropped(sentence: Sentence, i: int) -> Edit | None:
    """Token i disappears together with a space; if it began the sentence, the next word takes its capital."""
    tokens = sentence.tokens
    token = tokens[i]
    if len(tokens) == 1:
        return None
    if not sentence.gap(i):
        if not sentence.gap(i - 1):
            return None
        return Edit(tokens[i - 1].end, token.end, "", i - 1, i)
    following = tokens[i + 1]
    if i in sentence.initials and token.text[0].isupper() and following.text[0].islower() and sentence.is_wordlike(i + 1):
        return Edit(token.start, following.start + 1, following.text[0].upper(), i, i + 1)
    return Edit(token.start, following.start, "", i, i)


def inserted(sentence: Sentence, i: int, word: str) -> Edit:
    """`word` comes before token i; at the start of the sentence it takes over the capital."""
    text, start, _ = sentence.tokens[i]
    if i in sentence.initials and text[0].isupper():
        keeps = sentence.words[i] == NAME or is_first_person(text)
        return Edit(start, start + 1, f"{word[0].upper()}{word[1:]} {text[0] if keeps else text[0].lower()}", i, i)
    return Edit(start, start, f"{word} ", i, i)


def swapped(sentence: Sentence, i: int) -> Edit | None:
    """Tokens i and i + 1 change places; the first place keeps its capital. None unless both are words, and differ."""
    gap = sentence.gap(i)
    if not gap or not sentence.is_wordlike(i) or not sentence.is_wordlike(i + 1) or sentence.words[i] == sentence.words[i + 1]:
        return None
    first, second = sentence.tokens[i], sentence.tokens[i + 1]
    left, right = second.text, first.text
    if i in sentence.initials and right[0].isupper() and sentence.words[i] != NAME:
        left = left[0].upper() + left[1:]
        right = right if is_first_person(right) else right[0].lower() + right[1:]
    return Edit(first.start, second.end, left + gap + right, i, i + 1)


def joined(sentence: Sentence, i: int, between: str = "") -> Edit | None:
    """What stands between tokens i and i + 1 becomes `between`, or None if it is that already."""
    if i + 1 >= len(sentence.tokens) or sentence.gap(i) == between:
        return None
    return Edit(sentence.tokens[i].end, sentence.tokens[i + 1].start, between, i, i + 1)


def respelled(sentence: Sentence, i: int, text: str) -> Edit | None:
    """Token i becomes exactly `text`, or None if it is that already or there is nothing left."""
    old, start, end = sentence.tokens[i]
    return Edit(start, end, text, i, i) if text and text != old else None
