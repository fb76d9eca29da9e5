"""Sentences that wait for a place in a batch."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Generic, TypeVar

from specdec_cli.decoding.execution.cuda_graphs import Side
from specdec_cli.decoding.state import State
from specdec_cli.model.cache import steps
from specdec_cli.model.rows import join_rows, select_rows

T = TypeVar("T")


class Waiting(Generic[T]):
    """Makes rows of sentences by `encode`, when they are asked for; with a `side` to do it on, `ahead` of them before that."""

    def __init__(self, sentences: Iterable[T], encode: Callable[[Sequence[T]], State], side: Side | None, ahead: int) -> None:
        self._sentences, self._encode, self._side, self._most_ahead = iter(sentences), encode, side, ahead
        self._ahead: State | None = None

    def take(self, places: int) -> State | None:
        """The next `places` rows, fewer if fewer wait; None if none do."""
        if self._side is None:
            return self._next(places)
        state = None
        if self._ahead is not None:
            self._side.join(self._ahead)
            rows = steps(len(self._ahead.lengths), self._ahead.lengths.device)
            state, rest = select_rows(self._ahead, rows[:places]), rows[places:]
            self._ahead = select_rows(self._ahead, rest) if len(rest) else None
        missing = places - (0 if state is None else len(state.lengths))
        more = self._next(missing) if missing else None
        if self._ahead is None:
            self._ahead = self._side.run(lambda: self._next(self._most_ahead))
        if state is None or more is None:
            return more if state is None else state
        return join_rows(state, more)

    def _next(self, places: int) -> State | None:
        entering = list(islice(self._sentences, places))
        return self._encode(entering) if entering else None
