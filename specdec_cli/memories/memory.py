"""A translation memory: it is opened with an index that is made once for each file, and finds the most similar source."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from specdec_cli.errors import InputError, cause_of
from specdec_cli.files import cache_folder, check_regular
from specdec_cli.memories.found import EXACT, FoundDraft, load_rapidfuzz
from specdec_cli.memories.index import Index, build_index, feature_weights, features, hashed, map_index, write_index
from specdec_cli.memories.pairs import sentence_pairs
from specdec_cli.memories.readers import kind_of, read_pairs
from specdec_cli.version import __version__

RULE_FILES = (
    "documents",
    "memories",
    "text/corpus",
    "text/io",
    "text/locale",
    "text/protect",
    "text/segment",
    "text/tags",
    "text/edits.py",
    "text/marks.py",
    "text/quotations.py",
    "text/view.py",
)
"""Folders and files of the code, and its data, that reads files, takes sentences out of them, and makes the features of these."""

_SUFFIXES = (".py", ".toml", ".json")


@cache
def rules_version() -> str:
    """A digest of the code whose changes may change an index, so that no index that was made by other code is used."""
    digest = sha256(__version__.encode())
    for part in RULE_FILES:
        path = Path(__file__).parents[1] / part
        for file in sorted(each for each in path.rglob("*.*") if each.suffix in _SUFFIXES) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


ALL = 300
"""Entries up to which all are compared with a sentence."""
CANDIDATES = 128
"""Most entries that are compared with a sentence in a larger memory."""
POSTINGS = 16000
"""About how many entries are counted for a sentence, those with its rarest words first."""

_LONG = 2**30


class Memory:
    """Finds drafts in a translation memory for sentences whose source is similar by at least `similarity` percent.

    An equal source is always found. In a memory of at most ALL (300) entries, the most similar source is found. In a
    larger one, the candidates are entries with the rarest words of the sentence, of about its length: those CANDIDATES
    (128) that share most of the words, weighted by their rarity, are compared. An entry that shares no word with the
    sentence, or only words of which thousands of entries of the same length share more, is not found.
    """

    def __init__(self, index: Index, similarity: float) -> None:
        self._index, self._similarity = index, similarity
        self._shared = np.zeros(len(index))
        self._extract, self._ratio = load_rapidfuzz()

    def __len__(self) -> int:
        return len(self._index)

    def find(self, sentences: Sequence[str]) -> list[FoundDraft | None]:
        """Return a draft for each of the `sentences`, None where no source is similar enough."""
        return [self._find(sentence) for sentence in sentences]

    def _find(self, sentence: str) -> FoundDraft | None:
        index = self._index
        equal = self._equal(sentence)
        if equal is not None:
            tagged = index.tagged_sources[equal], index.tagged_targets[equal]
            return FoundDraft(index.targets[equal], EXACT, "tm", bool(index.guessed[equal]), tagged)
        numbers = (np.arange(len(index)) if len(index) <= ALL else self._candidates(sentence)).tolist()
        best = self._extract(sentence, index.sources.at(numbers), scorer=self._ratio, score_cutoff=self._similarity)
        if best is None:
            return None
        number = numbers[best[2]]
        return FoundDraft(index.targets[number], best[1], "tm", bool(index.guessed[number]))

    def _equal(self, sentence: str) -> int | None:
        """The entry whose source is `sentence`, None if there is none."""
        wanted = np.uint64(hashed(sentence))
        first, end = (int(np.searchsorted(self._index.hashes, wanted, side)) for side in ("left", "right"))
        entries = self._index.hashed_entries[first:end].tolist()
        return next((number for number in entries if self._index.sources[number] == sentence), None)

    def _candidates(self, sentence: str) -> NDArray[np.int64]:
        """The entries (at most CANDIDATES, ascending) that share most of the weight of the features of `sentence`."""
        index, shared = self._index, self._shared
        features = self._features(sentence)
        weights = feature_weights(index.firsts[features + 1] - index.firsts[features], len(index))
        parts = self._postings(len(sentence), features)
        for own, weight in zip(parts, weights.tolist(), strict=False):
            shared[own] += weight
        entries = np.concatenate([np.zeros(0, np.int32), *parts])
        dice = shared[entries] / (weights.sum() + index.weights[entries])
        shared[entries] = 0.0
        # An entry stands here once for each feature.
        most = CANDIDATES * max(len(parts), 1)
        if len(entries) > most:
            best = np.argpartition(-dice, most)[:most]
            entries, dice = entries[best], dice[best]
        candidates, places = np.unique(entries, return_index=True)
        if len(candidates) > CANDIDATES:
            candidates = candidates[np.sort(np.argpartition(-dice[places], CANDIDATES)[:CANDIDATES])]
        return candidates.astype(np.int64)

    def _features(self, sentence: str) -> NDArray[np.int64]:
        """The features of `sentence` that the index has, the rarest first."""
        index = self._index
        wanted = np.fromiter(map(hashed, features(sentence)), np.uint64)
        positions = np.minimum(np.searchsorted(index.names, wanted), len(index.names) - 1)
        found = positions[index.names[positions] == wanted]
        order = np.lexsort((found, index.firsts[found + 1] - index.firsts[found]))
        ordered: NDArray[np.int64] = found[order]
        return ordered

    def _postings(self, length: int, found: NDArray[np.int64]) -> list[NDArray[np.int32]]:
        """The entries with each of the features `found`, in this order, until there are POSTINGS.

        Only entries of a length that the similarity allows count, and of each feature only the POSTINGS / 4 entries
        whose lengths are the nearest by rank.
        """
        index = self._index
        share = self._similarity / (200.0 - self._similarity)
        longest = min(length / share + 1, _LONG) if share else _LONG
        # Values of another type than the array's would make numpy convert the whole array.
        bounds = np.searchsorted(index.lengths, np.array([length * share, min(length, _LONG), longest], np.int32)).astype(np.int32)
        parts: list[NDArray[np.int32]] = []
        total = 0
        for feature in found.tolist():
            own = index.entries[index.firsts[feature] : index.firsts[feature + 1]]
            first, centre, end = np.searchsorted(own, bounds).tolist()
            parts.append(own[max(first, centre - POSTINGS // 8) : min(end, centre + POSTINGS // 8)])
            total += len(parts[-1])
            if total >= POSTINGS:
                break
        return parts


LARGEST = 2**32
"""Largest size of a memory in bytes."""
MOST_ENTRIES = 10_000_000
"""Most entries of a memory."""
WORTH_STORING = 20_000
"""Entries from which on the index is stored in the cache folder; making a smaller one takes less than a second."""


def open_memory(path: Path, source: str, target: str, similarity: float) -> Memory:
    """Open a memory whose entries are from language `source` to `target` ("": unknown), in a .tmx, .po or TSV file,
    plain or compressed (.gz, .xz).

    It finds sources that are similar by at least `similarity` percent. The index of a large memory is stored in the
    cache folder, and is mapped from there while the file, and the code that reads it, stay the same. A damaged index is
    made again. Raises InputError, with the line, for a file that cannot be read, is too large or has no entries, and
    UsageError if RapidFuzz is not installed.
    """
    load_rapidfuzz()
    check_regular(path, InputError)
    try:
        described = path.stat()
    except OSError as error:
        raise InputError(f"{path}: {cause_of(error)}") from error
    if described.st_size > LARGEST:
        raise InputError(f"{path}: larger than {LARGEST // 2**30} GiB")
    stored = cache_folder() / f"memory-{hashed(f'{path.resolve()} {source} {target}'):016x}.index"
    key = f"{rules_version()} {described.st_size} {described.st_mtime_ns} {described.st_ino}"
    index = map_index(stored, key)
    if index is None:
        index = _built(path, source, target)
        if len(index) >= WORTH_STORING:
            write_index(stored, index, key)
    return Memory(index, similarity)


def _built(path: Path, source: str, target: str) -> Index:
    pairs = sentence_pairs(read_pairs(path, source, target))
    index = build_index(islice(pairs, MOST_ENTRIES))
    if next(pairs, None) is not None:
        raise InputError(f"{path}: more than {MOST_ENTRIES:,} entries")
    if not len(index):
        languages = f" from {source} to {target}" if source and target and kind_of(path) != "TSV" else ""
        raise InputError(f"{path}: no translations{languages}")
    return index
