"""Data classes of a round: the state of a batch, a draft, the verifier's scores and its verdict."""

from dataclasses import dataclass, replace
from typing import Any

from torch import Tensor

from specdec_cli.model.cache import Cache
from specdec_cli.model.transformer import Memory

NO_SENTENCE = -1
"""The value of `State.numbers` for an empty row, which is a finished row without a sentence."""


@dataclass
class State:
    """A batch of B sentences that are being decoded; the first dimension of every tensor is the row.

    `source` (B, M) holds the source ids, `memory` their encoding. `tokens` (B, S) begins with the decoder start;
    values from position `lengths` (B,) on have no meaning. A row ends at EOS or when its length reaches `limits`
    (B,); then the boolean `finished` (B,) is true. `numbers` (B,) are the numbers of the sentences, `streams` (B, 2)
    their random streams. `rounds` (B,) counts verifications, or drafting passes where nothing is verified.
    `log_probabilities` (B, S) are those of `tokens` under the verifier, if they are computed. `cache` is the
    verifier's; it is valid below length - 1, since the last accepted token has not been fed yet. `repeats` (B,) are those of
    `constraints.repeats`, if the verifier's kernels need them.
    """

    source: Tensor
    tokens: Tensor
    lengths: Tensor
    limits: Tensor
    finished: Tensor
    numbers: Tensor
    streams: Tensor
    rounds: Tensor
    log_probabilities: Tensor
    memory: Memory
    cache: Cache
    repeats: Tensor | None = None

    def last_tokens(self) -> Tensor:
        """The last accepted token (B,) of each row."""
        return self.tokens.gather(1, self.lengths[:, None] - 1)[:, 0]


@dataclass
class Batch:
    """The rows of a decoding: their `state`, and the `record` that the drafter's `begin` returned for them."""

    state: State
    record: Any


@dataclass(frozen=True)
class Draft:
    """Proposed ids (B, k); the draft of a row is the first `counts` (B,) of them, the others are ignored.

    The first `prefix` (B,) ids are accepted whatever the verifier predicts; None stands for 0 in all rows.
    """

    ids: Tensor
    counts: Tensor
    prefix: Tensor | None = None

    def trimmed(self, multiple: int) -> "Draft":
        """The draft without ids beyond its longest row, such that they and the last accepted token fill a multiple of `multiple`
        positions. Reads a value of `counts`.
        """
        longest = int(self.counts.max()) if self.ids.shape[1] else 0
        width = -(-(longest + 1) // multiple) * multiple - 1 if longest else 0
        return self if width >= self.ids.shape[1] else replace(self, ids=self.ids[:, :width])


@dataclass(frozen=True)
class Written:
    """The first `lengths` (N,) of `tokens` (N, S) of N outputs or hypotheses, with `State.repeats` (N,) of their sources."""

    tokens: Tensor
    lengths: Tensor
    repeats: Tensor | None


@dataclass(frozen=True)
class Scores:
    """Result of the verifier's pass over the last accepted token and a draft of k tokens: `logits` (B, k + 1, V) and
    the top decoder layer's states (B, k + 1, W).
    """

    logits: Tensor
    states: Tensor


@dataclass(frozen=True)
class Accepted:
    """Tokens that a round adds to each row: the first `counts` (B,) of `ids` (B, k + 1).

    `bifurcation` (B,) is the number of drafted tokens that were accepted before the first that was not.
    `predictions` (B, k + 1) are the verifier's own choices by the rule, also beyond the bifurcation. They are defined in the
    first `drafted` + 1 slots, where `drafted` (B,) is the length of the row's draft.
    """

    ids: Tensor
    counts: Tensor
    bifurcation: Tensor
    predictions: Tensor
    drafted: Tensor


@dataclass(frozen=True)
class Verdict:
    """Result of a verification: the accepted tokens, and the boolean `ended` (B,): the row ends with them, at an EOS
    or its limit.

    `states` (B, k + 1, W) are the states of the verifier's top layer. `log_probabilities` (B, k + 1) are those of
    the accepted ids; None if they were not requested.
    """

    accepted: Accepted
    ended: Tensor
    states: Tensor
    log_probabilities: Tensor | None
