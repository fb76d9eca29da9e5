"""Writing of files completely or not at all, JSON files, and the cache folder."""

import fcntl
import json
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

from specdec_cli.errors import SpecdecError, UsageError


def cache_folder() -> Path:
    """The path of the folder for files that can be made again: $SPECDEC_CACHE, or else `specdec` in the user's cache
    folder.
    """
    own = os.environ.get("SPECDEC_CACHE")
    return Path(own) if own else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "specdec"


@contextmanager
def naming(path: Path, partial: Path | None = None) -> Iterator[None]:
    """Change the file name of an OSError raised in the `with` block to `path`, if it has no name (as for a full
    disk) or that of `partial`.
    """
    try:
        yield
    except OSError as error:
        unnamed = error.errno is not None and error.filename is None
        if unnamed or (partial is not None and str(partial) in (str(error.filename), str(error.filename2))):
            error.filename = str(path)
        raise


def make_folder(folder: Path) -> None:
    """Create a folder for output, and its parents, unless it exists. Raises UsageError if it cannot be created."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder}: {error.strerror}") from error


def check_target(path: Path) -> None:
    """Raise UsageError if no file can be written at `path`, which a user has named: it is a folder, or its folder does not exist."""
    if path.is_dir():
        raise UsageError(f"{path}: is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: its folder does not exist")


def is_device(path: Path) -> bool:
    """Whether `path` is a device, a pipe or a socket, which a file must not replace."""
    return path.exists() and not (path.is_file() or path.is_dir())


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Call `write` with a temporary file in the folder of `path`, then rename that file to `path`; after an error
    the old file remains. A link remains a link, and `write` writes to a device or pipe itself.

    The folder is created if needed, as in caches and bundles; `check_target` is for files that users name. Temporary files of killed
    programs are removed first. Raises OSError naming `path` if the file cannot be written.
    """
    if is_device(path):
        with naming(path):
            write(path)
        return
    real = Path(os.path.realpath(path))
    real.parent.mkdir(parents=True, exist_ok=True)
    _remove_left_behind(real)
    partial = real.with_name(f".{real.name}.{os.getpid()}.partial")
    try:
        with naming(path, partial), partial.open("wb") as own:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(own, fcntl.LOCK_EX | fcntl.LOCK_NB)
            usual = partial.stat().st_mode
            write(partial)
            partial.chmod(usual)  # safetensors makes files that only their owner can read
            with partial.open("rb") as stream:
                os.fsync(stream.fileno())
            partial.replace(real)
    finally:
        partial.unlink(missing_ok=True)


def _remove_left_behind(path: Path) -> None:
    """Remove temporary files for `path` of programs that were killed.

    No process has the number in the name of such a file, and none, on another machine either, has locked the file.
    """
    for other in path.parent.glob(f".{escape(path.name)}.*.partial"):
        number = other.name.removeprefix(f".{path.name}.").removesuffix(".partial")
        if not number.isdecimal() or is_process(int(number)):
            continue
        with suppress(OSError), other.open("rb+") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            other.unlink()


def is_process(number: int) -> bool:
    """Whether a process on this machine has this number."""
    try:
        os.kill(number, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def json_text(value: Any, indent: int | None = None) -> str:
    """Return `value` as JSON, on one line without `indent`.

    Bytes of file names that are not UTF-8 are surrogates in `str`, and are escaped here (\\udcff), so that the text can be encoded.
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    return re.sub(r"[\ud800-\udfff]", lambda found: f"\\u{ord(found.group()):04x}", text)


def write_json(path: Path, value: Any) -> None:
    """Write `value` to `path` as indented JSON, atomically. Raises OSError naming `path` if the file cannot be
    written.
    """
    text = json_text(value, indent=2) + "\n"
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8"))


def check_regular(path: Path, failure: type[SpecdecError]) -> None:
    """Raise an exception of the class `failure` if `path` exists and is not a regular file: reading a device or a
    pipe might never end.
    """
    if path.exists() and not stat.S_ISREG(path.stat().st_mode):
        raise failure(f"{path}: not a regular file")


def read_json(path: Path, failure: type[SpecdecError]) -> dict[str, Any]:
    """Return the object in a JSON file, as a dict.

    Raises an exception of the class `failure`, naming the file, if it cannot be read or does not contain a JSON
    object.
    """
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
