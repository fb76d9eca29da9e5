"""Files and folders that are written completely or not at all, locks on folders, manifests of runs, and the cache folder."""

import errno
import fcntl
import json
import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError, SpecdecError, UsageError, cause_of


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
    except FileExistsError as error:
        raise UsageError(f"{folder}: not a folder") from error
    except OSError as error:
        raise UsageError(f"{folder}: {cause_of(error)}") from error


def check_target(path: Path) -> None:
    """Raise UsageError if no file can be written at `path`, which a user has named: it is a folder, its folder does not exist, or neither
    the file nor its folder can be written to.
    """
    if path.is_dir():
        raise UsageError(f"{path}: is a folder")
    if not path.parent.is_dir():
        raise UsageError(f"{path}: its folder does not exist")
    if not (os.access(path.parent, os.W_OK) or os.access(path, os.W_OK)):
        raise UsageError(f"{path}: its folder cannot be written to")


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
        with suppress(OSError):  # on a read-only file system, also for a missing file
            partial.unlink(missing_ok=True)


def file_beside(path: Path) -> Path | None:
    """Create an empty file in the folder of `path`, a file with content, with its mode and owner; a rename puts it in its place.

    None for what a rename would not replace as writing does: a device or a file of no content, a file with several names, an open file of
    a process (/dev/stdout), and a file whose owner cannot be kept. Raises OSError if it cannot be created.
    """
    real = Path(os.path.realpath(path))
    if not real.is_file() or str(path.absolute()).startswith(("/dev/", "/proc/")):
        return None
    known = real.stat()
    if not known.st_size or known.st_nlink > 1 or not os.access(real.parent, os.W_OK):
        return None
    _remove_left_behind(real)
    new = real.with_name(f".{real.name}.{os.getpid()}.partial")
    new.touch()
    try:
        os.chown(new, known.st_uid, known.st_gid)
        shutil.copystat(real, new)
    except OSError:
        new.unlink()
        return None
    return new


def write_text(path: Path, text: str) -> None:
    """Write `text` to `path` in UTF-8, with its ends of lines as they are, atomically. Raises what `write_atomically` raises."""
    write_atomically(path, lambda partial: partial.write_text(text, encoding="utf-8", newline=""))


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
    write_text(path, text)


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


@contextmanager
def new_folder(output: Path, marker: str, force: bool) -> Iterator[Path]:
    """Yield a temporary folder to be filled; at the end of the `with` block rename it to `output`, or remove it
    after an error.

    With `force` it replaces an existing `output` that has a file named `marker`, and so is of the same kind. Raises
    UsageError if `output` exists and is not replaced. An OSError of the block names a file in `output`. Temporary
    folders of killed programs are removed first.
    """
    output = output.resolve()
    _remove_partial_folders(output)
    if output.exists():
        if not force:
            raise UsageError(f"{output}: exists already")
        if not (output / marker).exists():
            raise UsageError(f"{output}: has no {marker}, and so is not replaced")
    with partial_folder(output) as partial:
        try:
            yield partial
            _exchange(output, partial, output.with_name(f".{output.name}.{os.getpid()}.old"))
        except OSError as error:
            if error.errno is not None:
                error.filename = str(error.filename or output).replace(str(partial), str(output))
            raise


@contextmanager
def partial_folder(output: Path) -> Iterator[Path]:
    """Yield a hidden temporary folder in the same folder as `output`, and remove it at the end of the `with` block.

    Such folders of killed programs are removed first.
    """
    _remove_partial_folders(output)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    try:
        descriptor = lock_folder(partial, wait=True)
    except UsageError as error:
        raise UsageError(str(error).replace(str(partial), str(output))) from error
    try:
        yield partial
    finally:
        os.close(descriptor)
        shutil.rmtree(partial, ignore_errors=True)


def _exchange(output: Path, partial: Path, old: Path) -> None:
    """Rename `partial` to `output`; an existing `output` is renamed to `old`, and removed at the end."""
    if output.exists():
        output.rename(old)
    try:
        partial.rename(output)
    except OSError:
        if old.exists():
            old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _remove_partial_folders(output: Path) -> None:
    """Remove temporary folders of killed programs, and restore the folder that such a program was replacing.

    A folder without a lock belongs to no running program.
    """
    pattern = re.compile(re.escape(f".{output.name}.") + r"\d+\.(partial|old)")
    found = [path for path in output.parent.glob(".*") if pattern.fullmatch(path.name)] if output.parent.is_dir() else []
    for path in sorted(found, key=lambda path: path.suffix, reverse=True):  # partial ones first
        if path.suffix == ".partial":
            _remove_unlocked(path)
        elif path.with_suffix(".partial").exists():
            continue  # a running program has locked it
        elif output.exists():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.rename(output)


def _remove_unlocked(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        pass  # locked, or on a file system without locks
    finally:
        os.close(descriptor)


MANIFEST = "manifest.json"
_DIGESTS = {"model": "another model", "sources": "other source text", "targets": "other target text", "teacher": "another teacher"}
"""The settings that are digests: what it means, in words, if such a setting differs."""


def check_manifest(folder: Path, settings: Mapping[str, Any], advice: str = "use the same settings or a new folder") -> None:
    """Write the manifest of a new run in `folder`, or compare `settings` with that of an earlier one.

    Raises UsageError if the manifest has other settings, naming them, with `advice`, and for a folder with files but no manifest. Of
    settings that are digests (of models and texts), the message says only that the thing is another one.
    """
    path = folder / MANIFEST
    # Converted to JSON and back, as the stored values are, so that the two compare equal.
    values = json.loads(json.dumps(settings))
    if path.exists():
        stored = read_json(path, InputError)
        keys = sorted(key for key in stored.keys() | values if stored.get(key) != values.get(key))
        if different := [_DIGESTS.get(key) or f"{key} {stored.get(key)!r}, not {values.get(key)!r}" for key in keys]:
            raise UsageError(f"{path}: started with {'; '.join(different)}; {advice}")
    elif folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder}: exists and has no {MANIFEST}; give a new folder, or that of an earlier run")
    else:
        write_json(path, values)
