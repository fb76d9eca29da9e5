"""Edits that mend wrong English constructions (see rules/en.toml) and repeated function words: `listen music`, `the the`."""

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from specdec_cli.english.words import pairs, word_set
from specdec_cli.text.edits import Edit

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

    def written(self, found: re.Match[str]) -> str:
        """What is written in the place of the group `old`."""
        text = _GROUP.sub(lambda group: self._word(found[group[1]], group[2]), self.write)
        return text[:1].upper() + text[1:] if self.cased and found["old"][:1].isupper() else text

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
        for found in rule.pattern.finditer(text) if any(word in lowered for word in rule.words) else ():
            yield rule.name, Edit(*found.span("old"), found["old"], rule.written(found), score=rule.score)
    for found in _REPEATED.finditer(text):
        word, *others = found.group().split()
        word = word if word == "I" else word.lower()
        if others == [word] * len(others) and word in (_TWICE if len(others) == 1 else _THRICE):
            length = len(word) + 1  # one edit a word: an edit that removes two loses content
            for start in range(found.start("more"), found.end(), length):
                yield REPEATED, Edit(start, start + length, text[start : start + length], "", score=SCORE)
