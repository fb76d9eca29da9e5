"""Edits that mend wrong English constructions (see construction_rules.py), repeated function words, and a comma behind the beginning of a
sentence: `listen music`, `the the`, `in my opinion it is`.
"""

import re
from collections.abc import Iterator
from functools import cache

from specdec_cli.english.words import word_set
from specdec_cli.text.edits import Edit
from specdec_cli.text.spelling.construction_rules import RULES

SCORE = 1.0
"""The score of these edits, which are right or are not made."""
_TWICE = word_set("a an the of from with my your his its our their and or but I he she we they it be by")
"""Function words that are written twice by mistake only; `that that`, `had had` and `is is` may be right."""
_THRICE = _TWICE | word_set(
    "that is are was were to in on at for as this these those not had have has do does did will would can could her"
)
"""Function words that are written three times by mistake only."""
_REPEATED = re.compile(r"(?<![\w'’-])(?P<first>[A-Za-z])(?P<word>[a-z]*)(?P<more>(?: (?:(?P=first)|[a-z])(?P=word)(?![\w'’&-]))+)")  # noqa: RUF001
_INTRODUCTIONS = (
    "In my opinion|In my view|In other words|In addition|In conclusion|In contrast|In fact|In short|In particular|In general|For example|"
    "For instance|From my point of view|For this reason|On the other hand|As a result|To sum up|First of all|Firstly|Secondly|Thirdly|"
    "Lastly|Finally|However|Moreover|Furthermore|Additionally|Similarly|Likewise|Consequently|Nevertheless|Therefore|Unfortunately|"
    "Meanwhile|Overall|Nowadays|In summary"
)
_INTRODUCTION = re.compile(
    rf"(?:^|(?<=[a-z][.!?] ))(?:{_INTRODUCTIONS})"
    r"(?= (?:the|an?|it|he|she|they|we|you|I|this|that|these|those|there|his|her|my|our|their|its|people|some|many|most|if|when)\b)"
)
"""Words that introduce a sentence, before its subject or clause: nearly always, a comma is between them."""
_COMMA_SCORE = 0.05


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def construction_edits(text: str) -> Iterator[Edit]:
    """Yield the edits that mend these constructions in `text`, with their scores."""
    lowered = text.lower()
    for words, pattern, write in RULES:
        for found in _compiled(pattern).finditer(text) if any(word in lowered for word in words) else ():
            yield Edit(*found.span("old"), found["old"], write(found), score=SCORE)
    for found in _REPEATED.finditer(text):
        word, *others = found.group().split()
        word = word if word == "I" else word.lower()
        if others == [word] * len(others) and word in (_TWICE if len(others) == 1 else _THRICE):
            length = len(word) + 1  # one edit a word: an edit that removes two loses content
            for start in range(found.start("more"), found.end(), length):
                yield Edit(start, start + length, text[start : start + length], "", score=SCORE)
    for found in _INTRODUCTION.finditer(text):
        yield Edit(found.end(), found.end(), "", ",", score=_COMMA_SCORE)
