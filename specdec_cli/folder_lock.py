"""Locks on folders, so that one process at a time writes into a folder."""

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from specdec_cli.errors import UsageError
from specdec_cli.files import make_folder

_RANKS = ("RANK", "LOCAL_RANK", "SLURM_PROCID")
"""Environment variables with the rank of a process in distributed training, in the order in which Lightning Fabric reads them."""


@contextmanager
def locked(folder: Path, wait: bool = False) -> Iterator[None]:
    """Hold a lock on `folder` in the `with` block; it is created if needed, and removed at the end if it was created
    and is empty.

    If another process has locked it, raises UsageError, or with `wait` waits for that process.
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
    """Lock `folder`, which is created if needed; return the file descriptor that holds the lock until it is closed.

    If another process has locked it, raises BlockingIOError, or with `wait` waits for that process. On a file system
    without locks nothing is locked.
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
        os.close(descriptor)  # another process removed it before it was locked


def rank() -> int | None:
    """The rank of this process in distributed training, from 0; None if the process is not part of one."""
    return next((int(value) for name in _RANKS if (value := os.environ.get(name, "")).isdigit()), None)
