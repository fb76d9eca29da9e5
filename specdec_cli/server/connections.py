"""Connections of clients: how many there may be, and how long each may take for the header of a request and for a response."""

import asyncio
import resource
from importlib.util import find_spec
from typing import TYPE_CHECKING

# Both have the attributes that are used here. The one of httptools takes less processor time.
if TYPE_CHECKING or find_spec("httptools") is None:
    from uvicorn.protocols.http.h11_impl import H11Protocol as HTTPProtocol
else:
    from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol as HTTPProtocol

HEADER_SECONDS = 10.0
"""The longest time from the first byte of a header to its end, and from the opening of a connection to its first header."""
STALL_SECONDS = 30.0
"""A connection is closed if the client reads nothing of a response for this long."""
_LONGEST_HEADER, _LONGEST_REST = 2**16, 2**24
"""Most bytes of a header, and those that may follow a response to a request whose body was not read. httptools has no limits."""
_MOST = 2000  # each may hold a body of several 100 kB in memory
_OTHER_FILES = 64
_open: dict["Connection", None] = {}
"""The open connections of this process, the oldest first."""


def most_connections() -> int:
    """The number of connections that the limit of open files allows."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return _MOST if soft == resource.RLIM_INFINITY else min(max(soft - _OTHER_FILES, 1), _MOST)


class Connection(HTTPProtocol):
    """A connection. One that sends no complete header in time, or a very long one, is closed, and so is one that does not read its
    response; where there are too many connections, that which has waited longest for a complete request is closed; at
    the end of the server, all those are closed at once.
    """

    _timer: asyncio.TimerHandle | None = None
    _stall_timer: asyncio.TimerHandle | None = None
    _unread = 0  # bytes of a header that is not complete, or of a body after its response
    _has_begun = False  # with httptools: whether a header has begun and is not complete

    @property
    def is_incomplete(self) -> bool:
        """Whether the client has not sent a whole request that is not answered yet."""
        return self._has_no_header or self.cycle.more_body

    @property
    def _has_no_header(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start to wait for a header."""
        super().connection_made(transport)
        transport.set_write_buffer_limits(0)  # pause_writing is called whenever something is left to send
        _open[self] = None
        self._watch()
        if len(_open) > most_connections():
            self._make_room()

    def data_received(self, data: bytes) -> None:
        """Read a part of a request."""
        super().data_received(data)
        self._unread = self._unread + len(data) if self._has_no_header else 0
        if self._unread > (_LONGEST_REST if self.cycle is not None and self.cycle.more_body else _LONGEST_HEADER):
            self.transport.abort()
        self._watch()

    def on_message_begin(self) -> None:
        """A header begins, perhaps while an earlier request is answered; httptools calls this."""
        super().on_message_begin()  # type: ignore[misc]  # h11 has none
        self._has_begun = True

    def on_headers_complete(self) -> None:
        """A header is complete; httptools calls this."""
        self._has_begun = False
        super().on_headers_complete()  # type: ignore[misc]

    def on_response_complete(self) -> None:
        """Go on with the next request; wait for its header if a part of it has arrived meanwhile."""
        super().on_response_complete()
        if self._has_begun or self._has_rest:
            self._watch()

    @property
    def _has_rest(self) -> bool:
        """With h11: whether a part of the next header has arrived."""
        return hasattr(self, "conn") and bool(self.conn.trailing_data[0])

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop to wait."""
        super().connection_lost(exc)
        _open.pop(self, None)
        self._stop_watching()
        self._stop_sending()

    def pause_writing(self) -> None:
        """Start the time limit for the client to read its response."""
        super().pause_writing()
        self._stall_timer = self.loop.call_later(STALL_SECONDS, self._close_if_stalled, self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """End that time limit: all of the response has been sent."""
        super().resume_writing()
        self._stop_sending()

    def shutdown(self) -> None:
        """End the connection: now if its request is not complete, else after the response."""
        if self.is_incomplete:
            self.transport.abort()
        else:
            super().shutdown()

    def _make_room(self) -> None:
        """Close the oldest incomplete connection. There are few complete ones before it: as many as the limit of requests allows."""
        oldest = next((each for each in _open if each.is_incomplete), self)
        del _open[oldest]  # connection_lost is called later
        oldest.transport.abort()

    def _watch(self) -> None:
        """Close the connection after some time unless a header is complete by then."""
        if not self._has_no_header or self.transport.is_closing():
            self._stop_watching()
        elif self._timer is None:
            self._timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _close_if_stalled(self, before: int) -> None:
        """Close the connection if the client has read nothing since `before` bytes were left to send; else look again later."""
        left = self.transport.get_write_buffer_size()
        if left >= before:
            self.transport.abort()
        else:
            self._stall_timer = self.loop.call_later(STALL_SECONDS, self._close_if_stalled, left)

    def _stop_sending(self) -> None:
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def _stop_watching(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
