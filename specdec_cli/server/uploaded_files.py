"""Documents that clients send, each read and written by a process of its own."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn

from specdec_cli.documents import names
from specdec_cli.server.document_process import LENGTH, OUT_OF_MEMORY, Order
from specdec_cli.server.form_data import Upload
from specdec_cli.server.pieces import Pieces, document_pieces, split_pieces
from specdec_cli.server.request_error import RequestError

_MEMORY, _MEMORY_PER_CHARACTER = 2**29, 2**11  # a Word document in which each word has a format needs half of this for a character
LARGEST_ANSWER = 2**26
"""Most bytes of the texts of a document as JSON, and of a translated document."""
_LIBRARIES = {"md": "markdown_it"}
_POLL = 0.01


def _is_there(ending: str) -> bool:
    library = _LIBRARIES.get(names.format_of(Path(f"a{ending}")))
    return library is None or find_spec(library) is not None


ENDINGS = tuple(filter(_is_there, names.ENDINGS))
"""The endings of the names of files that can be translated; some formats need a library."""


@dataclass(frozen=True)
class DocumentLimits:
    """Limits of a document: bytes of its file (Word documents have none here: most of their bytes are neither text nor markup),
    characters of its texts, and seconds of processor time to read and write it.
    """

    bytes: int
    characters: int
    seconds: int

    @property
    def memory(self) -> int:
        """Most bytes of memory of its process."""
        return max(_MEMORY, _MEMORY_PER_CHARACTER * self.characters)


class LimitReached(RequestError):
    """An error: a document needs more than `limit`, "memory" or "processor" time."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(413, f"Invalid request: {message}")
        self.limit = limit


class OpenDocument:
    """A document in a process. `split` divides a text of it into pieces. The methods are called once each, in this order.

    They raise RequestError for a document that is malformed or too large, and LimitReached.
    """

    def __init__(self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter, order: Order) -> None:
        self._process, self._reader, self._writer, self._order = process, reader, writer, order
        self.split: Callable[[str], Pieces] = split_pieces if order.format == names.TEXT else document_pieces

    async def texts(self, data: bytes) -> list[str]:
        """Read the file, and return its texts."""
        answer = await self._ask(json.dumps(asdict(self._order)).encode(), data)
        texts: list[str] = answer["texts"]
        return texts

    async def check(self, source: str, target: str) -> None:
        """Raise RequestError if the document states other languages than these."""
        await self._ask(json.dumps([source, target]).encode())

    async def translated(self, outputs: Sequence[str]) -> bytes:
        """The document with an output in the place of each text."""
        await self._ask(json.dumps(outputs).encode())
        try:
            return await self._receive()
        except OSError:
            await self._report_end()

    async def _ask(self, *frames: bytes) -> dict[str, Any]:
        try:
            for frame in frames:
                self._writer.write(LENGTH.pack(len(frame)))
                self._writer.write(frame)
            await self._writer.drain()
            answer: dict[str, Any] = json.loads(await self._receive())
        except OSError:
            await self._report_end()
        if "failure" in answer:
            raise RuntimeError(answer["failure"])
        if "error" in answer:
            raise RequestError(answer["status"], f"Invalid request: {answer['error']}")
        return answer

    async def _receive(self) -> bytes:
        try:
            (length,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
            if length > LARGEST_ANSWER:
                raise RequestError(413, f"Invalid request: the result has more than {LARGEST_ANSWER} bytes")
            return await self._reader.readexactly(length)
        except asyncio.IncompleteReadError as error:
            raise ConnectionResetError from error

    async def _report_end(self) -> NoReturn:
        """Raise the error that says why the process has ended."""
        code, order = await _ended(self._process), self._order
        if code == OUT_OF_MEMORY:
            raise LimitReached("memory", f"{order.name} needs more than {order.memory // 2**20} MiB of memory; send a part of it")
        if code in (-signal.SIGXCPU, -signal.SIGKILL):
            raise LimitReached("processor", f"{order.name} needs more than {order.seconds} seconds of processor time; send a part of it")
        raise RuntimeError(f"the process of a document ended with exit code {code}")


@asynccontextmanager
async def open_document(upload: Upload, limits: DocumentLimits) -> AsyncIterator[OpenDocument]:
    """Start a process for a document inside the block; at its end the process is killed, whatever it does, and has ended.

    Raises RequestError for a name with another ending than `ENDINGS`, and for a file with too many bytes.
    """
    name = base_name(upload.name)
    if Path(name).suffix.lower() not in ENDINGS:
        raise RequestError(400, f"Invalid request: file format not supported; {', '.join(ENDINGS)} are")
    form = names.format_of(Path(name))
    if form != "docx" and len(upload.data) > limits.bytes:
        raise RequestError(413, f"Invalid request: {name} has more than {limits.bytes} bytes")
    order = Order(name, form, limits.characters, limits.memory, limits.seconds, os.getpid())
    ours, theirs = socket.socketpair()
    with ours, theirs:
        process = subprocess.Popen(
            # -P: do not import modules from the working folder.
            [sys.executable, "-P", "-m", "specdec_cli.server.document_process"],
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C does not end it before the server does
            env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        )
        try:
            theirs.close()
            reader, writer = await asyncio.open_unix_connection(sock=ours)
            try:
                yield OpenDocument(process, reader, writer, order)
            finally:
                writer.transport.abort()
        finally:
            process.kill()
            await _ended(process)


async def _ended(process: subprocess.Popen[bytes]) -> int:
    """Wait until a process has ended and its memory is free again; return its exit code, or minus the number of its signal."""
    while (code := process.poll()) is None:
        await asyncio.sleep(_POLL)
    return code


def base_name(name: str) -> str:
    """The last part of a path as Linux and Windows write it, without characters that cannot be printed, and of at most 100."""
    printable = "".join(character for character in name.replace("\\", "/").rpartition("/")[2] if character.isprintable())
    return printable[-100:]
