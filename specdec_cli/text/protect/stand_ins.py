"""Stand-ins: what a model reads in the place of text that it would translate badly, and what is written for it in the output.

Placeholders, which are short names and numbers, stand for protected spans. The rules of stand-ins.toml have stand-ins for units, years,
couples and the like.
"""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.protect.spans import hidden, protected_spans, united

FOR_SPANS = (("K", 7), ("X", 1), ("%", 1), ("", 4711))
"""Kinds of placeholders that models copy well to their output, each with its stem and first number, in the order for protected spans,
names behind titles and terms. ("X", 1) stands for X1, X2 and so on; the kind without a stem has the numbers 4711, 5823 and so on. Of all
placeholders, K7 changes the translations of `en-de` least often.
"""
FOR_LOST = (("", 4711), ("K", 7), ("X", 1), ("%", 1))
"""The same kinds in the order for numbers and other words that an output lacks."""
NUMBERS = ("37", "58", "49", "63", "74", "86")
"""Numbers that replace spans that stand for numbers. They are too large for an hour and are not written as words; models copy longer
numbers less reliably.
"""
NAME_BEFORE, NAME_AFTER = re.compile(r"[\w%]"), re.compile(r"\w")
"""The characters that must not stand directly before and after a placeholder."""


class StandIn(NamedTuple):
    """What is read from `start` to `end` of a text, the `pattern` of what then stands in the output, and what is `written` there: a
    template, or what makes it of the match.
    """

    start: int
    end: int
    text: str
    pattern: str
    written: str | Callable[[re.Match[str]], str]

    def edit(self, match: re.Match[str]) -> Edit:
        """The change of an output in which the pattern was found."""
        return Edit(*match.span(), match.group(), match.expand(self.written) if isinstance(self.written, str) else self.written(match))


class ReadText(NamedTuple):
    """A text as a model reads it, with stand-ins."""

    text: str
    stand_ins: Sequence[StandIn]

    def restored(self, output: str) -> str | None:
        """The translation `output` of the text, with what is written for each stand-in; None if it has more or fewer of them."""
        edits = list[Edit]()
        for pattern in dict.fromkeys(each.pattern for each in self.stand_ins):
            own, found = [each for each in self.stand_ins if each.pattern == pattern], list(re.finditer(pattern, output))
            if len(own) != len(found):
                return None
            edits += (each.edit(match) for each, match in zip(own, found, strict=True))
        edits.sort()
        return None if any(first.end > last.start for first, last in pairwise(edits)) else apply_edits(output, edits)


def read_with(text: str, stand_ins: Sequence[StandIn]) -> ReadText:
    """The text as it is read with stand-ins, which are in order."""
    edits = [Edit(each.start, each.end, text[each.start : each.end], each.text) for each in stand_ins]
    return ReadText(apply_edits(text, edits), stand_ins)


def placeholder_names(stem: str, first: int, number: int) -> tuple[str, ...]:
    """So many placeholders of the kind that `stem` and the `first` number describe (see FOR_SPANS)."""
    return tuple(f"{stem}{first + each * (1 if stem else 1112)}" for each in range(number))


def name_pattern(name: str) -> str:
    """The regular expression of the placeholder `name` where it is not a part of a longer word."""
    return f"(?<!{NAME_BEFORE.pattern}){re.escape(name)}(?!{NAME_AFTER.pattern})"


def with_names(text: str, spans: Sequence[str], names: Sequence[str]) -> str | None:
    """Return `text` with the name of each of the `spans` in the place of an equal one, and the other names in the place of its other
    protected spans, in order. None if it has more or fewer spans than there are names.
    """
    equal = (match.span() for span in set(spans) for match in re.finditer(re.escape(span), text))
    places = united([*protected_spans(text), *equal])
    if len(places) != len(names):
        return None
    left = list(zip(spans, names, strict=True))
    chosen: dict[tuple[int, int], str] = {}
    for place in places:
        pair = next((each for each in left if each[0] == text[slice(*place)]), None)
        if pair is not None:
            left.remove(pair)
            chosen[place] = pair[1]
    others = (name for _, name in left)
    return apply_edits(text, [Edit(*place, "", chosen[place] if place in chosen else next(others)) for place in places])


_NAMED = re.compile(r"\{([a-z-]+)\}")
"""What stands in a rule for a pattern, or a value of a table."""
_GROUP = re.compile(r"\{(?P<group>\w+)(?::(?P<form>[^{}]+)|>(?P<map>[a-z-]+))?\}")
"""What stands in a rule for what a group has."""
Groups = Mapping[str, str | None]


@dataclass(frozen=True)
class Rule:
    """A rule of stand-ins.toml, which explains its fields, for one table of its `each`."""

    words: Sequence[str]
    expression: str
    read: str
    find: str
    write: str
    maps: Mapping[str, Mapping[str, str]]
    forms: Mapping[str, str]
    beside: str = ""
    in_spans: bool = False

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The pattern of what is replaced, compiled when a text has one of the words."""
        return re.compile(self.expression)

    def stand_ins(self, text: str, shown: str) -> Iterator[StandIn]:
        """Yield the stand-ins in a text, of which `shown` is what has not been found yet."""
        found = list(self.pattern.finditer(text if self.in_spans else shown))
        if found and self.beside and not re.search(self.beside, hidden(text, [match.span() for match in found])):
            return
        for match in found:
            groups, end = match.groupdict(), "." * (match.group().endswith(".") and match.end() == len(text))
            any_form = {name: None if each is None else _in_any_form(each) for name, each in groups.items()}
            written = partial(self._written, groups)
            yield StandIn(*match.span(), self._filled(self.read, groups) + end, self._filled(self.find, any_form), written)

    def _written(self, groups: Groups, match: re.Match[str]) -> str:
        """What is written for what was found in an output."""
        groups = {**groups, **match.groupdict()}
        return self._filled(next((form for name, form in self.forms.items() if groups[name] is not None), self.write), groups)

    def _filled(self, text: str, groups: Groups) -> str:
        def value(name: re.Match[str]) -> str:
            own = groups[name["group"]] or ""
            return self.maps[name["map"]][own.lower()] if name["map"] else format(own, name["form"] or "")

        return _GROUP.sub(value, text)


def _in_any_form(value: str) -> str:
    """A pattern that finds a value of a source in an output, which may write its decimal mark and spaces in another way."""
    return re.sub(r"[.,]", "[.,]", re.sub(r"\s", r"\\s?", value))


@cache
def read_rules() -> dict[str, Any]:
    """The content of stand-ins.toml, with the cases of each rule."""
    return tomllib.loads(Path(__file__).with_name("stand-ins.toml").read_text(encoding="utf-8"))


@cache
def rules(source: str, target: str) -> tuple[Rule, ...]:
    """The rules for translation from `source` into `target` (two-letter codes of languages), in the order in which they are tried."""
    known = read_rules()
    maps = {name: dict(pair.split(" = ") for pair in text.split(", ")) for name, text in known["maps"].items()}

    def rule(values: Mapping[str, Any], own: Mapping[str, str]) -> Rule:
        def full(text: str) -> str:
            names = {**known["patterns"], **own}
            return _NAMED.sub(lambda name: full(names[name[1]]) if name[1] in names else name.group(), text)

        forms = {name: full(form) for name, form in values.get("forms", {}).items()}
        pattern, read, find, write = (full(values[key]) for key in ("pattern", "read", "find", "write"))
        return Rule(values["words"], pattern, read, find, write, maps, forms, values.get("beside", ""), values.get("in-spans", False))

    between = (values for values in known["stand-in"] if f"{source}-{target}" in values["between"])
    return tuple(rule(values, own) for values in between for own in values.get("each", [{}]))


def read_text(text: str, languages: tuple[str, str]) -> ReadText | None:
    """The text with the stand-ins of all rules for its `languages` (source, target); None if no rule applies."""
    able = [rule for rule in rules(*map(short_code, languages)) if any(word in text for word in rule.words)]
    shown, found = hidden(text, protected_spans(text)) if able else text, list[StandIn]()
    for rule in able:
        new = list(rule.stand_ins(text, shown))
        shown = hidden(shown, [(each.start, each.end) for each in new])
        found += new
    found.sort(key=lambda each: each.start)
    rest = hidden(text, [(each.start, each.end) for each in found])
    return None if not found or any(re.search(each.pattern, rest) for each in found) else read_with(text, found)
