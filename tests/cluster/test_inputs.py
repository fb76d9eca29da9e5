"""Inputs of a run: files, folders, patterns and URLs, and shards of them, which hold all lines in order."""

import gzip
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.utils import infer_storage_options
from hypothesis import given
from hypothesis import strategies as st

from specdec_cli.cluster.inputs import find_inputs
from specdec_cli.cluster.jobs import cut_shards
from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.io.lines import Line


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files, and writes no log."""

    def log_message(self, *_: object) -> None:
        """Do nothing."""


def texts(*names: str | Path) -> list[str]:
    return [line.text for line in find_inputs([Path(name) for name in names]).read()]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "b.txt").write_text("three\n")
    (tmp_path / "a.txt").write_text("one\ntwo")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "c.gz").write_bytes(gzip.compress(b"four\n"))
    (tmp_path / ".hidden").write_text("no\n")
    return tmp_path


def test_a_folder_stands_for_its_files_in_order(folder: Path) -> None:
    assert texts(folder) == ["one", "two", "three", "four"]


def test_a_pattern_stands_for_the_files_that_match(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert texts(folder / "*.txt") == ["one", "two", "three"]
    monkeypatch.chdir(folder)
    assert texts("[b]*", "**/c.gz") == ["three", "four"]


def test_patterns_leave_out_hidden_files(folder: Path) -> None:
    (folder / ".out.shards").mkdir()
    (folder / ".out.shards" / "shard-00000.out").write_text("no\n")
    assert texts(folder / "**" / "*") == ["one", "two", "three", "four"]


@pytest.mark.parametrize("output", ["out.txt", "deep/out.txt", "."])
def test_an_output_inside_an_input_folder_is_refused(output: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    with pytest.raises(UsageError, match="is inside the input folder"):
        find_inputs([folder]).check_output(Path(output))
    find_inputs([folder / "*.txt", folder / "deep"]).check_output(Path("out.txt"))


def test_the_size_is_known_without_compressed_files(folder: Path) -> None:
    assert find_inputs([folder / "a.txt", folder / "b.txt"]).bytes == 13
    assert find_inputs([folder]).bytes is None


@pytest.mark.parametrize("name", ["memory://text/*.txt", "memory://text"])
def test_urls_are_read(name: str) -> None:
    files = fsspec.filesystem("memory")
    files.pipe({"/text/1.txt": "grün\n".encode(), "/text/2.txt": b"blau\r\n"})
    try:
        found = find_inputs([Path(name)])
        assert [(line.text, line.ending, line.number) for line in found.read()] == [("grün", "\n", 1), ("blau", "\r\n", 1)]
        assert found.bytes == 12
        assert next(line.location for line in found.read()) == "memory://text/1.txt, line 1"
    finally:
        files.rm("/text", recursive=True)


def test_compressed_urls_are_read() -> None:
    files = fsspec.filesystem("memory")
    files.pipe("/one.gz", gzip.compress(b"x\ny\n"))
    try:
        assert texts("memory://one.gz") == ["x", "y"]
    finally:
        files.rm("/one.gz")


class HostFiles(MemoryFileSystem):  # type: ignore[misc]
    """Files of one host, whose paths do not have the host, as with ftp."""

    store: ClassVar[dict[str, Any]] = {}
    pseudo_dirs: ClassVar[list[str]] = [""]
    protocol = "hostfiles"

    def __init__(self, host: str, **options: Any) -> None:
        super().__init__(**options)
        assert host == "example.org"

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return f"/{infer_storage_options(path)['path'].strip('/')}"

    @staticmethod
    def _get_kwargs_from_urls(url: str) -> dict[str, str]:
        return {"host": str(infer_storage_options(url)["host"])}


@pytest.mark.parametrize("name", ["hostfiles://example.org/text", "hostfiles://example.org/text/*.txt"])
def test_urls_keep_their_host(name: str) -> None:
    fsspec.register_implementation("hostfiles", HostFiles, clobber=True)
    HostFiles("example.org").pipe({"/text/a.txt": b"a\n", "/text/b.txt": b"b\n", "/text/.hidden/c.txt": b"no\n"})
    found = find_inputs([Path(name)])
    assert [line.location for line in found.read()] == [f"hostfiles://example.org/text/{file}.txt, line 1" for file in "ab"]


def test_file_urls_are_local_files(folder: Path) -> None:
    assert find_inputs([Path(f"file://{folder}/*.txt")]) == find_inputs([folder / "*.txt"])
    assert find_inputs([Path(f"file://{folder}")]).folders == (folder,)


def test_web_addresses_with_a_query_are_read(folder: Path) -> None:
    handler = partial(QuietHandler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever).start()
        try:
            assert texts(f"http://127.0.0.1:{server.server_port}/a.txt?part=1") == ["one", "two"]
        finally:
            server.shutdown()


def test_an_address_without_a_port_is_explained() -> None:
    for host in ("10.0.0.1", "head"):
        with pytest.raises(InputError, match=f"{host}: no such file; an address for --ray is HOST:PORT"):
            find_inputs([Path(host)])


def test_names_without_files_are_named(folder: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: no such file$"):
        texts(folder / "none.txt")
    with pytest.raises(InputError, match=r"z\*: no file matches"):
        texts(folder / "z*")
    with pytest.raises(InputError, match="memory://no/where: no such file"):
        texts("memory://no/where")
    with pytest.raises(UsageError, match="xyz://a"):
        texts("xyz://a")


def lines_of(*texts: str, file: str | None = None) -> list[Line]:
    return [Line(number, text, "\n", f"line {number}", None if file is None else Path(file)) for number, text in enumerate(texts, 1)]


@given(st.lists(st.integers(0, 12), max_size=4), st.integers(1, 5), st.booleans())
def test_shards_hold_all_lines_in_order(files: list[int], size: int, joined: bool) -> None:
    lines = [line for number, count in enumerate(files) for line in lines_of(*map(str, range(count)), file=str(number))]
    shards = list(cut_shards(lines, size, lambda text: joined and int(text) % 2 == 0))

    assert [line for shard in shards for line in shard.lines] == lines
    assert [shard.index for shard in shards] == list(range(len(shards)))
    assert all(1 <= len(shard.lines) <= 2 * size and len({line.file for line in shard.lines}) == 1 for shard in shards)
    assert all(after.first == before.first + len(before.lines) for before, after in pairwise(shards))


def test_lines_that_go_on_stay_together() -> None:
    shards = cut_shards(lines_of("a", "b-", "c", "d"), 2, lambda text: text.endswith("-"))
    assert [[line.text for line in shard.lines] for shard in shards] == [["a", "b-", "c"], ["d"]]


def test_the_digest_depends_on_text_and_line_ends() -> None:
    one, two = (next(cut_shards(lines_of(text), 9)) for text in ("a", "b"))
    (crlf,) = cut_shards([Line(1, "a", "\r\n", "")], 9)
    assert len({one.digest(), two.digest(), crlf.digest()}) == 3
    assert one.bytes == 2
