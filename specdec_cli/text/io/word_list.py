"""A user's list of words that are right: a text file that corrections read, and that the server's clients add to."""

import threading
from pathlib import Path
from typing import Self

from specdec_cli.errors import InputError
from specdec_cli.files import write_text
from specdec_cli.text.io.lines import COMPRESSED, STDIO, read_listed

MOST_WORDS, LONGEST_WORD = 50_000, 100
"""The most words of a list, and characters of a word."""


class WordList:
    """The words of a file, one a line; lines that begin with # are comments. Several threads may use a list at the same time.

    A word in lower case stands for any case of it, any other only for itself.
    """

    def __init__(self, path: Path, words: tuple[str, ...]) -> None:
        self.path, self._words, self._lock = path, words, threading.Lock()

    @classmethod
    def of_file(cls, path: Path, *, may_be_missing: bool = False) -> Self:
        """Read a list; with `may_be_missing`, one without words if there is no such file.

        Raises InputError, which names file and line, for a file that cannot be read, a compressed one, and one with more or longer words
        than the limits.
        """
        if path == STDIO or path.suffix in COMPRESSED:
            raise InputError(f"{path}: a list of words must be a file that is not compressed")
        return cls(path, () if may_be_missing and not path.exists() else _read(path))

    @property
    def words(self) -> tuple[str, ...]:
        """The words, in the order of the file; another object after each change."""
        return self._words

    def add(self, word: str) -> bool:
        """Add a word to the file, atomically; return whether it was not there.

        The file is read again first, so that changes by an editor stay. Raises ValueError for a word that a list cannot hold or if the
        list is full; InputError and OSError for a file that cannot be read or written.
        """
        check_word(word)
        with self._lock:
            self._read_again()
            if word in self._words:
                return False
            if len(self._words) >= MOST_WORDS:
                raise ValueError(f"the list has {MOST_WORDS:,} words, as many as it can hold")
            text = self._text()
            self._write(text + "\n" * (text != "" and not text.endswith("\n")) + word + "\n")
            return True

    def delete(self, word: str) -> bool:
        """Remove a word from the file, atomically; return whether it was there. Raises what `add` raises."""
        with self._lock:
            self._read_again()
            if word not in self._words:
                return False
            lines = self._text().split("\n")
            self._write("\n".join(line for line in lines if line.startswith("#") or " ".join(line.split()) != word))
            return True

    def _text(self) -> str:
        return self.path.read_bytes().decode("utf-8-sig") if self.path.exists() else ""

    def _read_again(self) -> None:
        self._words = _read(self.path) if self.path.exists() else ()

    def _write(self, text: str) -> None:
        write_text(self.path, text)
        self._words = _read(self.path)


def check_word(word: str) -> None:
    """Raise ValueError for a word that a list cannot hold: an empty or long one, or one with spaces, control characters or a # first."""
    if not word or len(word) > LONGEST_WORD:
        raise ValueError(f"a word must have 1 to {LONGEST_WORD} characters")
    if not word.isprintable() or any(map(str.isspace, word)):
        raise ValueError("a word must not have spaces or control characters")
    if word.startswith("#") or not any(map(str.isalnum, word)):
        raise ValueError("a word must have a letter or digit, and not begin with #")


def _read(path: Path) -> tuple[str, ...]:
    words = dict[str, None]()
    for number, line in read_listed(path):
        word = " ".join(line.split())
        if len(word) > LONGEST_WORD:
            raise InputError(f"{path}, line {number}: longer than {LONGEST_WORD} characters: {word[:40]!r}")
        words[word] = None
        if len(words) > MOST_WORDS:
            raise InputError(f"{path}, line {number}: more than {MOST_WORDS:,} words")
    return tuple(words)
