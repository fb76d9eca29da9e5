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

MOST_SIZES = 6
"""Draft sizes that are measured, at most."""

Times = tuple[float, ...]
"""Milliseconds for each of the measured draft sizes."""
Case = tuple[int, int]
"""A measured case: the number of rows, and the tokens of a draft (0: none)."""


@dataclass(frozen=True)
class SizeCosts:
    """The milliseconds of a part of a round as a function of the draft size, interpolated linearly between the measured `sizes`.

    The function does not decrease. It is constant below the first size, and above the last size it has the slope of the last interval.
    """

    sizes: tuple[int, ...]
    milliseconds: tuple[float, ...]

    def __call__(self, size: float) -> float:
        """Milliseconds for a draft of `size` tokens, which may be a mean."""
        last, slope = self.milliseconds[0], 0.0
        for before, measured, milliseconds in zip(self.sizes, self.sizes[1:], self.milliseconds[1:], strict=False):
            following = max(last, milliseconds)
            slope = (following - last) / (measured - before)
            if size <= measured:
                return last + slope * max(size - before, 0)
            last = following
        return last + slope * max(size - self.sizes[-1], 0)


@dataclass(frozen=True)
class Costs:
    """Measured milliseconds of the parts of a round, each for 1 row and for 8 rows (ROWS).

    `plain` is a round without drafts. `verifying` and `drafting` have for each of these numbers of rows a value for drafts of each of the
    `sizes` in tokens, the shortest first: the time of the verification, and of all work of the drafter. Costs of other numbers of rows are
    on the line through the two values, those of other sizes between the values of their neighbours (see SizeCosts).
    """

    sizes: tuple[int, ...]
    plain: tuple[float, float]
    verifying: tuple[Times, Times]
    drafting: tuple[Times, Times]

    @classmethod
    def of_cases(cls, sizes: Sequence[int], verifying: Mapping[Case, float], drafting: Mapping[Case, float]) -> "Costs":
        """Make costs from the milliseconds of each measured case; rounds of drafts of size 0 are those without drafts."""
        verified, drafted = ((_row(times, 1, sizes), _row(times, ROWS, sizes)) for times in (verifying, drafting))
        return cls(tuple(sizes), (verifying[1, 0], verifying[ROWS, 0]), verified, drafted)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> "Costs":
        """Make costs from the output of `asdict`. Raises KeyError, TypeError or ValueError for values that are not
        valid costs.
        """
        if values.keys() != {each.name for each in fields(cls)}:
            raise KeyError("not the fields of costs")
        sizes = tuple(values["sizes"])
        if not (1 <= len(sizes) <= MOST_SIZES and all(type(size) is int for size in sizes)) or sizes != tuple(
            sorted({size for size in sizes if size > 0})
        ):
            raise ValueError(f"draft sizes {sizes}")
        plain, verifying, drafting = (tuple(values[name]) for name in ("plain", "verifying", "drafting"))
        few, many = _times(plain, 2)
        (verified, all_verified), (drafted, all_drafted) = (
            tuple(_times(times, len(sizes)) for times in part) for part in (verifying, drafting)
        )
        return cls(sizes, (few, many), (verified, all_verified), (drafted, all_drafted))

    def least(self, other: "Costs") -> "Costs":
        """The minimum of each cost in `self` and `other`; `self` if they are for different `sizes`."""
        if self.sizes != other.sizes:
            return self
        return Costs(
            self.sizes,
            (min(self.plain[0], other.plain[0]), min(self.plain[1], other.plain[1])),
            (_least(self.verifying[0], other.verifying[0]), _least(self.verifying[1], other.verifying[1])),
            (_least(self.drafting[0], other.drafting[0]), _least(self.drafting[1], other.drafting[1])),
        )

    def without(self, rows: int) -> float:
        """Milliseconds of a round without drafts in a batch of `rows`."""
        return _at(rows, self.plain)

    def with_draft(self, rows: int, asked: int, offered: float) -> float:
        """Milliseconds of a round of `rows` rows in which the drafter is asked for `asked` tokens a row, its block
        size, and drafts `offered` tokens a row on average, which may be fewer.
        """
        verifying, drafting = self.by_size(rows)
        return verifying(offered) + drafting(asked)

    def by_size(self, rows: int) -> tuple[SizeCosts, SizeCosts]:
        """Milliseconds of the verification, and of drafting, in a round of `rows` rows."""
        verifying, drafting = (
            SizeCosts(self.sizes, tuple(_at(rows, pair) for pair in zip(*times, strict=True))) for times in (self.verifying, self.drafting)
        )
        return verifying, drafting

    def can_pay(self, rows: int, sizes: Iterable[int], factor: float = 1.0) -> bool:
        """Whether for one of the `sizes`, drafts in a batch of `rows` are faster than none by more than `factor`, if each drafted token
        is accepted with probability 0.8 (PRIOR) after all those before it were.
        """
        plain = self.without(rows)
        verifying, drafting = self.by_size(rows)
        return any(_tokens(size) * plain > factor * (verifying(size) + drafting(size)) for size in sizes)


def measured_sizes(sizes: Iterable[int], longest: int) -> tuple[int, ...]:
    """The draft sizes to measure: the `sizes`, or `longest` in place of those that are larger."""
    return tuple(sorted({min(size, longest) for size in sizes}))


def _row(times: Mapping[Case, float], rows: int, sizes: Iterable[int]) -> Times:
    return tuple(times[rows, size] for size in sizes)


def _tokens(size: int) -> float:
    """The mean number of tokens of a round with drafts of `size` tokens, of which each is accepted with probability PRIOR."""
    return sum(PRIOR**passed for passed in range(size + 1))


def _times(values: Sequence[float], count: int) -> Times:
    if len(values) != count or not all(isinstance(each, float | int) and isfinite(each) and each > 0 for each in values):
        raise ValueError(f"times of {values} ms")
    return tuple(map(float, values))


def _least(some: Times, others: Times) -> Times:
    return tuple(map(min, some, others))


def _at(rows: int, values: Sequence[float]) -> float:
    """The value for `rows` on the line through those for 1 row and for ROWS, which does not fall: costs that do are measuring errors."""
    slope = max(values[1] - values[0], 0.0) / (ROWS - 1)
    return max(values[0] + slope * (rows - 1), 0.0)


def made_up_sources(rows: int, vocabulary: int, eos: int) -> list[list[int]]:
    """Sources of `rows` sentences, as ids that end with `eos`, for a source vocabulary of `vocabulary` tokens.

    Ids below 8 are not used, because they may be special tokens. If the vocabulary has no others, the last id is used.
    """
    first = min(8, vocabulary - 1)
    some = vocabulary - first
    return [[*(first + (31 * row + 7 * position) % some for position in range(_SOURCE)), eos] for row in range(rows)]
