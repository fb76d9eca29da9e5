"""Tokenization of a line for corruption: tokens with offsets and their classes."""

import re
from typing import NamedTuple

from specdec_cli.corruption.lexicon import is_known, readings
from specdec_cli.text.locale.conventions import is_abbreviation

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
_OPENING = frozenset("\"'“\u2018([«¿¡-\u2013—")
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
