"""Parsers of word tables written as text; in all of them `_` stands for a space."""

from collections.abc import Mapping


def word_list(text: str) -> tuple[str, ...]:
    """The words of `text`, in order."""
    return tuple(word.replace("_", " ") for word in text.split())


def word_set(text: str) -> frozenset[str]:
    """The words of `text`."""
    return frozenset(word_list(text))


def pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Pairs written `old>new`, in order."""
    return tuple((old, new) for old, _, new in (pair.partition(">") for pair in text.split()))


def alternatives(text: str) -> Mapping[str, tuple[str, ...]]:
    """A table from lines `word: replacement replacement ...`; a replacement given twice is chosen twice as often."""
    table = {}
    for line in text.strip().splitlines():
        word, _, others = line.partition(":")
        table[word] = word_list(others)
    return table


def confusable(text: str) -> Mapping[str, tuple[str, ...]]:
    """A table from lines of words that are confused with each other: each word maps to the others of its lines."""
    table: dict[str, tuple[str, ...]] = {}
    for line in text.strip().splitlines():
        words = word_list(line)
        for word in words:
            table[word] = table.get(word, ()) + tuple(other for other in words if other != word)
    return table
