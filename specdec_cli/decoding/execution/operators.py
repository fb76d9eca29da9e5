"""Rounds by PyTorch's operators."""

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import TypeVar

from torch import Tensor

from specdec_cli.decoding.accept import accept, cut_at_end
from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.execution.prefetch import PlainQueue
from specdec_cli.decoding.execution.protocol import Rows, Score, SourceQueue
from specdec_cli.decoding.execution.rows import CompactRows
from specdec_cli.decoding.options import Rule, Sampled
from specdec_cli.decoding.sampling import perturbed
from specdec_cli.decoding.state import Accepted, Batch, Draft, State, StepRunner, Verdict, run_directly
from specdec_cli.model.cache import steps
from specdec_cli.model.choices import Choices

T = TypeVar("T")


@dataclass(frozen=True)
class OperatorExecution:
    """Computes rounds with PyTorch's operators: `choices` chooses tokens, the id `eos` ends rows, and `run` runs the
    steps.
    """

    choices: Choices
    eos: int
    run: StepRunner = run_directly

    def verify(self, score: Score, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """Compute one pass over the last accepted token and the draft (B, k) by `score`, and return the tokens that
        `rule` accepts.
        """
        scores = score(state, draft)

        def judge(state: State, ids: Tensor, counts: Tensor, logits: Tensor, prefix: Tensor | None = None) -> _Judged:
            scores = perturbed(logits, rule, state.streams, state.lengths) if isinstance(rule, Sampled) else logits
            accepted = accept(Draft(ids, counts, prefix), scores, rule, self.choices)
            counts, ended = cut_at_end(self.eos, state, accepted.ids, accepted.counts)
            own = self.choices.log_probabilities(logits, accepted.ids) if with_scores else None
            return _Judged(replace(accepted, counts=counts), ended, own)

        inputs = (draft.ids, draft.counts, scores.logits, *(() if draft.prefix is None else (draft.prefix,)))
        judged = self.run(("judge", rule, with_scores, len(inputs)), judge, state, *inputs)
        return Verdict(judged.accepted, judged.ended, scores.states, judged.log_probabilities)

    def advance(self, state: State, verdict: Verdict) -> int:
        """Append the accepted tokens to `state` in place; return how many rows of the batch are finished."""
        scores = () if verdict.log_probabilities is None else (verdict.log_probabilities,)
        accepted = verdict.accepted
        return int(self.run(("advance",), _advance, state, accepted.ids, accepted.counts, verdict.ended, *scores))

    def rows(self, batch_size: int, rule: Rule | None) -> AbstractContextManager[Rows]:  # noqa: ARG002
        """Return a context manager that gives the Rows of a decoding, whose batches have no empty rows."""
        return nullcontext(CompactRows())

    def queue(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], Batch], ahead: int) -> SourceQueue:  # noqa: ARG002
        """Return a queue that encodes sentences when they are taken; `ahead` is ignored."""
        return PlainQueue(sentences, encode)

    def padded(self, drafter: SizedDrafter) -> SizedDrafter:
        """Return `drafter` unchanged: new sizes of drafts have no cost."""
        return drafter


@dataclass(frozen=True)
class _Judged:
    accepted: Accepted
    ended: Tensor
    log_probabilities: Tensor | None


def _advance(state: State, ids: Tensor, counts: Tensor, ended: Tensor, scores: Tensor | None = None) -> Tensor:
    """Append the first `counts` (B,) of `ids` (B, k) and of `scores` to `state`; the number of finished rows."""
    places = (state.lengths[:, None] + steps(ids.shape[1], ids.device)).clamp_max(state.tokens.shape[1] - 1)
    state.tokens.scatter_(1, places, ids)
    if scores is not None:
        state.log_probabilities.scatter_(1, places, scores)
    state.rounds += ~state.finished
    state.lengths += counts
    state.finished |= ended
    return state.finished.sum()
