"""Corruption of a line: the number, kinds and positions of its errors."""

import math
from bisect import bisect
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import accumulate, chain
from random import Random

from specdec_cli.corruption.edits import TokenEdit
from specdec_cli.corruption.kinds import KINDS
from specdec_cli.corruption.recipe import CorruptionRecipe, ErrorCounts
from specdec_cli.corruption.tokens import Sentence
from specdec_cli.text.edits import apply_edits


@dataclass(frozen=True)
class Corruption:
    """The result for one line: `text` with errors, the names of the kinds of `errors`, and the number of words of the line.

    Without errors, `text` is the original line.
    """

    text: str
    errors: tuple[str, ...] = ()
    words: int = 0


class Corrupter:
    """Puts errors into lines as a recipe says; the result depends only on the recipe, the seed and the arguments of `corrupt`."""

    def __init__(self, recipe: CorruptionRecipe, seed: int) -> None:
        self._recipe, self._seed = recipe, seed
        self._random = Random()
        self._names = [name for name in KINDS if recipe.rates.get(name)]
        self._bounds = list(accumulate(recipe.rates[name] for name in self._names))

    def corrupt(self, text: str, number: int, copy: int = 0) -> Corruption:
        """Corrupt the line `text`.

        `number` (of the line) and `copy` (of several corruptions of the line) seed the random generator, with the seed of the run.
        """
        self._random.seed(f"{self._seed} {number} {copy}")
        sentence = Sentence(text)
        clean = Corruption(text, words=sentence.length)
        if not self._names or self._random.random() < self._recipe.clean:
            return clean
        taken: set[int] = set()
        edits, errors = [], []
        positions = sorted(range(len(sentence.tokens)), key=lambda _: self._random.random())
        for _ in range(draw_count(self._recipe.errors, sentence.length, self._random)):
            found = self._find(sentence, positions, taken)
            if found is None:
                break
            name, edit = found
            taken.update(range(edit.first, edit.last + 1))
            edits.append(edit)
            errors.append(name)
        corrupted = apply_edits(text, sorted(edits))
        # Two errors can cancel out, for instance a doubled word and the removal of the same word.
        return clean if corrupted == text else Corruption(corrupted, tuple(errors), sentence.length)

    def _find(self, sentence: Sentence, positions: Sequence[int], taken: Set[int]) -> tuple[str, TokenEdit] | None:
        """An error of a random kind at a random position that is not `taken`; None if no kind applies anywhere."""
        random, names, bounds = self._random, self._names, self._bounds
        tried: set[str] = set()
        while len(tried) < len(self._names):
            name = names[bisect(bounds, random.random() * bounds[-1], 0, len(bounds) - 1)]
            if name in tried:
                names = [other for other in names if other not in tried]
                bounds = list(accumulate(self._recipe.rates[other] for other in names))
                continue
            kind = KINDS[name]
            start = int(random.random() * len(positions))
            for i in chain(positions[start:], positions[:start]):
                edit = None if i in taken else kind(sentence, i, random)
                if edit is not None and taken.isdisjoint(range(edit.first, edit.last + 1)):
                    return name, edit
            tried.add(name)
        return None


def draw_count(errors: ErrorCounts, words: int, random: Random) -> int:
    """Draw the number of errors in a sentence of `words` words from the distribution that ErrorCounts describes."""
    rate = errors.mean
    shape = rate * rate / errors.variance if errors.variance else math.inf
    if _SHAPES[0] < shape < _SHAPES[1]:
        rate = random.gammavariate(shape, rate / shape)
    limit = max(1, math.floor(errors.limit * words)) if errors.limit else 0
    return min(_poisson(rate * words, random), limit)


# Outside this range of shapes, the gamma distribution is degenerate and cannot be sampled.
_SHAPES = (1e-6, 1e9)


def _poisson(mean: float, random: Random) -> int:
    """Draw from the Poisson distribution by Knuth's method, in steps of at most 500 to avoid underflow."""
    count = 0
    while mean > 0:
        step = min(mean, 500.0)
        mean -= step
        bound, product = math.exp(-step), random.random()
        while product > bound:
            count += 1
            product *= random.random()
    return count
