"""Rounds by the compiled kernels, for int8 models on a CPU: one call for a verification, one to append the accepted
tokens.
"""

import ctypes
import threading
import weakref
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import TypeVar, cast

from specdec_cli.decoding.accept import Exact, Rule
from specdec_cli.decoding.constraints import Constraints
from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.execution.protocol import NO_SENTENCE, Rows, Score, SourceQueue
from specdec_cli.decoding.state import Accepted, Draft, State, StepRunner, Verdict
from specdec_cli.kernels.build import Kernels
from specdec_cli.kernels.structs import AT_ONCE, TILE, BatchStruct, DecoderStruct, DraftStruct, KeysStruct, VerdictStruct, describe_keys
from specdec_cli.model.int8.embedding import FusedEmbedding
from specdec_cli.model.int8.layers import Int8Layers
from specdec_cli.model.int8.linear import Int8Linear
from specdec_cli.model.rows import replace_rows
from specdec_cli.model.transformer import Transformer

T = TypeVar("T")
_NOT_FORCED = -1


def round_kernels(model: Transformer) -> Kernels | None:
    """Return the compiled kernels if they can compute whole rounds of `model`, else None."""
    return model.layers.kernels if isinstance(model.layers, Int8Layers) else None


class KernelExecution:
    """Computes rounds of `model` with `kernels`, and with `operators` where another rule than Exact or a constraint
    other than `forced` applies, or where a draft has a prefix.
    """

    def __init__(self, operators: OperatorExecution, model: Transformer, kernels: Kernels, constraints: Constraints) -> None:
        self._operators, self._constraints = operators, constraints
        self._may_bind = constraints != Constraints(forced=constraints.forced)
        layers, output = cast(Int8Layers, model.layers), cast(Int8Linear, model.output)
        embedding = cast(FusedEmbedding, model.embedding)
        self._parts = (layers, embedding, output)  # own the memory that the kernels read
        self._kernels, self._width = kernels, model.config.width
        self._described = threading.local()  # what a thread verified last
        first = _NOT_FORCED if constraints.forced is None else constraints.forced
        self._decoder = DecoderStruct(embedding.struct, layers.stack, output.address, model.config.eos, first)
        self._scratch, self._head = layers.scratch, 4 * (output.outputs + output.outputs // TILE + 1) + output.inputs + 8
        self._work = layers.work + output.inputs * output.outputs

    @property
    def run(self) -> StepRunner:
        """The function that runs the drafter's steps, by PyTorch's operators."""
        return self._operators.run

    def verify(self, score: Score, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        """Compute one pass over the last accepted token and the draft (B, k), and return the tokens that `rule`
        accepts.

        `score` is called only if the operators compute the round.
        """
        binds = self._may_bind and self._constraints.bind(state, draft.ids.shape[1] + 1)
        if binds or not isinstance(rule, Exact) or draft.prefix is not None:
            return self._operators.verify(score, state, draft, rule, with_scores=with_scores)
        ids, drafted = draft.ids.contiguous(), draft.counts.contiguous()
        rows, longest = ids.shape
        slots = longest + 1
        states = state.memory.states.new_empty(rows, slots, self._width)
        predictions, bifurcation, counts = ids.new_empty(rows, slots), ids.new_empty(rows), ids.new_empty(rows)
        ended = state.finished.new_empty(rows)
        scores = state.log_probabilities.new_zeros(rows, slots) if with_scores else None
        verdict = Verdict(Accepted(predictions, counts, bifurcation, predictions, drafted), ended, states, scores)
        own, batch, positions = self._described, self._batch(state), rows * slots
        own.verdict, own.answer = verdict, _describe_verdict(verdict)
        self._kernels.verify(
            ctypes.byref(self._decoder),
            ctypes.byref(batch),
            ctypes.byref(DraftStruct(ids.data_ptr(), drafted.data_ptr(), longest)),
            ctypes.byref(own.answer),
            self._kernels.scratch(8 * (1 + rows + 4 * positions) + max(positions * self._scratch, min(positions, AT_ONCE) * self._head)),
            self._kernels.threads(positions * self._work),
        )
        return verdict

    def advance(self, state: State, verdict: Verdict) -> int:
        """Append the accepted tokens to `state` in place; return how many rows of the batch are finished, rows
        without a sentence included.
        """
        own = self._described
        if getattr(own, "verdict", None) is not verdict:  # by operators
            return self._operators.advance(state, verdict)
        return self._kernels.advance(ctypes.byref(own.batch), ctypes.byref(own.answer), verdict.accepted.ids.shape[1])

    def rows(self, batch_size: int, rule: Rule | None) -> AbstractContextManager[Rows]:
        """Return a context manager that gives the Rows of a decoding with batches of at most `batch_size` rows.

        If `rule` is Exact and no constraint can apply at any position, the kernels verify, and finished rows stay in
        the batch as empty rows, because the kernels skip them; otherwise finished rows are removed.
        """
        if isinstance(rule, Exact) and not self._constraints.everywhere:
            return nullcontext(KeptRows())
        return self._operators.rows(batch_size, rule)

    def queue(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], State], ahead: int) -> SourceQueue:
        """Return a queue that encodes sentences when they are taken; `ahead` is ignored."""
        return self._operators.queue(sentences, encode, ahead)

    def padded(self, drafter: SizedDrafter) -> SizedDrafter:
        """Return `drafter` unchanged: new sizes of drafts have no cost."""
        return drafter

    def _batch(self, state: State) -> BatchStruct:
        """The description of `state` for the kernels; a thread keeps that of its last state."""
        own = self._described
        last: weakref.ref[State] | None = getattr(own, "state", None)
        if last is None or last() is not state:
            keys_values, ends = state.memory.keys_values, state.memory.mask.ends
            own.memory = (KeysStruct * len(keys_values))(*(describe_keys(each, ends) for each in keys_values))
            own.batch = _describe_batch(state, ctypes.addressof(own.memory))
            own.state = weakref.ref(state)
        batch: BatchStruct = own.batch
        return batch


class KeptRows:
    """Batches in which finished rows stay, as empty rows, until new rows take their places."""

    def __init__(self) -> None:
        self.empty = 0

    def begin(self, state: State) -> State:
        """Return `state` itself, a batch without empty rows."""
        self.empty = 0
        return state

    def exchange(self, state: State, entering: State | None) -> State:
        """Replace finished rows by the rows of `entering` (None: no rows) and return the batch; the other finished
        rows become empty.
        """
        free = state.finished.nonzero()[:, 0]
        taken = 0 if entering is None else len(entering.lengths)
        if entering is not None:
            state = replace_rows(state, free[:taken], entering)
        state.numbers[free[taken:]] = NO_SENTENCE
        self.empty = len(free) - taken
        return state


def _describe_batch(state: State, memory: int) -> BatchStruct:
    rows, capacity = state.tokens.shape
    return BatchStruct(
        rows,
        capacity,
        state.tokens.data_ptr(),
        state.lengths.data_ptr(),
        state.limits.data_ptr(),
        state.rounds.data_ptr(),
        state.finished.data_ptr(),
        state.log_probabilities.data_ptr(),
        describe_keys(state.cache.whole[:, :, 0], None),
        memory,
    )


def _describe_verdict(verdict: Verdict) -> VerdictStruct:
    accepted, scores = verdict.accepted, verdict.log_probabilities
    return VerdictStruct(
        verdict.states.data_ptr(),
        None if scores is None else scores.data_ptr(),
        accepted.ids.data_ptr(),
        accepted.bifurcation.data_ptr(),
        accepted.counts.data_ptr(),
        verdict.ended.data_ptr(),
    )
