"""The formats: their names, the endings of their files, and what parses each."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Literal, get_args

from specdec_cli.documents.document import Document, Source
from specdec_cli.text.io.lines import COMPRESSED

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


_READERS: Mapping[str, tuple[str, str]] = {
    "md": ("markdown", "read_markdown"),
    "srt": ("subtitles", "read_subtitles"),
    "vtt": ("subtitles", "read_subtitles"),
    "po": ("po", "Catalogue"),
    "xliff": ("xliff", "Xliff"),
    "html": ("html", "read_html"),
    "docx": ("packages.office", "read_word"),
    "pptx": ("packages.office", "read_powerpoint"),
    "odt": ("packages.opendocument", "read_opendocument"),
    "epub": ("packages.epub", "read_epub"),
    "json": ("json_file", "read_json"),
    "yaml": ("yaml_file", "read_yaml"),
    "properties": ("properties", "read_properties"),
    "ini": ("properties", "read_ini"),
    "csv": ("tables", "read_table"),
    "android": ("app_strings", "read_android"),
    "strings": ("app_strings", "read_strings"),
}
"""What parses each format of documents: a module of documents/, and its function or class, which is given the Source."""


def read_document(source: Source, format: str) -> Document:
    """Parse a document in one of the formats DOCUMENTS; only the module of this format is imported.

    Raises InputError for one that is malformed, and UsageError if its format needs a library that is not installed.
    """
    module, name = _READERS[format]
    document: Document = getattr(import_module(f"specdec_cli.documents.{module}"), name)(source)
    return document
