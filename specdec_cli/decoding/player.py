"""Players keep the rows of a decoding, and play bursts of rounds with them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from specdec_cli.decoding.graph_player import GraphPlayer
from specdec_cli.decoding.graphs import Graphs
from specdec_cli.decoding.pace import Report, Tallies
from specdec_cli.decoding.rounds import CapturableRound, Onlooker, Round
from specdec_cli.decoding.sentence import Sentence
from specdec_cli.decoding.state import Batch
from specdec_cli.model.rows import keep_rows, replace_rows

REFILL_DIVISOR = 4
"""Finished rows leave the batch once a quarter of its rows have finished."""


class Player(Protocol):
    """Plays the rounds of a decoding with a batch of rows."""

    @property
    def running(self) -> int:
        """The number of rows that have not finished, as far as is known."""

    def admit(self, entering: Sequence[Sentence]) -> None:
        """Add rows for sentences: at first up to the batch size, then as many as the last report said."""

    def launch(self, rounds: int, size: int) -> None:
        """Start a burst of `rounds` rounds with drafts of at most `size` tokens (0: no bound but the drafter's own)."""

    def collect(self) -> Report:
        """Wait for a burst that was launched, and return its report."""


class EagerPlayer:
    """A player that computes a burst when it is launched.

    Finished rows are reported once they are a quarter of the batch (REFILL_DIVISOR). Then new sentences take their places; rows
    whose places stay free leave the batch. `counts`: reports have tallies. `onlooker` is called in each round.
    """

    def __init__(self, round_: Round, *, counts: bool = False, onlooker: Onlooker | None = None) -> None:
        self.running = 0
        self._round, self._counts, self._onlooker = round_, counts, onlooker
        self._tallies: Tallies | None = None
        self._batch: Batch | None = None
        self._free, self._is_changed, self._rounds = 0, False, 0

    def admit(self, entering: Sequence[Sentence]) -> None:
        new = self._round.begin(entering)
        if self._batch is None:
            self._batch = new
        else:
            places = self._batch.state.finished.nonzero()[: len(entering), 0]
            self._batch = replace_rows(self._batch, places, new, whole=self._round.fills_caches)
            self._free -= len(entering)
        self.running += len(entering)
        self._is_changed = True

    def launch(self, rounds: int, size: int) -> None:
        batch, seen = self._arranged(), list[tuple[int, int]]()
        self._rounds = rounds
        for _ in range(rounds):
            finished = batch.state.finished.tolist() if self._counts else ()
            draft, verdict = self._round.play(batch, size, trim=True, onlooker=self._onlooker)
            if self._counts:
                drafted, accepted = draft.counts.tolist(), verdict.accepted.counts.tolist()
                # Of the accepted tokens the last is the verifier's own.
                seen += [(drafted[row], accepted[row] - 1) for row, is_finished in enumerate(finished) if not is_finished]
        self._tallies = Tallies.of_rows(rounds, size, seen) if self._counts else None

    def collect(self) -> Report:
        batch = self._arranged()
        rows, finished = len(batch.state.finished), int(batch.state.finished.sum())
        self.running = rows - finished
        if REFILL_DIVISOR * finished < rows:
            return Report(self._rounds, [], 0, self._tallies)
        if self.running:
            self._free, self._is_changed = finished, True
        else:
            self._batch = None
        return Report(self._rounds, self._round.hypotheses(batch), finished, self._tallies)

    def _arranged(self) -> Batch:
        """The batch, after finished rows that were reported have left it."""
        if self._batch is None:
            raise RuntimeError("no sentence was admitted")
        if self._is_changed:
            self._batch = keep_rows(self._batch, ~self._batch.state.finished) if self._free else self._batch
            self._free, self._is_changed = 0, False
        return self._batch


@contextmanager
def open_player(
    round_: Round, graphs: Graphs | None, batch_size: int, *, counts: bool = False, onlooker: Onlooker | None = None
) -> Iterator[Player]:
    """A player of `round_` for batches of up to `batch_size` rows, whose memory is released at the end of the context.

    With `graphs` it captures rounds, unless they cannot be captured, or an `onlooker` is to be called in each of them. `counts` is as
    for EagerPlayer.
    """
    if graphs is None or onlooker is not None or not isinstance(round_, CapturableRound) or round_.identity is None:
        yield EagerPlayer(round_, counts=counts, onlooker=onlooker)
        return
    player = GraphPlayer(round_, graphs, batch_size, counts=counts)
    try:
        yield player
    finally:
        player.close()
