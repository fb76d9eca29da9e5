"""The worker process as the front sees it: its start, its messages, its board, and its end."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from specdec_cli.server.board import SIZE, Board
from specdec_cli.server.frames import Frames, Message, frame_of, read_message

_STDERR = 2
_POLL = 0.01


@dataclass(frozen=True)
class Start:
    """What a worker process loads: what the function `make` (see worker.Make) of a module returns for `arguments`."""

    make: Callable[..., Any]
    arguments: tuple[Any, ...] = ()


class WorkerProcess:
    """A new worker process. It ends with the thread that has started it, where the system can do that (Linux)."""

    def __init__(self, start: Start) -> None:
        with tempfile.TemporaryFile() as memory:
            memory.truncate(SIZE)
            self.board = Board(memory.fileno())
            self._connection, theirs = socket.socketpair()
            with theirs:
                self._process = subprocess.Popen(
                    # -P: do not import modules from the working folder.
                    [sys.executable, "-P", "-m", "specdec_cli.server.worker"],
                    stdin=theirs.fileno(),
                    stdout=_STDERR,
                    pass_fds=[memory.fileno()],
                    start_new_session=True,  # Ctrl-C does not end it before the server does
                    env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                )
            self._connection.sendall(frame_of(("start", start.make, start.arguments, memory.fileno(), os.getpid())))
        self._frames: Frames | None = None
        self.number = self._process.pid

    def first_message(self) -> Message | None:
        """Wait for the first message; None if the process ends before that."""
        return read_message(self._connection)

    async def connect(self, on_message: Callable[[Message], None], on_end: Callable[[], None]) -> None:
        """Let this event loop call `on_message` for each message that arrives, and `on_end` when the process has ended or left."""
        frames = Frames(on_message, on_end)
        await asyncio.get_running_loop().create_unix_connection(lambda: frames, sock=self._connection)
        self._frames = frames

    def send(self, message: Message) -> None:
        """Send a message to a process that is connected."""
        assert self._frames is not None
        self._frames.send(message)

    def disconnect(self) -> None:
        """End the connection, at which the process ends too, if it can."""
        if self._frames is not None:
            self._frames.close()

    def kill(self) -> None:
        """End the process, whatever it does."""
        self._process.kill()

    def wait(self) -> str:
        """Wait until the process has been killed or has ended, free what belongs to it, and say how it ended."""
        self.kill()
        self._process.wait()
        return self._description()

    async def end(self) -> str:
        """Do the same in an event loop."""
        self.kill()
        while self._process.poll() is None:
            await asyncio.sleep(_POLL)
        return self._description()

    def _description(self) -> str:
        code = self._process.wait()
        self._connection.close()
        return f"it was killed by signal {-code} ({signal.Signals(-code).name})" if code < 0 else f"it ended with exit code {code}"
