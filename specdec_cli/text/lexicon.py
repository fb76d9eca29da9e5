"""The words of a language, in a text file of a bundle."""

from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path

from specdec_cli.errors import InputError, ModelError
from specdec_cli.files import check_regular, write_atomically
from specdec_cli.text.lines import read_text_lines

FILE = "lexicon.txt"
"""The name of the lexicon's file in a bundle. Each line has one word, in lower case unless it is a name."""


class Lexicon:
    """A set of known words. `read` returns the words; it is called when the attribute `words` is used for the first time."""

    def __init__(self, read: Callable[[], Iterable[str]]) -> None:
        self._read = read

    @cached_property
    def words(self) -> frozenset[str]:
        """The words. Raises ModelError if their file cannot be read."""
        return frozenset(self._read())

    @classmethod
    def of_file(cls, path: Path) -> "Lexicon":
        """Make a lexicon of the words in the file `path`, which is read later. Raises ModelError if there is no such file."""
        check_regular(path, ModelError)
        if not path.exists():
            raise ModelError(f"{path}: no such file")
        return cls(lambda: _words(path))

    @classmethod
    def of_lists(cls, paths: Iterable[Path]) -> "Lexicon":
        """Make a lexicon from word lists: text files with one word per line. Words that end with "'s" are left out.

        Raises InputError for a file that cannot be read, for a line with more than one word, and for lists without any word.
        """
        words = set()
        for path in paths:
            for number, line in enumerate(read_text_lines(path), start=1):
                if len(line.split()) > 1:
                    raise InputError(f"{path}, line {number}: more than one word: {line[:40]!r}")
                word = line.strip()
                if word and not word.endswith("'s"):
                    words.add(word)
        if not words:
            raise InputError("the word lists have no words")
        return cls(lambda: words)

    def save(self, path: Path) -> None:
        """Write the words to a file, atomically."""
        content = "".join(f"{word}\n" for word in sorted(self.words))
        write_atomically(path, lambda partial: partial.write_text(content, encoding="utf-8", newline="\n"))


def _words(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split()
    except (OSError, ValueError) as error:
        raise ModelError(f"{path}: {error}") from error
