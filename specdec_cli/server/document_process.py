"""The process that reads a document, and writes it with translations: `python -m specdec_cli.server.document_process`.

A document can be far larger in memory than its file, and take long to parse. This process can be limited and killed, which a thread
cannot. Its stdin and stdout carry frames: a length in four bytes, and so many bytes. Each step is a request and an answer:

1. a JSON object with the fields of Order, and the file; the answer is a JSON object with `texts`
2. a JSON list of the source and target language; the answer is an empty object
3. a JSON list with an output for each text; the answer is an empty object, and the new file

An answer can be an object with `error`, a message for the client, and its HTTP `status` instead, or with `failure`, the traceback of an
unexpected exception. The process then ends.
"""

import ctypes
import json
import os
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Any, BinaryIO
from xml.parsers import expat

from specdec_cli.documents.document import Document, Source, check_languages
from specdec_cli.documents.formats import TEXT, Format, read_document
from specdec_cli.errors import InputError, UsageError, is_out_of_memory
from specdec_cli.text.io.lines import STDIO, lines_of_stream
from specdec_cli.text.segment.paragraphs import join_wrapped, rewrapped

LENGTH = struct.Struct(">I")
"""The length of a frame."""
OUT_OF_MEMORY = 99
"""The exit code of a process that needs more memory than it may have."""
_END_WITH_PARENT = 1  # PR_SET_PDEATHSIG


@dataclass(frozen=True)
class Order:
    """What to read: the name of a file and its format; and the limits: characters of its texts, bytes of memory and seconds of processor
    time of the process, which the process `parent` has started.
    """

    name: str
    format: Format
    characters: int
    memory: int
    seconds: int
    parent: int


class _TextFile:
    """A text file; the lines of a wrapped paragraph are one text."""

    def __init__(self, data: bytes, name: str) -> None:
        self._lines = list(join_wrapped(lines_of_stream(BytesIO(data), STDIO, name)))
        self.texts = [line.text for line in self._lines]

    def check(self, source: str, target: str) -> None:
        """A text file states no languages."""

    def translated(self, outputs: Sequence[str]) -> bytes:
        """The file with an output in the place of each text."""
        written = (part for line, output in zip(self._lines, outputs, strict=True) for pair in rewrapped(line, output) for part in pair)
        return "".join(written).encode("utf-8")


class _Document:
    """A document of one of the other formats."""

    def __init__(self, document: Document, name: str) -> None:
        self._document, self._name = document, name
        self.texts = [segment.text for segment in document.segments]

    def check(self, source: str, target: str) -> None:
        """Raise InputError if the document states other languages."""
        check_languages(self._document, self._name, source, target)

    def translated(self, outputs: Sequence[str]) -> bytes:
        """The file with an output in the place of each text."""
        return self._document.translated(outputs)


def _read(order: Order, data: bytes) -> _TextFile | _Document:
    if order.format == TEXT:
        return _TextFile(data, order.name)
    return _Document(read_document(Source(data, order.name), order.format), order.name)


class _Refused(Exception):
    """An error of the client: HTTP status and message."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def _run(stdin: BinaryIO, stdout: BinaryIO) -> None:
    def receive() -> bytes:
        head = stdin.read(LENGTH.size)
        if len(head) < LENGTH.size:
            raise EOFError
        return stdin.read(LENGTH.unpack(head)[0])

    def send(*frames: bytes) -> None:
        for frame in frames:
            stdout.write(LENGTH.pack(len(frame)))
            stdout.write(frame)
        stdout.flush()

    def answer(value: dict[str, Any]) -> bytes:
        return json.dumps(value).encode("ascii")

    try:
        order = Order(**json.loads(receive()))
        if os.getppid() != order.parent:
            return
        _limit(order)
        file = _read(order, receive())
        size = sum(map(len, file.texts))
        if size > order.characters:
            raise _Refused(413, f"{size} characters, more than the limit of {order.characters}")
        send(answer({"texts": file.texts}))
        file.check(*json.loads(receive()))
        send(answer({}))
        send(answer({}), file.translated(json.loads(receive())))
    except EOFError:  # the server needs nothing any more
        return
    except _Refused as error:
        send(answer({"status": error.status, "error": str(error)}))
    except (InputError, UsageError) as error:
        if _is_out_of_memory(error.__cause__):
            raise MemoryError from error
        send(answer({"status": 400, "error": str(error)}))
    except Exception as error:
        if _is_out_of_memory(error):
            raise MemoryError from error
        send(answer({"failure": traceback.format_exc()}))


def _is_out_of_memory(error: BaseException | None) -> bool:
    """Whether an error reports that memory could not be allocated; expat has an error of its own for this."""
    if isinstance(error, expat.ExpatError):
        return error.code == expat.errors.codes[expat.errors.XML_ERROR_NO_MEMORY]
    return error is not None and is_out_of_memory(error)


def _limit(order: Order) -> None:
    """Limit memory and processor time of this process. Memory is not limited where the system does not count it (macOS)."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (order.seconds, order.seconds + 1))
    if sys.platform == "linux":
        resource.setrlimit(resource.RLIMIT_AS, (order.memory, order.memory))


def main() -> None:
    """Read and write one document."""
    # The server ends this process; a terminal and systemd send signals to all processes.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_END_WITH_PARENT, signal.SIGKILL)
    with os.fdopen(os.dup(1), "wb") as stdout:
        os.dup2(2, 1)  # what a library may print does not mix with the answers
        try:
            _run(sys.stdin.buffer, stdout)
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except BrokenPipeError:
            os._exit(1)


if __name__ == "__main__":
    main()
