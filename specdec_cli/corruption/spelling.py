"""Errors of spelling: known misspellings, phonetic spellings, typing errors."""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from random import Random

from specdec_cli.corruption.tokens import Sentence, TokenEdit, replace_token
from specdec_cli.english.lexicon import is_known
from specdec_cli.english.words import pairs
from specdec_cli.errors import MissingLibraryError, UsageError

# A letter three times, or a doubled first letter: a typing error, not a misspelling.
_TYPO = re.compile(r"(.)\1\1|^([^aelo])\2")
_SOUNDS = str.maketrans({**dict.fromkeys("aeiouyhw", ""), "c": "s", "z": "s", "q": "k"})


@lru_cache(maxsize=1)
def misspellings() -> Mapping[str, tuple[str, ...]]:
    """The known misspellings of each correct word, all in lower-case ASCII letters. Raises UsageError if codespell is not installed."""
    table: dict[str, list[str]] = {}
    for line in _dictionary().read_text(encoding="utf-8").splitlines():
        wrong, _, rights = line.partition("->")
        # The right side is "word", "word, other word," or "word, remark".
        words = [right.strip() for right in rights.split(",")]
        for right in words if len(words) == 1 else words[:-1]:
            if _is_plain(wrong) and _is_plain(right) and wrong != right and not _TYPO.search(wrong):
                table.setdefault(right, []).append(wrong)
    return {right: tuple(wrongs) for right, wrongs in table.items()}


@lru_cache(maxsize=1 << 16)
def likely_misspellings(word: str) -> tuple[str, ...]:
    """The known misspellings of `word` with the same consonants in the same order, or all its misspellings if none is like that."""
    wrongs = misspellings().get(word, ())
    return tuple(wrong for wrong in wrongs if _skeleton(wrong) == _skeleton(word)) or wrongs


def _skeleton(word: str) -> str:
    """The first letter and the consonants of a word, normalised by sound and without repetition."""
    kept = word[0]
    for letter in word[1:].replace("ck", "k").replace("ph", "f").translate(_SOUNDS):
        if letter != kept[-1]:
            kept += letter
    return kept


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def _dictionary() -> Path:
    spec = find_spec("codespell_lib")
    if spec is None or not spec.submodule_search_locations:
        raise MissingLibraryError("corrupt needs codespell's dictionary", "gec")
    path = Path(spec.submodule_search_locations[0], "data", "dictionary.txt")
    if not path.exists():
        raise UsageError(f"{path}: codespell's dictionary does not exist; install codespell again")
    return path


# Spellings of similar sounds, and silent letters.
_SIMILAR = pairs(
    "ough>ogh ough>ouh ought>out eigh>ei tion>sion sion>tion cial>tial tial>cial cian>tion ance>ence ence>ance able>ible "
    "ible>able ally>aly ully>uly tely>tly ious>ous eous>ious our>or ie>ei ei>ie ea>ee ee>ea ai>ei au>ou ou>u oo>u ph>f gh>g "
    "wh>w kn>n ck>k sc>s ch>k ps>s mn>n ght>gt rh>r ui>i ue>u gu>g que>ke ent>ant ant>ent ery>ary ary>ery "
    "cc>c ss>s ll>l mm>m nn>n pp>p rr>r tt>t ff>f ce>se ci>si"
)
# Unstressed vowels: between consonants, and not in the first syllable.
_UNSTRESSED = pairs("ar>er er>ar or>er er>or e>i i>e e>a a>e o>a u>o o>e a>i y>i")
_SHARE_OF_UNSTRESSED = 0.4
_VOWELS = "aeiou"
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_MIN_LETTERS = 4
_SHARE_OF_SHORT = (0.0, 0.0, 0.02, 0.05, 0.3)


def _neighbours() -> dict[str, str]:
    """The adjacent keys of each key on a QWERTY keyboard, in its own row and the rows above and below."""
    neighbours = {}
    for y, row in enumerate(_ROWS):
        for x, key in enumerate(row):
            positions = [(y, x - 1), (y, x + 1), (y - 1, x), (y - 1, x + 1), (y + 1, x - 1), (y + 1, x)]
            neighbours[key] = "".join(_ROWS[v][u] for v, u in positions if 0 <= v < len(_ROWS) and 0 <= u < len(_ROWS[v]))
    return neighbours


_NEIGHBOURS = _neighbours()


def misspelling(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a word by a known misspelling.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = sentence.words[i]
    if len(word) <= _MIN_LETTERS and random.random() >= _SHARE_OF_SHORT[len(word)]:
        return None
    wrongs = likely_misspellings(word)
    wrong = random.choice(wrongs) if wrongs else ""
    return None if not wrong or is_known(wrong) else replace_token(sentence, i, wrong)


def sound(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a word by a phonetic spelling: becouse, tecnology, definately.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = _spellable_word(sentence, i, _MIN_LETTERS + 1)
    if not word:
        return None
    unstressed = random.random() < _SHARE_OF_UNSTRESSED
    fitting = [pair for pair in (_UNSTRESSED if unstressed else _SIMILAR) if pair[0] in word[1:]]
    if not fitting:
        return None
    old, new = random.choice(fitting)
    positions = [at for at in range(1, len(word)) if word.startswith(old, at) and not (unstressed and not _is_unstressed(word, at))]
    at = random.choice(positions) if positions else 0
    return _misspell(sentence, i, word[:at] + new + word[at + len(old) :]) if at else None


def _is_unstressed(word: str, at: int) -> bool:
    if word.endswith(("ing", "ed")) and at >= len(word) - 3:
        return False
    inside = 1 < at < len(word) - 1 and word[at - 1] not in _VOWELS and word[at + 1] not in _VOWELS
    return inside and any(letter in _VOWELS for letter in word[: at - 1])


def keyboard(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Replace a letter by one on an adjacent key, or insert such a letter before it.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = _spellable_word(sentence, i, _MIN_LETTERS)
    if not word:
        return None
    at = random.randrange(1, len(word))
    other = random.choice(_NEIGHBOURS[word[at]])
    return _misspell(sentence, i, word[:at] + other + word[at + (random.random() < 0.7) :])


def transposition(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Swap two adjacent letters.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = _spellable_word(sentence, i, _MIN_LETTERS)
    if not word:
        return None
    at = random.randrange(1, len(word) - 1)
    return _misspell(sentence, i, word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def letter_drop(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Remove a letter, preferably one of a double letter.

    Returns None if this error is impossible at token i, or if the random choices leave the sentence unchanged.
    """
    word = _spellable_word(sentence, i, _MIN_LETTERS)
    if not word:
        return None
    doubled = [at for at in range(1, len(word)) if word[at] == word[at - 1]]
    at = random.choice(doubled) if doubled and random.random() < 0.7 else random.randrange(1, len(word))
    return _misspell(sentence, i, word[:at] + word[at + 1 :])


def letter_double(sentence: Sentence, i: int, random: Random) -> TokenEdit | None:
    """Double a letter, mostly a consonant between vowels.

    None if token i is not a known English word of at least 4 ASCII letters, if the drawn letter is part of a double letter, or if
    the result is a word; mostly also if the letter is not a consonant between vowels.
    """
    word = _spellable_word(sentence, i, _MIN_LETTERS)
    if not word:
        return None
    between = [at for at in range(1, len(word) - 1) if word[at] in "bcdfglmnprstz" and word[at - 1] in _VOWELS and word[at + 1] in _VOWELS]
    at = random.choice(between) if between and random.random() < 0.9 else random.randrange(1, len(word))
    if word[at] in word[at - 1 : at] + word[at + 1 : at + 2] or (at not in between and random.random() < 0.9):
        return None
    return _misspell(sentence, i, word[:at] + word[at] + word[at:])


def _spellable_word(sentence: Sentence, i: int, length: int) -> str:
    """The word at i if it is a known English word of ASCII letters with at least `length` letters; else ""."""
    word = sentence.words[i]
    return word if len(word) >= length and sentence.is_plain(i) and is_known(word) else ""


def _misspell(sentence: Sentence, i: int, text: str) -> TokenEdit | None:
    """Replace token i by `text`; None if `text` is a known word."""
    return None if is_known(text) else replace_token(sentence, i, text)
