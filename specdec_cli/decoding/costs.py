"""Costs of decoding rounds in milliseconds, by rows, drafted tokens and verified tokens."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

ROWS = 8
"""Rows of the larger of the two measured batches; the smaller one has 1 row."""

PRIOR = 0.8
"""Assumed probability that a drafted token is accepted if all drafted tokens before it were, until rounds of the text have been counted.
Many drafters have a lower one. It is chosen high so that drafts are tried at once: a few rounds with useless drafts cost little time.
"""
_SOURCE = 14
"""Tokens of a made-up source, without EOS."""

Times = tuple[float, float]
"""Milliseconds for the shorter and for the longer of two draft sizes."""
Case = tuple[int, int]
"""A measured case: the number of rows, and the tokens of a draft (0: none)."""


@dataclass(frozen=True)
class Costs:
    """Measured milliseconds of the parts of a round, each as a pair of values: for 1 row and for 8 rows (ROWS).

    `plain` is a round without drafts. `verifying` and `drafting` have for each of these numbers of rows a pair of
    values, for drafts of the two `sizes` in tokens, the shorter first: the time of the verification, and of all work
    of the drafter. Costs of other sizes and numbers of rows are on the line through the two values; a draft shorter
    than the first size costs as much as one of that size.
    """

    sizes: tuple[int, int]
    plain: tuple[float, float]
    verifying: tuple[Times, Times]
    drafting: tuple[Times, Times]

    @classmethod
    def of_cases(cls, sizes: tuple[int, int], verifying: Mapping[Case, float], drafting: Mapping[Case, float]) -> "Costs":
        """Make costs from the milliseconds of each measured case; rounds of drafts of size 0 are those without drafts."""
        short, long = sizes
        verified, drafted = (((own[1, short], own[1, long]), (own[ROWS, short], own[ROWS, long])) for own in (verifying, drafting))
        return cls(sizes, (verifying[1, 0], verifying[ROWS, 0]), verified, drafted)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Costs":
        """Make costs from the output of `asdict`. Raises KeyError, TypeError or ValueError for values that are not
        valid costs.
        """
        if values.keys() != {each.name for each in fields(cls)}:
            raise KeyError("not the fields of costs")
        short, long = values["sizes"]
        if not (type(short) is type(long) is int and 1 <= short <= long):
            raise ValueError(f"draft sizes {short} and {long}")
        verifying, drafting = ((_times(few), _times(many)) for few, many in (values["verifying"], values["drafting"]))
        return cls((short, long), _times(values["plain"]), verifying, drafting)

    def least(self, other: "Costs") -> "Costs":
        """The minimum of each cost in `self` and `other`; `self` if they are for different `sizes`."""
        if self.sizes != other.sizes:
            return self
        return Costs(
            self.sizes,
            _least(self.plain, other.plain),
            (_least(self.verifying[0], other.verifying[0]), _least(self.verifying[1], other.verifying[1])),
            (_least(self.drafting[0], other.drafting[0]), _least(self.drafting[1], other.drafting[1])),
        )

    def without(self, rows: int) -> float:
        """Milliseconds of a round without drafts in a batch of `rows`."""
        return _at(rows, (1, ROWS), self.plain)

    def with_draft(self, rows: int, asked: int, offered: float) -> float:
        """Milliseconds of a round of `rows` rows in which the drafter is asked for `asked` tokens a row, its block
        size, and drafts `offered` tokens a row on average, which may be fewer.
        """
        fixed, each_asked, each_offered = self.with_drafts(rows)
        short = self.sizes[0]
        return fixed + each_asked * max(asked - short, 0) + each_offered * max(offered - short, 0)

    def with_drafts(self, rows: int) -> tuple[float, float, float]:
        """Milliseconds of a round of `rows` rows with drafts of `sizes[0]` tokens; then those that each further
        token a row adds to the work of the drafter (asked for), and to the verification (drafted).
        """
        verifying, drafting = self._line(self.verifying, rows), self._line(self.drafting, rows)
        return verifying[0] + drafting[0], drafting[1], verifying[1]

    def can_pay(self, rows: int, sizes: Iterable[int], factor: float = 1.0) -> bool:
        """Whether for one of the `sizes`, drafts in a batch of `rows` are faster than none by more than `factor`, if each drafted token
        is accepted with probability 0.8 (PRIOR) after all those before it were.
        """
        plain = self.without(rows)
        return any(_tokens(size) * plain > factor * self.with_draft(rows, size, size) for size in sizes)

    def _line(self, times: tuple[Times, Times], rows: int) -> tuple[float, float]:
        """Milliseconds of the shorter draft, and of each further token."""
        short, long = (_at(rows, (1, ROWS), (few, many)) for few, many in zip(*times, strict=True))
        return short, max(long - short, 0.0) / max(self.sizes[1] - self.sizes[0], 1)


def _tokens(size: int) -> float:
    """The mean number of tokens of a round with drafts of `size` tokens, of which each is accepted with probability PRIOR."""
    return sum(PRIOR**passed for passed in range(size + 1))


def _times(values: Sequence[float]) -> Times:
    first, second = values
    if not all(isinstance(each, float | int) and isfinite(each) and each > 0 for each in (first, second)):
        raise ValueError(f"times of {first} and {second} ms")
    return float(first), float(second)


def _least(some: Times, others: Times) -> Times:
    return min(some[0], others[0]), min(some[1], others[1])


def _at(place: float, places: tuple[int, int], values: tuple[float, float]) -> float:
    """The value at a place on the line through two points. The slope is at least 0: costs that fall are measuring errors."""
    slope = max(values[1] - values[0], 0.0) / max(places[1] - places[0], 1)
    return max(values[0] + slope * (place - places[0]), 0.0)


def made_up_sources(rows: int, vocabulary: int, eos: int) -> list[list[int]]:
    """Sources of `rows` sentences, as ids that end with `eos`, for a source vocabulary of `vocabulary` tokens.

    Ids below 8 are not used, because they may be special tokens. If the vocabulary has no others, the last id is used.
    """
    first = min(8, vocabulary - 1)
    some = vocabulary - first
    return [[*(first + (31 * row + 7 * place) % some for place in range(_SOURCE)), eos] for row in range(rows)]
