"""Reading of .xz files with bounded memory."""

import io
import lzma
from pathlib import Path
from typing import Any

MAX_MEMORY = 2**27
"""Limit on the bytes of memory for decompression. A file determines the size of its dictionary, up to 4 GB; `xz -9`
needs 65 MB.
"""
_CHUNK = 2**16


class XzReader(io.RawIOBase):
    """A raw stream of the decompressed bytes of the .xz file `path`. Raises OSError if the file cannot be opened.

    Reading raises LZMAError if the file is damaged or needs more than MAX_MEMORY, and EOFError if it is truncated.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._decoder = _decoder()
        self._compressed = b""

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Read at least one and at most `len(buffer)` bytes into `buffer`; return the number read, 0 at the end of
        the file.
        """
        view = memoryview(buffer)
        found = b""
        while not found:
            if self._decoder.eof and not self._start_next_stream():
                return 0
            if self._decoder.needs_input and not self._compressed:
                self._compressed = self._file.read(_CHUNK)
                if not self._compressed:
                    raise EOFError("the compressed data end too early")
            found = self._decompress(len(view))
        view[: len(found)] = found
        return len(found)

    def close(self) -> None:
        """Close the compressed file and the stream."""
        self._file.close()
        super().close()

    def _decompress(self, max_bytes: int) -> bytes:
        compressed, self._compressed = self._compressed, b""
        try:
            return self._decoder.decompress(compressed, max_bytes)
        except lzma.LZMAError as error:
            if "limit" not in str(error):
                raise
            raise lzma.LZMAError(f"needs more than {MAX_MEMORY >> 20} MB of memory to be decompressed") from error

    def _start_next_stream(self) -> bool:
        """Prepare to decompress the next stream of the file; False if there is none. Zero bytes between streams are skipped."""
        rest = self._decoder.unused_data.lstrip(b"\0")
        while not rest:
            chunk = self._file.read(_CHUNK)
            if not chunk:
                return False
            rest = chunk.lstrip(b"\0")
        self._decoder, self._compressed = _decoder(), rest
        return True


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=MAX_MEMORY)
