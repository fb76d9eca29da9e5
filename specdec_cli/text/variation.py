"""Pairs with other numbers and names, so that a model learns to copy them instead of the ones that are frequent in its text."""

import random
import re
from collections import Counter
from collections.abc import Iterable

from specdec_cli.text.parallel import Pair

_NUMBER = re.compile(r"\d+")
_NAME = re.compile(r"\b[A-Z][a-zäöüß]{2,}\b")
_NAME_INSIDE = re.compile(r"(?<=[a-z,] )" + _NAME.pattern)
_LOWER = re.compile(r"\b[a-zäöüß]+\b")
_MOSTLY_NAME = 10
"""A name is capitalised inside sentences more than this many times as often as it is written in lower case in the target text."""
_RARE = 200
"""Names that replace others occur at most this often, so that most of them are names that the model has hardly seen."""


def same_numbers(pair: Pair) -> bool:
    """Whether both sides have the same numbers in digits, in any order."""
    return sorted(_NUMBER.findall(pair.source)) == sorted(_NUMBER.findall(pair.target))


class Variation:
    """Replaces numbers and names of pairs by others.

    A pair whose sides have the same numbers gets, with the probability `share`, random numbers of the same lengths instead. Names are
    capitalised words inside sources that their targets have too. A pair with as many of each on both sides gets, with the
    probability `share`, rare names of `pairs` instead. The same `seed` gives the same result.
    """

    def __init__(self, pairs: Iterable[Pair], share: float, seed: int = 0) -> None:
        self.share, self._random = share, random.Random(seed)
        names, lower = Counter[str](), Counter[str]()
        for pair in pairs:
            lower.update(_LOWER.findall(pair.target))
            in_target = set(_NAME.findall(pair.target))
            names.update(name for name in _NAME_INSIDE.findall(pair.source) if name in in_target)
        self._names = {name for name, count in names.items() if count > _MOSTLY_NAME * lower[name.lower()]}
        self._rare = sorted(name for name in self._names if names[name] <= _RARE)

    def __call__(self, pair: Pair) -> Pair:
        """The pair, or one with other numbers, other names, or both."""
        changes: dict[str, str] = {}
        if same_numbers(pair) and self._random.random() < self.share:
            changes |= {number: self._other_number(number) for number in _NUMBER.findall(pair.source)}
        source, target = (Counter(_NAME.findall(text)) for text in (pair.source, pair.target))
        shared = [name for name in source if name in self._names and source[name] == target[name]]
        if shared and self._random.random() < self.share:
            changes |= {name: self._random.choice(self._rare) for name in shared if self._rare}
        return Pair(_replaced(pair.source, changes), _replaced(pair.target, changes), pair.domain) if changes else pair

    def _other_number(self, number: str) -> str:
        first = self._random.choice("123456789") if number[0] != "0" else "0"
        return first + "".join(self._random.choice("0123456789") for _ in number[1:])


def _replaced(text: str, changes: dict[str, str]) -> str:
    for pattern in (_NUMBER, _NAME):
        text = pattern.sub(lambda found: changes.get(found.group(), found.group()), text)
    return text
