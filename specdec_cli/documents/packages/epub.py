"""Books in EPUB: the texts of their pages, the entries of their tables of contents, and their titles and descriptions."""

import re
from dataclasses import replace

from specdec_cli.documents.document import Source, TextDocument
from specdec_cli.documents.html import read_html
from specdec_cli.documents.packages.archive import PackageDocument, PartDocument, read_parts
from specdec_cli.documents.packages.opendocument import add_xml_text
from specdec_cli.documents.segments import Layout, SegmentBuilder
from specdec_cli.documents.xml_events import ends_of, escape_xml, read_xml
from specdec_cli.errors import InputError

_PAGES = (".xhtml", ".html", ".htm")
_TEXTS = {".opf": frozenset(["title", "description"]), ".ncx": frozenset(["text"])}
"""The elements with text of the book's description and of a table of contents, by the ending of their names."""
_LANGUAGES = (
    re.compile(r"<(?:\w+:)?language\b[^<>]*>\s*([\w-]+)\s*<"),
    re.compile(r"<(?:\w+:)?(?:package|ncx)\s[^<>]{0,1000}?\bxml:lang\s*=\s*[\"']([\w-]+)[\"']"),
)
"""Where a part states the language of the book."""


def read_epub(source: Source) -> PackageDocument:
    """Parse a book in EPUB. Raises InputError for a file that is none, is damaged, or is too large after decompression."""
    found = read_parts(source.data, source.name, lambda name: name.lower().endswith((*_PAGES, *_TEXTS)))
    if not any(name.lower().endswith(".opf") for name in found):
        raise InputError(f"{source.name}: not a book in EPUB; it has no file .opf")
    parts = {name: _part(replace(source, data=data, name=f"{source.name}, {name}")) for name, data in found.items()}
    return PackageDocument(source, parts, found)


def _part(source: Source) -> PartDocument:
    if source.name.lower().endswith(_PAGES):
        return read_html(source)
    return _Described(source, _TEXTS[source.name[-4:].lower()])


class _Described(TextDocument):
    """The description of a book, or its table of contents: the elements `names` have text. The language of the book becomes the target
    language.
    """

    def __init__(self, source: Source, names: frozenset[str]) -> None:
        content, encoding, events = read_xml(source.data, source.name)
        segments = []
        for index, end in ends_of(events).items():
            if events[index].name in names:
                builder = SegmentBuilder(content)
                for event in events[index + 1 : end]:
                    if event.kind == "text":
                        add_xml_text(builder, content, event.begin, event.finish)
                    else:
                        builder.void(event.begin, event.finish)
                segments += builder.build_each(Layout(escape=escape_xml))
        segments.sort(key=lambda segment: segment.begin)
        stated = (each.span(1) for pattern in _LANGUAGES for each in pattern.finditer(content))
        super().__init__(source, content, segments, encoding, references=True, stated=stated)
