"""Glossaries: terms with the translation that they must have, and where they occur in a text."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from unicodedata import category, normalize

from specdec_cli.errors import InputError, UsageError, counted
from specdec_cli.text.io.lines import read_listed
from specdec_cli.text.marks import DASHES, OPENING
from specdec_cli.text.protect.spans import protected_spans

_TOKEN = re.compile(r"\w+|[^\w\s]")
_WORD = re.compile(r"\w")
_BEFORE_WORDS = f" \t\u00a0*_#{DASHES}{OPENING}\u2019"
_ENDS = ".!?:\u2026"
_LONGEST = 500
"""The most characters of a term or its translation."""


@dataclass(frozen=True)
class Term:
    """A term of the source language and its translation."""

    source: str
    target: str


@dataclass(frozen=True)
class Match:
    """A term in a text, from the offset `start` up to `end`, in code points."""

    term: Term
    start: int
    end: int


class Phrases:
    """Finds phrases in texts as whole words: no letter or digit may directly precede or follow one that begins or ends with a letter or
    digit.

    White space in a phrase stands for any white space. A lower-case first letter also stands for its capital at the start of a sentence.
    """

    def __init__(self, phrases: Iterable[str]) -> None:
        self._by_first: dict[str, list[tuple[str, list[tuple[bool, str]]]]] = defaultdict(list)
        for phrase in dict.fromkeys(phrases):
            tokens = list(_spaced(phrase))
            rest = [(start > tokens[number][1], word) for number, (start, _, word) in enumerate(tokens[1:])]
            self._by_first[tokens[0][2]].append((phrase, rest))

    def find(self, text: str) -> list[tuple[str, int, int]]:
        """Phrase, start and end of each occurrence, in order. Of occurrences that overlap, the longest is taken, and the first of several
        as long.
        """
        tokens = list(_spaced(text))
        matches = [match for index in range(len(tokens)) for match in self._at(text, tokens, index)]
        free, chosen = [True] * len(text), []
        for match in sorted(matches, key=lambda each: (each[1] - each[2], each[1])):
            if all(free[match[1] : match[2]]):
                free[match[1] : match[2]] = [False] * (match[2] - match[1])
                chosen.append(match)
        return sorted(chosen, key=lambda each: each[1])

    def _at(self, text: str, tokens: Sequence[tuple[int, int, str]], place: int) -> Iterator[tuple[str, int, int]]:
        start, first = tokens[place][0], tokens[place][2]
        lowered = first[0].lower() + first[1:]
        is_initial = lowered != first and lowered in self._by_first and begins_sentence(text, start)
        for form in (first, lowered) if is_initial else (first,):
            for phrase, words in self._by_first.get(form, ()):
                there = tokens[place : place + 1 + len(words)]
                if [(begin > before[1], word) for before, (begin, _, word) in pairwise(there)] == words:
                    yield phrase, start, there[-1][1]


class Glossary:
    """Terms that must be translated as given."""

    def __init__(self, terms: Iterable[Term]) -> None:
        self._targets = {term.source: term for term in terms}
        self._sources = Phrases(self._targets)

    def exchanged(self) -> "Glossary":
        """The glossary of the opposite direction: the first of several terms with one translation is what it is translated to."""
        terms = self._targets.values()
        return Glossary({term.target: Term(term.target, term.source) for term in reversed(terms)}.values())

    def find(self, text: str) -> list[Match]:
        """The terms in a text of the source language, in order, outside of protected spans (see `protected_spans`)."""
        matches = self._sources.find(text)
        spans = protected_spans(text) if matches else []
        free = (each for each in matches if not any(each[1] < end and start < each[2] for start, end in spans))
        return [Match(self._targets[source], start, end) for source, start, end in free]


def come_out(terms: Sequence[Term], output: str) -> list[bool]:
    """Whether each of `terms` has an occurrence of its target in `output`; two terms never share one."""
    left = Counter(phrase for phrase, *_ in Phrases(term.target for term in terms).find(output)) if terms else Counter[str]()
    present = []
    for term in terms:
        present.append(left[term.target] > 0)
        left[term.target] -= 1
    return present


def begins_sentence(text: str, start: int) -> bool:
    """Whether what stands at the offset `start` of `text` begins a sentence."""
    before = text[:start].rstrip(_BEFORE_WORDS)
    return not before or (before[-1] in _ENDS and len(before) < start)


def target_at(target: str, text: str, start: int) -> str:
    """`target` as it is written at the offset `start` of `text`: with a capital at the beginning of a sentence."""
    return target[:1].upper() + target[1:] if begins_sentence(text, start) else target


def read_glossaries(paths: Iterable[Path]) -> list[Term]:
    """Read the terms of several files: source TAB target on each line (see `read_listed`).

    Raises InputError naming file and line for a line without exactly one tab, an empty side, a source with two targets, or invalid UTF-8.
    """
    terms: dict[str, tuple[Term, str]] = {}
    for place, text in ((f"{path}, line {number}", text) for path in paths for number, text in read_listed(path)):
        fields = text.split("\t")
        if len(fields) != 2:
            raise InputError(f"{place}: {counted(len(fields) - 1, 'tab')}, expected one between source and target")
        term = _term(fields, place)
        earlier, first = terms.setdefault(term.source, (term, place))
        if earlier != term:
            raise InputError(f"{place}: {term.source!r} is {earlier.target!r} in {first}, and {term.target!r} here")
    return [term for term, _ in terms.values()]


def given_terms(glossary: Mapping[str, str]) -> list[Term]:
    """The terms of a mapping from source to target. Raises InputError for an empty side and for a term that is too long."""
    return [_term(pair, f"glossary, term {pair[0]!r}") for pair in glossary.items()]


def _term(sides: Iterable[str], place: str) -> Term:
    """Return a term with the source and target in `sides`, in which each run of white space becomes one space.

    Raises InputError, whose message begins with `place`, for an empty side and for one that is too long.
    """
    source, target = (" ".join(side.split()) for side in sides)
    if not (_TOKEN.search(source) and _TOKEN.search(target)):
        raise InputError(f"{place}: the {'target' if source else 'source'} is empty")
    if (longest := max(len(source), len(target))) > _LONGEST:
        raise InputError(f"{place}: a term of {longest} characters; the longest may have {_LONGEST}")
    return Term(source, target)


def check_order(order: str) -> None:
    """Raise UsageError if a model that writes in `order` can have no glossary."""
    if order != "left-to-right":
        raise UsageError(f"a glossary is for models that write from left to right, not in the order {order}")


def with_kept(terms: Sequence[Term], kept: Iterable[str]) -> list[Term]:
    """`terms` with those whose target is the term itself.

    Raises UsageError for an empty one, one with a tab or line break, and one that has another target.
    """
    kept = list(kept)
    for each in kept:
        if "\t" in each or "\n" in each:
            raise UsageError(f"{each!r} is kept as it is, so it has one side, without a tab or line break")
    by_source = {term.source: term for term in terms}
    for word in (" ".join(each.split()) for each in kept):
        if not word:
            raise UsageError("a term that is kept is empty")
        if by_source.setdefault(word, Term(word, word)).target != word:
            raise UsageError(f"{word!r} is kept, but the glossary gives it the target {by_source[word].target!r}")
    return list(by_source.values())


def _spaced(text: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and normal form (NFC) of each word and mark of `text`. Combining marks are letters of their word."""
    spans: list[tuple[int, int]] = []
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        joins = spans and spans[-1][1] == start and "M" in {category(each)[0] for each in text[start - 1 : start + 1]}
        if joins and _WORD.match(text, spans[-1][0]):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return ((start, end, normalize("NFC", text[start:end])) for start, end in spans)
