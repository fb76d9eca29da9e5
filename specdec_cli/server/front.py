"""The application of the process that has the connections: it passes requests to the worker process, and watches that.

A worker process that has ended, or has stopped to answer, is replaced by a new one, and requests without a response are sent to that. If
the old process worked on one request only, that is the cause, and gets an error. If it worked on several, which had lines in one batch or
were worked on by several threads, these are sent to the new process one after another: the one during which that stops to answer, too, is
the cause. No request waits longer than the time limit for the beginning of its response.
"""

import asyncio
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, Self

from starlette.responses import JSONResponse
from starlette.types import Receive, Scope, Send

from specdec_cli.errors import counted
from specdec_cli.server.board import SLOTS
from specdec_cli.server.exchange import Exchange
from specdec_cli.server.frames import Message
from specdec_cli.server.guard import RequestError
from specdec_cli.server.monitoring import Log, RequestMetrics
from specdec_cli.server.worker_process import Start, WorkerProcess
from specdec_cli.version import __version__

_SHARE = 0.25
"""The part of the time limit after which a process that does not answer is replaced: then there is time for the other requests."""
_LEAST_SECONDS = 2.0
_TICK = 0.5
_DELAY = 5.0
"""Seconds from a start that failed to the next one."""
_CAUSE = "the process that worked on this request stopped to answer, or ended, and was replaced"


class Front:
    """Passes requests to a worker process, inside a `with` block, at whose beginning the process loads its models.

    `seconds` is the time limit of requests.
    """

    def __init__(self, start: Start, seconds: float, log: Log, metrics: RequestMetrics) -> None:
        self._start, self._seconds, self._log, self._metrics = start, seconds, log, metrics
        self._patience = max(_SHARE * seconds, _LEAST_SECONDS)
        self._exchanges: dict[int, Exchange] = {}
        self._suspects: deque[Exchange] = deque()
        self._ended: dict[int, float] = {}  # when requests were over on which the process still worked
        self._next, self._cause = 0, ""
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_connected, self._has_failed, self._has_stopped = False, False, False
        self.paths: Sequence[str] = ()
        """The paths of the routes."""

    _first: "asyncio.Future[Message | None]"

    def __enter__(self) -> Self:
        self._worker = WorkerProcess(self._start)
        try:
            self._read_first(self._worker.first_message())
        except BaseException:
            self._worker.wait()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._has_stopped = True
        self._worker.wait()

    def _read_first(self, message: Message | None) -> None:
        """Read the first message of a worker process. Raises the exception for which it could not load the models."""
        if message is None:
            raise RuntimeError("the process that loads the models has ended before they were loaded")
        if message[0] == "failed":
            raise message[1]
        _, self._languages, self.paths = message

    def kill(self) -> None:
        """End the worker process, whatever it does."""
        self._worker.kill()

    def hurry(self) -> None:
        """Replace a worker process sooner from now on: the server is about to end."""
        self._patience = _LEAST_SECONDS

    @property
    def is_alive(self) -> bool:
        """Whether there is a worker process, or the last one could be replaced so far."""
        return not self._has_failed

    async def connect(self) -> None:
        """Begin to pass requests on in this event loop, and to watch the worker process."""
        self._first = asyncio.get_running_loop().create_future()
        self._first.set_result(None)  # it has been read
        await self._worker.connect(self._on_message, self._on_end)
        self._begin()
        self._do(self._watch())

    async def disconnect(self) -> None:
        """End the connection to the worker process, before the event loop ends."""
        self._has_stopped = True
        self._worker.disconnect()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request of ASGI. Raises RequestError."""
        if scope["path"] == "/health" and scope["method"] in ("GET", "HEAD"):
            await self._health()(scope, receive, send)
            return
        exchange = Exchange(self._number(), scope, receive, send, self._seconds)
        self._exchanges[exchange.number] = exchange
        if self._is_connected:
            exchange.begin(self._worker.send)
        try:
            await exchange.run()
        finally:
            exchange.leave()
            if not exchange.is_told:
                self._forget(exchange)

    def _health(self) -> JSONResponse:
        answer: dict[str, Any] = {"status": "ok" if self.is_alive else "failed", "version": __version__, **self._languages}
        return JSONResponse(answer, 200 if self.is_alive else 503)

    def _number(self) -> int:
        """The number of a new request: one on which the worker process does not work any more."""
        for _ in range(SLOTS):
            self._next = (self._next + 1) % SLOTS
            if self._next not in self._exchanges and not self._worker.board.is_at_work(self._next):
                return self._next
        raise RequestError(503, "too many requests are waiting; try again later", {"Retry-After": "1"})

    def _do(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)  # an event loop has only weak references to its tasks
        task.add_done_callback(self._tasks.discard)

    def _begin(self) -> None:
        """Send all requests without a response to the worker process, but for those that are to be sent one after another."""
        self._is_connected, self._ended = True, {}
        for exchange in self._exchanges.values():
            if exchange not in self._suspects:
                exchange.begin(self._worker.send)
        self._begin_suspect()

    def _on_message(self, message: Message) -> None:
        if not self._first.done():
            self._first.set_result(message)
            return
        exchange = self._exchanges.get(message[1])
        if exchange is None:
            return
        exchange.on_message(message)
        if message[0] == "end":
            self._forget(exchange)

    def _forget(self, exchange: Exchange) -> None:
        if self._exchanges.get(exchange.number) is not exchange:
            return
        del self._exchanges[exchange.number]
        if self._worker.board.is_at_work(exchange.number):
            self._ended[exchange.number] = time.monotonic()
        if self._suspects and self._suspects[0] is exchange:
            self._suspects.popleft()
            self._begin_suspect()
        elif exchange in self._suspects:
            self._suspects.remove(exchange)

    def _begin_suspect(self) -> None:
        if self._is_connected and self._suspects:
            self._suspects[0].begin(self._worker.send)

    async def _watch(self) -> None:
        """Kill the worker process when it is silent for too long, or works too long for nobody."""
        silent, beat, worker = 0.0, -1, self._worker
        while True:
            await asyncio.sleep(_TICK)
            now = time.monotonic()
            if not self._is_connected or worker is not self._worker or beat != worker.board.beat:
                silent, worker = 0.0, self._worker
                beat = worker.board.beat
                late = [number for number, since in self._ended.items() if now - since > self._seconds + self._patience]
                self._ended = {number: since for number, since in self._ended.items() if worker.board.is_at_work(number)}
                if any(number in self._ended for number in late):
                    self._end("it worked on a request long after the time limit")
            else:
                silent += _TICK  # the time that this process has had, too: a machine without time is no fault of the worker
                if silent >= self._patience:
                    self._end(f"it did not answer for {counted(silent, 'second')}")

    def _end(self, cause: str) -> None:
        self._cause = cause
        self._worker.kill()

    def _on_end(self) -> None:
        if not self._first.done():
            self._first.set_result(None)
        elif not self._has_stopped:
            self._do(self._replace())

    async def _replace(self) -> None:
        """Start a new worker process after the end of the last one, and answer the request that has ended that, if it is known."""
        self._is_connected = False
        end = await self._worker.end()
        paths = self._sort_out()
        self._metrics.count_restart()
        self._log.write("restart", "error", cause=self._cause or end, requests=paths)
        self._cause = ""
        while True:
            try:
                self._worker = WorkerProcess(self._start)
                self._first = asyncio.get_running_loop().create_future()
                await self._worker.connect(self._on_message, self._on_end)
                self._read_first(await self._first)
                break
            except Exception as error:
                self._has_failed = True
                self._log.error(error)
                await self._worker.end()
                await asyncio.sleep(_DELAY)
        self._has_failed = False
        self._begin()

    def _sort_out(self) -> list[str]:
        """Answer requests that cannot be sent again, and those that are the cause of the end of a worker process; see above. Returns the
        paths of the latter.
        """
        at_work = [exchange for exchange in self._exchanges.values() if self._worker.board.is_at_work(exchange.number)]
        possible = at_work or [exchange for exchange in self._exchanges.values() if exchange.is_told and not exchange.is_over]
        causes = at_work if len(at_work) == 1 else [exchange for exchange in possible if exchange.was_suspect]
        for exchange in list(self._exchanges.values()):
            exchange.lose()
            if exchange in causes or not exchange.can_be_repeated or exchange.is_over:
                exchange.fail(RequestError(503, _CAUSE, {"Retry-After": "1"}))
                self._forget(exchange)
        if not causes:
            for exchange in possible:
                if exchange.number in self._exchanges:
                    exchange.was_suspect = True
                    self._suspects.append(exchange)
        return [exchange.path for exchange in causes]
