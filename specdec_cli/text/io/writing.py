"""Writing of output lines to stdout, to a file, or to one file for each input; every line is flushed, except to compressed files."""

import fcntl
import gzip
import lzma
import os
import stat
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import IO, Protocol, Self, cast

from specdec_cli.errors import InputError, UsageError, cause_of
from specdec_cli.failures import ReaderGone, reader_has_gone
from specdec_cli.files import file_beside, is_device, make_folder
from specdec_cli.text.io.lines import COMPRESSED, STDIO

_STDIN, _STDOUT = 0, 1


class Writer(Protocol):
    """Protocol: writes output lines; a context manager, whose end closes the files."""

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:
        """Write the output `text` of a line of the input file `source` (None: stdin), then `ending`."""

    def check(self) -> None:
        """Raise BrokenPipeError if the output is a pipe that no process reads."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None: ...


def output_line(text: str, ending: str) -> str:
    """One line of output: `text`, in which every LF is replaced by a space, and `ending`."""
    return text.replace("\n", " ") + ending


class LineWriter:
    """Writes lines to the file `path`, or to stdout for None or `-`.

    The file is flushed after each line, so that finished lines remain if the program fails, and can be read meanwhile. A file with content
    is replaced by a new one at the end, with its mode and owner; if a line cannot be written, as on a full disk, it stays. A file with
    several names is written in place. A file whose name ends with .gz or .xz is compressed; its lines can be read when it is closed, after
    an error too. Raises UsageError if the file cannot be opened, is one of `inputs` (empty: stdin), or is written by another run;
    InputError if a line cannot be written, and ReaderGone for a closed pipe.
    """

    def __init__(self, path: Path | None = None, inputs: Sequence[Path] = ()) -> None:
        self._file: IO[bytes] | None = None
        self._open, self._flushes, self._failed = ExitStack(), True, False
        self._name = "stdout"
        target = None if path == STDIO else path
        check_not_input(target, inputs)
        if target is None:
            return
        self._name = str(target)
        self._flushes = target.suffix not in COMPRESSED
        try:
            self._reserve(target)
            self._file = self._open.enter_context(compressed(self._new_file(target) or target, target.suffix))
        except OSError as error:
            raise UsageError(f"{target}: {cause_of(error)}") from error

    def _reserve(self, path: Path) -> None:
        """Lock the file before it is emptied, so that two runs do not write into it at the same time."""
        if is_device(path):
            return
        stream = self._open.enter_context(path.open("ab"))
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            self._open.close()
            raise UsageError(f"{path}: another process is writing to this file") from error
        except OSError:
            pass  # a file system without locks

    def _new_file(self, path: Path) -> Path | None:
        """A new file in the folder of `path`, which replaces it when this writer is closed; None if `path` is to be written in place."""
        new = file_beside(path)
        if new is None:
            return None

        def end(kind: type[BaseException] | None, *_: object) -> None:
            if kind is None and not self._failed:
                with new.open("rb") as stream:
                    os.fsync(stream.fileno())
                new.replace(os.path.realpath(path))
            new.unlink(missing_ok=True)

        self._open.push(end)
        return new

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:  # noqa: ARG002
        """Write one line (see `output_line`). `source` is ignored.

        Names of files are written with their own bytes, UTF-8 or not.
        """
        stream = self._file or sys.stdout.buffer
        with write_failures(self._name):
            try:
                stream.write(output_line(text, ending).encode("utf-8", "surrogateescape"))
                if self._flushes:
                    stream.flush()
            except OSError:
                self._failed = True
                raise

    def check(self) -> None:
        """Raise BrokenPipeError if the output is a pipe whose reader has gone."""
        if self._file is None and reader_has_gone():
            raise BrokenPipeError

    def close(self) -> None:
        """Close the file; stdout stays open."""
        with write_failures(self._name):
            self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class FolderWriter:
    """Writes the output of each input to a file of the same name in `folder`, which is created if it does not exist.

    The output of a compressed input is plain, without .gz or .xz in its name. Lines must be written in the order of
    `inputs`; an input without lines has an empty output. Those of `inputs` that are `documents` have no lines: their
    outputs are written elsewhere, to `target_of` them. Raises UsageError for stdin, for two inputs of the same
    name, and for an output that is an input; InputError if a line cannot be written.
    """

    def __init__(self, folder: Path, inputs: Sequence[Path], documents: Collection[Path] = ()) -> None:
        self._targets = output_files(folder, inputs)
        make_folder(folder)
        self._waiting = [path for path in self._targets if path not in documents]
        self._source: Path | None = None
        self._writer: LineWriter | None = None

    def write(self, text: str, ending: str = "\n", source: Path | None = None) -> None:
        """Write one line, `text` and `ending`, to the output file of the input file `source`."""
        while self._source != source:
            self._next()
        assert self._writer is not None
        self._writer.write(text, ending)

    def target_of(self, source: Path) -> Path:
        """Return the path of the output of an input."""
        return self._targets[source]

    def check(self) -> None:
        """Do nothing: files have no reader."""

    def _next(self) -> None:
        if self._writer is not None:
            self._writer.close()
        self._source = self._waiting.pop(0)
        self._writer = LineWriter(self._targets[self._source], list(self._targets))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        while kind is None and self._waiting:
            self._next()
        if self._writer is not None:
            self._writer.close()


def output_files(folder: Path, inputs: Sequence[Path]) -> dict[Path, Path]:
    """The output file in `folder` for each input file: that of the same name, without .gz or .xz.

    Raises UsageError for stdin, for two inputs of the same name, and for an output that is an input.
    """
    if not inputs or STDIO in inputs:
        raise UsageError(f"{folder}: outputs take the names of input files, and stdin has none")
    targets: dict[Path, Path] = {}
    for path in inputs:
        target = folder / (path.stem if path.suffix in COMPRESSED else path.name)
        if target in targets.values():
            raise UsageError(f"{target}: is the output of two inputs")
        check_not_input(target, inputs)
        targets[path] = target
    return targets


def check_not_input(target: Path | None, inputs: Sequence[Path]) -> None:
    """Raise UsageError if `target` (None: stdout) is a regular file and one of `inputs` (empty: stdin)."""
    try:
        written = os.fstat(_STDOUT) if target is None else target.stat()
    except OSError:
        return
    if not stat.S_ISREG(written.st_mode):
        return
    for path in inputs or (STDIO,):
        try:
            read = os.fstat(_STDIN) if path == STDIO else path.stat()
        except OSError:
            continue
        if os.path.samestat(read, written):
            raise UsageError(f"{target or 'stdout'}: is both input and output")


@contextmanager
def write_failures(name: str) -> Iterator[None]:
    """Raise another error for each OSError in the `with` block, which writes to the output `name`.

    A BrokenPipeError becomes ReaderGone; every other OSError becomes InputError.
    """
    try:
        yield
    except BrokenPipeError as error:
        raise ReaderGone from error
    except OSError as error:
        raise InputError(f"{name}: {cause_of(error)}") from error


@contextmanager
def compressed(path: Path, suffix: str) -> Iterator[IO[bytes]]:
    """Open the file `path` for writing; what is written is compressed if `suffix` is .gz or .xz."""
    with path.open("wb") as stream:
        if suffix == ".gz":
            # Without name and time, so that equal runs write equal files.
            with gzip.GzipFile(filename="", mode="wb", fileobj=stream, compresslevel=6, mtime=0) as zipped:
                yield cast(IO[bytes], zipped)
        elif suffix == ".xz":
            with lzma.open(stream, "wb", preset=3) as packed:
                yield packed
        else:
            yield stream
