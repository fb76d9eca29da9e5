"""Words that differ from a misspelt one in several vowels and doubled letters, found by their consonants: `temparture`, `trobull`."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cache, cached_property

_SOUNDS = (("ph", "f"), ("ck", "k"), ("q", "k"), ("z", "s"), ("tion", "sn"), ("sion", "sn"), ("wr", "r"), ("kn", "n"))
"""Letters that sound like others."""
_BEGINNINGS = (("[aeiouy]", "\x01"), ("h", "\x02"), ("'", "\x03"))
"""First letters that are kept, and what stands for them while such letters are deleted."""
_DELETED = str.maketrans("\x01\x02\x03", "ah'", "aeiouyh'")
_DOUBLED = re.compile(r"(.)\1+")
_CONSONANTS = "bcdfgjklmnprstvwx"
_FEWEST = 3
"""Consonants of the shortest skeleton that is compared: shorter ones stand for too many words."""


def skeletons(words: Iterable[str]) -> list[str]:
    """The first letter of each word in small letters (all vowels are one) and its consonants, each written once and some as others.

    All words are one text while they are changed: that takes a fraction of the time of one after the other.
    """
    text = "\n".join(words)
    for letters, sound in _SOUNDS:
        text = text.replace(letters, sound)
    for letters, mark in _BEGINNINGS:
        text = re.sub(f"^{letters}", mark, text, flags=re.MULTILINE)
    return _DOUBLED.sub(r"\1", text.translate(_DELETED)).split("\n")


def skeleton(word: str) -> str:
    """The skeleton of one word (see `skeletons`)."""
    return skeletons([word])[0]


def _first(word: str) -> str:
    return "a" if word[:1] in tuple("aeiouy") else word[:1]


def is_like(word: str, other: str) -> bool:
    """Whether two words have the same skeleton."""
    return skeleton(word) == skeleton(other)


class Skeletons:
    """The words that `read` returns, by their skeletons. Those with one first letter are sorted when a word that begins so is looked up."""

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        self._read = read
        self._of_letter = cache(self._sorted)

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        found = defaultdict(list)
        for word in self._read():
            found[_first(word)].append(word)
        return found

    def _sorted(self, letter: str) -> dict[str, list[str]]:
        found = defaultdict(list)
        words = self._by_letter.get(letter, [])
        for own, word in zip(skeletons(words), words, strict=False):
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
        for other in {own, *_near(own)}.intersection(known):
            for candidate in known[other]:
                if abs(len(candidate) - len(word)) <= most and (slips := distance(word, candidate)) <= most:
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
