"""Checks of an output against its source: repetition, empty output, lost numbers; and the names of all warnings about outputs."""

import re
from collections.abc import Sequence

REPETITION, EMPTY, NUMBERS, GLOSSARY = "repetition", "empty", "numbers lost", "glossary"
DESCRIPTIONS = {
    REPETITION: "the output repeats itself",
    EMPTY: "the output is empty",
    NUMBERS: "a number of the input is missing from the output or has changed",
    GLOSSARY: "a term of the glossary was inserted, or brought in by unlikely words or by translation in parts",
}
_WORD = re.compile(r"\w+|[^\w\s]+")
_STUTTER = re.compile(r"([^\W\d_]{1,6}?)\1{5,}")
_NUMBER = re.compile(r"\d+(?:[.,:'\u2009\u00a0\u202f]\d+)*")
_AFTERNOON, _MORNING = (re.compile(rf"\s*{letter}\.?\s?m\b", re.IGNORECASE) for letter in "pa")
_OCLOCK = re.compile(r" ?o?['\u2019]? ?clock\b", re.IGNORECASE)
_CHECKED_CHARACTERS = 2000
"""The number of characters, from the end of an output, that are checked for repetition."""
_NUMERALS = {
    "0": "null zero z\u00e9ro cero nul",
    "1": "ein eine einen einem einer eines eins one once a an un une uno una um uma \u00e9\u00e9n een erste ersten erster erstes first",
    "2": "zwei two deux dos due twee dois duas beide zweite zweiten second",
    "3": "drei three trois tres tre drie tr\u00eas dritte dritten third",
    "4": "vier four quatre cuatro quattro quatro vierte vierten",
    "5": "f\u00fcnf five cinq cinco cinque vijf",
    "6": "sechs six seis sei zes",
    "7": "sieben seven sept siete sette zeven sete",
    "8": "acht eight huit ocho otto oito",
    "9": "neun nine neuf nueve nove negen",
    "10": "zehn ten dix diez dieci tien dez",
    "11": "elf eleven onze once undici",
    "12": "zw\u00f6lf twelve douze doce dodici twaalf doze mittag noon",
}
_VALUES = {word: value for value, words in _NUMERALS.items() for word in words.split()}


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

    A repetition is a group of letters six times, a word four times, or a group of two to eight words three times in
    a row; the kinds are letters, and each number of words.
    """
    found = _repetitions(output)
    return found > 0 and found > _repetitions(source)


def lost_numbers(source: str, output: str) -> list[str]:
    """The numbers of `source` that are missing from `output`, in order; the separators between digits may differ.

    A number up to 12 may also be a word in the output, and a time after noon may be that of a 24-hour clock.
    """
    if not _NUMBER.search(source):
        return []
    digits = set(re.findall(r"\d+", output))
    joined = {_digits(match.group()) for match in _NUMBER.finditer(output)}
    words = {_VALUES[word] for word in _WORD.findall(output.lower()) if word in _VALUES}
    lost = []
    for match in _NUMBER.finditer(source):
        parts = re.findall(r"\d+", match.group())
        forms = {form for clock in _clocks(source, match, parts) for form in _written(clock)}
        if forms.isdisjoint(joined | digits | words) and not all(part in digits for part in parts):
            lost.append(match.group())
    return lost


def _written(parts: Sequence[str]) -> set[str]:
    """The accepted forms of a number: its digits, the same without leading zeros, and a full hour without minutes."""
    digits = "".join(parts)
    return {digits, digits.lstrip("0")} | ({parts[0]} if len(parts) == 2 and parts[1] == "00" else set())


def _clocks(source: str, number: re.Match[str], parts: list[str]) -> list[list[str]]:
    """The parts of a number and, if it can be a time after noon, those of the time on a 24-hour clock."""
    after, before = source[number.end() :], source[: number.start()]
    is_time = ":" in number.group() or re.search(r"\bat $", before) or _OCLOCK.match(after)
    if len(parts[0]) > 2 or int(parts[0]) > 12 or not (is_time or _AFTERNOON.match(after)) or _MORNING.match(after):
        return [parts]
    return [parts, [str(int(parts[0]) + 12), *parts[1:]]]


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number)


def _repetitions(text: str) -> int:
    """The number of group sizes (letters, or 1 to 8 words) for which `text` has a repetition."""
    text = text[-_CHECKED_CHARACTERS:].lower()
    words = _WORD.findall(text)
    found = int(_STUTTER.search(text) is not None)
    if len(words) - len(set(words)) < 3:  # of any repetition of words, at least three stood before
        return found
    for size in range(1, 9):
        times, run = (4 if size == 1 else 3), 0
        for index in range(size, len(words)):
            run = run + 1 if words[index] == words[index - size] else 0
            if run >= size * (times - 1) and any(map(str.isalpha, "".join(words[index - size : index]))):
                found += 1
                break
    return found
