"""The errors that a user can cause, each with its exit code."""

import re

_NO_MEMORY = re.compile("out of memory|can't allocate memory|not enough memory|bad_alloc", re.IGNORECASE)


class SpecdecError(Exception):
    """A failure with a message for the user; the command line prints it and exits with `exit_code`."""

    exit_code = 1


class UsageError(SpecdecError):
    """Options that contradict each other or name something that does not exist."""

    exit_code = 2


class InputError(SpecdecError):
    """Text or data that cannot be read; the message names file, line and cause."""

    exit_code = 3


class ModelError(SpecdecError):
    """A bundle or checkpoint that cannot be used; the message names the file and the cause."""

    exit_code = 3


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` is a failed allocation: a MemoryError, or the RuntimeError that PyTorch raises in its place."""
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and _NO_MEMORY.search(str(error)) is not None)
