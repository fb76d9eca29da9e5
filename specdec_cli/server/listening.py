"""The sockets of the server: TCP and Unix."""

import os
import socket
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from ipaddress import ip_address
from pathlib import Path

from specdec_cli.errors import UsageError

_BACKLOG = 2048


def is_loopback(host: str) -> bool:
    """Whether only programs of this machine can reach the address `host`."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def listen_tcp(host: str, port: int) -> socket.socket:
    """Listen on a TCP address; port 0 is any free one. Raises UsageError if that is not possible."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with ExitStack() as failed:
            own = failed.enter_context(socket.socket(family, kind))
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            own.bind(address)
            own.listen(_BACKLOG)
            failed.pop_all()
    except OSError as error:
        raise UsageError(f"cannot listen on {host}, port {port}: {error.strerror or error}") from error
    return own


@contextmanager
def unix_socket(path: Path) -> Iterator[socket.socket]:
    """Listen as `listen_unix` does, and remove the socket's file after the block, unless another program has replaced it."""
    with listen_unix(path) as own:
        before = _identity(path)
        try:
            yield own
        finally:
            if _identity(path) == before:
                path.unlink(missing_ok=True)


def listen_unix(path: Path) -> socket.socket:
    """Listen on a Unix socket that only this user can open; a socket at `path` that nobody listens on is replaced.

    Raises UsageError for a path that is too long or in use, or if there is another kind of file.
    """
    before = os.umask(0o177)
    try:
        _remove_stale(path)
        with ExitStack() as failed:
            own = failed.enter_context(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
            own.bind(str(path))
            own.listen(_BACKLOG)
            failed.pop_all()
    except OSError as error:
        raise UsageError(f"cannot listen on {path}: {error.strerror or error}") from error
    finally:
        os.umask(before)
    return own


def address_of(own: socket.socket) -> str:
    """The address of a listening socket, as an URL or as unix:PATH."""
    if own.family == socket.AF_UNIX:
        return f"unix:{own.getsockname()}"
    host, port = own.getsockname()[:2]
    return f"http://[{host}]:{port}" if own.family == socket.AF_INET6 else f"http://{host}:{port}"


def _identity(path: Path) -> tuple[int, int] | None:
    """What tells a file from another one at the same path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


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
