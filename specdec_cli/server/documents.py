"""LibreTranslate's /translate_file and /download_file: documents, each read and written by a process of its own."""

import asyncio
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from math import ceil
from pathlib import Path, PurePath
from typing import Any, NoReturn
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from specdec_cli.documents import formats
from specdec_cli.errors import counted
from specdec_cli.language_codes import short_code
from specdec_cli.server.document_process import LENGTH, OUT_OF_MEMORY, Order
from specdec_cli.server.guard import CLOSE, OutOfTime, RequestError
from specdec_cli.server.requests import BYTES_PER_CHARACTER, Upload, read_fields, text_of
from specdec_cli.server.service import Service, codes_of, guessed, unsupported
from specdec_cli.server.texts import Pieces, document_pieces, split_pieces


@dataclass(frozen=True)
class KeptFile:
    """A file with the name that clients see, and the time of the clock at which it is forgotten."""

    name: str
    data: bytes
    until: float


class KeptFiles:
    """Files that are kept for `seconds` and have at most `most_bytes` in all; the oldest are forgotten first.

    No file is written to a disk, so none remains when the process ends. `clock` returns seconds.
    """

    def __init__(self, seconds: float, most_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds, self._most, self._clock = seconds, most_bytes, clock
        self._files: dict[str, KeptFile] = {}

    def add(self, name: str, data: bytes) -> str:
        """Keep a file, and return its token: without that, nobody can fetch it."""
        token = secrets.token_hex(16)
        self._files[token] = KeptFile(name, data, self._clock() + self._seconds)
        while len(self._files) > 1 and sum(len(each.data) for each in self._files.values()) > self._most:
            del self._files[next(iter(self._files))]
        return token

    def get(self, token: str) -> KeptFile | None:
        """The file of a token; None if there is none any more."""
        self.forget_old()
        return self._files.get(token)

    def forget_old(self) -> None:
        """Forget the files whose time is over."""
        now = self._clock()
        self._files = {token: each for token, each in self._files.items() if each.until > now}


_MEMORY, _MEMORY_PER_CHARACTER = 2**29, 2**11  # a Word document in which each word has a format needs half of this for a character
LARGEST_ANSWER = 2**26
"""Most bytes of the texts of a document as JSON, and of a translated document."""
_LIBRARIES = {"md": "markdown_it", "yaml": "yaml"}
_POLL = 0.01


def _is_there(ending: str) -> bool:
    library = _LIBRARIES.get(formats.format_of(Path(f"a{ending}")))
    return library is None or find_spec(library) is not None


ENDINGS = tuple(filter(_is_there, formats.ENDINGS))
"""The endings of the names of files that can be translated; some formats need a library."""


@dataclass(frozen=True)
class DocumentLimits:
    """Limits of a document: bytes of its file (documents that are ZIP files have none here: most of their bytes are neither text nor
    markup), characters of its texts, and seconds of processor time to read and write it.
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

    They raise RequestError for a document that is malformed or too large, and where the process is killed, and LimitReached.
    """

    def __init__(self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter, order: Order) -> None:
        self._process, self._reader, self._writer, self._order = process, reader, writer, order
        self.split: Callable[[str], Pieces] = split_pieces if order.format == formats.TEXT else document_pieces

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
        if code == -signal.SIGXCPU:
            raise LimitReached(
                "processor", f"{order.name} needs more than {counted(order.seconds, 'second')} of processor time; send a part of it"
            )
        if code == -signal.SIGKILL:  # the kernel does this to a process where the machine has no more memory
            raise RequestError(
                503, f"the process that read {order.name} was killed, perhaps because this machine is out of memory", {"Retry-After": "1"}
            )
        raise RuntimeError(f"the process of a document ended with exit code {code}")


@asynccontextmanager
async def open_document(upload: Upload, limits: DocumentLimits) -> AsyncIterator[OpenDocument]:
    """Start a process for a document inside the block; at its end the process is killed, whatever it does, and has ended.

    Raises RequestError for a file that is no document by its name, and for one with too many bytes.
    """
    name = base_name(upload.name)
    form = formats.format_of(Path(name))
    if Path(name).suffix.lower() not in ENDINGS and form != "android":
        raise RequestError(400, f"Invalid request: file format not supported; supported are {', '.join(ENDINGS)} and Android's strings.xml")
    if form not in formats.PACKAGES and len(upload.data) > limits.bytes:
        raise RequestError(413, f"Invalid request: {name} has more than {counted(limits.bytes, 'byte')}")
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


LARGEST = 2**24
"""Most bytes of a file."""
KEPT_SECONDS = 1800.0
_KEPT_BYTES = 2**26
_AT_ONCE = 4  # each needs several times the memory of its file
_SAMPLE = 10_000
_DOWNLOAD = "/download_file/"


class FileTranslation:
    """The routes for documents. Translated ones are kept in memory for half an hour, and fetched by the address in the answer."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._files = KeptFiles(KEPT_SECONDS, _KEPT_BYTES)
        self._in_progress = 0

    def routes(self) -> list[Route]:
        """The routes for documents."""
        return [
            Route("/translate_file", self.translate_file, methods=["POST"]),
            Route(f"{_DOWNLOAD}{{name}}", self.download_file),
        ]

    async def translate_file(self, request: Request) -> JSONResponse:
        """Translate the file of a multipart form, and answer with the address of the result."""
        service = self._service
        with self._admitted():
            fields = await read_fields(request, service.limits, service.keys, ("file",), LARGEST)
            upload = fields.get("file")
            if upload is None:
                raise RequestError(400, "Invalid request: missing file parameter")
            if not isinstance(upload, Upload):
                raise RequestError(400, "Invalid request: file is not one file of a multipart form")
            source, target = text_of(fields, "source"), short_code(text_of(fields, "target"))
            try:
                data = await service.run(request, self._translated(upload, source, target))
            except (LimitReached, OutOfTime) as error:
                service.metrics.count_ended_document(error.limit if isinstance(error, LimitReached) else "time")
                raise
        name = PurePath(base_name(upload.name))
        given = f"{name.stem}_{target}{name.suffix}"
        address = f"{_address(request)}{_DOWNLOAD}{self._files.add(given, data)}.{quote(given, safe='')}"
        asyncio.get_running_loop().call_later(KEPT_SECONDS + 1, self._files.forget_old)
        return JSONResponse({"translatedFileUrl": address})

    async def download_file(self, request: Request) -> Response:
        """Send a translated file. Of its address only the token counts; the name after it is for people."""
        path = self._files.get(request.path_params["name"].partition(".")[0])
        if path is None:
            raise RequestError(404, f"there is no such file; translated files are kept for {KEPT_SECONDS / 60:.0f} minutes")
        headers = {
            "Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.name, safe='')}",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        }
        return Response(path.data, headers=headers, media_type="application/octet-stream")

    async def _translated(self, upload: Upload, source: str, target: str) -> bytes:
        limits = self._service.limits
        # Parsing a document takes more time than receiving it.
        own = DocumentLimits(limits.characters * BYTES_PER_CHARACTER, limits.characters, ceil(limits.seconds / 2))
        async with open_document(upload, own) as document:
            texts = await document.texts(upload.data)
            if source == "auto":
                source = guessed(self._service, " ".join(texts)[:_SAMPLE], target)["language"]
            pair = short_code(source), target
            if pair[0] == target and target in codes_of(self._service):
                return upload.data
            if pair not in self._service.translators:
                raise RequestError(400, unsupported(self._service, *pair))
            await document.check(*pair)
            return await document.translated(await self._service.translate(pair, texts, document.split))

    @contextmanager
    def _admitted(self) -> Iterator[None]:
        """Count a request for a file inside the block. Raises RequestError (429) if there are as many as the memory allows."""
        self._service.admit()
        if self._in_progress >= _AT_ONCE:
            self._service.refuse("documents", f"{_AT_ONCE} files are being translated; try again later", headers=CLOSE)
        self._in_progress += 1
        try:
            yield
        finally:
            self._in_progress -= 1


def _address(request: Request) -> str:
    """The address of the server as the client knows it: the host is that of the request, the scheme perhaps that of a proxy."""
    scheme = "https" if request.headers.get("x-forwarded-proto") == "https" else "http"
    return f"{scheme}://{request.headers.get('host') or 'localhost'}"
