"""Input of a run in shards: files, folders, globs, and URLs that fsspec opens, such as s3://bucket/part-*.gz."""

import glob
import gzip
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.lines import MAX_LINE_BYTES, STDIO, Line, lines_of_stream, read_lines

# A Path holds one slash after the scheme: Path("s3://bucket/x") is "s3:/bucket/x".
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.+)")
_GLOB = re.compile(r"[*?\[]")
_COMPRESSED = (".gz", ".xz")


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
            url = _url(path)
            yield read_lines([path], max_bytes) if url is None else _read_url(path, url, max_bytes)

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
    for name in names or (STDIO,):
        url = _url(name)
        files = [(name, None)] if name == STDIO else _local_files(name) if url is None else _remote_files(name, url)
        if not files:
            raise InputError(f"{url or name}: no such file" if not _is_pattern(name) else f"{url or name}: no file matches")
        found += files
    sizes = [None if path.suffix in _COMPRESSED else size for path, size in found]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    return Inputs(tuple(path for path, _ in found), size, tuple(name for name in names if name.is_dir()))


def _read_url(path: Path, url: str, max_bytes: int) -> Iterator[Line]:
    with _open(url) as stream:
        yield from lines_of_stream(_decompressed(stream, path.suffix), path, url, max_bytes)


def _is_pattern(name: Path) -> bool:
    return _GLOB.search(str(name)) is not None


def _local_files(name: Path) -> list[tuple[Path, int | None]]:
    if name.is_dir():
        inside = sorted(path for path in name.rglob("*") if path.is_file())
        paths = [path for path in inside if not any(part.startswith(".") for part in path.relative_to(name).parts)]
    elif name.exists() or not _is_pattern(name):
        paths = [name] if name.exists() else []
    else:
        # Path.glob would include hidden files.
        matches = glob.glob(str(name), recursive=True)  # noqa: PTH207
        paths = sorted(path for path in map(Path, matches) if path.is_file())
    return [(path, path.stat().st_size if path.is_file() else None) for path in paths]


def _url(path: Path) -> str | None:
    """The URL that `path` was made from; None for a local file."""
    matched = _URL.fullmatch(str(path))
    return None if matched is None or path.exists() else f"{matched['scheme']}://{matched['rest']}"


def _remote_files(name: Path, url: str) -> list[tuple[Path, int | None]]:
    """The files that a URL stands for, as paths with the URL's scheme, and their sizes."""
    scheme = url.partition(":")[0]
    try:
        files, names = _file_system(url)
        if _is_pattern(name):
            paths = sorted(files.glob(names))
        else:
            paths = sorted(files.find(names)) if files.isdir(names) else [names] if files.exists(names) else []
        return [(Path(f"{scheme}:/{path.lstrip('/')}"), files.info(path).get("size")) for path in paths]
    except OSError as error:
        raise InputError(f"{url}: {error.strerror or error}") from error


def _file_system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the URL's path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise UsageError(f"{url}: needs fsspec: pip install 'specdec[cluster]'") from error
    try:
        return cast(tuple[Any, str], fsspec.core.url_to_fs(url))
    except (ImportError, ValueError) as error:  # a package for this kind of URL is missing, or no package knows it
        raise UsageError(f"{url}: {error}") from error


def _open(url: str) -> IO[bytes]:
    files, name = _file_system(url)
    try:
        return cast(IO[bytes], files.open(name, "rb"))
    except OSError as error:
        raise InputError(f"{url}: {error.strerror or error}") from error


def _decompressed(stream: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    return cast(IO[bytes], lzma.open(stream)) if suffix == ".xz" else stream
