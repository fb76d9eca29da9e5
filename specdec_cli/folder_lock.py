"""Folders that one process at a time writes into."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from specdec_cli.errors import UsageError
from specdec_cli.files import make_folder

_RANKS = ("RANK", "LOCAL_RANK", "SLURM_PROCID")
"""Environment variables with the number of a process among those that train together, in the order in which Fabric reads them."""


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Make `folder` if need be, and lock it meanwhile; remove it in the end if nothing is in it.

    Raises UsageError where another process has locked it, or with `wait` waits for that one.
    """
    existed = folder.exists()
    try:
        descriptor = lock_folder(folder, wait)
    except BlockingIOError as error:
        raise UsageError(f"{folder}: another process is writing into this folder; wait for its end, or give another folder") from error
    try:
        yield
    finally:
        if not existed:
            with suppress(OSError):
                folder.rmdir()
        os.close(descriptor)


def lock_folder(folder: Path, wait: bool) -> int:
    """Make `folder` if need be, and lock it: the descriptor that holds the lock until it is closed, or the process ends.

    Raises BlockingIOError where another process has locked it, or with `wait` waits for that one.
    """
    while True:
        make_folder(folder)
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except OSError as error:
            if error.errno == errno.EWOULDBLOCK:
                os.close(descriptor)
                raise
            return descriptor  # a file system without locks
        if folder.exists() and folder.stat().st_ino == os.fstat(descriptor).st_ino:
            return descriptor
        os.close(descriptor)  # another process removed it between the first two steps


def rank() -> int | None:
    """The number of this process among those that train together, from 0; None where it was started alone."""
    return next((int(value) for name in _RANKS if (value := os.environ.get(name, "")).isdigit()), None)
