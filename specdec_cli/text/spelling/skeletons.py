"""Words that differ from a misspelt one in several vowels and doubled letters, found by their consonants: `temparture`, `trobull`."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache

_SOUNDS = ((b"ph", b"f"), (b"ck", b"k"), (b"q", b"k"), (b"z", b"s"), (b"tion", b"sn"), (b"sion", b"sn"), (b"wr", b"r"), (b"kn", b"n"))
"""Letters that sound like others."""
_VOWELS = "aeiouy"
_BEGINNINGS = (*((b"\n%c" % vowel, b"\n\x01") for vowel in _VOWELS.encode()), (b"\nh", b"\n\x02"), (b"\n'", b"\n\x03"))
"""First letters that are kept, and what stands for them while such letters are deleted."""
_KEPT, _DELETED = bytes.maketrans(b"\x01\x02\x03", b"ah'"), b"aeiouyh'"
_DOUBLED = re.compile(rb"(.)(?=\1)")
_CONSONANTS = "bcdfgjklmnprstvwx"
_FEWEST = 3
"""Consonants of the shortest skeleton that is compared: shorter ones stand for too many words."""


def skeletons(words: Iterable[str]) -> list[str]:
    """The first letter of each word in small letters (all vowels are one) and its consonants, each written once and some as others.

    All words are one text of bytes while they are changed: that takes a fraction of the time of one after the other.
    """
    text = "\n".join(["", *words]).encode()
    for old, new in (*_SOUNDS, *_BEGINNINGS):
        text = text.replace(old, new)
    return _DOUBLED.sub(b"", text.translate(_KEPT, _DELETED)).decode().split("\n")[1:]


def skeleton(word: str) -> str:
    """The skeleton of one word (see `skeletons`)."""
    return skeletons([word])[0]


def is_like(word: str, other: str) -> bool:
    """Whether two words have the same skeleton."""
    return skeleton(word) == skeleton(other)


class Skeletons:
    """The words that `read` returns, which are sorted, by their skeletons. Those with one first letter are prepared when a word that begins
    so is looked up.
    """

    def __init__(self, read: Callable[[], Sequence[str]]) -> None:
        self._read = read
        self._of_letter = cache(self._prepared)

    def _prepared(self, letter: str) -> dict[str, list[str]]:
        words, found = self._read(), defaultdict(list)
        for first in _VOWELS if letter == "a" else letter:
            same = words[bisect_left(words, first) : bisect_left(words, chr(ord(first) + 1))]
            for own, word in zip(skeletons(same), same, strict=True):
                found[own].append(word)
        return found

    def similar(self, word: str) -> Iterator[tuple[str, int]]:
        """Yield the words with the skeleton of `word`, or one that differs from it by one consonant or by the order of two, each with the
        number of letters in which it differs from `word`, if that is at most a third of them.
        """
        own = skeleton(word)
        if len(own) < _FEWEST:
            return
        known, most = self._of_letter(own[0]), len(word) // 3
        letters = Counter(word).items()
        for other in {own, *_near(own)}.intersection(known):
            for candidate in known[other]:
                longer = len(candidate) - len(word)
                if abs(longer) > most:
                    continue
                missing = sum(count - present for letter, count in letters if (present := candidate.count(letter)) < count)
                if max(missing, missing + longer) <= most and (slips := distance(word, candidate)) <= most:
                    yield candidate, slips


def _near(own: str) -> set[str]:
    parts = [(own[:place], own[place:]) for place in range(1, len(own) + 1)]
    found = {before + after[1] + after[0] + after[2:] for before, after in parts if len(after) > 1}
    found |= {before + after[1:] for before, after in parts if after}
    found |= {before + letter + after for before, after in parts for letter in _CONSONANTS}
    return found | {before + letter + after[1:] for before, after in parts if after for letter in _CONSONANTS}


def distance(first: str, second: str) -> int:
    """The least number of letters that are inserted, removed, replaced, or exchanged with the next one, to make one word of the other."""
    before, row = [0] * (len(second) + 1), list(range(len(second) + 1))
    for number, letter in enumerate(first, start=1):
        earlier, before, row = before, row, [number]
        for place, other in enumerate(second, start=1):
            least = min(before[place] + 1, row[-1] + 1, before[place - 1] + (letter != other))
            if number > 1 and place > 1 and letter == second[place - 2] and first[number - 2] == other:
                least = min(least, earlier[place - 2] + 1)
            row.append(least)
    return row[-1]
