"""The progress of a run over shards."""

import time
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from specdec_cli.cluster.jobs import LINES, TOKENS, FailedLine, Failure, Output, Shard, joined
from specdec_cli.cluster.pool import Pool
from specdec_cli.cluster.session import Session
from specdec_cli.errors import ModelError, SpecdecError
from specdec_cli.text.io.lines import Line


@dataclass
class Progress:
    """Counts of a run. `shards` were taken from the input so far, `finished` of them are stored; `read` says that there are no more.

    `total` is the size of the input in bytes, as far as it is known; `bytes` of it are stored. `counts` are the sums of the job's
    counts in this run, `failed` lines were set aside, and `retries` counts failed tries. `messages` are warnings not yet shown.
    """

    total: int | None = None
    shards: int = 0
    finished: int = 0
    skipped: int = 0
    read: bool = False
    bytes: int = 0
    skipped_bytes: int = 0
    failed: int = 0
    retries: int = 0
    workers: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    messages: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.monotonic)

    def skip(self, shard: Shard) -> None:
        """Count a shard that an earlier run stored."""
        self.finished += 1
        self.skipped += 1
        self.bytes += shard.bytes
        self.skipped_bytes += shard.bytes

    def finish(self, shard: Shard, output: Output, failed: int) -> None:
        """Count a shard that was stored, and its failed lines."""
        self.finished += 1
        self.bytes += shard.bytes
        self.failed += failed
        self.counts.update(output.counts)
        self.messages += output.messages

    @property
    def seconds(self) -> float:
        """The duration of the run so far."""
        return time.monotonic() - self.started

    @property
    def lines_per_second(self) -> float:
        """Lines of this run, divided by its duration."""
        return self.counts[LINES] / max(self.seconds, 1e-9)

    @property
    def tokens_per_second(self) -> float:
        """Output tokens of this run, divided by its duration."""
        return self.counts[TOKENS] / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """An estimate of the time left, from the bytes that are done; None without one."""
        done = self.bytes - self.skipped_bytes
        return self.seconds * max(self.total - self.bytes, 0) / done if self.total and done else None


RETRIES = 3
"""The number of times that a shard, or a line that fails alone, is tried, unless another is given."""
_LOADS = 3
"""The number of times that each worker may fail to load the model while no worker has loaded it."""
_FAILURES_IN_A_ROW = 50
_RESTARTS_IN_A_ROW = 3
_TICK = 0.5
"""Seconds between two reports of the progress while no shard ends."""


class Store(Protocol):
    """Where finished shards are kept."""

    def has(self, shard: Shard) -> bool:
        """Whether the shard is there already, from an earlier run. Raises InputError if it is, and was made from other lines."""

    def write(self, shard: Shard, output: Output, failed: list[FailedLine]) -> None:
        """Store the output of a shard, completely or not at all; it has the job's text for failed lines."""


@dataclass
class _Piece:
    """The lines from `start` to `stop` (exclusive) of a shard, and the number of times that they were tried."""

    shard: Shard
    start: int
    stop: int
    tries: int = 0

    @property
    def lines(self) -> tuple[Line, ...]:
        return tuple(self.shard.lines[self.start : self.stop])

    def halves(self) -> tuple["_Piece", "_Piece"]:
        middle = (self.start + self.stop) // 2
        return _Piece(self.shard, self.start, middle), _Piece(self.shard, middle, self.stop)


class Run:
    """Processes shards with the workers of `pool`, and stores each as soon as it is finished.

    A failed shard is tried `retries` times; then its halves are tried once each, their halves, and so on. A single line is tried
    `retries` times and then set aside as failed. Shards are taken from the input only when a worker is idle.
    """

    def __init__(self, session: Session, pool: Pool[_Piece], store: Store, retries: int, report: Callable[[Progress], None]) -> None:
        self.progress = Progress()
        self._session, self._pool, self._store, self._retries, self._report = session, pool, store, retries, report
        self._again: deque[_Piece] = deque()
        self._parts: dict[int, dict[int, Output]] = defaultdict(dict)
        self._failed: dict[int, list[FailedLine]] = defaultdict(list)
        self._failures_in_a_row = self._failed_loads = self._restarts_in_a_row = 0
        self._load_errors: set[str] = set()
        self._input_error: SpecdecError | None = None

    def process(self, shards: Iterator[Shard]) -> None:
        """Process all shards that are not stored yet.

        Raises ModelError if the model cannot be loaded, nothing succeeds any more, or Ray fails, and what `shards` and the store raise.
        """
        from ray.exceptions import RayError

        try:
            self._process(shards)
        except RayError as error:
            raise ModelError(f"Ray failed ({str(error).strip().splitlines()[0]}); the same command resumes the run") from error

    def _process(self, shards: Iterator[Shard]) -> None:
        pieces = self._pieces(shards)
        more = True
        while more or self._pool.busy:
            self._pool.fill()
            while more and self._pool.idle:
                piece = self._again.popleft() if self._again else next(pieces, None)
                if piece is None:
                    break
                self._pool.submit(piece, piece.lines, piece.shard.first + piece.start)
            for key, result in self._pool.finished(_TICK):
                self._handle(key, result)
            if self._session.lost():
                self._restart()
            more = bool(self._again) or not self.progress.read
            self.progress.workers = self._pool.ready
            self._report(self.progress)
        if self._input_error is not None:
            raise self._input_error

    def _pieces(self, shards: Iterator[Shard]) -> Iterator[_Piece]:
        """Yield the shards that are not stored yet. An error of the input is kept until all lines before it are processed."""
        try:
            for shard in shards:
                self.progress.shards += 1
                if self._store.has(shard):
                    self.progress.skip(shard)
                else:
                    yield _Piece(shard, 0, len(shard.lines))
        except SpecdecError as error:
            self._input_error = error
        self.progress.read = True

    def _handle(self, piece: _Piece | None, result: Output | Failure) -> None:
        if isinstance(result, Failure):
            self.progress.retries += 1
            if piece is None:
                self._count_failed_load(result)
            else:
                self._count_failure(result)
        if piece is None:
            return
        piece.tries += 1
        if isinstance(result, Output):
            self._failures_in_a_row = self._restarts_in_a_row = 0
            self._finish(piece, result)
        elif piece.tries < self._retries and piece.stop - piece.start in (1, len(piece.shard.lines)):
            self._again.append(piece)
        elif piece.stop - piece.start > 1:
            self._again.extend(piece.halves())
        else:
            line = piece.shard.lines[piece.start]
            self._failed[piece.shard.index].append(FailedLine(line, result.message))
            self._finish(piece, Output((self._pool.job.failed(line),)))

    def _finish(self, piece: _Piece, output: Output) -> None:
        """Keep the output of a piece; store the shard if that was the last one."""
        shard, parts = piece.shard, self._parts[piece.shard.index]
        parts[piece.start] = output
        if sum(len(part.texts) for part in parts.values()) < len(shard.lines):
            return
        whole = joined(parts[start] for start in sorted(parts))
        whole.counts[LINES] = len(shard.lines)
        failed = sorted(self._failed.pop(shard.index, []), key=lambda each: each.line.number)
        self._store.write(shard, whole, failed)
        del self._parts[shard.index]
        self.progress.finish(shard, whole, len(failed))

    def _count_failed_load(self, failure: Failure) -> None:
        """End the run if no worker has loaded the model. Otherwise only the machine of this worker may be at fault."""
        if failure.message not in self._load_errors and (self._pool.ready or not _is_final(failure)):
            self.progress.messages.append(f"specdec: warning: a worker could not load the model, and tries again: {failure.message}")
            self._load_errors.add(failure.message)
        self._failed_loads = 0 if self._pool.ready else self._failed_loads + 1
        if self._failed_loads >= self._pool.shape.count * (1 if _is_final(failure) else _LOADS):
            raise (failure.kind or ModelError)(failure.message)

    def _count_failure(self, failure: Failure) -> None:
        self._failures_in_a_row += 1
        if failure.kind is not None and _is_final(failure):
            raise failure.kind(failure.message)
        if self._failures_in_a_row >= _FAILURES_IN_A_ROW:
            raise ModelError(f"{self._failures_in_a_row} tries in a row failed; the last error: {failure.message}")

    def _restart(self) -> None:
        """Go on with a new local cluster."""
        self._restarts_in_a_row += 1
        if self._restarts_in_a_row > _RESTARTS_IN_A_ROW:
            raise ModelError(f"Ray ended {self._restarts_in_a_row} times, and no shard was finished in between")
        self._again.extend(self._pool.abandon())
        self._session.restart()


def _is_final(failure: Failure) -> bool:
    """Whether another try on the same machine would fail in the same way."""
    return failure.kind is not None and not failure.broken
