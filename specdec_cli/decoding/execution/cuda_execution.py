"""Rounds on a GPU: their steps are captured as CUDA graphs and replayed."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import TypeVar

import torch

from specdec_cli.decoding.execution.cuda_buffers import BatchBuffers, BufferPool
from specdec_cli.decoding.execution.cuda_graphs import Capture
from specdec_cli.decoding.state import NO_SENTENCE, Batch, State
from specdec_cli.model.rows import form, select_rows
from specdec_cli.model.transformer import ROW_MULTIPLE

R = TypeVar("R")


class GraphExecution:
    """Runs steps by CUDA graphs.

    The batch of a decoding is stored in buffers that no other decoding uses at the same time. Steps on a state
    outside such buffers are called without graphs.
    """

    def __init__(self, capture: Capture) -> None:
        self.pool = BufferPool(capture)
        self._in_use: dict[int, BatchBuffers] = {}

    def run(self, name: tuple[Hashable, ...], step: Callable[..., R], rows: State | Batch, *inputs: torch.Tensor) -> R:
        """Return the result of `step(rows, *inputs)`, computed by a CUDA graph if the tensors of `rows` are in
        buffers.
        """
        state = rows.state if isinstance(rows, Batch) else rows
        buffers = self._in_use.get(id(state.tokens))
        if buffers is None:
            return step(rows, *inputs)
        result: R = buffers.run(name, step, rows, inputs)
        return result

    @contextmanager
    def buffers(self, batch_size: int) -> "Iterator[BufferedRows]":
        """Buffers for the batches of a decoding, which have at most `batch_size` rows; the end of the context gives them back."""
        rows = BufferedRows(self.pool, self._in_use, batch_size)
        try:
            yield rows
        finally:
            rows.release()


class BufferedRows:
    """Batches of at most `most` rows in buffers of `pool`; buffers in use are listed in `in_use` by their keys.

    Batches are filled up with `empty` rows, which come last, to the next power of two, but to `most` rows at most, so
    that few sizes occur.
    """

    def __init__(self, pool: BufferPool, in_use: dict[int, BatchBuffers], most: int) -> None:
        self._pool, self._in_use, self._most = pool, in_use, most
        self._form: Hashable = None
        self._buffers: BatchBuffers | None = None
        self.empty = 0

    def store(self, batch: Batch) -> Batch:
        """Copy the rows of `batch` to buffers, and return a batch of the buffers."""
        rows = len(batch.state.lengths)
        self.empty = min(1 << (rows - 1).bit_length(), self._most) - rows
        filled = _with_empty_rows(batch, self.empty) if self.empty else batch
        needed = form(filled)
        if self._buffers is None or self._form != needed:
            self.release()
            self._form, self._buffers = needed, self._pool.take(needed, filled)
            self._in_use[self._buffers.key] = self._buffers
        return self._buffers.store(filled)

    def release(self) -> None:
        """Give the buffers back to the pool, if any are in use."""
        if self._buffers is not None:
            del self._in_use[self._buffers.key]
            self._pool.give_back(self._form, self._buffers)
            self._buffers = None


def padded_size(tokens: int) -> int:
    """The size that is asked for in place of a draft of `tokens` tokens, so that few graphs are captured.

    With the last accepted token it is a multiple of ROW_MULTIPLE: on a GPU a few more positions take no longer. 0 stays 0.
    """
    return -(-(tokens + 1) // ROW_MULTIPLE) * ROW_MULTIPLE - 1 if tokens else 0


def _with_empty_rows(batch: Batch, empty: int) -> Batch:
    """`batch` with `empty` empty rows after its own."""
    rows = len(batch.state.lengths)
    filled = select_rows(batch, torch.arange(rows + empty, device=batch.state.lengths.device).clamp_max(rows - 1))
    filled.state.finished[rows:] = True
    filled.state.numbers[rows:] = NO_SENTENCE
    return filled
