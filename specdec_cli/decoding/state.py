"""What the loop passes round: the state of a batch, a draft, scores, and what was accepted."""

from dataclasses import dataclass
from typing import Any

from torch import Tensor

from specdec_cli.model.cache import Cache
from specdec_cli.model.transformer import Memory


@dataclass
class State:
    """B sentences on their way; every tensor has the row first.

    `tokens` (B, S) begins with the decoder start and is stale from `lengths` (B,) on. A row ends at EOS or when
    its length reaches `limits` (B,). `cache` is the verifier's, valid below length - 1: the last accepted token
    has not been fed yet. `source` (B, M) are the source ids; `drafting` is the drafter's own record;
    `numbers` (B,) say which sentence a row is, `rounds` (B,) how many verifications it took,
    `log_probabilities` (B, S) those of its tokens under the verifier, where that is computed.
    """

    source: Tensor
    tokens: Tensor
    lengths: Tensor
    limits: Tensor
    finished: Tensor
    numbers: Tensor
    rounds: Tensor
    log_probabilities: Tensor
    memory: Memory
    cache: Cache
    drafting: Any = None


@dataclass(frozen=True)
class Draft:
    """Proposed ids (B, k), of which the first `counts` (B,) of a row are meant."""

    ids: Tensor
    counts: Tensor


@dataclass(frozen=True)
class Scores:
    """The verifier's pass over the last accepted token and a draft: logits (B, k + 1, V), top states (B, k + 1, W)."""

    logits: Tensor
    states: Tensor


@dataclass(frozen=True)
class Accepted:
    """What a round adds: the first `counts` (B,) of `ids` (B, k + 1); `bifurcation` (B,) is the first slot that differed.

    `predictions` (B, k + 1) are the verifier's own, also beyond the bifurcation.
    """

    ids: Tensor
    counts: Tensor
    bifurcation: Tensor
    predictions: Tensor
