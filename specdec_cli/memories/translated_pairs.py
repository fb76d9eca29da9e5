"""The texts of a document and their translations, out of two documents, or out of a catalogue that has both."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path

from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import Format, read_document
from specdec_cli.documents.po import Catalogue, message
from specdec_cli.documents.reading import read_bytes
from specdec_cli.documents.segments import STAND_IN, Segment
from specdec_cli.documents.xliff import Xliff, xliff_segments
from specdec_cli.errors import InputError
from specdec_cli.memories.pairs import Entry

_MOST_APART = 1.5
"""How many times as many texts one side may have as the other."""
_FEW = 5
"""How many texts more than that one side may have."""


def translated_pairs(source: Path, target: Path, format: Format) -> list[Entry]:
    """Return the texts of the document `source` with those of its translation `target`, in order.

    Documents that have both in one file, PO and XLIFF, are read from `target`. In others, texts at the same place belong together; if
    one document has more texts than the other, they are aligned by their lengths, and the pairs are guesses. Raises InputError for a
    document that cannot be read, and if one has far more texts than the other, or one has texts and the other has none.
    """
    sources = [Source(read_bytes(path), str(path), "translate", redo=True) for path in (source, target)]
    document = read_document(sources[1], format)
    if isinstance(document, Catalogue | Xliff):
        both = _catalogue_pairs(document) if isinstance(document, Catalogue) else _xliff_pairs(document)
        equal = (zip(*pair, strict=True) for pair in both if len(pair[0]) == len(pair[1]))
        return [_entry(one.text, other.text) for pairs in equal for one, other in pairs]
    original = read_document(sources[0], format)
    texts, translations = ([segment.text for segment in each.segments] for each in (original, document))
    if len(texts) == len(translations):
        return list(map(_entry, texts, translations))
    fewer, more = sorted((len(texts), len(translations)))
    if not fewer or more > fewer * _MOST_APART + _FEW:
        raise InputError(
            f"{target}: {len(translations):,} texts, but {source} has {len(texts):,}. One seems not to be the translation of the other; "
            "give two files of the same version"
        )
    # Imported here because it imports numpy.
    from specdec_cli.memories.segment_alignment import align

    return [Entry(*pair, guessed=True) for pair in align(texts, translations)]


def _catalogue_pairs(catalogue: Catalogue) -> Iterator[tuple[Sequence[Segment], Sequence[Segment]]]:
    """The segments of each msgid that has a translation which is not fuzzy, and of its msgstr; plural forms too."""
    for entry, messages in catalogue.units:
        strings = entry.translations()
        if "fuzzy" not in entry.flags:
            for each, string in zip_longest(messages, strings[: len(messages)], fillvalue=None):
                translation = message(catalogue.content, string or strings[-1]).without_accelerator(catalogue.accelerator_sign)
                if each is not None:
                    yield each.segments, translation.segments


def _xliff_pairs(document: Xliff) -> Iterator[tuple[Sequence[Segment], Sequence[Segment]]]:
    """The segments of the source of each unit that is translated, and of its target."""
    untranslated = {unit.start for unit in Xliff(replace(document.source, redo=False)).units}
    for unit in document.units:
        if unit.start not in untranslated:
            first, last = unit.elements["target"]
            yield unit.segments, list(xliff_segments(document.content, document.events[first + 1 : last]))


def _entry(text: str, translation: str) -> Entry:
    """The pair of two texts; a guess if their markup may not belong together, as stand-ins are counted in each of them."""
    own, other = (sorted(STAND_IN.findall(each)) for each in (text, translation))
    return Entry(text, translation, guessed=own != other or len({name.strip("</>gx") for name in own}) > 1)
