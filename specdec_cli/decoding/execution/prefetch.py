"""Queues that encode sentences when they are taken, or ahead of time on a stream of its own."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Generic, Protocol, TypeVar

from specdec_cli.decoding.execution.protocol import SourceQueue
from specdec_cli.decoding.state import State
from specdec_cli.model.cache import steps
from specdec_cli.model.rows import join_rows, select_rows

T = TypeVar("T")


class EncodeStream(Protocol):
    """Computes while the decoding goes on."""

    def run(self, compute: Callable[[], T]) -> T:
        """Start `compute`. Its result must not be read before it is joined."""

    def join(self, result: Any) -> None:
        """Make the computation of `result` precede everything that is computed from now on."""


class PlainQueue(Generic[T]):
    """Encodes `sentences` when they are taken."""

    def __init__(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], State]) -> None:
        self._sentences, self._encode = iter(sentences), encode

    def take(self, rows: int) -> State | None:
        """The next `rows` rows, fewer at the end; None if the queue is empty."""
        entering = list(islice(self._sentences, rows))
        return self._encode(entering) if entering else None


class SourcePrefetcher:
    """Encodes up to `ahead` rows of `queue` on `encode_stream` before they are taken."""

    def __init__(self, queue: SourceQueue, encode_stream: EncodeStream, ahead: int) -> None:
        self._queue, self._stream, self._most_ahead = queue, encode_stream, ahead
        self._encoded: State | None = None

    def take(self, rows: int) -> State | None:
        """The next `rows` rows, fewer at the end; None if the queue is empty."""
        state = self._take_encoded(rows)
        missing = rows if state is None else rows - len(state.lengths)
        more = self._queue.take(missing) if missing else None
        if self._encoded is None:
            self._encoded = self._stream.run(lambda: self._queue.take(self._most_ahead))
        if state is None or more is None:
            return more if state is None else state
        return join_rows(state, more)

    def _take_encoded(self, rows: int) -> State | None:
        encoded = self._encoded
        if encoded is None:
            return None
        self._stream.join(encoded)
        places = steps(len(encoded.lengths), encoded.lengths.device)
        rest = places[rows:]
        self._encoded = select_rows(encoded, rest) if len(rest) else None
        return select_rows(encoded, places[:rows])
