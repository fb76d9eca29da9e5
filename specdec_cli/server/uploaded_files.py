"""Files that clients send: their texts, and the files with translations in the place of these."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path

from specdec_cli.documents import names
from specdec_cli.documents.document import Document, Source
from specdec_cli.documents.formats import READERS
from specdec_cli.documents.languages import check_languages
from specdec_cli.errors import InputError, UsageError
from specdec_cli.server.form_data import Upload
from specdec_cli.server.pieces import Pieces, document_pieces, split_pieces
from specdec_cli.server.request_error import RequestError
from specdec_cli.text.io.lines import STDIO, lines_of_stream
from specdec_cli.text.segment.paragraphs import join_wrapped, rewrapped

_LIBRARIES = {"md": "markdown_it"}


def _is_there(ending: str) -> bool:
    library = _LIBRARIES.get(names.format_of(Path(f"a{ending}")))
    return library is None or find_spec(library) is not None


ENDINGS = tuple(filter(_is_there, names.ENDINGS))
"""The endings of the names of files that can be translated; some formats need a library."""


@dataclass(frozen=True)
class Texts:
    """The texts of a file, and the function that makes a file of their translations.

    `split` divides a text into pieces; `check` raises RequestError if the file states other languages than source and target.
    """

    texts: Sequence[str]
    composed: Callable[[Sequence[str]], bytes]
    split: Callable[[str], Pieces]
    check: Callable[[str, str], None]


def read_texts(upload: Upload, most_bytes: int) -> Texts:
    """Parse a file. Raises RequestError for a name with another ending than `ENDINGS`, for a malformed file, and for one of more than
    `most_bytes` that is not a Word document, of which most bytes are neither text nor markup.
    """
    name = base_name(upload.name)
    if Path(name).suffix.lower() not in ENDINGS:
        raise RequestError(400, f"Invalid request: file format not supported; {', '.join(ENDINGS)} are")
    form = names.format_of(Path(name))
    if form != "docx" and len(upload.data) > most_bytes:
        raise RequestError(413, f"Invalid request: {name} has more than {most_bytes} bytes")
    try:
        return _text_file(upload.data, name) if form == names.TEXT else _document(READERS[form](Source(upload.data, name)), name)
    except (InputError, UsageError) as error:
        raise RequestError(400, f"Invalid request: {error}") from error


def base_name(name: str) -> str:
    """The last part of a path as Linux and Windows write it, without characters that cannot be printed, and of at most 100."""
    printable = "".join(character for character in name.replace("\\", "/").rpartition("/")[2] if character.isprintable())
    return printable[-100:]


def _text_file(data: bytes, name: str) -> Texts:
    lines = list(join_wrapped(lines_of_stream(BytesIO(data), STDIO, name)))

    def composed(outputs: Sequence[str]) -> bytes:
        written = (part for line, output in zip(lines, outputs, strict=True) for pair in rewrapped(line, output) for part in pair)
        return "".join(written).encode("utf-8")

    return Texts([line.text for line in lines], composed, split_pieces, lambda _source, _target: None)


def _document(document: Document, name: str) -> Texts:
    def composed(outputs: Sequence[str]) -> bytes:
        try:
            return document.translated(outputs)
        except InputError as error:
            raise RequestError(400, f"Invalid request: {error}") from error

    def check(source: str, target: str) -> None:
        try:
            check_languages(document, name, source, target)
        except InputError as error:
            raise RequestError(400, f"Invalid request: {error}") from error

    return Texts([segment.text for segment in document.segments], composed, document_pieces, check)
