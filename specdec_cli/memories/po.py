"""Reading of message catalogues (PO) as translation memories."""

import re
from collections.abc import Iterator
from pathlib import Path

from specdec_cli.errors import InputError, UsageError
from specdec_cli.text.parallel import Pair

LARGEST = 2**26
"""Largest size of a catalogue in bytes, as it is held in memory completely."""
_LINE = re.compile(r"\(line (\d+)\)(?:: (.*))?$", re.DOTALL)


def read_po(path: Path) -> Iterator[Pair]:
    """Yield the messages of a catalogue that are translated, neither fuzzy nor obsolete, plural forms too, line by
    line where source and target have as many lines.

    Raises InputError with the line for a file that is not a catalogue, or is larger than LARGEST (64 MiB), and
    UsageError if polib is not installed.
    """
    try:
        import polib
    except ImportError:
        raise UsageError("PO files are read by polib: pip install 'specdec[documents]'") from None
    if path.stat().st_size > LARGEST:
        raise InputError(f"{path}: larger than {LARGEST} bytes")
    try:
        catalogue = polib.pofile(str(path), encoding="utf-8", check_for_duplicates=False)
    except UnicodeDecodeError as error:
        line = path.read_bytes().count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {line}: not valid UTF-8") from None
    except (OSError, ValueError) as error:
        found = _LINE.search(str(error))
        place, message = (f", line {found[1]}", found[2] or "not the syntax of PO") if found else ("", str(error))
        raise InputError(f"{path}{place}: {' '.join(message.split())}") from None
    for entry in catalogue:
        if entry.translated() and not entry.obsolete:
            plural = sorted(entry.msgstr_plural.items())
            yield from _lines(entry.msgid, entry.msgstr or (plural[0][1] if plural else ""))
            if entry.msgid_plural and plural:
                yield from _lines(entry.msgid_plural, plural[min(1, len(plural) - 1)][1])


def _lines(source: str, target: str) -> Iterator[Pair]:
    sources, targets = source.splitlines(), target.splitlines()
    if len(sources) == len(targets):
        yield from (Pair(*each) for each in zip(sources, targets, strict=True))
    else:
        yield Pair(source.replace("\n", " "), target.replace("\n", " "))
