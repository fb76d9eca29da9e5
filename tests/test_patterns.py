"""The steps of every pattern of the packages grow with the text, and no faster: no line and no document makes a search take long."""

import json
import os
import re
import subprocess
import sys
from functools import cache
from typing import NamedTuple

import pytest

from specdec_cli.text.segment import layout
from specdec_cli.text.segment.code import MAX_CODE_LENGTH
from tests.patterns.attacks import attacks
from tests.patterns.backtracking import Steps
from tests.patterns.judging import judge, seconds_at
from tests.patterns.sites import Site, sites
from tests.source import ROOT, modules

LEAST = 900
"""There are at least so many patterns and uses; their number is printed with `-rP`."""
SECONDS = 0.02
"""The longest processor time of a pattern whose steps grow with the square of the text, at its bound."""
SENTENCE = 1500
"""Characters of a sentence that the models read: longer ones are cut at the longest source, of 512 tokens at most."""
BOUNDED = {
    "specdec_cli.text.segment.layout:_TAIL": (layout._MAX_MARK_LENGTH, "searches the last characters of a line"),
    "specdec_cli.text.tags.markup:_SPACE_AND_TAGS": (256, "searches a window of _LONGEST_TAGS characters"),
    "specdec_cli.text.segment.code:_CODE": (MAX_CODE_LENGTH, "longer lines are no code"),
    "specdec_cli.text.protect.characters:lacking_spans": (500, "in longer texts, signs are found without their words"),
    "specdec_cli.text.apart:_MENUS": (SENTENCE, "searches a sentence, if it has a > between spaces"),
    "specdec_cli.text.locale.quantities:_LIST": (SENTENCE, "searches a sentence"),
}
"""Patterns whose steps may grow with the square of the text, with the largest number of characters that they search, and why."""
TRUSTED = {
    "specdec_cli.documents.json_file:_TOKEN": "json has read the document before, so that each string in it ends",
    "specdec_cli.native.header:read_header": "reads a file of the package",
}
"""Patterns that read no text of others, or only what was checked."""
MATCHED = frozenset(opening.pattern for opening, _ in layout._PAIRS)
"""Patterns in tables that are not searched for: they are matched at one offset."""


class Use(NamedTuple):
    """A pattern with its flags, and match, fullmatch or search; the key of the site is for messages and exceptions."""

    pattern: str
    flags: int
    method: str
    key: str


@cache
def uses() -> tuple[Use, ...]:
    """All patterns and how they are used, each once. Raises AssertionError for a call of which no pattern is known."""
    program = [sys.executable, "-m", "tests.patterns.record"]
    recorded = json.loads(subprocess.run(program, capture_output=True, check=True, cwd=ROOT, env=os.environ).stdout)
    assert not recorded["lacking"], "add values of its variables to tests/patterns/record.py"
    at_line: dict[tuple[str, int], list[Site]] = {}
    for site in sites():
        at_line.setdefault((str(modules()[site.module].relative_to(ROOT)), site.line), []).append(site)
    known = {(file, line) for file, line, *_ in recorded["patterns"]}
    assert not at_line.keys() - known
    found: dict[tuple[str, int, str], Use] = {}
    for file, line, pattern, flags in recorded["patterns"]:
        for site in at_line.get((file, line), ()):
            for method in {"match"} if pattern in MATCHED else site.methods or {"search"}:
                found.setdefault((pattern, flags, method), Use(pattern, flags, method, site.key))
    return tuple(found.values())


PORTIONS = 8


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_the_steps_of_no_pattern_grow_faster_than_the_text(portion: int) -> None:
    """A part of all patterns, so that processes share them."""
    chosen = uses()[portion::PORTIONS]
    faults = []
    for use in chosen:
        found = judge(use.pattern, use.flags, use.method)
        if found.growth == "linear" or use.key in TRUSTED:
            continue
        size, _ = BOUNDED.get(use.key, (0, ""))
        if found.growth == "worse" or not size or found.attack is None:
            faults.append(f"{use.key}, {use.method}: {found.growth}, {found.attack!r}: {found.counted} steps; {use.pattern}")
        elif (seconds := seconds_at(use.pattern, use.flags, use.method, found.attack, size)) > SECONDS:
            faults.append(f"{use.key}, {use.method}: {seconds:.3f} s at its bound of {size}, {found.attack!r}; {use.pattern}")
    assert not faults, "\n".join(faults)


def test_all_patterns_are_judged() -> None:
    assert len(uses()) >= LEAST
    print(f"{len(uses())} patterns and uses, of {len(list(sites()))} calls")
    keys = {use.key for use in uses()}
    assert not (BOUNDED.keys() | TRUSTED.keys()) - keys


EMOJI = "(?:[\u2190-\u21ff][\ufe0f\u200d]*)+"
BAD = [
    (r"(?:[A-Za-z]\w*(?:[._]\w+)+|[a-z]+[A-Z]\w*)(?::\s+|\s*=\s*)(?=\S)", "match", "worse"),  # a former key in layout.py
    (rf"(?:{EMOJI}|:[a-z0-9_+-]+:)+|:\)", "fullmatch", "worse"),  # and emoji in sentences.py
    (r"INFO:[A-Za-z_$][\w$-]*(?:[./$][\w$-]+)*:\s*", "match", "worse"),  # and the name of a logger
    (r"(a+)+b", "search", "worse"),
    (r"(?:aa|a)*b", "match", "worse"),
    (r"(?:a?b?)*c", "match", "worse"),
    (r"(?=(?:a*)*b)a", "match", "worse"),
    (r"(?i)(?:xx|X)*y", "match", "worse"),
    (r"\w*\w*\w*!", "match", "worse"),
    (r"\s*\s*x", "match", "quadratic"),
    (r"\w+\s*:", "search", "quadratic"),
    (r"\s+$", "search", "quadratic"),
    (r"\"[^\"]*\"\s", "search", "linear"),
    (r"(?<!\s)\s+$", "search", "linear"),
    (r"(?:aa|a)*+b", "match", "linear"),
    (r"(?>(?:aa|a)*)b", "match", "linear"),
    (r"\w+\s*:", "match", "linear"),
    (r"(?P<ticks>`+)(?!`).{1,20}?(?<!`)(?P=ticks)(?!`)", "match", "linear"),
]


@pytest.mark.parametrize(("pattern", "method", "growth"), BAD)
def test_growth_is_judged_by_the_worst_text(pattern: str, method: str, growth: str) -> None:
    assert judge(pattern, 0, method).growth == growth


@pytest.mark.parametrize("portion", range(4))
def test_the_counting_matcher_finds_what_re_finds(portion: int) -> None:
    """In the texts of attacks on a part of the patterns."""
    checked = 0
    for use in uses()[portion * 10 :: 40]:
        steps, compiled = Steps(use.pattern, use.flags), re.compile(use.pattern, use.flags)
        for attack in list(attacks(steps))[:40]:
            for size in (0, 1, 3):
                text = attack.text(size)
                expected = getattr(compiled, use.method)(text)
                assert steps.span(use.method, text) == (None if expected is None else expected.span()), (use.pattern, text)
                checked += 1
    assert checked > 100
