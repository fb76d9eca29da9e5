"""Reading of the files of translation memories: TMX (versions 1.1 to 1.4b), message catalogues (PO) and TSV."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specdec_cli.documents.po import PoFile, read_po_file
from specdec_cli.documents.reading import read_bytes
from specdec_cli.errors import InputError, MissingLibraryError
from specdec_cli.language_codes import short_code
from specdec_cli.memories.index import WITHOUT_SPACES
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.io.lines import COMPRESSED, UNREADABLE, open_binary

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))
"""Inline elements whose content is markup of the original file, not text."""
_REMOVED = "\0"
"""Stands for an inline code that was removed; XML cannot contain it."""
_LETTER = f"[^\\W{WITHOUT_SPACES}]"
_BETWEEN_LETTERS = re.compile(f"(?<={_LETTER}){_REMOVED}+(?={_LETTER})")
_KINDS = {".tmx": "TMX", ".po": "PO", ".pot": "PO"}


def read_pairs(path: Path, source: str, target: str) -> Iterator[Pair]:
    """Yield the pairs of a memory in the languages `source` and `target` ("": unknown), by the format of the file.

    Raises InputError, with the line, for a file that cannot be read.
    """
    kind = kind_of(path)
    if kind == "TMX":
        return read_tmx(path, source, target)
    return read_po(path, source, target) if kind == "PO" else _read_tsv(path)


def kind_of(path: Path) -> str:
    """The format by the extension: TMX, PO or TSV."""
    name = path.with_suffix("") if path.suffix in COMPRESSED else path
    return _KINDS.get(name.suffix.lower(), "TSV")


def _read_tsv(path: Path) -> Iterator[Pair]:
    try:
        for number, pair in enumerate(read_tsv(path), start=1):
            if "\0" in pair.source or "\0" in pair.target:
                raise InputError(f"{path}, line {number}: holds a NUL byte")
            yield pair
    except InputError as error:
        if ".tsv" in path.suffixes[-2:]:
            raise
        raise InputError(f"{error}; memories are .tmx, .po and TSV files") from None


def read_tmx(path: Path, source: str, target: str) -> Iterator[Pair]:
    """Yield the segments in the languages `source` and `target` of each unit that has both; markup within them is left
    out, with a space in its place between two letters of a script with spaces.

    A language matches whatever its region is ("en" for "en-GB"); an empty one matches the first segment, or the
    second. If both languages are the same, the first two segments in it are taken. Namespaces are ignored. External
    entities and DTDs are not read, and entities are not expanded: a unit with an entity in these segments is left out.
    Raises InputError with the line for a file that is not well-formed or not TMX, and UsageError if lxml is not
    installed.
    """
    try:
        from lxml import etree
    except ImportError:
        raise MissingLibraryError("TMX files are read by lxml", "documents") from None
    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    with open_binary(path) as stream:
        try:
            root = None
            for event, element in etree.iterparse(stream, ("start", "end"), **safe):
                if root is None:
                    root = element
                    if _name(root) != "tmx":
                        raise InputError(f"{path}, line {element.sourceline}: <{element.tag}>, expected <tmx>")
                if event == "end" and _name(element) == "tu":
                    pair = _pair(element, short_code(source), short_code(target))
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
                    if pair is not None:
                        yield pair
        except etree.XMLSyntaxError as error:
            message = (error.msg or "not XML").rsplit(", line ", 1)[0]
            raise InputError(f"{path}, line {error.lineno or 1}: {' '.join(message.split())}") from None
        except UNREADABLE as error:
            raise InputError(f"{path}: {error}") from error


def _pair(unit: Any, source: str, target: str) -> Pair | None:
    """The segments of a unit in two languages, None if it lacks one, or if one is blank or has an entity."""
    pair: list[Any] = [None, None]
    for number, variant in enumerate(unit.iterchildren("{*}tuv")):
        language = short_code(variant.get(_LANGUAGE) or variant.get("lang") or "")
        segment = variant.find("{*}seg")
        for place, wanted in enumerate((source, target)):
            if segment is not None and pair[place] is None and (language == wanted if wanted else number == place):
                pair[place] = segment
                break
    texts = [_text(segment) for segment in pair if segment is not None]
    return Pair(*texts) if len(texts) == 2 and all(texts) else None


def _text(segment: Any) -> str:
    """The text of a segment without inline codes; "" if it has an entity."""
    parts = list(_parts(segment))
    if None in parts:
        return ""
    return " ".join(_BETWEEN_LETTERS.sub(" ", "".join(map(str, parts))).replace(_REMOVED, "").split())


def _parts(element: Any) -> Iterator[str | None]:
    """The text of an element, _REMOVED for each inline code, and None for an entity.

    Of the nodes that are no elements, only an entity has the attribute `name`.
    """
    name = _name(element)
    if name in _CODES or (name and not len(element) and not element.text):
        yield _REMOVED
    elif name:
        yield element.text or ""
        for child in element:
            yield from _parts(child)
            yield child.tail or ""
    elif hasattr(element, "name"):
        yield None


def _name(element: Any) -> str:
    """The name of an element without its namespace; "" for a comment, a processing instruction and an entity."""
    return element.tag.rpartition("}")[2] if isinstance(element.tag, str) else ""


_OTHER_LINE_ENDS = re.compile("[\v\f\x1c-\x1e\x85\u2028\u2029]")


def read_po(path: Path, source: str = "", target: str = "") -> Iterator[Pair]:
    """Yield the messages of a catalogue that are translated, neither fuzzy nor obsolete, plural forms too, line by
    line where source and target have as many lines.

    If its header names the language `source`, the sides are exchanged: its translations are what is translated now. Nothing is yielded
    if it names another language than these two. Raises InputError with the line for a file that is not a catalogue, or is larger than
    a document may be (see `read_bytes`).
    """
    catalogue = read_po_file(read_bytes(path), str(path))
    stated = short_code(catalogue.language)
    exchanged = stated != "" and stated == short_code(source) != short_code(target)
    if stated and target and not exchanged and stated != short_code(target):
        return
    for pair in _messages(catalogue):
        yield Pair(pair.target, pair.source) if exchanged else pair


def _messages(catalogue: PoFile) -> Iterator[Pair]:
    for entry in catalogue.entries:
        if entry.is_translated:
            forms = [catalogue.text(string) for string in entry.translations()]
            yield from _lines(catalogue.text(entry.strings["msgid"]), forms[0])
            if "msgid_plural" in entry.strings:
                yield from _lines(catalogue.text(entry.strings["msgid_plural"]), forms[min(1, len(forms) - 1)])


def _lines(source: str, target: str) -> Iterator[Pair]:
    sources, targets = (_OTHER_LINE_ENDS.sub(" ", text).splitlines() for text in (source, target))
    if len(sources) == len(targets):
        yield from (Pair(*each) for each in zip(sources, targets, strict=True))
    else:
        yield Pair(" ".join(sources), " ".join(targets))
