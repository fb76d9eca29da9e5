"""Parsers of word tables written as text; in all of them `_` stands for a space."""

from collections.abc import Mapping


def word_list(text: str) -> tuple[str, ...]:
    """The words of `text`, separated by white space, in order; `_` in a word stands for a space."""
    return tuple(word.replace("_", " ") for word in text.split())


def word_set(text: str) -> frozenset[str]:
    """The set of the words of `text`, separated by white space; `_` in a word stands for a space."""
    return frozenset(word_list(text))


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """The pairs (old, new) in `text`, which are written `old>new` and separated by white space, in order."""
    return tuple((old, new) for old, _, new in (pair.partition(">") for pair in text.split()))


def alternatives(text: str) -> Mapping[str, tuple[str, ...]]:
    """Parse lines `word: replacement replacement ...`; return the replacements by word, in order and with repetitions.

    A replacement given twice is meant to be chosen twice as often. `_` in a replacement stands for a space.
    """
    table = {}
    for line in text.strip().splitlines():
        word, _, others = line.partition(":")
        table[word] = word_list(others)
    return table


def confusable(text: str) -> Mapping[str, tuple[str, ...]]:
    """Parse lines of words that are confused with each other; return, for each word, the other words of all its lines.

    `_` in a word stands for a space.
    """
    table: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        words = word_list(line)
        for word in words:
            table[word] = table.get(word, ()) + tuple(other for other in words if other != word)
    return table
