"""Corrections of misspelt words, from a lexicon and the counts of n-grams.

The probability of a correction is that of a noisy channel (Kernighan, Church and Gale 1990, "A spelling correction program based on a noisy
channel model"): the probability of the words in their context, times that of the misspelling.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.lexicon import Lexicon
from specdec_cli.text.ngrams import SCORE_WEIGHT, NgramModel

_WORD = re.compile(r"(?<![\w'’@#&/\\.-])[A-Za-z]++(?![\w@&/\\-]|\.\w|['’](?!s\b))")  # noqa: RUF001
"""A word that is not part of a longer name, such as a domain, nor joined to another one, nor written with an apostrophe at its end."""
_BEGINNING = re.compile(r"(?:^|[a-z]{3}[.!?][\"')]*\s)\W*$")
_ALPHABET = "abcdefghijklmnopqrstuvwxyz'"
_VOWELS = "aeiouy"
_SHORTEST = 4
"""Letters of the shortest word that is corrected: most shorter words without an entry are abbreviations."""
_LEAST = 5
"""The least count of a known word that is not in the lexicon, and of a word, or two together, that replace another one."""
_FOREIGN = 2
"""If more than one word of this number is unknown, the text is probably in another language."""
_COST, _COST_OF_LETTER, _MOST_LETTERS = 21.5, 1.5, 11
"""The negative log probability of a misspelling, by which it decreases with each letter of the word, and up to how many. Few words differ
from a long word in only one letter by chance.
"""
_USUAL, _FIRST_LETTER, _NAME = -3.0, 3.0, 5.0
"""What is added to the cost: for the most usual misspellings, which are a letter once for twice or twice for once, two exchanged letters,
and a vowel for another one; for those of the first letter; and for a word with a capital letter, which may be a name.
"""


class Speller:
    """Corrects words that are not in `lexicon` and rare in `ngrams`, if changing a letter makes them known, or a space two known ones."""

    def __init__(self, lexicon: Lexicon, ngrams: NgramModel) -> None:
        self._lexicon, self._ngrams = lexicon, ngrams
        self._knows = lru_cache(2**16)(self._is_known)
        self._likely = lru_cache(2**10)(self._corrections)

    def edits(self, text: str) -> list[Edit]:
        """Corrections of misspelt words of `text`, in order, with their scores.

        The score is a twentieth of the logarithm of the ratio by which the correction makes the text more probable: the words by the
        n-grams, and the misspelling by the constants of this module. It can be compared with those of `score_edits`.
        """
        words = list(_WORD.finditer(text))
        unknown = [word for word in words if not self._knows(word.group())]
        if len(unknown) > max(len(words) // _FOREIGN, 1):
            return []
        return [edit for word in unknown if _may_be_misspelt(word) and (edit := self._best(text, word)) is not None]

    def _is_known(self, word: str) -> bool:
        """Whether a word is frequent, or it, or that of which it may be a plural, is in the lexicon, be it a name there."""
        lower = word.lower()
        is_frequent = max(self._ngrams.count(word), self._ngrams.count(lower)) >= _LEAST
        forms = {lower, lower.removesuffix("s"), word.capitalize()}
        return is_frequent or not self._lexicon.words.isdisjoint(forms)

    def _best(self, text: str, word: re.Match[str]) -> Edit | None:
        """The most probable correction of a word of `text`; None if there is none."""
        source, found = word.group(), list[tuple[float, Edit]]()
        for correction, cost in self._likely(source.lower()):
            new = correction if source.islower() else correction[0].upper() + correction[1:]
            edit = Edit(word.start(), word.end(), source, new)
            ratio = self._ngrams.log_ratio(text, apply_edits(text, [edit])) - cost - _NAME * (not source.islower())
            found.append((ratio, edit))
        if not found:
            return None
        ratio, best = max(found, key=lambda each: each[0])
        return replace(best, score=SCORE_WEIGHT * ratio)

    def _corrections(self, word: str) -> tuple[tuple[str, float], ...]:
        """Known words, or two of them, that one misspelling makes `word`, and the cost of each."""
        cost = _COST - _COST_OF_LETTER * min(len(word), _MOST_LETTERS)
        found: dict[str, float] = {}
        for new, more in _variants(word):
            if new not in self._lexicon.words or self._ngrams.count(new) < _LEAST or new == f"{word}s":
                continue  # a singular that is not in the lexicon may be right
            total = cost + more + _FIRST_LETTER * (new[0] != word[0])
            found[new] = min(total, found.get(new, total))
        for place in range(1, len(word)):
            parts = word[:place], word[place:]
            if self._ngrams.count(*parts) >= _LEAST and self._lexicon.words.issuperset(parts):
                found[" ".join(parts)] = cost
        return tuple(found.items())


def _may_be_misspelt(word: re.Match[str]) -> bool:
    """Whether a word is long enough, and neither a name or an abbreviation nor part of a compound with spaces around its hyphen."""
    text, source = word.string, word.group()
    before, after = text[: word.start()], text[word.end() :]
    if len(source) < _SHORTEST or before.endswith("- ") or after.startswith(" -"):
        return False
    return source.islower() or (source.istitle() and _BEGINNING.search(before) is not None and not re.match(r"\s+[A-Z]|['’]", after))  # noqa: RUF001


def _variants(word: str) -> Iterator[tuple[str, float]]:
    """The texts that one added, left out or changed letter, or two exchanged ones, make of `word`, and what this costs more than usual."""
    for place in range(len(word) + 1):
        before, after = word[:place], word[place:]
        near = (before[-1:], after[:1])
        for letter in _ALPHABET:
            yield before + letter + after, _USUAL if letter in near else 0.0
        if not after:
            return
        yield before + after[1:], _USUAL if after[0] in (before[-1:], after[1:2]) else 0.0
        if len(after) > 1:
            yield before + after[1] + after[0] + after[2:], _USUAL
        for letter in _ALPHABET:
            yield before + letter + after[1:], _USUAL if letter in _VOWELS and after[0] in _VOWELS else 0.0
