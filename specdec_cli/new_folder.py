"""Writing of new folders completely or not at all, also if the program is killed."""

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
    """Yield a temporary folder to be filled; at the end of the `with` block rename it to `output`, or remove it
    after an error.

    With `force` it replaces an existing `output` that has a file named `marker`, and so is of the same kind. Raises
    UsageError if `output` exists and is not replaced. An OSError of the block names a file in `output`. Temporary
    folders of killed programs are removed first.
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
    """Yield a hidden temporary folder in the same folder as `output`, and remove it at the end of the `with` block.

    Such folders of killed programs are removed first.
    """
    _remove_left_behind(output)
    partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
    descriptor = lock_folder(partial, wait=True)
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


def _remove_left_behind(output: Path) -> None:
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
