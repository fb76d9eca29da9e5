"""Checks of an output against its source: repetition, empty output, lost numbers; and the names of all warnings about outputs."""

import re
from collections import Counter

from specdec_cli.text.lost_numbers import lost_numbers

REPETITION, EMPTY, NUMBERS, GLOSSARY = "repetition", "empty", "numbers lost", "glossary"
DESCRIPTIONS = {
    REPETITION: "the output repeats itself",
    EMPTY: "the output is empty",
    NUMBERS: "a number of the input is missing from the output or has changed",
    GLOSSARY: "a term of the glossary was inserted, or brought in by unlikely words or by translation in parts",
}
_WORD = re.compile(r"\w+|[^\w\s]+")
_STUTTER = re.compile(r"([^\W\d_]{1,6}?)\1{5,}")
_SEPARATORS = re.compile(r"([,;:])\s?\1\s?\1")
_OFTEN, _SHARE = 5, 3
"""A word repeats itself that occurs so often, and is one in so many words and marks."""
_CHECKED_CHARACTERS = 2000
"""The number of characters, from the end of an output, that are checked for repetition."""


def output_warnings(source: str, output: str) -> tuple[str, ...]:
    """The problems of `output` as the translation or correction of `source`: any of REPETITION, EMPTY and NUMBERS."""
    if not output.strip():
        return (EMPTY,) if source.strip() else ()
    if output == source:
        return ()
    found = (REPETITION,) if repeats_itself(output, source) else ()
    return (*found, NUMBERS) if lost_numbers(source, output) else found


def repeats_itself(output: str, source: str) -> bool:
    """Whether `output` has repetitions of more kinds than `source`.

    A repetition is a group of letters six times, a word four times, a group of two to eight words three times, or a comma, colon or
    semicolon three times in a row; or a word that is a third of all words and marks, and occurs five times. The kinds are letters, each
    number of words, separators, and one word.
    """
    found = _repetitions(output)
    return found > 0 and found > _repetitions(source)


def _repetitions(text: str) -> int:
    """The number of kinds (letters, 1 to 8 words, separators, or one word) of which `text` has a repetition."""
    text = text[-_CHECKED_CHARACTERS:].lower()
    words = _WORD.findall(text)
    found = sum(pattern.search(text) is not None for pattern in (_STUTTER, _SEPARATORS))
    if len(words) - len(set(words)) < 3:  # of any repetition of words, at least three stood before
        return found
    most = max((count for word, count in Counter(words).items() if word.isalpha()), default=0)
    found += most >= _OFTEN and most * _SHARE >= len(words)
    for size in range(1, 9):
        times, run = (4 if size == 1 else 3), 0
        for index in range(size, len(words)):
            run = run + 1 if words[index] == words[index - size] else 0
            if run >= size * (times - 1) and any(map(str.isalpha, "".join(words[index - size : index]))):
                found += 1
                break
    return found
