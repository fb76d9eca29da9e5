"""The progress of a run over shards."""

import time
from collections import Counter
from dataclasses import dataclass, field

from specdec_cli.cluster.jobs import LINES, TOKENS, Output
from specdec_cli.cluster.shards import Shard


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
