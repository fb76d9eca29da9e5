"""Sentences of dev and test sets, which must not be in the training data."""

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from specdec_cli.errors import InputError
from specdec_cli.text.lines import read_text_lines
from specdec_cli.text.m2 import apply_gold_edits, read_m2
from specdec_cli.text.parallel import Pair


class HeldOut:
    """The set of the sentences in `files`, compared without case, punctuation and spaces.

    The files are plain text, TSV (of three columns, the first is a domain) or M2 (named `*.m2`); source and target sentences are
    both in the set, of M2 the corrections of every annotator. Raises InputError for a file that cannot be read.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._digests = {_digest(text) for path in files for text in _sentences(path)}
        self._digests.discard(_digest(""))

    def holds(self, pair: Pair) -> bool:
        """Whether the source or the target of `pair` is in the set."""
        return bool(self._digests) and (_digest(pair.source) in self._digests or _digest(pair.target) in self._digests)


def _sentences(path: Path) -> Iterator[str]:
    if path.suffix == ".m2":
        yield from _annotated(path)
        return
    for line in read_text_lines(path):
        fields = line.split("\t")
        yield from fields[1:] if len(fields) == 3 else fields


def _annotated(path: Path) -> Iterator[str]:
    """The sentences of an M2 file, and each as every annotator corrected it."""
    for sentence in read_m2(path):
        yield " ".join(sentence.source)
        for edits in sentence.annotators.values():
            try:
                yield " ".join(apply_gold_edits(sentence.source, edits))
            except ValueError as error:
                raise InputError(f"{path}: {' '.join(sentence.source)}: {error}") from error


def _digest(text: str) -> bytes:
    """A 16-byte hash of the letters and digits of `text`, without case."""
    compared = "".join(filter(str.isalnum, text.casefold()))
    return hashlib.blake2b(compared.encode(), digest_size=16).digest()
