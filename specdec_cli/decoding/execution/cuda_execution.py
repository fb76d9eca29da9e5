"""Rounds on a GPU: operators whose steps are captured as CUDA graphs and replayed."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeVar

import torch

from specdec_cli.decoding.drafters import SizedDrafter
from specdec_cli.decoding.execution.cuda_buffers import BatchBuffers, BufferPool
from specdec_cli.decoding.execution.cuda_graphs import Capture
from specdec_cli.decoding.execution.cuda_padding import PaddedDrafter
from specdec_cli.decoding.execution.operators import OperatorExecution
from specdec_cli.decoding.execution.prefetch import EncodeStream, PlainQueue, SourcePrefetcher
from specdec_cli.decoding.execution.protocol import NO_SENTENCE, Rows, Score, SourceQueue
from specdec_cli.decoding.execution.rows import exchange_compactly
from specdec_cli.decoding.options import Rule
from specdec_cli.decoding.state import Draft, State, Verdict
from specdec_cli.model.rows import form, select_rows

R = TypeVar("R")
T = TypeVar("T")


class GraphExecution:
    """Computes the rounds of `operators` with CUDA graphs; sources are encoded on the CUDA stream `encode_stream`.

    The batch of a decoding is stored in buffers that no other decoding uses at the same time. Steps on a state
    outside such buffers are called without graphs.
    """

    def __init__(self, operators: OperatorExecution, capture: Capture, encode_stream: EncodeStream) -> None:
        self._operators = replace(operators, run=self.run)
        self._encode_stream = encode_stream
        self.pool = BufferPool(capture)
        self._in_use: dict[int, BatchBuffers] = {}

    def run(self, name: tuple[Hashable, ...], step: Callable[..., R], state: State, *inputs: torch.Tensor) -> R:
        """Return the result of `step(state, *inputs)`, computed by a CUDA graph if the tensors of `state` are in
        buffers.
        """
        buffers = self._in_use.get(id(state.tokens))
        if buffers is None:
            return step(state, *inputs)
        result: R = buffers.run(name, step, state, inputs)
        return result

    def verify(self, score: Score, state: State, draft: Draft, rule: Rule, *, with_scores: bool = False) -> Verdict:
        return self._operators.verify(score, state, draft, rule, with_scores=with_scores)

    def advance(self, state: State, verdict: Verdict) -> int:
        return self._operators.advance(state, verdict)

    @contextmanager
    def rows(self, batch_size: int, rule: Rule | None) -> Iterator[Rows]:  # noqa: ARG002
        rows = BufferedRows(self.pool, self._in_use, batch_size)
        try:
            yield rows
        finally:
            rows.release()

    def queue(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], State], ahead: int) -> SourceQueue:
        return SourcePrefetcher(PlainQueue(sentences, encode), self._encode_stream, ahead)

    def padded(self, drafter: SizedDrafter) -> SizedDrafter:
        """Return `drafter`, with the ids (B, k) of its drafts padded so that k + 1 is a multiple of 4, since a CUDA
        graph is captured for each k. The padding is never accepted (see PaddedDrafter).
        """
        return PaddedDrafter(drafter)


class BufferedRows:
    """Batches of at most `most` rows in buffers of `pool`; buffers in use are listed in `in_use` by their keys.

    Batches are filled up with empty rows, which come last, to the next power of two, but to `most` rows at most, so
    that few sizes occur.
    """

    def __init__(self, pool: BufferPool, in_use: dict[int, BatchBuffers], most: int) -> None:
        self._pool, self._in_use, self._most = pool, in_use, most
        self._form: Hashable = None
        self._buffers: BatchBuffers | None = None
        self.empty = 0

    def begin(self, state: State) -> State:
        rows = len(state.lengths)
        self.empty = min(1 << (rows - 1).bit_length(), self._most) - rows
        filled = _with_empty_rows(state, self.empty) if self.empty else state
        needed = form(filled)
        if self._buffers is None or self._form != needed:
            self.release()
            self._form, self._buffers = needed, self._pool.take(needed, filled)
            self._in_use[self._buffers.key] = self._buffers
        return self._buffers.store(filled)

    def exchange(self, state: State, entering: State | None) -> State:
        return self.begin(exchange_compactly(state, entering))

    def release(self) -> None:
        """Give the buffers back to the pool, if any are in use."""
        if self._buffers is not None:
            del self._in_use[self._buffers.key]
            self._pool.give_back(self._form, self._buffers)
            self._buffers = None


def _with_empty_rows(state: State, empty: int) -> State:
    """`state` with `empty` empty rows after its own."""
    rows = len(state.lengths)
    filled = select_rows(state, torch.arange(rows + empty, device=state.lengths.device).clamp_max(rows - 1))
    filled.finished[rows:] = True
    filled.numbers[rows:] = NO_SENTENCE
    return filled
