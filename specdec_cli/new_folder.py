"""New folders that are whole or not there, whatever ends the program that fills them."""

import fcntl
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from specdec_cli.errors import UsageError
from specdec_cli.folder_lock import lock_folder


@contextmanager
def new_folder(output: Path, marker: str, force: bool) -> Iterator[Path]:
    """A folder beside `output` to be filled; it takes its place in the end, and is removed after an error.

    With `force` it replaces one that holds a file named `marker`, and so is of the same kind. Raises UsageError otherwise.
    An OSError names a file in `output`. What a killed program left beside `output` is removed first.
    """
    output = output.resolve()
    _remove_left_behind(output)
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
    """A hidden folder beside `output`, to be filled and removed in the end. Those that killed programs left are removed first."""
    _remove_left_behind(output)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    descriptor = lock_folder(partial, wait=True)
    try:
        yield partial
    finally:
        os.close(descriptor)
        shutil.rmtree(partial, ignore_errors=True)


def _exchange(output: Path, partial: Path, old: Path) -> None:
    """Put `partial` in the place of `output`, which is called `old` in between."""
    if output.exists():
        output.rename(old)
    try:
        partial.rename(output)
    except OSError:
        if old.exists():
            old.rename(output)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _remove_left_behind(output: Path) -> None:
    """Remove folders that killed programs were filling for `output`, and put back the one that they were replacing.

    A folder that nobody has locked belongs to no running program.
    """
    pattern = re.compile(re.escape(f".{output.name}.") + r"\d+\.(partial|old)")
    found = [path for path in output.parent.glob(".*") if pattern.fullmatch(path.name)] if output.parent.is_dir() else []
    for path in sorted(found, key=lambda path: path.suffix, reverse=True):  # partial ones first
        if path.suffix == ".partial":
            _remove_unlocked(path)
        elif path.with_suffix(".partial").exists():
            continue  # its program is running
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
