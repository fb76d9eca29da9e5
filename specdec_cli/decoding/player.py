"""Players keep the rows of a decoding, and play bursts of rounds with them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Protocol

from specdec_cli.decoding.execution.cuda_execution import BufferedRows, GraphExecution, padded_size
from specdec_cli.decoding.pace import Tallies
from specdec_cli.decoding.rounds import Onlooker, Round
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.decoding.state import Batch
from specdec_cli.model.rows import keep_rows, replace_rows

REFILL_DIVISOR = 4
"""Finished rows leave the batch once a quarter of its rows have finished."""


@dataclass(frozen=True)
class Report:
    """Result of a burst of rounds: hypotheses, and the number of sentences that may enter in their places (`free`).

    `tallies` is None if none were requested.
    """

    hypotheses: list[Hypothesis]
    free: int
    tallies: Tallies | None


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
    whose places stay free leave the batch. With `buffers` the batch is kept in them, and steps of rounds are replayed as CUDA graphs.
    `counts`: reports have tallies. `onlooker` is called in each round.
    """

    def __init__(
        self, round_: Round, *, buffers: BufferedRows | None = None, counts: bool = False, onlooker: Onlooker | None = None
    ) -> None:
        self.running = 0
        self._round, self._buffers, self._counts, self._onlooker = round_, buffers, counts, onlooker
        self._tallies: Tallies | None = None
        self._batch: Batch | None = None
        self._free, self._is_changed = 0, False

    def admit(self, entering: Sequence[Sentence]) -> None:
        new = self._round.begin(entering)
        if self._batch is None:
            self._batch = new
        else:
            self._batch = replace_rows(self._batch, self._batch.state.finished.nonzero()[: len(entering), 0], new)
            self._free -= len(entering)
        self.running += len(entering)
        self._is_changed = True

    def launch(self, rounds: int, size: int) -> None:
        batch, seen = self._arranged(), list[tuple[int, int]]()
        for _ in range(rounds):
            finished = batch.state.finished.tolist() if self._counts else ()
            if self._buffers is None:  # on a CPU reading a value costs nothing
                draft, verdict = self._round.play(batch, size, trim=True, onlooker=self._onlooker)
            else:
                draft, verdict = self._round.play(batch, padded_size(size), trim=self._round.unbounded, onlooker=self._onlooker)
            if self._counts:
                drafted, accepted = draft.counts.tolist(), verdict.accepted.counts.tolist()
                # Of the accepted tokens the last is the verifier's own.
                seen += [(drafted[row], accepted[row] - 1) for row, is_finished in enumerate(finished) if not is_finished]
        self._tallies = Tallies.of_rows(rounds, size, seen) if self._counts else None

    def collect(self) -> Report:
        batch, empty = self._arranged(), 0 if self._buffers is None else self._buffers.empty
        rows = len(batch.state.finished) - empty
        finished = int(batch.state.finished.sum()) - empty
        self.running = rows - finished
        if REFILL_DIVISOR * finished < rows:
            return Report([], 0, self._tallies)
        if self.running:
            self._free, self._is_changed = finished + empty, True
        else:
            self._batch = None
        return Report(self._round.hypotheses(batch), finished, self._tallies)

    def _arranged(self) -> Batch:
        """The batch, after finished rows that were reported have left it."""
        if self._batch is None:
            raise RuntimeError("no sentence was admitted")
        if self._is_changed:
            kept = keep_rows(self._batch, ~self._batch.state.finished) if self._free else self._batch
            self._batch = kept if self._buffers is None else self._buffers.store(kept)
            self._free, self._is_changed = 0, False
        return self._batch


@contextmanager
def open_player(
    round_: Round, graphs: GraphExecution | None, batch_size: int, *, counts: bool = False, onlooker: Onlooker | None = None
) -> Iterator[Player]:
    """A player of `round_` for batches of up to `batch_size` rows, whose memory is released at the end of the context.

    Steps are captured by `graphs`, if it is not None. `counts` and `onlooker` are as for EagerPlayer.
    """
    with nullcontext() if graphs is None else graphs.buffers(batch_size) as buffers:
        yield EagerPlayer(round_, buffers=buffers, counts=counts, onlooker=onlooker)
