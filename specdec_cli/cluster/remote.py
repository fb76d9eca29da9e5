"""Files behind URLs that fsspec opens, such as s3://bucket/part-*.gz."""

import gzip
import lzma
import re
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, cast

from specdec_cli.errors import InputError, MissingLibraryError, UsageError
from specdec_cli.text.io.lines import Line, lines_of_stream

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
        raise InputError(f"{url}: {error.strerror or error}") from error


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
        raise InputError(f"{url}: {error.strerror or error}") from error


def _decompressed(stream: IO[bytes], suffix: str) -> IO[bytes]:
    if suffix == ".gz":
        return cast(IO[bytes], gzip.GzipFile(fileobj=stream))
    return cast(IO[bytes], lzma.open(stream)) if suffix == ".xz" else stream
