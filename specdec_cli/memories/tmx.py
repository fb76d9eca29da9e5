"""Reading of translation memories in TMX (versions 1.1 to 1.4b)."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.languages import short_code
from specdec_cli.text.lines import open_binary
from specdec_cli.text.parallel import Pair

_LANGUAGE = "{http://www.w3.org/XML/1998/namespace}lang"
_CODES = frozenset(("bpt", "ept", "it", "ph", "ut"))
"""Inline elements whose content is markup of the original file, not text."""


def read_tmx(path: Path, source: str, target: str) -> Iterator[Pair]:
    """Yield the segments in the languages `source` and `target` of each unit that has both; markup within them is left
    out.

    A language matches whatever its region is ("en" for "en-GB"); an empty one matches the first segment, or the
    second. External entities and DTDs are not read, and entities are not expanded. Raises InputError with the line
    for a file that is not well-formed or not TMX, and UsageError if lxml is not installed.
    """
    try:
        from lxml import etree
    except ImportError:
        raise UsageError("TMX files are read by lxml: pip install 'specdec[documents]'") from None
    safe = {"resolve_entities": False, "no_network": True, "load_dtd": False, "huge_tree": False}
    with open_binary(path) as stream:
        try:
            root = None
            for event, element in etree.iterparse(stream, ("start", "end"), **safe):
                if root is None:
                    root = element
                    if etree.QName(root).localname != "tmx":
                        raise InputError(f"{path}, line {element.sourceline}: <{element.tag}>, expected <tmx>")
                if event == "end" and element.tag == "tu":
                    pair = _pair(element, short_code(source), short_code(target))
                    element.clear()
                    while element.getprevious() is not None:
                        del element.getparent()[0]
                    if pair is not None:
                        yield pair
        except etree.XMLSyntaxError as error:
            message = (error.msg or "not XML").rsplit(", line ", 1)[0]
            raise InputError(f"{path}, line {error.lineno or 1}: {' '.join(message.split())}") from None
        except (OSError, EOFError) as error:
            raise InputError(f"{path}: {error}") from error


def _pair(unit: Any, source: str, target: str) -> Pair | None:
    """The segments of a unit in two languages, None if it lacks one."""
    found: dict[str, str] = {}
    for number, variant in enumerate(unit.iterfind("tuv")):
        language = short_code(variant.get(_LANGUAGE) or variant.get("lang") or "")
        segment = variant.find("seg")
        if segment is None:
            continue
        text = " ".join("".join(_texts(segment)).split())
        for wanted, place in ((source, 0), (target, 1)):
            if (language == wanted if wanted else number == place) and wanted + str(place) not in found:
                found[wanted + str(place)] = text
    sides = [found.get(source + "0"), found.get(target + "1")]
    return Pair(*sides) if sides[0] and sides[1] else None  # type: ignore[arg-type]


def _texts(element: Any) -> Iterator[str]:
    """The text of an element without that of inline codes."""
    if isinstance(element.tag, str) and element.tag not in _CODES:
        yield element.text or ""
        for child in element:
            yield from _texts(child)
            yield child.tail or ""
