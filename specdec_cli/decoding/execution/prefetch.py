"""Queues that encode sentences when they are taken, or ahead of time on a CUDA stream."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from specdec_cli.decoding.execution.protocol import SourceQueue
from specdec_cli.decoding.state import Batch
from specdec_cli.model.cache import steps
from specdec_cli.model.rows import join_rows, select_rows

T = TypeVar("T")


class EncodeStream(Protocol):
    """Runs computations at the same time as the decoding."""

    def run(self, compute: Callable[[], T]) -> T:
        """Start `compute` and return its result, whose tensors must not be read before `join` was called with it."""

    def join(self, result: Any) -> None:
        """Make everything that is computed from now on wait for the computation of `result`."""


class PlainQueue(Generic[T]):
    """A queue of `sentences` that calls `encode` with them when they are taken."""

    def __init__(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], Batch]) -> None:
        self._sentences, self._encode = iter(sentences), encode

    def take(self, rows: int) -> Batch | None:
        entering = list(islice(self._sentences, rows))
        return self._encode(entering) if entering else None


class SourcePrefetcher:
    """A queue that encodes up to `ahead` rows of `queue` on `encode_stream` before they are taken."""

    def __init__(self, queue: SourceQueue, encode_stream: EncodeStream, ahead: int) -> None:
        self._queue, self._stream, self._most_ahead = queue, encode_stream, ahead
        self._encoded: Batch | None = None

    def take(self, rows: int) -> Batch | None:
        """Return a batch with the next `rows` sentences, fewer at the end, and start to encode further ones; None if
        the queue is empty.
        """
        batch = self._take_encoded(rows)
        missing = rows if batch is None else rows - len(batch.state.lengths)
        more = self._queue.take(missing) if missing else None
        if self._encoded is None:
            self._encoded = self._stream.run(lambda: self._queue.take(self._most_ahead))
        if batch is None or more is None:
            return more if batch is None else batch
        return join_rows(batch, more)

    def _take_encoded(self, rows: int) -> Batch | None:
        encoded = self._encoded
        if encoded is None:
            return None
        self._stream.join(encoded)
        places = steps(len(encoded.state.lengths), encoded.state.lengths.device)
        rest = places[rows:]
        self._encoded = select_rows(encoded, rest) if len(rest) else None
        return select_rows(encoded, places[:rows])
