"""How many errors a sentence gets, and of which kinds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

from specdec_cli.corruption.kinds import KINDS
from specdec_cli.errors import ModelError


def _check(name: str, value: object, most: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not (0 <= value <= most and math.isfinite(value)):
        raise ModelError(f"{name} is a number from 0{' to 1' if most == 1 else ''}, not {value!r}")


@dataclass(frozen=True)
class ErrorCounts:
    """Errors a word: their mean and variance over sentences, and the most in any one sentence.

    A sentence's own mean is drawn from the gamma distribution with these moments, the number of its errors from the
    Poisson distribution with that mean; so some sentences have many errors and others none. One is always allowed.
    """

    mean: float = 0.1
    variance: float = 0.01
    limit: float = 0.5

    def __post_init__(self) -> None:
        for name in ("mean", "variance", "limit"):
            _check(f"errors.{name}", getattr(self, name), 1.0)


@dataclass(frozen=True)
class CorruptionRecipe:
    """The share of lines that are left clean, the number of errors in the others, and the rate of each kind.

    Rates are relative: a kind of rate 2 is chosen twice as often as one of rate 1, unless the sentence gives no occasion
    for it; a kind that is not named never. Raises ModelError for an unknown kind or a value out of range.
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
