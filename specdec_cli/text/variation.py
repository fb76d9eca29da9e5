"""Pairs with other numbers, times and names, so that a model learns to copy them instead of the ones that are frequent in its text."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable

from specdec_cli.text.clock_times import source_times, target_times, with_other_times
from specdec_cli.text.numbers import same_numbers
from specdec_cli.text.parallel import Pair

_NUMBER = re.compile(r"\d+")
_PLAIN_NUMBER = re.compile(r"(?<![\w&#%])(?!1\b)\d+(?![\w$])")
"""A number that is not 1, which stands with the singular, and no part of a word, a character reference (&#39;) or a placeholder (%1$s)."""
_NAME = re.compile(r"\b[A-Z][a-zäöüß]{2,}\b")
_NAME_INSIDE = re.compile(r"(?<=[a-z,] )" + _NAME.pattern)
_LOWER = re.compile(r"\b[a-zäöüß]+\b")
_MOSTLY_NAME = 10
"""A name is capitalised inside sentences more than this many times as often as it is written in lower case in the target text."""
_TRIES = 20
"""Draws for a word that is not taken."""
_RARE = 200
"""Names that replace others occur at most this often, so that most of them are names that the model has hardly seen."""


class Variation:
    """Replaces numbers, times of day and names of pairs by others.

    A pair whose sides have the same numbers gets, with the probability `share`, random numbers of the same lengths instead: not for 1,
    which stands with the singular, and not in words, character references and placeholders. With the same probability, a pair whose
    sides have the same times (9:30 p.m. and 21.30 Uhr) gets others; numbers of times change in no other way. Names are capitalised words
    of the letters A to Z, a to z and äöüß inside sources that their targets have too. A pair with as many of each on both sides gets,
    with the probability `share`, rare names of `pairs` instead. Different numbers and names become different ones. The same `seed` gives
    the same result. `varied` counts the pairs changed.
    """

    def __init__(self, pairs: Iterable[Pair], share: float, seed: int = 0) -> None:
        self.share, self.varied, self._random = share, 0, random.Random(seed)
        names, lower = Counter[str](), Counter[str]()
        for pair in pairs:
            lower.update(_LOWER.findall(pair.target))
            in_target = set(_NAME.findall(pair.target))
            names.update(name for name in _NAME_INSIDE.findall(pair.source) if name in in_target)
        self._names = {name for name, count in names.items() if count > _MOSTLY_NAME * lower[name.lower()]}
        self._rare = sorted(name for name in self._names if names[name] <= _RARE)

    def __call__(self, pair: Pair) -> Pair:
        """The pair, or one with other numbers, times or names."""
        before, changes = pair, dict[str, str]()
        if self._random.random() < self.share:
            pair = with_other_times(pair, self._random)
        times = (*source_times(pair.source), *target_times(pair.target))
        in_times = {number for time in times for number in _NUMBER.findall(time.written[0])}
        source, target = (Counter(_PLAIN_NUMBER.findall(text)) for text in (pair.source, pair.target))
        numbers = [number for number in source if source[number] == target[number] and number not in in_times]
        if numbers and same_numbers(pair) and self._random.random() < self.share:
            changes |= self._others(numbers, {*_NUMBER.findall(pair.source), "1"}, self._number)
        source, target = (Counter(_NAME.findall(text)) for text in (pair.source, pair.target))
        names = [name for name in source if name in self._names and source[name] == target[name]]
        if names and self._rare and self._random.random() < self.share:
            changes |= self._others(names, set(source), lambda _: self._random.choice(self._rare))
        varied = Pair(_replaced(pair.source, changes), _replaced(pair.target, changes), pair.domain)
        self.varied += varied != before
        return varied

    def _others(self, words: list[str], taken: set[str], draw: Callable[[str], str]) -> dict[str, str]:
        """A word that `draw` gives for each of `words`, none of them twice and none in `taken`; the word itself if none is found."""
        changes: dict[str, str] = {}
        for word in words:
            drawn = next((other for other in (draw(word) for _ in range(_TRIES)) if other not in taken), word)
            taken.add(drawn)
            changes[word] = drawn
        return changes

    def _number(self, like: str) -> str:
        first = self._random.choice("123456789") if like[0] != "0" else "0"
        return first + "".join(self._random.choice("0123456789") for _ in like[1:])


def _replaced(text: str, changes: dict[str, str]) -> str:
    for pattern in (_PLAIN_NUMBER, _NAME):
        text = pattern.sub(lambda found: changes.get(found.group(), found.group()), text)
    return text
