"""Recipes of corruption: the number of errors in a sentence, and the frequency of each kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from specdec_cli.corruption.kinds import KINDS
from specdec_cli.errors import ModelError
from specdec_cli.fields import Between, check_fields, unknown_key

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
