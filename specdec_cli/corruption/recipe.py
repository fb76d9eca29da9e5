"""Recipes of corruption: the number of errors in a sentence, and the frequency of each kind."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_cli.corruption.kinds import KINDS
from specdec_cli.errors import ModelError


def _check(name: str, value: object, largest: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value <= largest and math.isfinite(value)):
        raise ModelError(f"{name} is a number from 0{' to 1' if largest == 1 else ''}, not {value!r}")


@dataclass(frozen=True)
class ErrorCounts:
    """Distribution of the number of errors per word.

    The error rate of a sentence is drawn from a gamma distribution with this mean and variance, and its number of errors
    from a Poisson distribution with this rate times its words. A `limit` above 0 always allows one error.

    - `mean`: the mean over sentences.
    - `variance`: the variance over sentences.
    - `limit`: the most errors per word in any one sentence (0: no errors).
    """

    mean: float = 0.1
    variance: float = 0.01
    limit: float = 0.5

    def __post_init__(self) -> None:
        for name in ("mean", "variance", "limit"):
            _check(f"errors.{name}", getattr(self, name), 1.0)


@dataclass(frozen=True)
class CorruptionRecipe:
    """How many errors lines get, and of which kinds. Raises ModelError for an unknown kind or a value out of range.

    - `clean`: the share of lines without errors.
    - `errors`: the number of errors in the other lines.
    - `rates`: the relative rate of each kind. A kind of rate 2 is chosen twice as often as one of rate 1, if both apply to the
      sentence. A kind without a rate is never chosen.
    """

    clean: float = 0.0
    errors: ErrorCounts = ErrorCounts()
    rates: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _check("clean", self.clean, 1.0)
        if not isinstance(self.rates, Mapping):
            raise ModelError(f"'rates' has keys of its own and cannot be {self.rates!r}")
        for name, rate in self.rates.items():
            if name not in KINDS:
                raise ModelError(f"unknown key {name!r} in rates; known are {', '.join(sorted(KINDS))}")
            _check(f"rates.{name}", rate, math.inf)
