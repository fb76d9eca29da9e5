"""Reading of message catalogues (PO) as translation memories."""

import re
from collections.abc import Iterator
from pathlib import Path

from specdec_cli.documents.po import PoFile, read_po_file
from specdec_cli.documents.reading import read_bytes
from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.locale.languages import short_code

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
    for pair in _pairs(catalogue):
        yield Pair(pair.target, pair.source) if exchanged else pair


def _pairs(catalogue: PoFile) -> Iterator[Pair]:
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
