"""Parsing of documents from text, translations without a model, and the steps that work takes."""

import re
import sys
from collections.abc import Callable
from typing import Any

from specdec_cli.documents.document import Document, Purpose, Source
from specdec_cli.documents.formats import Format, read_document
from specdec_cli.documents.segments import STAND_IN
from specdec_cli.text.edits import find_edits
from specdec_cli.text.protect.spans import protected_spans


def parse(text: str | bytes, format: Format, *, purpose: Purpose = "translate", redo: bool = False) -> Document:
    """Parse a document."""
    data = text.encode() if isinstance(text, str) else text
    return read_document(Source(data, f"a.{format}", purpose, redo), format)


def texts(document: Document) -> list[str]:
    """The texts of the segments."""
    return [segment.text for segment in document.segments]


def unchanged(document: Document) -> bytes:
    """The document with each segment as its own output."""
    return document.translated(texts(document))


def shout(text: str) -> str:
    """The text in upper case, without changes of what is protected."""
    pieces, position = [], 0
    for start, end in protected_spans(text):
        pieces += [text[position:start].upper(), text[start:end]]
        position = end
    return "".join([*pieces, text[position:].upper()])


def translated(text: str | bytes, format: Format, change: Callable[[str], str] = shout, *, redo: bool = False) -> str:
    """The document with `change` made in the text of each segment."""
    document = parse(text, format, redo=redo)
    return document.translated([change(each) for each in texts(document)]).decode()


def corrected(text: str, format: Format, change: Callable[[str], str]) -> str:
    """The document with the edits that `change` makes in the text of each segment."""
    document = parse(text, format, purpose="correct")
    return document.corrected([find_edits(each, change(each)) for each in texts(document)]).decode()


def without_marks(text: str) -> str:
    """The text of a segment without stand-ins."""
    return re.sub(STAND_IN, "", text)


def steps(work: Callable[[], Any]) -> int:
    """The number of lines that are run while `work` is done, each as often as it is, and of functions that are called."""
    count = 0

    def counted(_frame: object, event: str, _argument: object) -> Any:
        nonlocal count
        count += event.endswith(("call", "line"))
        return counted

    sys.settrace(counted)
    sys.setprofile(counted)
    try:
        work()
    finally:
        sys.settrace(None)
        sys.setprofile(None)
    return count
