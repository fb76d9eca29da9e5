"""Errors of spelling: known misspellings, words spelled as they sound, slips of the fingers."""

from random import Random

from specdec_cli.corruption.edits import Edit, replaced
from specdec_cli.corruption.lexicon import is_known
from specdec_cli.corruption.misspellings import likely_misspellings
from specdec_cli.corruption.tables import pairs
from specdec_cli.corruption.tokens import Sentence

# Letters that sound alike, or are left out because nothing is heard of them.
_ALIKE = pairs(
    "ough>ogh ough>ouh ought>out eigh>ei tion>sion sion>tion cial>tial tial>cial cian>tion ance>ence ence>ance able>ible "
    "ible>able ally>aly ully>uly tely>tly ious>ous eous>ious our>or ie>ei ei>ie ea>ee ee>ea ai>ei au>ou ou>u oo>u ph>f gh>g "
    "wh>w kn>n ck>k sc>s ch>k ps>s mn>n ght>gt rh>r ui>i ue>u gu>g que>ke ent>ant ant>ent ery>ary ary>ery "
    "cc>c ss>s ll>l mm>m nn>n pp>p rr>r tt>t ff>f ce>se ci>si"
)
# Vowels that are hardly heard: between consonants, and not in the first syllable.
_WEAK = pairs("ar>er er>ar or>er er>or e>i i>e e>a a>e o>a u>o o>e a>i y>i")
_SHARE_OF_WEAK = 0.4
_VOWELS = "aeiou"
_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_MIN = 4
_SHARE_OF_SHORT = (0.0, 0.0, 0.02, 0.05, 0.3)


def _neighbours() -> dict[str, str]:
    """The keys around each key: beside it, and slanted above and below."""
    found = {}
    for y, row in enumerate(_ROWS):
        for x, key in enumerate(row):
            places = [(y, x - 1), (y, x + 1), (y - 1, x), (y - 1, x + 1), (y + 1, x - 1), (y + 1, x)]
            found[key] = "".join(_ROWS[v][u] for v, u in places if 0 <= v < len(_ROWS) and 0 <= u < len(_ROWS[v]))
    return found


_NEIGHBOURS = _neighbours()


def misspelling(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """A misspelling that people have made, from a dictionary of them."""
    word = sentence.words[i]
    if len(word) <= _MIN and random.random() >= _SHARE_OF_SHORT[len(word)]:
        return None
    wrongs = likely_misspellings(word)
    wrong = random.choice(wrongs) if wrongs else ""
    return None if not wrong or is_known(wrong) else replaced(sentence, i, wrong)


def sound(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """A word spelled as it might sound: becouse, tecnology, definately."""
    word = _word(sentence, i, _MIN + 1)
    if not word:
        return None
    weak = random.random() < _SHARE_OF_WEAK
    fitting = [pair for pair in (_WEAK if weak else _ALIKE) if pair[0] in word[1:]]
    if not fitting:
        return None
    old, new = random.choice(fitting)
    places = [at for at in range(1, len(word)) if word.startswith(old, at) and not (weak and not _is_weak(word, at))]
    at = random.choice(places) if places else 0
    return _wrong(sentence, i, word[:at] + new + word[at + len(old) :]) if at else None


def _is_weak(word: str, at: int) -> bool:
    if word.endswith(("ing", "ed")) and at >= len(word) - 3:
        return False
    inside = 1 < at < len(word) - 1 and word[at - 1] not in _VOWELS and word[at + 1] not in _VOWELS
    return inside and any(letter in _VOWELS for letter in word[: at - 1])


def keyboard(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """A key beside the right one, instead of it or with it."""
    word = _word(sentence, i, _MIN)
    if not word:
        return None
    at = random.randrange(1, len(word))
    other = random.choice(_NEIGHBOURS[word[at]])
    return _wrong(sentence, i, word[:at] + other + word[at + (random.random() < 0.7) :])


def transposition(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """Two neighbouring letters in the wrong order."""
    word = _word(sentence, i, _MIN)
    if not word:
        return None
    at = random.randrange(1, len(word) - 1)
    return _wrong(sentence, i, word[:at] + word[at + 1] + word[at] + word[at + 2 :])


def letter_drop(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """A letter is missing, more often one of two that are the same."""
    word = _word(sentence, i, _MIN)
    if not word:
        return None
    twice = [at for at in range(1, len(word)) if word[at] == word[at - 1]]
    at = random.choice(twice) if twice and random.random() < 0.7 else random.randrange(1, len(word))
    return _wrong(sentence, i, word[:at] + word[at + 1 :])


def letter_double(sentence: Sentence, i: int, random: Random) -> Edit | None:
    """A letter stands twice, mostly a consonant between vowels."""
    word = _word(sentence, i, _MIN)
    if not word:
        return None
    between = [at for at in range(1, len(word) - 1) if word[at] in "bcdfglmnprstz" and word[at - 1] in _VOWELS and word[at + 1] in _VOWELS]
    at = random.choice(between) if between and random.random() < 0.9 else random.randrange(1, len(word))
    if word[at] in word[at - 1 : at] + word[at + 1 : at + 2] or (at not in between and random.random() < 0.9):
        return None
    return _wrong(sentence, i, word[:at] + word[at] + word[at:])


def _word(sentence: Sentence, i: int, length: int) -> str:
    """The word at i if a reader could mend it: English, of ASCII letters, and long enough; else ""."""
    word = sentence.words[i]
    return word if len(word) >= length and sentence.is_plain(i) and is_known(word) else ""


def _wrong(sentence: Sentence, i: int, text: str) -> Edit | None:
    """`text` for token i, unless that is a word."""
    return None if is_known(text) else replaced(sentence, i, text)
