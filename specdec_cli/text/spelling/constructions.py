"""English constructions that are wrong whatever stands around them: `listen music`, `for to help`, `the the`, `yesterday I go`."""

import re
from collections.abc import Callable, Iterator

from specdec_cli.english.words import ARTICLES, POSSESSIVES, pairs, word_set
from specdec_cli.text.edits import Edit

SCORE = 1.0
"""The score of these edits, which are right or are not made."""
_DETERMINER = "|".join(sorted(ARTICLES | POSSESSIVES))
_END = r"(?= (?:about|from|on|for|to|that|which|and|or|in|with|at|is|was|but|because|if|when|now|today)\b|[.,;!?]|$)"
"""What follows a noun that ends its phrase."""
_NO_PLURAL = "money|information|advice|furniture|luggage|baggage|homework|housework|equipment"
"""Nouns that have no plural, and are no verbs."""
_GERUNDS = dict(
    pairs(
        "hear>hearing see>seeing meet>meeting receive>receiving get>getting have>having know>knowing be>being learn>learning join>joining "
        "go>going read>reading speak>speaking discuss>discussing spend>spending"
    )
)
_PASTS = dict(
    pairs(
        "go>went goes>went come>came comes>came see>saw sees>saw do>did does>did get>got gets>got take>took takes>took "
        "make>made makes>made eat>ate eats>ate buy>bought buys>bought meet>met meets>met give>gave gives>gave find>found finds>found "
        "tell>told tells>told write>wrote writes>wrote speak>spoke speaks>spoke run>ran runs>ran lose>lost loses>lost feel>felt feels>felt "
        "leave>left leaves>left begin>began begins>began bring>brought brings>brought sleep>slept sleeps>slept drive>drove drives>drove "
        "fall>fell falls>fell fly>flew flies>flew forget>forgot forgets>forgot hear>heard hears>heard sit>sat sits>sat win>won wins>won "
        "am>was is>was are>were play>played plays>played visit>visited visits>visited work>worked works>worked watch>watched "
        "watches>watched want>wanted wants>wanted like>liked likes>liked help>helped helps>helped call>called calls>called start>started "
        "starts>started talk>talked talks>talked walk>walked walks>walked arrive>arrived arrives>arrived study>studied studies>studied"
    )
)
_TWICE = word_set("a an the of from with my your his its our their and or but I he she we they it be by")
"""Function words that are written twice by mistake only; `that that`, `had had` and `is is` may be right."""
_THRICE = _TWICE | word_set(
    "that is are was were to in on at for as this these those not had have has do does did will would can could her"
)
"""Function words that are written three times by mistake only."""
_REPEATED = re.compile(r"(?<![\w'’-])(?P<first>[A-Za-z])(?P<word>[a-z]*)(?P<more>(?: (?:(?P=first)|[a-z])(?P=word)(?![\w'’&-]))+)")  # noqa: RUF001
_INTRODUCTIONS = (
    "In my opinion|In my view|In other words|In addition|In conclusion|In contrast|In fact|In short|In particular|In general|For example|"
    "For instance|For this reason|On the other hand|As a result|To sum up|First of all|Firstly|Secondly|Thirdly|Lastly|Finally|However|"
    "Moreover|Furthermore|Additionally|Similarly|Likewise|Consequently|Nevertheless|Therefore|Unfortunately|Meanwhile|Overall"
)
_INTRODUCTION = re.compile(
    rf"(?:^|(?<=[a-z][.!?] ))(?:{_INTRODUCTIONS})"
    r"(?= (?:the|an?|it|he|she|they|we|you|I|this|that|these|those|there|his|her|my|our|their|its|people|some|many|most|if|when)\b)"
)
"""Words that introduce a sentence, before its subject or clause: nearly always, a comma is between them."""
_COMMA_SCORE = 0.05


def _age(found: re.Match[str]) -> str:
    """The form of "be" in the place of "have" before an age."""
    who, had = found["who"].lower(), found["old"].lower() == "had"
    if who in ("i", "he", "she", "it"):
        return "was" if had else "am" if who == "i" else "is"
    return "were" if had else "are"


def _rule(pattern: str, write: Callable[[re.Match[str]], str]) -> tuple[re.Pattern[str], Callable[[re.Match[str]], str]]:
    return re.compile(pattern), write


_RULES = (
    _rule(
        r"(?<!most )\b[Ll]isten(?:s|ed|ing)?(?P<old>)(?= (?:music|songs?|radio|the radio|podcasts?)\b)",
        lambda _: " to",
    ),
    _rule(r"(?<=[a-z] )(?<!called )(?<!asked )(?P<old>for to)(?= [a-z]+\b)", lambda _: "to"),
    _rule(
        rf"\bmarried (?P<old>with)(?= (?:{_DETERMINER}|him|me|you|them|someone|somebody)\b)"
        r"(?! (?:\w+ ){0,5}(?:child|kid|son|daughter|bab))",
        lambda _: "to",
    ),
    _rule(r"\b(?P<who>[Ii]|[Yy]ou|[Hh]e|[Ss]he|[Ii]t|[Ww]e|[Tt]hey) (?P<old>ha(?:ve|s|d))(?= [\w-]+(?: [\w-]+)? years old\b)", _age),
    _rule(
        r"\b(?P<old>[Mm]ost of)(?= people\b(?! (?:who|whom|in|at|from|with|that|here|there)\b)(?!['’]))",  # noqa: RUF001
        lambda found: found["old"][:4],
    ),
    _rule(rf"\b(?P<old>[Mm]any)(?= (?:{_NO_PLURAL}){_END})", lambda found: f"{found['old'][0]}uch"),
    _rule(
        rf"\b[Ll]ook(?:s|ed|ing)? forward to (?P<old>{'|'.join(_GERUNDS)})(?= (?:from|you|him|her|them|it|all|the|an?|your|more|to)\b)",
        lambda found: _GERUNDS[found["old"]],
    ),
    _rule(
        r"(?:^|[.!?] )(?:Yesterday|Last (?:night|week|weekend|month|year|summer|winter)),? (?:I|you|he|she|we|they) "
        rf"(?P<old>{'|'.join(_PASTS)})(?= )",
        lambda found: _PASTS[found["old"]],
    ),
    _rule(
        rf"\b(?P<old>an? )(?=(?:very |really |such )?(?!priori|little|lot|bit|piece|few)[a-z]+ (?:{_NO_PLURAL}){_END})",
        lambda _: "",
    ),
)
"""Patterns, whose group `old` is replaced by what the function returns."""


def construction_edits(text: str) -> Iterator[Edit]:
    """Yield the edits that mend these constructions in `text`, with their scores."""
    for pattern, write in _RULES:
        for found in pattern.finditer(text):
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
