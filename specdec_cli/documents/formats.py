"""The formats: their names, the endings of files of each, and what parses them."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from specdec_cli.text.io.lines import COMPRESSED

if TYPE_CHECKING:
    from specdec_cli.documents.document import Document, Source

Format = Literal[
    "lines",
    "txt",
    "md",
    "srt",
    "vtt",
    "po",
    "xliff",
    "html",
    "docx",
    "pptx",
    "odt",
    "epub",
    "json",
    "yaml",
    "properties",
    "ini",
    "csv",
    "android",
    "strings",
]
FORMATS: tuple[Format, ...] = get_args(Format)
"""The names of all formats."""
LINES, TEXT, *DOCUMENTS = FORMATS
"""Lines and text are read line by line; the others are the formats of documents."""
_ENDINGS = {
    "text": "txt",
    "markdown": "md",
    "mdx": "md",
    "pot": "po",
    "xlf": "xliff",
    "sdlxliff": "xliff",
    "mqxliff": "xliff",
    "mxliff": "xliff",
    "htm": "html",
    "xhtml": "html",
    "odp": "odt",
    "ods": "odt",
    "arb": "json",
    "yml": "yaml",
}
_ANDROID = re.compile(r"(?:strings\w*|\w*strings|arrays|plurals)\.xml", re.IGNORECASE)
"""The names of Android's resources with texts; in a folder such as values-de, all XML files are resources."""
_ANDROID_FOLDER = re.compile(r"values(?:-.+)?")
PACKAGES = frozenset(["docx", "pptx", "odt", "epub"])
"""The formats of ZIP files."""
ENDINGS = tuple(f".{ending}" for ending in (TEXT, *DOCUMENTS, *_ENDINGS) if ending != "android")
"""The endings of the names of text files and documents, with the dot."""


_MARKUP = frozenset(["rst", "adoc", "asciidoc", "tex"])
"""The endings of text in other markup, which only `correct --check` reads if no format is named (see unread.py)."""


def ending_of(path: Path) -> str:
    """The ending of the name of a file, in small letters, without its dot and without that of compression."""
    name = path.with_suffix("") if path.suffix in COMPRESSED else path
    return name.suffix.lower().removeprefix(".")


def format_of(path: Path) -> Format:
    """The format of a file by its ending, without that of compression, or by its whole name; "lines" for one that is not known."""
    name = path.with_suffix("") if path.suffix in COMPRESSED else path
    if _ANDROID.fullmatch(name.name) or (name.suffix == ".xml" and _ANDROID_FOLDER.fullmatch(name.parent.name)):
        return "android"
    ending = ending_of(path)
    found = TEXT if ending in _MARKUP else _ENDINGS.get(ending, ending)
    return next((name for name in FORMATS if name == found), LINES)


def read_document(source: "Source", format: str) -> "Document":
    """Parse a document in one of the formats DOCUMENTS; only the module of this format is imported.

    Raises InputError for one that is malformed, and UsageError if its format needs a library that is not installed.
    """
    match format:
        case "md":
            from specdec_cli.documents.markdown import read_markdown

            return read_markdown(source)
        case "srt" | "vtt":
            from specdec_cli.documents.subtitles import read_subtitles

            return read_subtitles(source)
        case "po":
            from specdec_cli.documents.po import Catalogue

            return Catalogue(source)
        case "xliff":
            from specdec_cli.documents.xliff import Xliff

            return Xliff(source)
        case "html":
            from specdec_cli.documents.html import read_html

            return read_html(source)
        case "docx" | "pptx":
            from specdec_cli.documents.packages.office import read_office

            return read_office(source, format)
        case "odt":
            from specdec_cli.documents.packages.opendocument import read_opendocument

            return read_opendocument(source)
        case "epub":
            from specdec_cli.documents.packages.epub import read_epub

            return read_epub(source)
        case "json":
            from specdec_cli.documents.json_file import read_json

            return read_json(source)
        case "yaml":
            from specdec_cli.documents.yaml_file import read_yaml

            return read_yaml(source)
        case "properties":
            from specdec_cli.documents.properties import read_properties

            return read_properties(source)
        case "ini":
            from specdec_cli.documents.properties import read_ini

            return read_ini(source)
        case "csv":
            from specdec_cli.documents.tables import read_table

            return read_table(source)
        case "android":
            from specdec_cli.documents.app_strings import read_android

            return read_android(source)
        case "strings":
            from specdec_cli.documents.app_strings import read_strings

            return read_strings(source)
    raise ValueError(f"{format}: not a format of documents")
