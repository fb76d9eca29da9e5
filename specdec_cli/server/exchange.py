"""A request in the front: what the client sent, which a second worker process can be told again, and what is sent to the client."""

import asyncio
from collections.abc import Callable

from starlette.types import Message as AsgiMessage
from starlette.types import Receive, Scope, Send

from specdec_cli.server.frames import Message
from specdec_cli.server.guard import ClientLeft, OutOfTime, RequestError

GRACE = 0.5
"""Seconds after the time limit, which the worker process keeps too, until the front answers for it."""
MOST_KEPT = 2**25
"""Most bytes of a body that are kept to be sent to a second process."""

_FORGOTTEN: AsgiMessage = {}


class Exchange:
    """A request with a number, and its response, within `seconds` from the last message of the client, until the response begins."""

    def __init__(self, number: int, scope: Scope, receive: Receive, send: Send, seconds: float) -> None:
        self.number, self._scope = number, scope
        self._receive, self._send, self._seconds = receive, send, seconds
        self._events: asyncio.Queue[AsgiMessage | RequestError | ClientLeft | None] = asyncio.Queue()
        self._tell: Callable[[Message], None] | None = None
        self._received: list[AsgiMessage] = []
        self._size = self._told = 0
        self._receiving: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.path: str = scope["path"]
        self.is_over = False
        """Whether the client has its response, or waits for none any more."""
        self.has_begun = False
        """Whether a part of the response has arrived from a process."""
        self.was_suspect = False
        """Whether a process that worked on this request, among others, stopped to answer."""

    async def run(self) -> None:
        """Send the response. Raises RequestError for an answer of the front, and ClientLeft for a response that cannot be completed."""
        self._start_timer()
        has_sent = False
        try:
            while (event := await self._events.get()) is not None:
                if isinstance(event, Exception):
                    raise ClientLeft if has_sent else event
                has_sent = True
                await self._send(event)
        finally:
            self.is_over = True
            self._stop_timer()
            if self._receiving is not None:
                self._receiving.cancel()

    def begin(self, tell: Callable[[Message], None]) -> None:
        """Send the request to a process by `tell`, and, without waiting until that is read, the first part of its body."""
        self._tell, self._told = tell, 0
        # A client that expects the status 100 sends its body only if the process reads it.
        if not self._received and self._scope["method"] == "POST" and all(name != b"expect" for name, _ in self._scope["headers"]):
            self._start_reading()
        tell(("request", self.number, self._scope))

    def lose(self) -> None:
        """Note that the process has ended."""
        self._tell = None

    def leave(self) -> None:
        """Tell the process that the client waits no longer."""
        if self._tell is not None:
            self._tell(("message", self.number, {"type": "http.disconnect"}))

    def fail(self, error: RequestError) -> None:
        """Answer with an error."""
        self._events.put_nowait(error)

    @property
    def is_told(self) -> bool:
        """Whether a process has the request, and has not ended it."""
        return self._tell is not None

    @property
    def can_be_repeated(self) -> bool:
        """Whether another process can answer the request."""
        return not self.has_begun and self._size <= MOST_KEPT

    def on_message(self, message: Message) -> None:
        """Take a message from the process."""
        kind = message[0]
        if kind == "send":
            self.has_begun = True
            self._stop_timer()
            self._events.put_nowait(message[2])
        elif kind == "end":
            self._tell = None
            self._events.put_nowait(ClientLeft() if message[2] else None)
        elif self._told < len(self._received):
            self._pass_on()
        else:
            self._start_reading()

    def _start_reading(self) -> None:
        if self._receiving is None and not self.is_over:
            self._receiving = asyncio.get_running_loop().create_task(self._read())

    async def _read(self) -> None:
        message = await self._receive()
        self._receiving = None
        self._received.append(message)
        self._size += len(message.get("body", b""))
        if self._timer is not None:
            self._start_timer()
        self._pass_on()

    def _pass_on(self) -> None:
        message = self._received[self._told]
        self._told += 1
        if not self.can_be_repeated:
            self._received = [_FORGOTTEN] * len(self._received)
        if self._tell is not None:
            self._tell(("message", self.number, message))

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = asyncio.get_running_loop().call_later(self._seconds + GRACE, self.fail, OutOfTime(self._seconds))

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
