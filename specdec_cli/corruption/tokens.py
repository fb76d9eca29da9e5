"""Tokenization of a line for corruption, and edits of tokens that preserve spacing and capitalisation."""

import re
from typing import NamedTuple

from specdec_cli.english.lexicon import is_known, readings
from specdec_cli.text.locale.languages import is_abbreviation
from specdec_cli.text.marks import DASHES, ENGLISH_OPENING

NUMBER, NAME, PROTECTED = "<number>", "<name>", "<protected>"
# The typographic apostrophe.
APOSTROPHE = "\u2019"
_CHARACTERS = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
"""The Chinese characters of Unicode, as ranges of a regular expression."""
_CHARACTER = re.compile(f"[{_CHARACTERS}]")
_KANA = re.compile("[\u3041-\u3096\u30a1-\u30fa]")
_TOKEN = re.compile(
    rf"""
      (?P<character> [{_CHARACTERS}] )
    | (?P<word> [^\W\d_\u0300-\u036f]++ (?> (?:['\u2019-][^\W\d_]++)* ) (?! [\w@\\\u0300-\u036f] | [.:][^\W_] | -\d | :/ ) )
    | (?P<protected>
          (?: https?:// | ftp:// | www\. ) \S* [^\s.,;:!?)\]'"\u2019\u201d]     # addresses
        | <[^<>\s][^<>]*> | &\#?\w+; | \{{[^{{}}\s]*\}}                   # markup and placeholders
        | [$€£¥@\#%\\~+-]?\w (?: (?: [^\s,;!?"“”()\[\]] | [,?!](?=\w) )* [\w%°/] )? %?
      )
    | (?P<mark> \.{{2,}} | -{{2,}} | \S )
    """,
    re.VERBOSE,
)
_OPENING = frozenset(f"{ENGLISH_OPENING}{DASHES}\u00ab\u00bf\u00a1")
_ENDING = frozenset({".", "!", "?", "…", "..."})


class Token(NamedTuple):
    """A token of a line, with `start` and `end` (exclusive) in code points.

    It is a word, a Chinese character, a number, a punctuation mark, an address or markup.
    """

    text: str
    start: int
    end: int


class Sentence:
    """A line of one or several sentences, and its tokens.

    `words[i]` is the normalised form of token i for table look-up: an English word in lower case with straight apostrophes,
    a Chinese character, a punctuation mark, or NUMBER, NAME (any word with unexpected capitals) or PROTECTED (addresses, markup).
    `words` ends with three additional empty strings, so that the indices -3 to `len(tokens)` + 2 are valid. `initials` are the
    indices of the first words of sentences; `length` is the number of tokens that are not punctuation marks; `is_japanese` is
    whether the line has kana.
    """

    __slots__ = ("initials", "is_japanese", "length", "text", "tokens", "words")

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[Token] = []
        self.words: list[str] = []
        self.initials: set[int] = set()
        self.length = 0
        self.is_japanese = _KANA.search(text) is not None
        starts = True
        for match in _TOKEN.finditer(text):
            piece = match[0]
            if match.lastgroup == "mark":
                starts = self._ends_sentence(piece) if piece in _ENDING else starts and piece in _OPENING
                self.words.append(piece)
            else:
                if starts:
                    self.initials.add(len(self.words))
                self.words.append(_normalised(match, starts))
                self.length += 1
                starts = False
            self.tokens.append(Token(piece, match.start(), match.end()))
        self.words += ["", "", ""]

    def _ends_sentence(self, mark: str) -> bool:
        """Whether `mark`, which follows the tokens so far, ends a sentence and not an abbreviation or initial."""
        return mark != "." or not self.tokens or not is_abbreviation(f"{self.tokens[-1].text}.", "")

    def is_plain(self, i: int) -> bool:
        """Whether token i is an ordinary word of ASCII letters, without hyphen or apostrophe."""
        word = self.words[i]
        return word.isalpha() and word.isascii()

    def is_character(self, i: int) -> bool:
        """Whether token i is a Chinese character, in a line that is not Japanese."""
        return not self.is_japanese and _CHARACTER.fullmatch(self.words[i]) is not None

    def is_wordlike(self, i: int) -> bool:
        """Whether token i is a word (hyphens and apostrophes allowed) or a name, not a number, punctuation mark, address or markup."""
        return self.words[i] == NAME or self.words[i][:1].isalpha()

    def gap(self, i: int) -> str:
        """The white space between tokens i and i + 1; "" if there is none, or if one of the tokens does not exist."""
        return self.text[self.tokens[i].end : self.tokens[i + 1].start] if 0 <= i < len(self.tokens) - 1 else ""


def straight(text: str) -> str:
    """`text` with its typographic apostrophes (U+2019) replaced by straight ones."""
    return text.replace(APOSTROPHE, "'")


def is_first_person(text: str) -> bool:
    """Whether `text` is the pronoun I or a contraction of it (I'm, I've), which is always capitalised."""
    return text == "I" or text.startswith(("I'", f"I{APOSTROPHE}"))


def _normalised(match: re.Match[str], starts: bool) -> str:
    if match.lastgroup == "character":
        return match[0]
    return _word(match[0], starts) if match.lastgroup == "word" else _protected(match[0])


def _word(text: str, starts: bool) -> str:
    if text.islower():
        return straight(text)
    lower = straight(text.lower())
    if is_first_person(text):
        return lower
    if starts and text[0].isupper() and (len(text) == 1 or text[1:].islower()) and is_known(lower):
        # A sentence-initial word that can only be a singular noun is taken for a name, as in "Tom sleeps".
        return lower if readings(lower).keys() != {"NN"} else NAME
    return NAME


def _protected(text: str) -> str:
    return NUMBER if text.isascii() and text[-1].isdigit() and text[0].isdigit() else PROTECTED


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
