"""Numbers that a sentence and its translation have in common, however each language writes them."""

import re
from collections import Counter
from collections.abc import Sequence

from specdec_cli.text.parallel import Pair

_NUMBER = re.compile(r"\d+(?:[.,:'\u2009\u00a0\u202f]\d+)*")
_THOUSANDS = re.compile(r"\d{1,3}(?:[.,'\u2009\u00a0\u202f]\d{3})+")
_LETTERS = re.compile(r"\w+")
_AFTERNOON, _MORNING = (re.compile(rf"\s*{letter}\.?\s?m\b", re.IGNORECASE) for letter in "pa")
_OCLOCK = re.compile(r" ?o?['\u2019]? ?clock\b", re.IGNORECASE)
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


def same_numbers(pair: Pair) -> bool:
    """Whether each number of the source in digits stands for one of the target, in any order, and none of the target is left."""
    left = [_written(re.findall(r"\d+", number)) for number in _NUMBER.findall(pair.target)]
    for match in _NUMBER.finditer(pair.source):
        forms = _forms(pair.source, match)
        found = next((number for number in left if forms & number), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def find_numbers(text: str) -> list[str]:
    """The numbers of `text` that are written in digits, with the separators between them, in order."""
    return _NUMBER.findall(text)


def lost_numbers(source: str, output: str) -> list[str]:
    """The numbers of `source` that are missing from `output`, in order; the separators between digits may differ.

    A number up to 12 may also be a word in the output, and a time after noon may be that of a 24-hour clock. A number of the output
    stands for one of the source only.
    """
    numbers = [match.group() for match in _NUMBER.finditer(output)] if find_numbers(source) else []
    left = [[number] if _THOUSANDS.fullmatch(number) else re.findall(r"\d+", number) for number in numbers]
    words = Counter(_VALUES[word] for word in _LETTERS.findall(output.lower()) if word in _VALUES)
    lost = []
    for match in _NUMBER.finditer(source):
        forms, parts = _forms(source, match), re.findall(r"\d+", match.group())
        if not (_take_whole(left, forms) or _take_parts(left, parts)):
            word = next((form for form in forms if words[form]), None)
            if word is None:
                lost.append(match.group())
            else:
                words[word] -= 1
    return lost


def _take_whole(left: list[list[str]], forms: set[str]) -> bool:
    """Remove the first number with one of the `forms` from those that are `left`, each as its parts; return whether there is one."""
    found = next((number for number in left if number and forms & _written(re.findall(r"\d+", " ".join(number)))), None)
    if found is not None:
        left.remove(found)
    return found is not None


def _take_parts(left: list[list[str]], parts: list[str]) -> bool:
    """Remove the first `parts` in succession from the numbers that are `left`; return whether there are any."""
    places = [(number, part) for number, own in enumerate(left) for part in range(len(own))]
    for start in range(len(places) - len(parts) + 1):
        found = places[start : start + len(parts)]
        if [left[number][part] for number, part in found] == parts:
            for number, part in reversed(found):
                del left[number][part]
            return True
    return False


def _forms(text: str, number: re.Match[str]) -> set[str]:
    """The accepted forms of a number of `text`; if it can be a time after noon, also those of the time on a 24-hour clock."""
    return {form for clock in _clocks(text, number, re.findall(r"\d+", number.group())) for form in _written(clock)}


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
