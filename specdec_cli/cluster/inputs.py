"""Input of a run in shards: files, folders, globs, and URLs that fsspec opens, such as s3://bucket/part-*.gz."""

import glob
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from specdec_cli.cluster.remote import is_pattern, read_url, remote_files, url_of
from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.io.lines import COMPRESSED, MAX_LINE_BYTES, STDIO, Line, no_such_file, read_lines

_FILE_URL = re.compile(r"file:/+(?P<path>.+)")
# An argument after --ray that is no address is read as an input file.
_HOST = re.compile(r"[0-9.]+|[\w-]+")


@dataclass(frozen=True)
class Inputs:
    """The files of the input, in order: local paths, URLs (as paths) and `-` for stdin.

    `bytes` is their total size; None if it is unknown, as for stdin and compressed files. `folders` are the local folders among the
    names that were given.
    """

    paths: tuple[Path, ...]
    bytes: int | None
    folders: tuple[Path, ...] = ()

    def read(self, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Line]:
        """Yield the lines of all files in order. Raises InputError as `read_lines` does, and for a URL that cannot be read."""
        for lines in self.files(max_bytes):
            yield from lines

    def files(self, max_bytes: int = MAX_LINE_BYTES) -> Iterator[Iterator[Line]]:
        """Yield an iterator over the lines of each file. Raises the same errors as `read`."""
        for path in self.paths:
            url = url_of(path)
            yield read_lines([path], max_bytes) if url is None else read_url(path, url, max_bytes)

    def check_output(self, output: Path) -> None:
        """Raise UsageError if `output` is inside an input folder: the same command would read it when it is repeated."""
        for folder in self.folders:
            if output.resolve().is_relative_to(folder.resolve()):
                raise UsageError(f"{output}: is inside the input folder {folder}; give an output outside of it")


def find_inputs(names: Sequence[Path]) -> Inputs:
    """Resolve the names of an input; no name is stdin.

    A folder stands for its files, and a pattern with *, ? or [] for the files that match, both in the order of their names. Hidden
    files are left out. Raises InputError for a name without files, and UsageError if a URL needs a package that is not installed.
    """
    found: list[tuple[Path, int | None]] = []
    local = [_without_scheme(name) for name in names] or [STDIO]
    for name in local:
        url = url_of(name)
        files = [(name, None)] if name == STDIO else _local_files(name) if url is None else remote_files(url)
        if not files:
            raise InputError(_missing(url or str(name)))
        found += files
    sizes = [None if path.suffix in COMPRESSED else size for path, size in found]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    return Inputs(tuple(path for path, _ in found), size, tuple(name for name in local if name.is_dir()))


def _without_scheme(name: Path) -> Path:
    """The local path of a URL such as file:///text/a; other names are returned unchanged."""
    matched = _FILE_URL.fullmatch(str(name))
    return name if matched is None or name.exists() else Path("/", matched["path"])


def _missing(name: str) -> str:
    """The message about a name that stands for no file."""
    if is_pattern(name):
        return f"{name}: no file matches"
    if _HOST.fullmatch(name):
        return f"{name}: no such file; an address for --ray is HOST:PORT"
    return no_such_file(name)


def _local_files(name: Path) -> list[tuple[Path, int | None]]:
    if name.is_dir():
        inside = sorted(path for path in name.rglob("*") if path.is_file())
        paths = [path for path in inside if not any(part.startswith(".") for part in path.relative_to(name).parts)]
    elif name.exists() or not is_pattern(str(name)):
        paths = [name] if name.exists() else []
    else:
        # Path.glob would include hidden files.
        matches = glob.glob(str(name), recursive=True)  # noqa: PTH207
        paths = sorted(path for path in map(Path, matches) if path.is_file())
    return [(path, path.stat().st_size if path.is_file() else None) for path in paths]
