"""The process that does what requests ask for: `python -m specdec_cli.server.worker`.

A pattern that backtracks, or any C code that holds the interpreter's lock, stops all threads of its process: the event loop, time limits
and handlers of signals. So one process has the connections (`front`) and works on no text, and this one has the models, the queue and all
that reads texts. The front kills this process when it stops to answer, and starts another one. The messages between both are those of
ASGI, so that the application is the same as in one process; a worker process for the preparation of lines alone would leave the
reading of forms, HTML, documents and markup in the event loop, and the pipeline calls the engine in the middle of its work on a line.

Stdin is a pair of sockets for messages (`frames`). The first one is

    ("start", make, arguments, file, parent)

and `make(*arguments)` returns the service and its application; `file` is the memory of the board. The answer is ("failed", exception) or
("ready", health, paths), with the values of /health and the paths of the routes. Then there are, with the number of a request:

    ("request", number, scope)      the front has a request
    ("receive", number)             the application waits for a message of ASGI
    ("message", number, message)    the front has received one; it sends the first one unasked
    ("send", number, message)       the application sends one
    ("end", number, left)           the application has returned, perhaps because the client has left
"""

import asyncio
import ctypes
import os
import pickle
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from starlette.types import ASGIApp, Scope
from starlette.types import Message as AsgiMessage

from specdec_cli.processors import MMAP_THRESHOLD, TRIM_THRESHOLD, set_allocator_options
from specdec_cli.server.board import REQUEST, Board, ShownRequest, make_task
from specdec_cli.server.frames import Frames, Message, frame_of, read_message
from specdec_cli.server.guard import ClientLeft
from specdec_cli.server.service import Service

Make = Callable[..., tuple[Service, ASGIApp, Sequence[str]]]
"""Loads the models. Returns the service, its application, and the paths of its routes."""
BEAT_SECONDS = 0.25
"""The time between two changes of the beat."""
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_KEPT = 64 * 2**20
_LARGEST_KEPT = 32 * 2**20  # glibc takes no larger value


def keep_freed_memory() -> None:
    """Let glibc keep freed memory of this process, up to 64 MiB in each of its arenas; elsewhere, do nothing.

    Each batch allocates a few MiB and frees them. By default that memory goes back to the system, and the next batch has a page fault
    for each page of it.
    """
    set_allocator_options({TRIM_THRESHOLD: _KEPT, MMAP_THRESHOLD: _LARGEST_KEPT})


class Worker:
    """Answers the requests of the front with `application` until the connection ends."""

    def __init__(self, board: Board, service: Service, application: ASGIApp) -> None:
        self._board, self._service, self._application = board, service, application
        self._inboxes: dict[int, asyncio.Queue[AsgiMessage]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = asyncio.Event()
        self._frames = Frames(self._on_message, self._ended.set)

    async def run(self, connection: socket.socket, ready: Message) -> None:
        """Send the message `ready`, and work until the front closes the connection."""
        loop = asyncio.get_running_loop()
        loop.set_task_factory(make_task)  # type: ignore[arg-type]  # the stub knows no generators
        await loop.create_unix_connection(lambda: self._frames, sock=connection)
        self._frames.send(ready)
        self._beat()
        await self._ended.wait()

    def _beat(self) -> None:
        """Show that the event loop and all threads that decode run."""
        if self._service.pool.is_alive:
            self._board.change_beat()
        asyncio.get_running_loop().call_later(BEAT_SECONDS, self._beat)

    def _on_message(self, message: Message) -> None:
        kind, number, value = message
        if kind == "request":
            self._inboxes[number] = asyncio.Queue()
            token = REQUEST.set(ShownRequest(self._board, number))
            task = asyncio.get_running_loop().create_task(self._answer(number, value))
            REQUEST.reset(token)
            self._tasks.add(task)  # an event loop has only weak references to its tasks
            task.add_done_callback(self._tasks.discard)
        elif number in self._inboxes:
            self._inboxes[number].put_nowait(value)

    async def _answer(self, number: int, scope: Scope) -> None:
        inbox, is_waiting = self._inboxes[number], False

        async def receive() -> AsgiMessage:
            nonlocal is_waiting
            if inbox.empty() and not is_waiting:  # else the message for an earlier call, which was cancelled, is on its way
                is_waiting = True
                self._frames.send(("receive", number))
            message = await inbox.get()
            is_waiting = False
            return message

        async def send(message: AsgiMessage) -> None:
            self._frames.send(("send", number, message))

        has_left = False
        try:
            await self._application(scope, receive, send)
        except ClientLeft:
            has_left = True
        except Exception as error:  # the application has sent a response
            self._service.log.error(error)
        finally:
            del self._inboxes[number]
            self._frames.send(("end", number, has_left))


def _sendable(error: BaseException) -> BaseException:
    """An exception that can be sent; one that cannot be, as an error with its traceback."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def _new_loop() -> asyncio.AbstractEventLoop:
    """An event loop of uvloop, which is faster than that of Python, where it is installed."""
    if find_spec("uvloop") is None:
        return asyncio.new_event_loop()
    import uvloop

    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def main() -> None:
    """Load the models and answer requests."""
    # The front ends this process; a terminal and systemd send signals to all processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    connection = socket.socket(fileno=os.dup(0))
    start = read_message(connection)
    if start is None or start[-1] != os.getppid():
        return
    _, make, arguments, file, _ = start
    try:
        service, application, paths = make(*arguments)
    except BaseException as error:
        connection.sendall(frame_of(("failed", _sendable(error))))
        return
    keep_freed_memory()
    with service, asyncio.Runner(loop_factory=_new_loop) as runner:
        runner.run(Worker(Board(file), service, application).run(connection, ("ready", service.languages, paths)))
        sys.stderr.flush()
        os._exit(0)  # threads that work on requests for which nobody waits do not delay the end


if __name__ == "__main__":
    main()
