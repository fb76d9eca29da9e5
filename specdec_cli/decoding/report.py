"""What a player reports of a burst of rounds."""

from dataclasses import dataclass

from specdec_cli.decoding.pace import Tallies
from specdec_cli.decoding.sentence import Hypothesis


@dataclass(frozen=True)
class Report:
    """Result of a burst of `rounds` rounds: hypotheses, and the number of sentences that may enter in their places (`free`).

    `tallies` is None if none were requested.
    """

    rounds: int
    hypotheses: list[Hypothesis]
    free: int
    tallies: Tallies | None
