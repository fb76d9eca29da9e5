"""What a model reads in the place of something else, such as placeholders, which are short names and numbers, of protected spans."""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.protect.spans import protected_spans, united

PLACEHOLDERS = (("X", 1), ("%", 1), ("K", 7), ("", 4711))
"""Kinds of placeholders that models copy well to their output, each with its stem and first number. ("X", 1) stands for X1, X2 and so
on; the kind without a stem has the numbers 4711, 5823 and so on. The first kind is tried first.
"""
FOR_SPANS = (("K", 7), ("X", 1), ("%", 1), ("", 4711))
"""The same kinds in the order for protected spans, and for names behind titles. Of all placeholders, K7 changes the translations of
`en-de` least often.
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
    """So many placeholders of the kind that `stem` and the `first` number describe (see PLACEHOLDERS)."""
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
