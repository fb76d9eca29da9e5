"""The texts of a document and their translations, out of two documents, or out of a catalogue that has both.

The texts of two documents are aligned by their lengths when their numbers differ. This is the method of Gale and Church, "A Program for
Aligning Sentences in Bilingual Corpora" (Computational Linguistics 19, 1993), with other costs of steps, which do not depend on lengths,
and a bonus for texts with the same numbers and markup.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specdec_cli.documents.document import Source
from specdec_cli.documents.formats import Format, read_document
from specdec_cli.documents.po import Catalogue, message
from specdec_cli.documents.reading import read_bytes
from specdec_cli.documents.segments import STAND_IN, Segment
from specdec_cli.documents.xliff import Xliff, xliff_segments
from specdec_cli.errors import InputError, counted
from specdec_cli.memories.pairs import Entry

_SKIP = 6.0
"""Cost of a text without a counterpart."""
_MERGE = 6.0
"""Cost of two texts for one, beside that of their lengths. It is rarer between documents than between running texts."""
_VARIANCE = 6.8
"""Variance of the length of a translation for each character of the source."""
_BONUS = 4.0
"""By how much the cost of a pair with the same numbers and markup is less."""
_MARK = re.compile(r"\d+|</?\w|https?\S+")
_BAND = 100
"""Least distance from the diagonal up to which pairs are tried, in texts."""
_MOST_CELLS = 2 * 10**8
"""Most pairs of places that are tried if the band is wider; each takes a byte."""
_STEPS = ((1, 1), (2, 1), (1, 2), (1, 0), (0, 1))
"""Texts of each side that a step of an alignment takes."""
Floats = NDArray[np.float64]


def align(sources: Sequence[str], targets: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the texts that belong together, in order: of one text of one side, and one or two of the other, joined by a space.

    Texts without a counterpart are left out. Time and memory grow with the number of texts, times the difference of both numbers; of
    documents so large that this would take long, only pairs near the diagonal are tried.
    """
    lengths = _cumulated(sources), _cumulated(targets)
    marks = [tuple(_MARK.findall(text)) for text in sources]
    positions: dict[tuple[str, ...], list[int]] = {}
    for index, text in enumerate(targets):
        positions.setdefault(tuple(_MARK.findall(text)), []).append(index)
    ratio = max(lengths[1][-1], 1) / max(lengths[0][-1], 1)
    rows: list[tuple[int, NDArray[np.int8]]] = []
    before = [np.full(len(targets) + 3, np.inf)] * 2
    for row in range(len(sources) + 1):
        alike = positions.get(marks[row - 1], []) if row and marks[row - 1] else []
        costs, first, steps = _row(row, lengths, ratio, before, alike)
        before = [costs, before[0]]
        rows.append((first, steps))
    yield from _aligned(sources, targets, rows)


def band_of(count: int, others: int) -> int:
    """The greatest distance from the diagonal, in texts, up to which pairs of `count` and `others` texts are tried."""
    return max(_BAND, min(_BAND + abs(count - others), _MOST_CELLS // (2 * (count + 1))))


def _row(
    row: int, lengths: tuple[Floats, Floats], ratio: float, before: Sequence[Floats], alike: Sequence[int]
) -> tuple[Floats, int, NDArray[np.int8]]:
    """The least cost of the first `row` sources with each number of targets (shifted by 2), infinite outside of the band; the number of
    targets with which the band begins; and the last step for each number of targets in it.
    """
    ours, theirs = lengths
    count, others = len(ours) - 1, len(theirs) - 1
    middle, band = row * others // max(count, 1), band_of(count, others)
    first, end = max(0, middle - band), min(others, middle + band) + 1
    there = np.arange(first, end)
    tried = np.full((len(_STEPS), end - first), np.inf)
    for step, (own, other) in enumerate(_STEPS[:-1]):
        if own <= row:
            earlier = before[own - 1][first + 2 - other : end + 2 - other]
            tried[step] = earlier + (_SKIP if not other else _MERGE * (own + other > 2))
            if other:
                taken = theirs[there] - theirs[np.maximum(there - other, 0)]
                tried[step] += _unlike(ours[row] - ours[row - own], taken / ratio)
    same = [place + 1 - first for place in alike if first <= place + 1 < end]
    tried[0, same] -= _BONUS
    if not row:
        tried[0, 0] = 0.0
    best = tried[:-1].min(0)
    costs = np.minimum.accumulate(best - there * _SKIP) + there * _SKIP
    steps = np.where(costs < best - 1e-9, len(_STEPS) - 1, tried[:-1].argmin(0)).astype(np.int8)
    whole = np.full(others + 3, np.inf)
    whole[first + 2 : end + 2] = np.minimum(costs, best)
    return whole, first, steps


def _unlike(length: float, others: Floats) -> Floats:
    """The cost of aligning a text of `length` characters with translations of `others` characters, in characters of the source."""
    mean = np.maximum((length + others) / 2, 1)
    return np.minimum((length - others) ** 2 / (2 * _VARIANCE * mean), 3 * _SKIP)


def _aligned(sources: Sequence[str], targets: Sequence[str], rows: Sequence[tuple[int, NDArray[np.int8]]]) -> Iterator[tuple[str, str]]:
    path = [(len(sources), len(targets))]
    while path[-1] != (0, 0):
        row, column = path[-1]
        first, steps = rows[row]
        own, other = _STEPS[steps[column - first]]
        path.append((row - own, column - other))
    for (row, column), (end, last) in pairwise(reversed(path)):
        if end > row and last > column:
            yield " ".join(sources[row:end]), " ".join(targets[column:last])


def _cumulated(texts: Sequence[str]) -> Floats:
    """The number of characters before each of the texts, and of all."""
    return np.cumsum([0, *map(len, texts)]).astype(np.float64)


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
            f"{target}: {counted(len(translations), 'text')}, but {source} has {len(texts):,}. One seems not to be "
            "the translation of the other; give two files of the same version"
        )
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
