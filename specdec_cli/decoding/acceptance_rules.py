"""The rules by which the verifier accepts drafted tokens."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Exact:
    """Accept a token only if it is the verifier's first choice, so that the output is that of greedy decoding
    (technical report, Ge et al. 2022, equation 7).
    """


@dataclass(frozen=True)
class Tolerant:
    """Accept a token that is among the verifier's `top_beta` best and at most `tolerance` nats below the best.

    This is the rule of SpecDec++ (technical report, Ge et al. 2022, equations 8 and 9). Every token that ties for the first place is
    accepted, so `top_beta` = 1 can accept more than Exact.
    """

    top_beta: int
    tolerance: float


@dataclass(frozen=True)
class FixedPoint:
    """Accept the draft of a row only if all its tokens equal the verifier's choices, otherwise accept nothing.

    A block of Jacobi decoding is accepted when it no longer changes (Santilli et al. 2023, equation 5). With the
    draft, the verifier's choice after it is accepted, because all tokens before that choice are final.
    """


@dataclass(frozen=True)
class Reluctant:
    """Accept a drafted token if its logit is at least `margin` nats above that of every other token; else the verifier takes the best
    other token in its place.

    Where drafts are copies of the source, fewer tokens of the source are kept, so that there are more edits. (GECToR, Omelianchuk et al.
    2020, adds a bias with the opposite effect.) The output depends on which tokens are drafted.
    """

    margin: float


Rule = Exact | Tolerant | FixedPoint | Reluctant
