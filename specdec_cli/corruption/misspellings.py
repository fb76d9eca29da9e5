"""Misspellings that people have made, from codespell's dictionary.

The dictionary derives from English Wikipedia and has the licence CC BY-SA 3.0. It is read as data where the package
codespell is installed; the package's code (GPL 2.0) is not used. A text that holds many of the misspellings may
count as adapted from it.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from specdec_cli.errors import UsageError

# A letter three times, or the first one twice: nobody spells like that.
_SLIP = re.compile(r"(.)\1\1|^([^aelo])\2")
_SOUNDS = str.maketrans({**dict.fromkeys("aeiouyhw", ""), "c": "s", "z": "s", "q": "k"})


@lru_cache(maxsize=1)
def misspellings() -> Mapping[str, tuple[str, ...]]:
    """The misspellings of each word, all in lower-case ASCII letters. Raises UsageError where codespell is missing."""
    table: dict[str, list[str]] = {}
    for line in _dictionary().read_text(encoding="utf-8").splitlines():
        wrong, _, rights = line.partition("->")
        # "right" or "right, other," or "right, a remark".
        words = [right.strip() for right in rights.split(",")]
        for right in words if len(words) == 1 else words[:-1]:
            if _is_plain(wrong) and _is_plain(right) and wrong != right and not _SLIP.search(wrong):
                table.setdefault(right, []).append(wrong)
    return {right: tuple(wrongs) for right, wrongs in table.items()}


@lru_cache(maxsize=1 << 16)
def likely_misspellings(word: str) -> tuple[str, ...]:
    """The misspellings of a word that keep its consonants in order, if there are any, else all: not every one is a mere slip."""
    wrongs = misspellings().get(word, ())
    return tuple(wrong for wrong in wrongs if _skeleton(wrong) == _skeleton(word)) or wrongs


def _skeleton(word: str) -> str:
    """The first letter and the consonants after it, double ones once."""
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
        raise UsageError("corrupt needs codespell's dictionary: pip install 'specdec[gec]'")
    path = Path(spec.submodule_search_locations[0], "data", "dictionary.txt")
    if not path.exists():
        raise UsageError(f"{path}: codespell's dictionary is not there; install codespell again")
    return path
