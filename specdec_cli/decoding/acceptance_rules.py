"""The rules by which the verifier accepts drafted tokens."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Exact:
    """Accept a token only if it is the verifier's first choice: the output is greedy decoding's (technical report, equation 7)."""


@dataclass(frozen=True)
class Tolerant:
    """Accept a token among the verifier's `top_beta` best and at most `tolerance` nats below the best.

    SpecDec++ (technical report, equations 8 and 9). Every token that ties for the first place is accepted, so β = 1 differs
    from Exact.
    """

    top_beta: int
    tolerance: float


@dataclass(frozen=True)
class FixedPoint:
    """Accept a draft as a whole or not at all: a block of Jacobi decoding once it no longer changes.

    Santilli et al. 2023, equation 5. The verifier's choice after an accepted draft is accepted too, since all inputs of
    that prediction are final.
    """


Rule = Exact | Tolerant | FixedPoint
