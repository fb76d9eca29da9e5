"""Files that xz has compressed, read with bounded memory."""

import io
import lzma
from pathlib import Path
from typing import Any

MOST_MEMORY = 2**27
"""Bytes that decompression may take. A file says how large its dictionary is, up to 4 GB; `xz -9` needs 65 MB."""
_CHUNK = 2**16


class XzReader(io.RawIOBase):
    """The decompressed bytes of a file.

    Reading raises LZMAError where the file is damaged or needs more than MOST_MEMORY, EOFError where it ends too early.
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb", buffering=0)
        self._decoder = _decoder()
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer)
        found = b""
        while not found:
            if self._decoder.eof and not self._begins_another():
                return 0
            if self._decoder.needs_input and not self._waiting:
                self._waiting = self._file.read(_CHUNK)
                if not self._waiting:
                    raise EOFError("the compressed data end too early")
            found = self._decompress(len(view))
        view[: len(found)] = found
        return len(found)

    def close(self) -> None:
        self._file.close()
        super().close()

    def _decompress(self, most: int) -> bytes:
        given, self._waiting = self._waiting, b""
        try:
            return self._decoder.decompress(given, most)
        except lzma.LZMAError as error:
            if "limit" not in str(error):
                raise
            raise lzma.LZMAError(f"needs more than {MOST_MEMORY >> 20} MB of memory to be decompressed") from error

    def _begins_another(self) -> bool:
        """Whether another stream follows the one that has ended; zeros may stand in between."""
        rest = self._decoder.unused_data.lstrip(b"\0")
        while not rest:
            chunk = self._file.read(_CHUNK)
            if not chunk:
                return False
            rest = chunk.lstrip(b"\0")
        self._decoder, self._waiting = _decoder(), rest
        return True


def _decoder() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(memlimit=MOST_MEMORY)
