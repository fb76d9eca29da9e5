"""A matcher that counts the steps of a backtracking search, over the syntax tree of a pattern; for the patterns that `re` takes."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from re import _compiler, _constants, _parser  # type: ignore[attr-defined]  # the syntax tree is private
from typing import Any

Continue = Callable[[int], bool]
Matcher = Callable[[int, Continue], bool]
"""Tries to match at an offset, then calls what follows with the offset behind each possible match until one is accepted."""
UNBOUNDED = int(_constants.MAXREPEAT)
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "ANY_ALL", "IN", "CATEGORY", "RANGE")


class TooManyStepsError(Exception):
    """A search has more steps than its limit."""


class Steps:
    """Counts the steps of searches of a pattern: characters that are compared, and parts of the pattern that are entered."""

    def __init__(self, pattern: str, flags: int = 0) -> None:
        self.tree = _parser.parse(pattern, flags)
        self.flags = self.tree.state.flags
        self._text, self._groups = "", [(-1, -1)] * self.tree.state.groups
        self._steps, self._limit = 0, 0
        self._matcher = self._sequence(list(self.tree), self.flags)

    def count(self, method: str, text: str, limit: int) -> int:
        """The steps of `match`, `fullmatch`, or a search for all matches of a text; `limit` if there are more."""
        self._text, self._steps, self._limit = text, 0, limit
        try:
            with _deep():
                self._run(method)
        except TooManyStepsError:
            return limit
        return self._steps

    def span(self, method: str, text: str) -> tuple[int, int] | None:
        """The first match, as `re` has it."""
        self._text, self._steps, self._limit = text, 0, sys.maxsize
        with _deep():
            return self._run(method, first=True)

    def _run(self, method: str, *, first: bool = False) -> tuple[int, int] | None:
        starts = range(len(self._text) + 1) if method == "search" else range(1)
        behind, banned = 0, -1
        for start in starts:
            if start < behind:
                continue
            self._groups = [(-1, -1)] * len(self._groups)
            ends: list[int] = []
            if self._matcher(start, self._accepting(method, start, banned, ends)):
                if first or method != "search":
                    return start, ends[0]
                behind, banned = max(ends[0], start), ends[0]
        return None

    def _accepting(self, method: str, start: int, banned: int, ends: list[int]) -> Continue:
        """What accepts the end of a match, and adds it to `ends`; no empty match at `banned`, the end of the match before."""

        def accept(end: int) -> bool:
            if (method == "fullmatch" and end < len(self._text)) or (end == start == banned):
                return False
            ends.append(end)
            return True

        return accept

    def _tick(self, steps: int = 1) -> None:
        self._steps += steps
        if self._steps > self._limit:
            raise TooManyStepsError

    def _sequence(self, items: list[tuple[Any, Any]], flags: int) -> Matcher:
        parts = [self._part(str(kind), value, flags) for kind, value in items]
        if len(parts) == 1:
            return parts[0]

        def match(start: int, follow: Continue, number: int = 0) -> bool:
            if number == len(parts):
                return follow(start)
            return parts[number](start, lambda end: match(end, follow, number + 1))

        return match

    def _part(self, kind: str, value: Any, flags: int) -> Matcher:
        if kind in _SINGLE:
            return self._character(self.fits(kind, value, flags))
        if kind == "AT":
            return self._at(str(value), flags)
        if kind == "SUBPATTERN":
            group, added, removed, body = value
            return self._group(group, self._sequence(list(body), (flags | added) & ~removed))
        if kind == "BRANCH":
            return self._branch([self._sequence(list(each), flags) for each in value[1]])
        if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            low, high, body = value
            return self._repeat(kind, int(low), int(high), list(body), flags)
        if kind in ("ASSERT", "ASSERT_NOT"):
            direction, body = value
            back = body.getwidth()[0] if direction < 0 else 0
            return self._assertion(self._sequence(list(body), flags), back, is_wanted=kind == "ASSERT")
        if kind == "ATOMIC_GROUP":
            return self._atomic(self._sequence(list(value), flags))
        if kind == "GROUPREF":
            return self._reference(value, folds=bool(flags & re.IGNORECASE))
        if kind == "GROUPREF_EXISTS":
            group, yes, no = value
            return self._conditional(group, self._sequence(list(yes), flags), self._sequence(list(no or ()), flags))
        raise NotImplementedError(kind)

    def fits(self, kind: str, value: Any, flags: int) -> Callable[[str], bool]:
        """Whether a character is that of a part of the tree that stands for one character."""
        state = copy(self.tree.state)
        state.flags = flags  # of the group that it is in, which may remove some of the pattern's
        item = _parser.SubPattern(state, [(getattr(_constants, kind), value)])
        compiled = _compiler.compile(item, flags & ~re.DEBUG)
        known: dict[str, bool] = {}

        def fits(character: str) -> bool:
            found = known.get(character)
            if found is None:
                found = known[character] = compiled.match(character) is not None
            return found

        return fits

    def _character(self, fits: Callable[[str], bool]) -> Matcher:
        def match(start: int, follow: Continue) -> bool:
            self._tick()
            return start < len(self._text) and fits(self._text[start]) and follow(start + 1)

        return match

    def _at(self, where: str, flags: int) -> Matcher:
        anchor = {
            "AT_BEGINNING": "^",
            "AT_BEGINNING_STRING": r"\A",
            "AT_BOUNDARY": r"\b",
            "AT_NON_BOUNDARY": r"\B",
            "AT_END": "$",
            "AT_END_STRING": r"\Z",
        }[where]
        compiled = re.compile(anchor, flags & (re.MULTILINE | re.ASCII))

        def match(start: int, follow: Continue) -> bool:
            self._tick()
            return compiled.match(self._text, start) is not None and follow(start)

        return match

    def _group(self, group: int | None, body: Matcher) -> Matcher:
        if group is None:
            return body

        def match(start: int, follow: Continue) -> bool:
            before = self._groups[group]

            def behind(end: int) -> bool:
                inner = self._groups[group]
                self._groups[group] = (start, end)
                if follow(end):
                    return True
                self._groups[group] = inner
                return False

            if body(start, behind):
                return True
            self._groups[group] = before
            return False

        return match

    def _branch(self, branches: list[Matcher]) -> Matcher:
        def match(start: int, follow: Continue) -> bool:
            self._tick()
            return any(branch(start, follow) for branch in branches)

        return match

    def _repeat(self, kind: str, low: int, high: int, items: list[tuple[Any, Any]], flags: int) -> Matcher:
        if len(items) == 1 and str(items[0][0]) in _SINGLE:
            match = self._repeated_character(kind, low, high, self.fits(str(items[0][0]), items[0][1], flags))
        else:
            match = self._repeated(low, high, self._sequence(items, flags), is_greedy=kind != "MIN_REPEAT")
        return self._atomic(match) if kind == "POSSESSIVE_REPEAT" else match

    def _repeated_character(self, kind: str, low: int, high: int, fits: Callable[[str], bool]) -> Matcher:
        def greedy(start: int, follow: Continue) -> bool:
            text = self._text
            last = len(text) if high == UNBOUNDED else min(len(text), start + high)
            end = start
            while end < last and fits(text[end]):
                end += 1
            self._tick(end - start + 1)
            for each in range(end, start + low - 1, -1):
                self._tick()
                if follow(each):
                    return True
            return False

        def lazy(start: int, follow: Continue) -> bool:
            end = start
            while True:
                self._tick()
                if end - start >= low and follow(end):
                    return True
                if end == len(self._text) or end - start == high or not fits(self._text[end]):
                    return False
                end += 1

        return lazy if kind == "MIN_REPEAT" else greedy

    def _repeated(self, low: int, high: int, body: Matcher, *, is_greedy: bool) -> Matcher:
        def match(start: int, follow: Continue, number: int = 0, last: int = -1) -> bool:
            self._tick()

            def more() -> bool:
                # A repetition that matches nothing more ends the loop.
                if number == high or (number >= low and start == last):
                    return False
                return body(start, lambda end: match(end, follow, number + 1, start))

            if number < low:
                return more()
            return more() or follow(start) if is_greedy else follow(start) or more()

        return match

    def _assertion(self, body: Matcher, back: int, *, is_wanted: bool) -> Matcher:
        def match(start: int, follow: Continue) -> bool:
            self._tick()
            if start < back:
                return not is_wanted and follow(start)
            before = list(self._groups)
            if body(start - back, lambda _: True) != is_wanted:
                self._groups = before
                return False
            if not is_wanted:
                self._groups = before
            if follow(start):
                return True
            self._groups = before
            return False

        return match

    def _atomic(self, body: Matcher) -> Matcher:
        def match(start: int, follow: Continue) -> bool:
            before, ends = list(self._groups), list[int]()

            def accept(end: int) -> bool:
                ends.append(end)
                return True

            if body(start, accept) and follow(ends[0]):
                return True
            self._groups = before
            return False

        return match

    def _reference(self, group: int, *, folds: bool) -> Matcher:
        def match(start: int, follow: Continue) -> bool:
            begin, end = self._groups[group]
            if begin < 0:
                return False
            wanted, there = self._text[begin:end], self._text[start : start + end - begin]
            self._tick(len(wanted) + 1)
            return (there == wanted or (folds and there.lower() == wanted.lower())) and follow(start + len(wanted))

        return match

    def _conditional(self, group: int, yes: Matcher, no: Matcher) -> Matcher:
        def match(start: int, follow: Continue) -> bool:
            return (yes if self._groups[group][0] >= 0 else no)(start, follow)

        return match


@contextmanager
def _deep() -> Iterator[None]:
    """Allow a repetition of a few hundred characters, each of which is several calls."""
    usual = sys.getrecursionlimit()
    sys.setrecursionlimit(max(usual, 50_000))
    try:
        yield
    finally:
        sys.setrecursionlimit(usual)
