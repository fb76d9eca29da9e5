"""Corruption of a line: the kinds of its errors, recipes that say how often they are made, and their places."""

import math
from bisect import bisect
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, chain
from random import Random
from typing import Annotated

from specdec_cli.corruption import chinese, clauses, confusions, nominal, prepositions, spelling, verbal, writing
from specdec_cli.corruption.tokens import Sentence, TokenEdit
from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, check_fields, unknown_key
from specdec_cli.text.edits import apply_edits

Kind = Callable[[Sentence, int, Random], TokenEdit | None]
"""A function (sentence, i, random) that returns an edit which makes an error at token i; None if this kind does not apply there."""

_KINDS: tuple[Kind, ...] = (
    spelling.misspelling,
    spelling.sound,
    spelling.keyboard,
    spelling.transposition,
    spelling.letter_drop,
    spelling.letter_double,
    nominal.article_drop,
    nominal.article_insert,
    nominal.article_swap,
    nominal.article_sound,
    prepositions.preposition_swap,
    prepositions.preposition_drop,
    prepositions.preposition_insert,
    verbal.agreement,
    verbal.verb_form,
    verbal.infinitive,
    verbal.tense,
    verbal.irregular_form,
    verbal.auxiliary_drop,
    verbal.auxiliary_insert,
    nominal.noun_number,
    nominal.double_plural,
    nominal.possessive,
    nominal.adjective_form,
    nominal.derivation,
    confusions.homophone,
    confusions.verb_choice,
    clauses.pronoun,
    clauses.conjunction,
    clauses.dropped_word,
    clauses.doubled_word,
    clauses.word_order,
    prepositions.collocation,
    prepositions.time_preposition,
    confusions.common_homophone,
    clauses.complement,
    clauses.clause_tense,
    clauses.state_of_having,
    clauses.clause_order,
    writing.fused,
    writing.split,
    writing.hyphen,
    writing.spacing,
    writing.comma_drop,
    writing.comma_insert,
    writing.punctuation_swap,
    writing.final_stop,
    writing.apostrophe,
    writing.lower_case,
    writing.upper_case,
    chinese.character_drop,
    chinese.character_insert,
    chinese.character_confusion,
    chinese.character_swap,
)
KINDS: dict[str, Kind] = {kind.__name__: kind for kind in _KINDS}
"""The kinds of error by the names that recipes use, in the order of the summary of a run."""

Share = Annotated[float, Between(0, 1)]
Rate = Annotated[float, Between(0, 1e300)]


@dataclass(frozen=True)
class ErrorCounts:
    """Distribution of the number of errors per word.

    The error rate of a sentence is drawn from a gamma distribution with this mean and variance, and its number of errors
    from a Poisson distribution with this rate times its words. A `limit` above 0 always allows one error. Raises ModelError for
    a value out of range.

    - `mean`: the mean over sentences.
    - `variance`: the variance over sentences.
    - `limit`: the most errors per word in any one sentence (0: no errors).
    """

    mean: Share = 0.1
    variance: Share = 0.01
    limit: Share = 0.5

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class CorruptionRecipe:
    """How many errors lines get, and of which kinds. Raises ModelError for an unknown kind or a value out of range.

    - `clean`: the share of lines without errors.
    - `errors`: the number of errors in the other lines.
    - `rates`: the relative rate of each kind. A kind of rate 2 is chosen twice as often as one of rate 1, if both apply to the
      sentence. A kind without a rate is never chosen.
    """

    clean: Share = 0.0
    errors: ErrorCounts = ErrorCounts()
    rates: Mapping[str, Rate] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_fields(self)
        if unknown := next((name for name in self.rates if name not in KINDS), None):
            raise ModelError(f"rates: {unknown_key(unknown, sorted(KINDS))}")


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
