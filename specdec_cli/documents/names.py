"""The names of the formats, and the endings of files of each."""

from pathlib import Path
from typing import Literal, get_args

from specdec_cli.text.io.lines import COMPRESSED

Format = Literal["lines", "txt", "md", "srt", "vtt", "po", "xliff", "html", "docx"]
FORMATS: tuple[Format, ...] = get_args(Format)
"""The names of all formats."""
LINES, TEXT, *DOCUMENTS = FORMATS
"""Lines and text are read line by line; the others are the formats of documents."""
_ENDINGS = {
    "markdown": "md",
    "pot": "po",
    "xlf": "xliff",
    "sdlxliff": "xliff",
    "mqxliff": "xliff",
    "mxliff": "xliff",
    "htm": "html",
    "xhtml": "html",
}
ENDINGS = tuple(f".{ending}" for ending in (TEXT, *DOCUMENTS, *_ENDINGS))
"""The endings of the names of text files and documents, with the dot."""


def format_of(path: Path) -> Format:
    """The format of a file by its ending, without that of compression; "lines" for an ending that is not known."""
    name = path.with_suffix("") if path.suffix in COMPRESSED else path
    ending = name.suffix.lower().removeprefix(".")
    found = _ENDINGS.get(ending, ending)
    return next((name for name in FORMATS if name == found), LINES)
