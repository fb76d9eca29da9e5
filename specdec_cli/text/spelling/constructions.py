"""Edits by rules of English: wrong constructions (see rules/en.toml), repeated function words, errors of number, and wrong spaces.

Examples are `listen music`, `the the`, `one of my friend`, and `it .It is`.
"""

import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from specdec_cli.english.words import POSSESSIVES, UNCOUNTABLE, pairs, word_set
from specdec_cli.text.edits import Edit
from specdec_cli.text.locale.languages import is_function_word
from specdec_cli.text.marks import ACCENTS
from specdec_cli.text.spelling.ngrams import SCORE_WEIGHT, NgramModel

SCORE = 1.0
"""The score of nearly all of these edits, which are right or are not made."""
_TWICE = word_set("a an the of from with my your his its our their and or but I he she we they it be by")
"""Function words that are written twice by mistake only; `that that`, `had had` and `is is` may be right."""
_THRICE = _TWICE | word_set(
    "that is are was were to in on at for as this these those not had have has do does did will would can could her"
)
"""Function words that are written three times by mistake only."""
_REPEATED = re.compile(r"(?<![\w'’-])(?P<first>[A-Za-z])(?P<word>[a-z]*)(?P<more>(?: (?:(?P=first)|[a-z])(?P=word)(?![\w'’&-]))+)")  # noqa: RUF001
REPEATED = "repeated-word"


_NAMED = re.compile(r"\{([a-z][a-z-]*)\}")
"""What stands in patterns and words for those of a list or map."""
_GROUP = re.compile(r"\{(\w+)(?:>([a-z-]+))?\}")
Maps = Mapping[str, Mapping[str, str]]


@dataclass(frozen=True)
class Construction:
    """A rule of rules/en.toml: its name, the words of which a text must have one, its pattern, and what it writes."""

    name: str
    words: tuple[str, ...]
    expression: str
    write: str
    maps: Maps
    cased: bool = False
    score: float = SCORE

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern, compiled when a text has one of the words."""
        return re.compile(self.expression)

    def written(self, match: re.Match[str]) -> str:
        """What is written in the place of the group `old`."""
        text = _GROUP.sub(lambda group: self._word(match[group[1]], group[2]), self.write)
        return text[:1].upper() + text[1:] if self.cased and match["old"][:1].isupper() else text

    def _word(self, text: str, table: str | None) -> str:
        return text if table is None else self.maps[table].get(text.lower(), text)


def read_rules() -> dict[str, Any]:
    """The file of rules as it is, with the cases of each rule."""
    return tomllib.loads((Path(__file__).parent / "rules" / "en.toml").read_text(encoding="utf-8"))


@cache
def constructions() -> tuple[Construction, ...]:
    """The rules in the order in which they are tried."""
    read = read_rules()
    maps = {name: dict(pairs(text)) for name, text in read["maps"].items()}
    named = {name: "|".join(text.split()) for name, text in read["lists"].items()}
    named |= {name: "|".join(words) for name, words in maps.items()} | read["patterns"]

    def full(text: str) -> str:
        return _NAMED.sub(lambda name: named[name[1]], text)

    def rule(values: Mapping[str, Any]) -> Construction:
        words = tuple(word for text in values["words"] for word in full(text).split("|"))
        more = {key: values[key] for key in ("cased", "score") if key in values}
        return Construction(values["id"], words, full(values["pattern"]), values["write"], maps, **more)

    return tuple(map(rule, read["rule"]))


def rule_names() -> list[str]:
    """The names of all rules that make edits of `construction_edits`."""
    return [*(rule.name for rule in constructions()), REPEATED]


def construction_edits(text: str, without: Collection[str] = ()) -> Iterator[Edit]:
    """Yield the edits that mend these constructions in `text`, with their scores, but for the rules `without`."""
    return (edit for name, edit in named_edits(text) if name not in without)


def named_edits(text: str) -> Iterator[tuple[str, Edit]]:
    """Yield the name of a rule with each edit that it makes in `text`."""
    lowered = text.lower()
    for rule in constructions():
        for match in rule.pattern.finditer(text) if any(word in lowered for word in rule.words) else ():
            yield rule.name, Edit(*match.span("old"), match["old"], rule.written(match), score=rule.score)
    for match in _REPEATED.finditer(text):
        word, *others = match.group().split()
        word = word if word == "I" else word.lower()
        if others == [word] * len(others) and word in (_TWICE if len(others) == 1 else _THRICE):
            length = len(word) + 1  # one edit a word: an edit that removes two loses content
            for start in range(match.start("more"), match.end(), length):
                yield REPEATED, Edit(start, start + length, text[start : start + length], "", score=SCORE)


_ONE_OF = re.compile(
    r"\b(?:one|each|neither|either|both|two|three|four|five|several|many|few) of "
    rf"(?!(?:these|those) [a-z]+ (?:in|on|at|from|to)\b)(?:{'|'.join(sorted(POSSESSIVES))}|the|these|those)"
    r" (?:(?:most|least) [a-z]+ |[a-z]{3,}est |(?:best|worst|main|major|key) )?"
    r"(?P<noun>[a-z]{3,}(?<!s)(?<!men))(?= (?:is|are|was|were|has|have|had|will|can|lives?|works?|[a-z]+ed|who|that|in|on|at|from|to)\b"
    r"|[.,;!?]|$)",
    re.IGNORECASE,
)
"""Words such as "one of my", and a noun in the singular that ends its phrase."""
_GROUPS = word_set(
    "team family group public staff police crew band class club committee company council audience crowd army jury party pair set lot trio "
    "duo kind type sort cast household generation population press enemy clergy nobility elite gang herd fleet squad panel "
    "board department government ministry village town community country world nation person rest remainder crop batch collection series "
    "species data media number"
)
"""Nouns that stay in the singular after "one of the", since they name a group; and "person", whose plural is "people"."""
_LEAST_RATIO, _RAREST_PLURAL = -12.0, 1 / 16
"""A plural is taken if the logarithm of the ratio of the text's probability with and without it is above the first number, and if its
count in the n-grams is at least this share of the singular's.
"""


def phrase_edits(text: str, ngrams: NgramModel, knows: Callable[[str], bool]) -> list[Edit]:
    """The edits that mend these errors in `text`. `knows` tells whether a word is known, and `ngrams` whether the plural is probable."""
    found = []
    for each in _ONE_OF.finditer(text):
        start, end = each.span("noun")
        noun, plural = each["noun"], _plural(each["noun"])
        if noun.lower() in _GROUPS | UNCOUNTABLE or not knows(plural) or ngrams.count(plural) < _RAREST_PLURAL * ngrams.count(noun):
            continue
        edit = Edit(start, end, noun, plural)
        score = SCORE_WEIGHT * (ngrams.log_ratio(text, edit) - _LEAST_RATIO)
        found += [edit._replace(score=score)] if score > 0 else []
    return found


def _plural(noun: str) -> str:
    """The regular plural of an English noun."""
    if noun.endswith("y") and noun[-2:-1] not in tuple("aeiou"):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("x", "z", "ch", "sh")) else f"{noun}s"


_GLUED = re.compile(r"(?<=[^\W\d_]{2})( ?)([.!?])(?=([A-Z][a-z']*)\b)")
"""A mark without a space after it, before a word with a capital, which is the third group."""
_BEFORE = re.compile(r"(?<=[\w)\"\u201d]) ([.,!?;])(?=\s|$)(?! ?[.!?])|(?<=[a-z]) (,)(?=[A-Za-z])")
"""A space before a mark, which is the first group; the second one is a comma that has no space after it."""
_ATTACHED = re.compile(r"[^\W\d_]{2}(?:,|[;!?]|\.(?=\s+[A-Z]))(?=\s|$)|[a-z] ,[A-Za-z]")
"""A mark that follows a word, as it does not in text whose words and marks are divided by spaces."""
_REPEATED_SPACES = re.compile(r"(?:(?<=[^\W\d_])|(?<=,)) {2}(?=[^\W\d_])")
"""Two spaces inside a sentence; after a full stop they are a style, and beside numbers they align columns."""
_ACCENT = re.compile(rf"(?<=[A-Za-z])[{ACCENTS}](?=(?:[tsmd]|re|ve|ll)\b)")
_SPACES = re.compile(r"\s{2,}|\t")
TYPE = "R:ORTH"
"""The type of an error of spaces or apostrophes."""


def spaces_beside_marks(text: str) -> list[Edit]:
    """Edits that put the space beside a mark after it: a word with a small letter before the mark, and after it a word with a capital, show
    that a sentence ends there. After a full stop without a space it must be a function word (`e.g.This` and `user.Name` end none).

    A space before a mark is removed only where other marks of the text show that these are not divided by spaces throughout.
    """
    found = [_edit(mark, f"{mark[2]} ") for mark in _GLUED.finditer(text) if _ends_sentence(mark)]
    if (found or _ATTACHED.search(text)) and " . ." not in text:
        found += [_edit(mark, mark[1] or f"{mark[2]} ") for mark in _BEFORE.finditer(text) if not (mark[1] == "." and _lacks_word(mark))]
    return sorted(found)


def apostrophes(text: str) -> list[Edit]:
    """Edits that put apostrophes in place of accents in the short forms of English words, as in don`t."""
    return [_edit(accent, "'") for accent in _ACCENT.finditer(text)]


def repeated_spaces(text: str) -> list[Edit]:
    """Edits that make one space of two inside a sentence. Other wide spaces of the text, or tabs, show that it is a table."""
    found = list(_REPEATED_SPACES.finditer(text))
    inside = len(_SPACES.findall(text.strip()))
    return [_edit(spaces, " ") for spaces in found] if found and inside == len(found) <= 2 and text.strip()[-1] in ".!?" else []


def _ends_sentence(mark: re.Match[str]) -> bool:
    if not _word_before(mark).islower() or mark[3] == "Net":
        return False
    return mark[1] != "" or mark[2] != "." or is_function_word(mark[3], "en")


def _lacks_word(mark: re.Match[str]) -> bool:
    """Whether a function word stands before a mark: then a word such as a link is perhaps missing, as in `it went to .`"""
    return is_function_word(_word_before(mark), "en")


def _word_before(mark: re.Match[str]) -> str:
    """The letters directly before a mark."""
    text, start = mark.string, mark.start()
    while start and text[start - 1].isalnum() and not text[start - 1].isdecimal():
        start -= 1
    return text[start : mark.start()]


def _edit(match: re.Match[str], text: str) -> Edit:
    return Edit(match.start(), match.end(), match[0], text, score=SCORE, types=(TYPE,))
