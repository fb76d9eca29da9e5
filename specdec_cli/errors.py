"""The errors that a user can cause, each with its exit code, and numbers in messages."""

import errno
import re
import shlex
import sys
from collections.abc import Iterable

_NO_MEMORY = re.compile(
    "out of memory|can(no|')t allocate memory|not enough memory|bad_alloc|failed to map segment from shared object(?!:)", re.IGNORECASE
)


def counted(number: float, noun: str) -> str:
    """A number with the noun that it counts, in the plural unless it is 1: `1 line`, `2,000 lines`."""
    return f"{number:,.15g} {noun}{'' if number == 1 else 's'}"


class SpecdecError(Exception):
    """Base class of errors with a message for the user; the command line prints the message and exits with
    `exit_code`.
    """

    exit_code = 1


class UsageError(SpecdecError):
    """An error: options that contradict each other or name something that does not exist, or a setting that a model
    does not support.
    """

    exit_code = 2


_LIGHT = ("documents", "server")
"""The extras whose libraries can be added to a light install without installing PyTorch."""


class MissingLibraryError(UsageError):
    """An error: a library is not installed; the message ends with the command that adds those of `extra` beside this program.

    In a light install, this command names the libraries one by one: pip would install PyTorch together with an extra.
    """

    def __init__(self, problem: str, extra: str) -> None:
        own = lacking_requirements(extra) if extra in _LIGHT and lacking_requirements() else ()
        super().__init__(f"{problem}: {installing(own or [f'specdec[{extra}]'])}")

    def __reduce__(self) -> tuple[type[UsageError], tuple[str]]:
        """Pickle it as an error with this message."""
        return UsageError, (str(self),)


def installing(requirements: Iterable[str]) -> str:
    """The command that installs `requirements` beside this program."""
    return shlex.join([sys.executable or "python3", "-m", "pip", "install", *requirements])


def lacking_requirements(extra: str = "") -> list[str]:
    """The libraries of a full installation, or of `extra`, that are not there, as pip takes them; none if that is not known."""
    from importlib import metadata

    try:
        required = [each.partition(";") for each in metadata.requires("specdec") or ()]
    except metadata.PackageNotFoundError:
        return []
    wanted = [each.strip() for each, _, marker in required if (extra in marker if extra else "extra ==" not in marker)]
    return [each for each in wanted if not _is_installed(re.split(r"[^\w.-]", each)[0])]


def _is_installed(name: str) -> bool:
    from importlib import metadata

    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True


class InputError(SpecdecError):
    """An error: text or data that cannot be read; the message names file, line and cause."""

    exit_code = 3


class ModelError(SpecdecError):
    """An error: a bundle or checkpoint that cannot be used; the message names the file and the cause."""

    exit_code = 3


class NotFiniteError(ModelError):
    """An error: a logit that a model computes is not finite, so that it has no best token."""

    def __init__(self) -> None:
        super().__init__("the model computes numbers that are not finite: its weights are too large for this text")


class TrainingError(SpecdecError):
    """An error: losses or weights of a training run are not finite. The message names the folder of the run and says what to try."""


_CAUSES = {
    errno.ENOENT: "no such file",
    errno.EISDIR: "is a folder",
    errno.ENOTDIR: "not a folder",
    errno.EEXIST: "exists already",
    errno.EBADF: "is closed",
}
"""Messages for errors of the system, by number; others have the system's words."""


def cause_of(error: BaseException) -> str:
    """What went wrong, in the words of the messages about missing input."""
    number, words = getattr(error, "errno", None), getattr(error, "strerror", None)
    return _CAUSES.get(number or 0) or words or str(error)


def is_out_of_memory(error: BaseException) -> bool:
    """Whether `error` reports that memory could not be allocated.

    That is a MemoryError, an OSError with the number ENOMEM, or a RuntimeError (of PyTorch) or an ImportError (of a shared library)
    whose message says so.
    """
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError | ImportError) and _NO_MEMORY.search(str(error)) is not None)
