"""The life of the server: sockets, start, signals, graceful stop, and messages about it to systemd."""

import logging
import os
import signal
import socket
import stat
import time
from collections.abc import Awaitable, Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from math import ceil
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from specdec_cli.errors import UsageError, cause_of
from specdec_cli.server.connections import Connection
from specdec_cli.server.front import Front
from specdec_cli.server.monitoring import Log, LogHandler

_BACKLOG = 2048


def listen_tcp(host: str, port: int) -> socket.socket:
    """Listen on a TCP address; port 0 is any free one. Raises UsageError if that is not possible."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with ExitStack() as failed:
            listener = failed.enter_context(socket.socket(family, kind))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(_BACKLOG)
            failed.pop_all()
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {cause_of(error)}") from error
    return listener


@contextmanager
def unix_socket(path: Path) -> Iterator[socket.socket]:
    """Listen as `listen_unix` does, and remove the socket's file after the block, unless another program has replaced it."""
    with listen_unix(path) as listener:
        identity = _identity(path)
        try:
            yield listener
        finally:
            if _identity(path) == identity:
                path.unlink(missing_ok=True)


def listen_unix(path: Path) -> socket.socket:
    """Listen on a Unix socket that only this user can open; a socket at `path` that nobody listens on is replaced.

    Raises UsageError for a path that is too long or in use, or if there is another kind of file.
    """
    mask = os.umask(0o177)
    try:
        _remove_stale(path)
        with ExitStack() as failed:
            listener = failed.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            listener.bind(str(path))
            listener.listen(_BACKLOG)
            failed.pop_all()
    except OSError as error:
        raise UsageError(f"cannot listen on {path}: {cause_of(error)}") from error
    finally:
        os.umask(mask)
    return listener


def address_of(listener: socket.socket) -> str:
    """The address of a listening socket, as an URL or as unix:PATH."""
    if listener.family == socket.AF_UNIX:
        return f"unix:{listener.getsockname()}"
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if listener.family == socket.AF_INET6 else f"http://{host}:{port}"


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one at the same path; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _remove_stale(path: Path) -> None:
    """Remove a socket that a program left behind. Raises UsageError if one still listens on it, or for another file."""
    if not path.exists():
        return
    if not stat.S_ISSOCK(path.stat().st_mode):
        raise UsageError(f"{path}: exists and is not a socket")
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise UsageError(f"{path}: another program listens there")


_KEEP_ALIVE = 30
_AFTER = 1  # seconds for the responses to requests whose time has run out
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_SAME_SIGNAL = 0.1  # seconds


class _Server(uvicorn.Server):
    """A server that waits for `on_start` when it answers requests, and for `on_stop` when it does so no longer, and leaves signals to
    others.
    """

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], Awaitable[None]], on_stop: Callable[[], Awaitable[None]]) -> None:
        super().__init__(config)
        self._on_start, self._on_stop = on_start, on_stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        await self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        await self._on_stop()

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


@contextmanager
def stopped_by_signals(
    server: uvicorn.Server,
    clock: Callable[[], float] = time.monotonic,
    on_first: Callable[[], None] = lambda: None,
    on_second: Callable[[], None] = lambda: None,
) -> Iterator[None]:
    """Inside the block, let a first SIGINT or SIGTERM stop `server` gracefully, and a second one end the process at once, whatever runs.

    The exit code then is 128 plus the number of the signal. A signal that arrives within 0.1 s of the first one counts as the same:
    `timeout` sends each signal twice. `on_first` is called at the first signal, and `on_second` before the process ends.
    """
    first: float | None = None

    def stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal first
        if first is None:
            first, server.should_exit = clock(), True
            on_first()
        elif clock() - first > _SAME_SIGNAL:
            on_second()
            os._exit(128 + number)

    handlers = {number: signal.signal(number, stop) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)


async def _nothing() -> None:
    """Do nothing."""


def make_server(
    application: ASGIApp,
    stop_seconds: float,
    on_start: Callable[[], Awaitable[None]] = _nothing,
    on_stop: Callable[[], Awaitable[None]] = _nothing,
    is_alive: Callable[[], bool] = lambda: True,
) -> uvicorn.Server:
    """Make a server that finishes the requests in progress for `stop_seconds` and one second more at most when it is stopped.

    `on_start` is awaited when it has started, and `on_stop` when it has answered its last request. Where systemd watches it, it is told
    that the server works as long as `is_alive`.
    """

    async def report() -> None:
        if is_alive():
            notify("WATCHDOG=1")

    watched = watchdog_seconds()
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE,
        timeout_graceful_shutdown=ceil(stop_seconds) + _AFTER,
        callback_notify=report if watched else None,
        timeout_notify=watched / 2,  # type: ignore[arg-type]  # a fraction of a second is compared with times
    )
    return _Server(config, on_start, on_stop)


def notify(message: str) -> None:
    """Send a message to systemd, if that has started this process and waits for one; see sd_notify(3)."""
    path = os.environ.get("NOTIFY_SOCKET")
    if path:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender, suppress(OSError):
            sender.sendto(message.encode(), f"\0{path[1:]}" if path.startswith("@") else path)  # @ stands for a socket without a file


def watchdog_seconds() -> float:
    """The time within which systemd expects a message that this process works, or restarts it; 0 if it expects none."""
    number = os.environ.get("WATCHDOG_PID", str(os.getpid()))
    return float(os.environ.get("WATCHDOG_USEC", 0)) / 1e6 if number == str(os.getpid()) else 0.0


def serve(front: Front, application: ASGIApp, sockets: Sequence[socket.socket], stop_seconds: float, log: Log) -> None:
    """Answer requests on `sockets` until SIGINT or SIGTERM; `application` passes them to `front`, whose worker process has started.

    Then no new request is accepted, and those in progress are finished for at most `stop_seconds`; a second signal
    ends both processes at once.
    """
    logging.getLogger("uvicorn").addHandler(LogHandler(log))

    async def start() -> None:
        await front.connect()
        log.write("listening", addresses=[address_of(listener) for listener in sockets])
        notify("READY=1")

    server = make_server(application, stop_seconds, start, front.disconnect, lambda: front.is_alive)
    with stopped_by_signals(server, on_first=front.hurry, on_second=front.kill):
        server.run(list(sockets))
    log.write("stopped")
