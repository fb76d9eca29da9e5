"""Input of a run in shards: files, folders, globs, and URLs that fsspec opens, such as s3://bucket/part-*.gz."""

import glob
import gzip
import lzma
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

from specdec_cli.errors import InputError, MissingLibraryError, UsageError, cause_of
from specdec_cli.text.io.lines import COMPRESSED, MAX_LINE_BYTES, STDIO, Line, lines_of_stream, no_such_file, read_lines

# A Path holds one slash after the scheme: Path("s3://bucket/x") is "s3:/bucket/x".
_URL = re.compile(r"(?P<scheme>[a-z][a-z0-9+.-]+):/+(?P<rest>.+)")
_WEB = ("http://", "https://")


def url_of(path: Path) -> str | None:
    """The URL that `path` was made from; None for a local file."""
    matched = _URL.fullmatch(str(path))
    return None if matched is None or path.exists() else f"{matched['scheme']}://{matched['rest']}"


def is_pattern(name: str) -> bool:
    """Whether a path or a URL has *, ? or []; in http URLs, ? begins the query."""
    return re.search(r"[*\[]" if name.startswith(_WEB) else r"[*?\[]", name) is not None


def remote_files(url: str) -> list[tuple[Path, int | None]]:
    """The files that a URL stands for, as paths that hold their URLs, and their sizes (None: unknown).

    A URL stands for a file, the files in a folder (http has none), or the files that match a pattern; hidden ones are left out. Raises
    InputError if they cannot be listed, and UsageError if no package that is installed knows the URL.
    """
    try:
        files, name = _file_system(url)
        if is_pattern(url):
            paths = _visible(files.glob(name), name)
        elif not url.startswith(_WEB) and files.isdir(name):
            paths = _visible(files.find(name), name)
        else:
            return [(Path(url), files.info(name).get("size"))] if files.exists(name) else []
        return [(_with_host(path, name, url), files.info(path).get("size")) for path in paths]
    except OSError as error:
        raise InputError(f"{url}: {cause_of(error)}") from error


def read_url(path: Path, url: str, max_bytes: int) -> Iterator[Line]:
    """Yield the lines of the file at `url`, as `read_lines` does; `path` is the file of the lines. Raises InputError as it does."""
    with _open(url) as stream:
        yield from lines_of_stream(_decompressed(stream, path.suffix), path, url, max_bytes)


def _with_host(path: str, name: str, url: str) -> Path:
    """The URL, as a path, of `path` in the file system in which `url` has the path `name`; some file systems leave out the host."""
    if not url.endswith(name):
        raise UsageError(f"{url}: folders and patterns behind such URLs cannot be read; give the URLs of files")
    return Path(f"{url.removesuffix(name)}{path}")


def _visible(paths: list[str], name: str) -> list[str]:
    """The paths without hidden files and folders, except those that `name` has."""
    named = set(name.split("/"))
    return sorted(path for path in paths if not any(part.startswith(".") for part in set(path.split("/")) - named))


def _file_system(url: str) -> tuple[Any, str]:
    """The fsspec file system of a URL, and the URL's path in it."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingLibraryError(f"{url}: needs fsspec", "cluster") from error
    try:
        return cast(tuple[Any, str], fsspec.core.url_to_fs(url))
    except (ImportError, ValueError) as error:  # a package for this kind of URL is missing, or no package knows it
        raise UsageError(f"{url}: {error}") from error


def _open(url: str) -> IO[bytes]:
    files, name = _file_system(url)
    try:
        return cast(IO[bytes], files.open(name, "rb"))
    except OSError as error:
        raise InputError(f"{url}: {cause_of(error)}") from error


def _decompressed(stream: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    return cast(IO[bytes], lzma.open(stream)) if suffix == ".xz" else stream


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
    inputs: list[tuple[Path, int | None]] = []
    local = [_without_scheme(name) for name in names] or [STDIO]
    for name in local:
        url = url_of(name)
        files = [(name, None)] if name == STDIO else _local_files(name) if url is None else remote_files(url)
        if not files:
            raise InputError(_missing(url or str(name)))
        inputs += files
    sizes = [None if path.suffix in COMPRESSED else size for path, size in inputs]
    size = None if None in sizes else sum(size or 0 for size in sizes)
    return Inputs(tuple(path for path, _ in inputs), size, tuple(name for name in local if name.is_dir()))


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
