"""Numbers in text, and the forms in which each language writes them."""

import re
from collections import Counter
from collections.abc import Sequence

from specdec_cli.text.parallel import Pair

NUMBER = re.compile(r"\d+(?:[.,:'\u2009\u00a0\u202f]\d+)*")
"""A number in digits, with separators."""
_LETTERS = re.compile(r"\w+")
_RANGE = r"(?:\s*(?:to|and|or|until|till|[-\u2013])\s*\d{1,2}(?:[:.]\d\d)?)?"
"""The end of a range of times, for whose beginning p.m. counts, too: 7 to 8 p.m."""
_AFTERNOON, _MORNING = (re.compile(rf"{_RANGE}\s*{letter}\.?\s?m\b", re.IGNORECASE) for letter in "pa")
_OCLOCK = re.compile(r" ?o?['\u2019]? ?clock\b", re.IGNORECASE)
_NOON = 12
_NEAR = 20
"""How many characters after a number can say that it is a time."""
_NUMERALS = {
    "0": "null zero z\u00e9ro cero nul mitternacht midnight",
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
    left = [written_forms(re.findall(r"\d+", number)) for number in NUMBER.findall(pair.target)]
    for match in NUMBER.finditer(pair.source):
        forms = number_forms(pair.source, match)
        found = next((number for number in left if forms & number), None)
        if found is None:
            return False
        left.remove(found)
    return not left


def find_numbers(text: str) -> list[str]:
    """The numbers of `text` that are written in digits, with the separators between them, in order."""
    return NUMBER.findall(text)


def word_values(text: str) -> Counter[str]:
    """Count the number words of `text`, such as "two" or "zwei"; the keys are the numbers in digits, "0" to "12"."""
    return Counter(_VALUES[word] for word in _LETTERS.findall(text.lower()) if word in _VALUES)


def number_forms(text: str, number: re.Match[str]) -> set[str]:
    """The accepted forms of a number of `text`; if it can be a time after noon or midnight, also those of the time on a 24-hour clock."""
    return {form for clock in _clocks(text, number, re.findall(r"\d+", number.group())) for form in written_forms(clock)}


def written_forms(parts: Sequence[str]) -> set[str]:
    """The accepted forms of a number: its digits, the same without leading zeros, and a full hour without minutes."""
    digits = "".join(parts)
    return {digits, digits.lstrip("0")} | ({parts[0]} if len(parts) == 2 and parts[1] == "00" else set())


def _clocks(source: str, number: re.Match[str], parts: list[str]) -> list[list[str]]:
    """The parts of a number and, if it can be a time after noon or midnight, those of the time on a 24-hour clock."""
    before, after = source[max(number.start() - 4, 0) : number.start()], source[number.end() : number.end() + _NEAR]
    is_time = ":" in number.group() or re.search(r"\bat $", before) or _OCLOCK.match(after)
    hour = int(parts[0]) if len(parts[0]) <= 2 else _NOON + 1
    if _MORNING.match(after):
        hours = [0, 2 * _NOON] if hour == _NOON else []
    else:
        hours = [hour + _NOON] if hour <= _NOON and (is_time or _AFTERNOON.match(after)) else []
    return [parts, *([str(each), *parts[1:]] for each in hours)]
