"""Reading of translation memories in TMX (versions 1.1 to 1.4b)."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError, MissingLibraryError
from specdec_cli.memories.features import WITHOUT_SPACES
from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.io.lines import UNREADABLE, open_binary
from specdec_cli.text.locale.languages import short_code

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))
"""Inline elements whose content is markup of the original file, not text."""
_REMOVED = "\0"
"""Stands for an inline code that was removed; XML cannot contain it."""
_LETTER = f"[^\\W{WITHOUT_SPACES}]"
_BETWEEN_LETTERS = re.compile(f"(?<={_LETTER}){_REMOVED}+(?={_LETTER})")


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
    found: list[Any] = [None, None]
    for number, variant in enumerate(unit.iterchildren("{*}tuv")):
        language = short_code(variant.get(_LANGUAGE) or variant.get("lang") or "")
        segment = variant.find("{*}seg")
        for place, wanted in enumerate((source, target)):
            if segment is not None and found[place] is None and (language == wanted if wanted else number == place):
                found[place] = segment
                break
    texts = [_text(segment) for segment in found if segment is not None]
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
