"""Failures as messages on stderr and exit codes, whatever raised them."""

import errno
import os
import re
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from specdec_cli.errors import InputError, SpecdecError

_NO_MEMORY = re.compile("out of memory|can't allocate memory|not enough memory|bad_alloc", re.IGNORECASE)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn what went wrong in a user's hands into a message and an exit code.

    That is every SpecdecError, OSError and lack of memory. What else is raised is a fault of the program and passes.
    """
    try:
        with _flushed_stdout():
            yield
    except SpecdecError as error:
        raise _failed(str(error), error.exit_code) from error
    except BrokenPipeError as error:
        if _reader_has_gone():
            raise typer.Exit(0) from error
        # Typer would end without a word.
        raise RuntimeError("a process at the other end of a pipe has ended") from error
    except OSError as error:
        cause, name = error.strerror or str(error), error.filename2 or error.filename  # of two files, the one written
        raise _failed(cause if name is None else f"{name}: {cause}") from error
    except MemoryError as error:
        raise _out_of_memory() from error
    except RuntimeError as error:
        if not _NO_MEMORY.search(str(error)):
            raise
        raise _out_of_memory() from error
    except SystemExit as error:
        # So rich ends the program where a reader has gone.
        if isinstance(error.__context__, BrokenPipeError):
            raise typer.Exit(0) from error
        raise


def open_closed_streams() -> None:
    """Give stdin, stdout and stderr a descriptor where the parent process has closed it.

    Else the next file that is opened would take its number, and be read or written in its place. Reading such a stdin and
    writing such a stdout fails; such a stderr takes everything.
    """
    if sys.stdin is None:
        sys.stdin = open(_null(0, os.O_WRONLY), closefd=False)  # noqa: SIM115
    if sys.stdout is None:
        sys.stdout = open(_null(1, os.O_RDONLY), "w", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        sys.stderr = open(_null(2, os.O_WRONLY), "w", closefd=False)  # noqa: SIM115


def _null(number: int, mode: int) -> int:
    """The null device, open as descriptor `number` if that is free."""
    found = os.open(os.devnull, mode)
    try:
        os.fstat(number)
    except OSError:
        os.dup2(found, number)
        return number
    return found


def _failed(message: str, code: int = InputError.exit_code) -> typer.Exit:
    print(f"specdec: error: {message}", file=sys.stderr)
    return typer.Exit(code)


def _out_of_memory() -> typer.Exit:
    return _failed("out of memory; smaller batches, beams or blocks need less")


def _reader_has_gone() -> bool:
    """Whether stdout is a pipe that nobody reads."""
    poll = select.poll()
    poll.register(sys.stdout.fileno(), 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


@contextmanager
def _flushed_stdout() -> Iterator[None]:
    """Write out what stdout still holds. A reader that has closed the pipe has all that it wants: exit code 0."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:
            # Else the interpreter would try once more at its exit, and complain.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                raise typer.Exit(0) from error
            raise InputError(f"stdout: {os.strerror(error.errno or errno.EIO)}") from error
