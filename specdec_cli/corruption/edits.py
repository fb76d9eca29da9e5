"""Edits of sentences that preserve spacing and capitalisation."""

from typing import NamedTuple

from specdec_cli.corruption.tokens import APOSTROPHE, NAME, Sentence, is_first_person


class TokenEdit(NamedTuple):
    """An edit: the characters `start` to `end` (exclusive) of a line are replaced by `text`.

    The edit covers the tokens `first` to `last` (inclusive), which no other edit of the line may cover. Some of them may be
    unchanged: those that make the change an error, such as the subject of a verb.
    """

    start: int
    end: int
    text: str
    first: int
    last: int

    def covering(self, first: int, last: int) -> "TokenEdit":
        """A copy of the edit that covers the tokens `first` to `last` (inclusive) too."""
        return self._replace(first=min(self.first, first), last=max(self.last, last))


def match_case(word: str, like: str, initial: bool) -> str:
    """`word`, given in lower case, with capitals and apostrophes as in `like`; `initial`: `like` is the first word of its sentence."""
    if word == "i" or word.startswith("i'"):
        word = "I" + word[1:]
    elif like.isupper() and len(like) > 1:
        word = word.upper()
    elif like[0].isupper() and (initial or not is_first_person(like)):
        word = word[0].upper() + word[1:]
    return word.replace("'", APOSTROPHE) if APOSTROPHE in like else word


def replace_token(sentence: Sentence, i: int, word: str) -> TokenEdit | None:
    """The edit that replaces token i by `word`, given in lower case and capitalised like the token.

    None if `word` is empty or nothing changes.
    """
    old, start, end = sentence.tokens[i]
    new = match_case(word, old, i in sentence.initials) if word else ""
    return TokenEdit(start, end, new, i, i) if new and new != old else None


def delete_token(sentence: Sentence, i: int) -> TokenEdit | None:
    """The edit that deletes token i and the white space beside it; at the start of a sentence, the next word is capitalised.

    None if it is the only token of the line, or has no white space on either side.
    """
    tokens = sentence.tokens
    token = tokens[i]
    if len(tokens) == 1:
        return None
    if not sentence.gap(i):
        if not sentence.gap(i - 1):
            return None
        return TokenEdit(tokens[i - 1].end, token.end, "", i - 1, i)
    following = tokens[i + 1]
    if i in sentence.initials and token.text[0].isupper() and following.text[0].islower() and sentence.is_wordlike(i + 1):
        return TokenEdit(token.start, following.start + 1, following.text[0].upper(), i, i + 1)
    return TokenEdit(token.start, following.start, "", i, i)


def insert_word(sentence: Sentence, i: int, word: str) -> TokenEdit:
    """The edit that inserts `word` before token i; at the start of a sentence, `word` is capitalised and token i is not."""
    text, start, _ = sentence.tokens[i]
    if i in sentence.initials and text[0].isupper():
        keeps = sentence.words[i] == NAME or is_first_person(text)
        return TokenEdit(start, start + 1, f"{word[0].upper()}{word[1:]} {text[0] if keeps else text[0].lower()}", i, i)
    return TokenEdit(start, start, f"{word} ", i, i)


def swap_tokens(sentence: Sentence, i: int) -> TokenEdit | None:
    """The edit that swaps tokens i and i + 1; at the start of a sentence, the word that comes first is capitalised.

    None unless the two are different words or names with white space between them.
    """
    gap = sentence.gap(i)
    if not gap or not sentence.is_wordlike(i) or not sentence.is_wordlike(i + 1) or sentence.words[i] == sentence.words[i + 1]:
        return None
    first, second = sentence.tokens[i], sentence.tokens[i + 1]
    left, right = second.text, first.text
    if i in sentence.initials and right[0].isupper() and sentence.words[i] != NAME:
        left = left[0].upper() + left[1:]
        right = right if is_first_person(right) else right[0].lower() + right[1:]
    return TokenEdit(first.start, second.end, left + gap + right, i, i + 1)


def replace_gap(sentence: Sentence, i: int, between: str = "") -> TokenEdit | None:
    """The edit that replaces the white space between tokens i and i + 1 by `between`; None if nothing changes."""
    if i + 1 >= len(sentence.tokens) or sentence.gap(i) == between:
        return None
    return TokenEdit(sentence.tokens[i].end, sentence.tokens[i + 1].start, between, i, i + 1)


def set_text(sentence: Sentence, i: int, text: str) -> TokenEdit | None:
    """The edit that replaces token i by `text` as given; None if nothing changes or `text` is empty."""
    old, start, end = sentence.tokens[i]
    return TokenEdit(start, end, text, i, i) if text and text != old else None
