"""Texts that make a pattern search long: a beginning, a repetition that is pumped, and an end that does not match."""

import sys
from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.patterns.backtracking import UNBOUNDED, Steps

FEW = 12
"""Repetitions of at most this number are not pumped."""
_SAMPLE = (
    "aZx0\u00e4\u042f\u4e00 \t\n\u00a0\u2028_-.,:;!?'\"()[]{}<>/\\|@#$%&*+=~^`\u2019\u201c\u2026\u20ac\u2190\u3030\U0001f600\ufe0f\x01"
)
_SINGLE = ("LITERAL", "NOT_LITERAL", "ANY", "ANY_ALL", "IN", "CATEGORY", "RANGE")


class Attack(NamedTuple):
    """A text of any size: the beginning, the part that is repeated, and the end."""

    begin: str
    pump: str
    end: str

    def text(self, size: int) -> str:
        """The text with `size` repetitions."""
        return self.begin + self.pump * size + self.end


def attacks(steps: Steps) -> Iterator[Attack]:
    """Yield attacks on a pattern, each once: every repetition is pumped with each kind of character of the pattern."""
    drawing = _Drawing(steps)
    seen = set[Attack]()
    for begin, body, flags, is_assertion in drawing.repetitions(list(steps.tree), steps.flags):
        for wanted in ("", *drawing.kinds):
            for pump in dict.fromkeys((drawing.shortest(body, flags, wanted), drawing.shortest(body, flags, wanted, most=True))):
                if not pump:
                    continue
                alike = (wanted,) if set(pump) == {wanted} else ()
                for prefix in dict.fromkeys(drawing.shortest(begin, flags, each) for each in ("", *alike)):
                    for end in ("\x01", "\n") if is_assertion else ("\x01", ""):
                        attack = Attack(prefix, pump, end)
                        if attack not in seen:
                            seen.add(attack)
                            yield attack


class _Drawing:
    """Draws texts that parts of the syntax tree match."""

    def __init__(self, steps: Steps) -> None:
        self._steps = steps
        self._groups: dict[int, str] = {}
        self._fits: dict[tuple[str, str, int], Any] = {}
        tests = list(self._classes(list(steps.tree), steps.flags))
        letters = dict.fromkeys([*_SAMPLE, *self._literals(list(steps.tree))])
        kinds: dict[tuple[bool, ...], str] = {}
        for letter in letters:
            fitting = tuple(fits(letter) for fits in tests)
            if any(fitting):
                kinds.setdefault(fitting, letter)
        self.kinds = list(kinds.values())
        """A character of each kind, of those that the same parts of the pattern match."""
        self._letters = list(letters)

    def _test(self, kind: str, value: Any, flags: int) -> Any:
        key = kind, repr(value), flags
        if key not in self._fits:
            self._fits[key] = self._steps.fits(kind, value, flags)
        return self._fits[key]

    def _classes(self, items: list[tuple[Any, Any]], flags: int) -> Iterator[Any]:
        """The tests of all parts that are repeated or that stand for many characters; literals count by the classes that have them."""
        for kind, value in items:
            if str(kind) in _SINGLE:
                if str(kind) != "LITERAL":
                    yield self._test(str(kind), value, flags)
            else:
                for body, own in _bodies(str(kind), value, flags):
                    yield from self._classes(body, own)
                    if "REPEAT" in str(kind) and len(body) == 1 and str(body[0][0]) == "LITERAL":
                        yield self._test("LITERAL", body[0][1], own)

    def _literals(self, items: list[tuple[Any, Any]]) -> Iterator[str]:
        for kind, value in items:
            if str(kind) in ("LITERAL", "NOT_LITERAL"):
                yield chr(value)
            elif str(kind) == "IN":
                for inner, own in value:
                    if str(inner) == "LITERAL":
                        yield chr(own)
                    elif str(inner) == "RANGE":
                        yield chr(own[0])
            elif str(kind) not in _SINGLE:
                for body, _ in _bodies(str(kind), value, 0):
                    yield from self._literals(body)

    def repetitions(
        self, items: list[tuple[Any, Any]], flags: int, before: tuple[tuple[Any, Any], ...] = (), *, is_assertion: bool = False
    ) -> Iterator[tuple[list[tuple[Any, Any]], list[tuple[Any, Any]], int, bool]]:
        """Yield what is before each repetition, its body, its flags, and whether it is in an assertion."""
        for place, (kind, value) in enumerate(items):
            own = (*before, *items[:place])
            name = str(kind)
            inside = is_assertion or name.startswith("ASSERT")
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT") and (value[1] == UNBOUNDED or value[1] > FEW):
                yield list(own), list(value[2]), flags, inside
            if name not in _SINGLE:
                for body, inner in _bodies(name, value, flags):
                    yield from self.repetitions(body, inner, own, is_assertion=inside)

    def shortest(self, items: list[tuple[Any, Any]], flags: int, wanted: str, *, most: bool = False) -> str:
        """A short text that matches, of the character `wanted` where it fits; with `most`, what may be left out is there once."""
        return "".join(self._drawn(str(kind), value, flags, wanted, most=most) for kind, value in items)

    def _drawn(self, kind: str, value: Any, flags: int, wanted: str, *, most: bool) -> str:
        if kind in _SINGLE:
            fits = self._test(kind, value, flags)
            if wanted and fits(wanted):
                return wanted
            if kind == "LITERAL":
                return chr(value)
            return str(next((letter for letter in self._letters if fits(letter)), None) or _any(fits))
        if kind == "SUBPATTERN":
            group, added, removed, body = value
            text = self.shortest(list(body), (flags | added) & ~removed, wanted, most=most)
            if group is not None:
                self._groups[group] = text
            return text
        if kind == "BRANCH":
            texts = [self.shortest(list(each), flags, wanted, most=most) for each in value[1]]
            fitting = [text for text in texts if wanted and text and set(text) == {wanted}]
            return str(min(fitting or texts, key=len) if fitting or not wanted else max(texts, key=lambda text: text.count(wanted)))
        if "REPEAT" in kind and kind != "GROUPREF":
            low, high, body = value
            repeated: int = min(high, max(low, int(most)))
            return self.shortest(list(body), flags, wanted, most=most) * repeated
        if kind == "ATOMIC_GROUP":
            return self.shortest(list(value), flags, wanted, most=most)
        if kind == "GROUPREF":
            return self._groups.get(value, "")
        if kind == "GROUPREF_EXISTS":
            return self.shortest(list(value[1]), flags, wanted, most=most)
        return ""


def _any(fits: Any) -> str:
    return next((chr(code) for code in range(sys.maxunicode) if fits(chr(code))), "")


def _bodies(kind: str, value: Any, flags: int) -> list[tuple[list[tuple[Any, Any]], int]]:
    """The parts of a part, with their flags."""
    if kind == "SUBPATTERN":
        return [(list(value[3]), (flags | value[1]) & ~value[2])]
    if kind == "BRANCH":
        return [(list(each), flags) for each in value[1]]
    if kind in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
        return [(list(value[2]), flags)]
    if kind in ("ASSERT", "ASSERT_NOT"):
        return [(list(value[1]), flags)]
    if kind == "ATOMIC_GROUP":
        return [(list(value), flags)]
    if kind == "GROUPREF_EXISTS":
        return [(list(each), flags) for each in value[1:] if each is not None]
    return []
