"""Decompression of xz files equals that of the standard library, with limited memory."""

import lzma
import struct
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specdec_cli.errors import InputError
from specdec_cli.text.io.lines import XzReader, read_lines

LARGEST = 40
"""The code of a dictionary of 4 GB."""


def with_dictionary(content: bytes, code: int) -> bytes:
    """`content` compressed, in a file whose header has another dictionary size."""
    packed = bytearray(lzma.compress(content))
    end = 12 + 4 * (packed[12] + 1)  # of the block's header, whose last four bytes are its checksum
    packed[16] = code
    packed[end - 4 : end] = struct.pack("<I", zlib.crc32(packed[12 : end - 4]))
    return bytes(packed)


@settings(deadline=None)
@given(st.lists(st.tuples(st.binary(max_size=300), st.integers(0, 3)), min_size=1, max_size=4), st.integers(1, 400))
def test_the_content_equals_that_of_the_standard_library(
    tmp_path_factory: pytest.TempPathFactory, streams: list[tuple[bytes, int]], most: int
) -> None:
    path = tmp_path_factory.mktemp("xz") / "a.xz"
    path.write_bytes(b"".join(lzma.compress(content) + bytes(4 * zeros) for content, zeros in streams))
    with XzReader(path) as reader:
        assert b"".join(iter(lambda: reader.read(most), b"")) == b"".join(content for content, _ in streams)


def test_a_large_file_is_read_completely(tmp_path: Path) -> None:
    content = bytes(range(256)) * 2000
    (tmp_path / "a.xz").write_bytes(lzma.compress(content))
    with XzReader(tmp_path / "a.xz") as reader:
        assert reader.read() == content


def test_a_dictionary_beyond_the_memory_limit_is_refused(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.xz", tmp_path / "bad.xz"
    # xz -9 makes dictionaries of this size.
    good.write_bytes(with_dictionary(b"one\n", 28))
    bad.write_bytes(lzma.compress(b"one\ntwo\n") + with_dictionary(b"three\n", LARGEST))
    assert [line.text for line in read_lines([good])] == ["one"]
    lines = read_lines([bad])
    assert [next(lines).text, next(lines).text] == ["one", "two"]
    with pytest.raises(InputError, match=r"bad\.xz, after line 2: needs more than 128 MB of memory to be decompressed"):
        next(lines)


@pytest.mark.parametrize(
    "damage", [lambda packed: packed[:-1], lambda packed: packed + b"x", lambda packed: packed[:20] + b"?" + packed[21:]]
)
def test_a_damaged_file_is_named(tmp_path: Path, damage: object) -> None:
    assert callable(damage)
    (tmp_path / "a.xz").write_bytes(damage(lzma.compress(b"one\n")))
    with pytest.raises(InputError, match=r"a\.xz(, after line 1)?: "):
        list(read_lines([tmp_path / "a.xz"]))
