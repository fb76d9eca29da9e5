"""Real misspellings, from codespell's dictionary.

The dictionary is derived from English Wikipedia under CC BY-SA 3.0. It is read as data from the installed package
codespell, whose code (GPL 2.0) is not used. A text with many of the misspellings may count as adapted from it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from specdec_cli.errors import MissingLibraryError, UsageError

# A letter three times, or a doubled first letter: a typing error, not a misspelling.
_TYPO = re.compile(r"(.)\1\1|^([^aelo])\2")
_SOUNDS = str.maketrans({**dict.fromkeys("aeiouyhw", ""), "c": "s", "z": "s", "q": "k"})


@lru_cache(maxsize=1)
def misspellings() -> Mapping[str, tuple[str, ...]]:
    """The known misspellings of each correct word, all in lower-case ASCII letters. Raises UsageError if codespell is not installed."""
    table: dict[str, list[str]] = {}
    for line in _dictionary().read_text(encoding="utf-8").splitlines():
        wrong, _, rights = line.partition("->")
        # The right side is "word", "word, other word," or "word, remark".
        words = [right.strip() for right in rights.split(",")]
        for right in words if len(words) == 1 else words[:-1]:
            if _is_plain(wrong) and _is_plain(right) and wrong != right and not _TYPO.search(wrong):
                table.setdefault(right, []).append(wrong)
    return {right: tuple(wrongs) for right, wrongs in table.items()}


@lru_cache(maxsize=1 << 16)
def likely_misspellings(word: str) -> tuple[str, ...]:
    """The known misspellings of `word` with the same consonants in the same order, or all its misspellings if none is like that."""
    wrongs = misspellings().get(word, ())
    return tuple(wrong for wrong in wrongs if _skeleton(wrong) == _skeleton(word)) or wrongs


def _skeleton(word: str) -> str:
    """The first letter and the consonants of a word, normalised by sound and without repetition."""
    kept = word[0]
    for letter in word[1:].replace("ck", "k").replace("ph", "f").translate(_SOUNDS):
        if letter != kept[-1]:
            kept += letter
    return kept


def _is_plain(word: str) -> bool:
    return word.isascii() and word.isalpha() and word.islower()


def _dictionary() -> Path:
    spec = find_spec("codespell_lib")
    if spec is None or not spec.submodule_search_locations:
        raise MissingLibraryError("corrupt needs codespell's dictionary", "gec")
    path = Path(spec.submodule_search_locations[0], "data", "dictionary.txt")
    if not path.exists():
        raise UsageError(f"{path}: codespell's dictionary does not exist; install codespell again")
    return path
