"""Files and folders that are whole or not there."""

import fcntl
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

from specdec_cli.errors import SpecdecError, UsageError


def cache_folder() -> Path:
    """Where what can be made again is kept: $SPECDEC_CACHE, else specdec in the user's cache folder."""
    own = os.environ.get("SPECDEC_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specdec"


@contextmanager
def naming(path: Path, partial: Path | None = None) -> Iterator[None]:
    """Make each OSError that names no file, or `partial`, name `path`: writing to a full disk names none."""
    try:
        yield
    except OSError as error:
        unnamed = error.errno is not None and error.filename is None
        if unnamed or (partial is not None and str(partial) in (str(error.filename), str(error.filename2))):
            error.filename = str(path)
        raise


def make_folder(folder: Path) -> None:
    """Make a folder for output, with its parents, unless it is there. Raises UsageError where that is not possible."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from error


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a file beside `path`, then move it into place; a crash leaves the old file.

    What a killed program left beside `path` is removed first. Raises OSError naming `path` where it cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(path)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with naming(path, partial), partial.open("wb") as own:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            usual = partial.stat().st_mode
            write(partial)
            partial.chmod(usual)  # safetensors makes files that only their owner can read
            with partial.open("rb") as stream:
                os.fsync(stream.fileno())
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_left_behind(path: Path) -> None:
    """Remove files beside `path` that programs were filling when they were killed.

    Such a file has the number of no process, and no process has locked it, which one on another machine would have.
    """
    for other in path.parent.glob(f".{escape(path.name)}.*.partial"):
        number = other.name.removeprefix(f".{path.name}.").removesuffix(".partial")
        if not number.isdecimal() or _is_process(int(number)):
            continue
        with suppress(OSError), other.open("rb+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            other.unlink()


def _is_process(number: int) -> bool:
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def write_json(path: Path, value: Any) -> None:
    """Write `value` as indented JSON, atomically."""
    text = json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def check_regular(path: Path, failure: type[SpecdecError]) -> None:
    """Raise `failure` where `path` is there but is no regular file: a device or a pipe could be read without end."""
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise failure(f"{path}: not a regular file")


def read_json(path: Path, failure: type[SpecdecError]) -> dict[str, Any]:
    """The object in a JSON file. Raises `failure`, naming the file, where there is none."""
    check_regular(path, failure)
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise failure(f"{path}: not readable as JSON (too deeply nested)") from error
    except (OSError, ValueError) as error:
        raise failure(f"{path}: not readable as JSON ({error})") from error
    if not isinstance(value, dict):
        raise failure(f"{path}: expected an object")
    return value
