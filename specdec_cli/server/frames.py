"""Messages between the process that has the connections and the one that decodes: pickles, each after its length, on a pair of sockets.

Both processes are of this program, and each trusts the other.
"""

import asyncio
import pickle
import socket
import struct
from collections.abc import Callable
from typing import Any

_LENGTH = struct.Struct(">I")
Message = tuple[Any, ...]
"""The name of a message and its values."""


def frame_of(message: Message) -> bytes:
    """The bytes of a message."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return _LENGTH.pack(len(data)) + data


def read_message(connection: socket.socket) -> Message | None:
    """Wait for a message on a blocking socket and read it; None if the other process has closed the connection."""
    head = connection.recv(_LENGTH.size, socket.MSG_WAITALL)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = connection.recv(length, socket.MSG_WAITALL)
    return None if len(data) < length else pickle.loads(data)


class Frames(asyncio.Protocol):
    """A connection in an event loop. `on_message` takes each message that arrives; `on_end` is called when the connection has ended."""

    def __init__(self, on_message: Callable[[Message], None], on_end: Callable[[], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._unread = bytearray()
        self._unsent: list[bytes] = []
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.WriteTransport) -> None:  # type: ignore[override]
        """Start to read."""
        self._transport = transport

    def send(self, message: Message) -> None:
        """Send a message, together with others of this step of the event loop; after the end of the connection it is dropped."""
        if self._transport is None:
            return
        if not self._unsent:
            asyncio.get_running_loop().call_soon(self._write)
        self._unsent.append(frame_of(message))

    def _write(self) -> None:
        if self._transport is not None:
            self._transport.write(b"".join(self._unsent))
        self._unsent.clear()

    def close(self) -> None:
        """End the connection."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Read messages."""
        unread = self._unread
        unread += data
        position = 0
        while len(unread) - position >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(unread, position)
            end = position + _LENGTH.size + length
            if len(unread) < end:
                break
            with memoryview(unread)[position + _LENGTH.size : end] as frame:
                message = pickle.loads(frame)
            position = end
            self._on_message(message)
        del unread[:position]

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        """Report the end."""
        self._transport = None
        self._on_end()
