"""What those who run the server see: a log of JSON lines, and metrics in the format of Prometheus."""

import json
import logging
import sys
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

if TYPE_CHECKING:
    from specdec_cli.server.queue import Backlog

_LEVELS = ("info", "warning", "error")


class Log:
    """Writes events as JSON lines on stderr; with `quiet`, only warnings and errors. Texts of requests are not logged."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._least = _LEVELS.index("warning" if quiet else "info")

    def write(self, event: str, level: str = "info", **values: Any) -> None:
        """Write an event with a time, a level ("info", "warning" or "error") and `values`."""
        if _LEVELS.index(level) < self._least:
            return
        time = datetime.now(UTC).isoformat(timespec="milliseconds")
        record = {"time": time, "level": level, "event": event} | values
        print(json.dumps(record, ensure_ascii=False, default=str), file=sys.stderr, flush=True)

    def error(self, error: BaseException) -> None:
        """Write an unexpected exception with its traceback."""
        self.write("error", "error", error=repr(error), traceback=traceback.format_exception(error))


class LogHandler(logging.Handler):
    """Passes the warnings and errors of libraries to `log`."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record of a library's log."""
        level = "error" if record.levelno >= logging.ERROR else "warning"
        cause = {"error": repr(record.exc_info[1])} if record.exc_info else {}
        self._log.write("library", level, logger=record.name, message=record.getMessage(), **cause)


CONTENT_TYPE = CONTENT_TYPE_LATEST
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.15, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64)
REFUSALS = ("requests", "backlog", "documents")
"""Why requests are refused with status 429: too many of them, too much text, or too many documents at once."""

DOCUMENT_LIMITS = ("memory", "processor", "time")
"""Limits of a document: memory and processor time of its process, and the time limit of its request."""


class RequestMetrics:
    """Counts of requests, and of processes that were replaced, since the start of the server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        own = self._registry
        self._requests = Counter("specdec_requests", "Requests that were answered.", ["path", "status"], registry=own)
        self._seconds = Histogram("specdec_request_seconds", "Seconds from request to response.", ["path"], buckets=_SECONDS, registry=own)
        self._restarts = Counter("specdec_restarts", "Worker processes that ended or did not answer, and were replaced.", registry=own)
        # A look-up by labels takes several times as long as counting.
        self._of_path = cache(lambda path, status: (self._requests.labels(path, str(status)), self._seconds.labels(path)))

    def count_request(self, path: str, status: int, seconds: float) -> None:
        """Count a request to a route of the server."""
        requests, times = self._of_path(path, status)
        requests.inc()
        times.observe(seconds)

    def count_restart(self) -> None:
        """Count a worker process that was replaced."""
        self._restarts.inc()

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)


class Metrics:
    """Counts of texts and batches since the start of the process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        own = self._registry
        self._characters = Counter("specdec_characters", "Characters of decoded requests.", ["task"], registry=own)
        self._tokens = Counter("specdec_tokens", "Tokens that were decoded.", ["task"], registry=own)
        self._rounds = Counter(
            "specdec_rounds", "Rounds of decoding; tokens divided by rounds are tokens per round.", ["task"], registry=own
        )
        self._batches = Histogram("specdec_batch_requests", "Requests in a batch.", ["task"], buckets=_REQUESTS, registry=own)
        self._batch_seconds = Counter("specdec_batch_seconds", "Seconds in which batches were decoded.", ["task"], registry=own)
        refusals = Counter("specdec_refused", "Requests that were refused with status 429.", ["reason"], registry=own)
        self._in_progress = Gauge("specdec_requests_in_progress", "Requests that are waiting or being decoded.", registry=own)
        self._backlog = {
            field: Gauge(f"specdec_backlog_{field}", f"{meaning} of the texts that are waiting or being decoded.", registry=own)
            for field, meaning in (("characters", "Characters"), ("requests", "Number of requests"), ("seconds", "Estimated time"))
        }
        # A look-up by labels takes several times as long as counting.
        self._of_task = cache(lambda task: tuple(one.labels(task) for one in (self._characters, self._tokens, self._rounds)))

        ended = Counter("specdec_documents_ended", "Documents that were ended by a limit.", ["limit"], registry=own)
        # Made now, so that they are reported as 0 before the first one.
        self._refusals = {reason: refusals.labels(reason) for reason in REFUSALS}
        self._ended = {limit: ended.labels(limit) for limit in DOCUMENT_LIMITS}

    def watch(self, in_progress: Callable[[], float], backlog: Callable[[], "Backlog"]) -> None:
        """Report the value of `in_progress` as the number of requests in progress, and what `backlog` returns."""
        self._in_progress.set_function(in_progress)
        for name, gauge in self._backlog.items():
            gauge.set_function(lambda name=name: getattr(backlog(), name))  # type: ignore[misc]

    def count_refusal(self, reason: str) -> None:
        """Count a request that was refused for one of the reasons REFUSALS."""
        self._refusals[reason].inc()

    def count_ended_document(self, limit: str) -> None:
        """Count a document that was ended by one of the limits DOCUMENT_LIMITS."""
        self._ended[limit].inc()

    def count_decoded(self, task: str, characters: int, tokens: int, rounds: int) -> None:
        """Count what was decoded for a request of the task "translate" or "correct"."""
        for counter, value in zip(self._of_task(task), (characters, tokens, rounds), strict=True):
            counter.inc(value)

    def count_batch(self, task: str, requests: int, seconds: float) -> None:
        """Count a batch and the seconds in which it was decoded."""
        self._batches.labels(task).observe(requests)
        self._batch_seconds.labels(task).inc(seconds)

    def exposition(self) -> bytes:
        """All metrics in the text format of Prometheus."""
        return generate_latest(self._registry)
