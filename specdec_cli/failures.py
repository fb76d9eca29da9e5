"""Conversion of exceptions into messages on stderr and exit codes."""

import os
import re
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from specdec_cli.errors import InputError, SpecdecError, UsageError, cause_of, installing, is_out_of_memory, lacking_requirements

_CONTROL = re.compile(r"(?!\n  )[\0-\x1f\x7f-\x9f]")


class ReaderGone(BrokenPipeError):
    """Raised when the process that reads the output has closed the pipe."""


@contextmanager
def exit_codes() -> Iterator[None]:
    """Convert exceptions of the `with` block that a user can cause to a message on stderr and typer.Exit with an
    exit code.

    These are SpecdecError, OSError, and errors for lack of memory (`is_out_of_memory`). Any other exception is a bug and
    propagates. If the reader of the output has closed the pipe, the exit code is 0, without a message.
    """
    try:
        with _flushed_stdout():
            yield
    except SpecdecError as error:
        raise _failed(str(error), error.exit_code) from error
    except BrokenPipeError as error:
        if isinstance(error, ReaderGone) or reader_has_gone():
            raise typer.Exit(0) from error
        # Typer would end the program without a message.
        raise RuntimeError("a process at the other end of a pipe has ended") from error
    except ModuleNotFoundError as error:
        if (lacking := lacking_library(error)) is None:
            raise
        raise _failed(str(lacking), lacking.exit_code) from error
    except (MemoryError, RuntimeError, ImportError, OSError) as error:
        if is_out_of_memory(error):
            raise _failed("out of memory; smaller batches, beams or blocks need less") from error
        if not isinstance(error, OSError):
            raise
        cause, name = cause_of(error), error.filename2 or error.filename  # of two files, the destination
        raise _failed(cause if name is None else f"{name}: {cause}") from error
    except SystemExit as error:
        # Rich raises SystemExit when the reader of stdout has closed the pipe.
        if isinstance(error.__context__, BrokenPipeError):
            raise typer.Exit(0) from error
        raise


def lacking_library(error: ModuleNotFoundError) -> UsageError | None:
    """The error that says which command installs what a light install lacks; None if it lacks nothing of a full installation."""
    lacking = lacking_requirements()
    return UsageError(f"this needs {error.name}, which a light install lacks: {installing(lacking)}") if lacking else None


def _failed(message: str, code: int = InputError.exit_code) -> typer.Exit:
    print(f"specdec: error: {without_controls(message)}", file=sys.stderr)
    return typer.Exit(code)


def without_controls(message: str) -> str:
    """`message` with escapes in place of control characters, which names of files may have; indented lines of the message remain."""
    return _CONTROL.sub(lambda found: ascii(found[0])[1:-1], message)


def reader_has_gone() -> bool:
    """Whether stdout is a pipe that no process reads any more."""
    try:
        descriptor = sys.stdout.fileno()
    except OSError:  # a stream without one, as in tests
        return False
    poll = select.poll()
    poll.register(descriptor, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


@contextmanager
def _flushed_stdout() -> Iterator[None]:
    """Flush stdout at the end. If its reader has closed the pipe, raise typer.Exit(0); raise InputError if it cannot be written."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError as error:
            # Otherwise the interpreter would flush again at its exit, and print an error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            if isinstance(error, BrokenPipeError):
                raise typer.Exit(0) from error
            raise InputError(f"stdout: {cause_of(error)}") from error
