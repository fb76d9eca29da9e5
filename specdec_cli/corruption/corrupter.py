"""Errors put into a line: how many, of which kinds, and where."""

import math
from bisect import bisect
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random

from specdec_cli.corruption.edits import Edit
from specdec_cli.corruption.kinds import KINDS
from specdec_cli.corruption.recipe import CorruptionRecipe, ErrorCounts
from specdec_cli.corruption.tokens import Sentence
from specdec_cli.text.edits import apply_edits


@dataclass(frozen=True)
class Corruption:
    """A line with errors, the kind of each, and the number of its words; the clean line itself if there are none."""

    text: str
    errors: tuple[str, ...] = ()
    words: int = 0


class Corrupter:
    """Puts errors into lines after a recipe. What becomes of a line depends on the arguments of `corrupt` alone."""

    def __init__(self, recipe: CorruptionRecipe, seed: int) -> None:
        self._recipe, self._seed = recipe, seed
        self._random = Random()
        self._names = [name for name in KINDS if recipe.rates.get(name)]
        self._bounds = list(accumulate(recipe.rates[name] for name in self._names))

    def corrupt(self, text: str, number: int, copy: int = 0) -> Corruption:
        """Line `number`, corrupted for the time `copy`, both counted from anywhere."""
        self._random.seed(f"{self._seed} {number} {copy}")
        sentence = Sentence(text)
        clean = Corruption(text, words=sentence.length)
        if not self._names or self._random.random() < self._recipe.clean:
            return clean
        taken: set[int] = set()
        edits, errors = [], []
        places = sorted(range(len(sentence.tokens)), key=lambda _: self._random.random())
        for _ in range(draw_count(self._recipe.errors, sentence.length, self._random)):
            found = self._find(sentence, places, taken)
            if found is None:
                break
            name, edit = found
            taken.update(range(edit.first, edit.last + 1))
            edits.append(edit)
            errors.append(name)
        corrupted = apply_edits(text, sorted(edits))
        # Two errors can undo each other, as where a word is doubled and the same word after it dropped.
        return clean if corrupted == text else Corruption(corrupted, tuple(errors), sentence.length)

    def _find(self, sentence: Sentence, places: Sequence[int], taken: Set[int]) -> tuple[str, Edit] | None:
        """An error of a random kind at a random place that is not taken; None if no kind finds a place."""
        random, names, bounds = self._random, self._names, self._bounds
        tried: set[str] = set()
        while len(tried) < len(self._names):
            name = names[bisect(bounds, random.random() * bounds[-1], 0, len(bounds) - 1)]
            if name in tried:
                names = [other for other in names if other not in tried]
                bounds = list(accumulate(self._recipe.rates[other] for other in names))
                continue
            kind = KINDS[name]
            start = int(random.random() * len(places))
            for i in chain(places[start:], places[:start]):
                edit = None if i in taken else kind(sentence, i, random)
                if edit is not None and taken.isdisjoint(range(edit.first, edit.last + 1)):
                    return name, edit
            tried.add(name)
        return None


def draw_count(errors: ErrorCounts, words: int, random: Random) -> int:
    """The number of errors in a sentence of `words`."""
    rate = errors.mean
    shape = rate * rate / errors.variance if errors.variance else math.inf
    if _SHAPES[0] < shape < _SHAPES[1]:
        rate = random.gammavariate(shape, rate / shape)
    most = max(1, math.floor(errors.limit * words)) if errors.limit else 0
    return min(_poisson(rate * words, random), most)


# Beyond these the gamma distribution is hardly one, and cannot be drawn from.
_SHAPES = (1e-6, 1e9)


def _poisson(mean: float, random: Random) -> int:
    """A number from the Poisson distribution, by Knuth's method in steps that do not underflow."""
    count = 0
    while mean > 0:
        step = min(mean, 500.0)
        mean -= step
        bound, product = math.exp(-step), random.random()
        while product > bound:
            count += 1
            product *= random.random()
    return count
