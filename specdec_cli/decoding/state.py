"""What the loop passes round: the state of a batch, a draft, scores, and what was accepted."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from torch import Tensor

from specdec_cli.model.cache import Cache
from specdec_cli.model.transformer import Memory

if TYPE_CHECKING:
    from specdec_cli.decoding.execution.cuda_steps import Stage

R = TypeVar("R")
VACANT = -1


@dataclass
class State:
    """B sentences on their way; every tensor has the row first.

    `tokens` (B, S) begins with the decoder start and is stale from `lengths` (B,) on. A row ends at EOS or when
    its length reaches `limits` (B,). `cache` is the verifier's, valid below length - 1: the last accepted token
    has not been fed yet. `source` (B, M) are the source ids; `drafting` is the drafter's own record;
    `numbers` (B,) say which sentence a row is, `rounds` (B,) how many verifications it took (drafting passes where nothing is verified),
    `log_probabilities` (B, S) those of its tokens under the verifier, where that is computed. On a GPU it lies at a `stage`.
    So many rows as are `vacant` are no sentences: they are finished, and their number is VACANT.
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
    stage: "Stage | None" = None
    vacant: int = 0

    def last_tokens(self) -> Tensor:
        """The last accepted token (B,) of each row."""
        return self.tokens.gather(1, self.lengths[:, None] - 1)[:, 0]

    def run(self, name: tuple[Hashable, ...], function: Callable[..., R], *inputs: Tensor) -> R:
        """`function` of this and of `inputs`, by a graph where there is one.

        It must write to this state's tensors in place, and wait for nothing from the GPU; `name` must tell apart all that
        differs between functions but the form of their inputs. What it gives is valid until the next round.
        """
        if self.stage is None:
            return function(self, *inputs)
        result: R = self.stage.run(name, function, self, inputs)
        return result


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

    `predictions` (B, k + 1) are the verifier's own, also beyond the bifurcation; they mean something in the first
    `drafted` + 1 slots, where `drafted` (B,) is the number of tokens that the row's draft had.
    """

    ids: Tensor
    counts: Tensor
    bifurcation: Tensor
    predictions: Tensor
    drafted: Tensor


@dataclass(frozen=True)
class Verdict:
    """What the verifier says of a draft: what is accepted, and which rows (B,) that ends, by an EOS or their limit.

    `states` (B, k + 1, W) are its top states; `log_probabilities` (B, k + 1) those of the accepted ids, if they were asked for.
    """

    accepted: Accepted
    ended: Tensor
    states: Tensor
    log_probabilities: Tensor | None
