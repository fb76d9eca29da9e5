"""Opening of translation memories, with an index that is made once for each file."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.files import cache_folder, check_regular
from specdec_cli.memories.features import hashed
from specdec_cli.memories.index import Index, build_index
from specdec_cli.memories.memory import Memory
from specdec_cli.memories.pairs import sentence_pairs
from specdec_cli.memories.po import read_po
from specdec_cli.memories.rules import rules_version
from specdec_cli.memories.similarity import load_rapidfuzz
from specdec_cli.memories.storage import map_index, write_index
from specdec_cli.memories.tmx import read_tmx
from specdec_cli.text.corpus.parallel import Pair, read_tsv
from specdec_cli.text.io.lines import COMPRESSED

LARGEST = 2**32
"""Largest size of a memory in bytes."""
MOST_ENTRIES = 10_000_000
"""Most entries of a memory."""
WORTH_STORING = 20_000
"""Entries from which on the index is stored in the cache folder; making a smaller one takes less than a second."""
_KINDS = {".tmx": "TMX", ".po": "PO", ".pot": "PO"}


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
        raise InputError(f"{path}: {error.strerror}") from error
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
    pairs = sentence_pairs(_read(path, source, target))
    index = build_index(islice(pairs, MOST_ENTRIES))
    if next(pairs, None) is not None:
        raise InputError(f"{path}: more than {MOST_ENTRIES:,} entries")
    if not len(index):
        languages = f" from {source} to {target}" if source and target and _kind(path) != "TSV" else ""
        raise InputError(f"{path}: no translations{languages}")
    return index


def _read(path: Path, source: str, target: str) -> Iterator[Pair]:
    kind = _kind(path)
    if kind == "TMX":
        return read_tmx(path, source, target)
    return read_po(path, source, target) if kind == "PO" else _read_tsv(path)


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


def _kind(path: Path) -> str:
    """The format by the extension: TMX, PO or TSV."""
    name = path.with_suffix("") if path.suffix in COMPRESSED else path
    return _KINDS.get(name.suffix.lower(), "TSV")
