"""Sentences of dev and test sets, which must not be in the training data."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from specdec_cli.text.lines import read_text_lines
from specdec_cli.text.parallel import Pair


class HeldOut:
    """The set of the sentences in `files`, compared without case, punctuation and spaces.

    The files are plain text or TSV (of three columns, the first is a domain); source and target sentences are both
    in the set. Raises InputError for a file that cannot be read.
    """

    def __init__(self, files: Iterable[Path]) -> None:
        self._digests = {_digest(text) for path in files for line in read_text_lines(path) for text in _sentences(line)}
        self._digests.discard(_digest(""))

    def holds(self, pair: Pair) -> bool:
        """Whether the source or the target of `pair` is in the set."""
        return bool(self._digests) and (_digest(pair.source) in self._digests or _digest(pair.target) in self._digests)


def _sentences(line: str) -> list[str]:
    fields = line.split("\t")
    return fields[1:] if len(fields) == 3 else fields


def _digest(text: str) -> bytes:
    """A 16-byte hash of the letters and digits of `text`, without case."""
    compared = "".join(filter(str.isalnum, text.casefold()))
    return hashlib.blake2b(compared.encode(), digest_size=16).digest()
