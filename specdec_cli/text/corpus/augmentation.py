"""Pairs with other numbers, times and names, so that a model learns to copy them; mixing of domains."""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from specdec_cli.text.corpus.parallel import Pair
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.languages import convention, half_of_day
from specdec_cli.text.locale.matching import same_numbers
from specdec_cli.text.locale.quantities import Quantity, find_quantities, written

Languages = tuple[str, str]
"""The codes of the languages of sources and targets."""
_DAY = 24 * 60
_FULL_HOURS = 0.4
"""The share of full hours among the times drawn; the others have minutes that are multiples of five."""
_TIME = re.compile(r"(?P<hour>\d{1,2})(?:(?P<separator>[:.]|\s?h\s?)(?P<minute>\d\d))?(?P<mark>.*)", re.DOTALL)
_HALF = re.compile(rf"{half_of_day()}\b", re.IGNORECASE)
_HALVES = (" am", "am", " AM", "AM", " a.m.", " A.M.")
_YEARS = range(1000, 2100)
_IN_WORD = re.compile(r"[^\W\d_]|\.(?=\s*\w)")
"""What is after an ordinal number, or one that is part of a word: 25th, 25. Mai, 62er, 4x4."""


def times(text: str, language: str) -> list[Quantity]:
    """The times of a text, in order; none for an unknown language."""
    return [quantity for quantity in find_quantities(text, language) if quantity.kind == "time"]


def with_other_times(pair: Pair, draw: random.Random, languages: Languages = ("en", "de"), *, halves: bool = False) -> Pair:
    """Replace the times of a pair by random ones, in the same format. If its two sides have different times, return the pair unchanged.

    With `halves`, times of a language with a clock of 12 hours that lack a.m. and p.m. get it.
    """
    found = [times(text, language) for text, language in zip((pair.source, pair.target), languages, strict=True)]
    values = [sorted(time.minutes for time in each) for each in found]
    if not found[0] or values[0] != values[1] or any(_TIME.fullmatch(time.text) is None for each in found for time in each):
        return pair
    if any(time.exact and time.text.isdigit() for each in found for time in each):
        return pair  # the beginning of a range, whose half of the day stands at its end
    distinct = sorted(set(values[0]))
    drawn = dict(zip(distinct, _draw(len(distinct), draw), strict=True))
    changed = []
    for text, language, each in zip((pair.source, pair.target), languages, found, strict=True):
        own = convention(language)
        adds = halves and own is not None and own.clock == 12
        edits = [Edit(time.start, time.end, time.text, _written_as(time.text, drawn[time.minutes], draw, adds=adds)) for time in each]
        changed.append(apply_edits(text, edits))
    return Pair(changed[0], changed[1], pair.domain)


def _draw(count: int, draw: random.Random) -> list[int]:
    """Different times, in minutes after midnight; `count` at most 12."""
    drawn: dict[int, None] = {}
    while len(drawn) < count:
        drawn[draw.randrange(24) * 60 if draw.random() < _FULL_HOURS else draw.randrange(0, _DAY, 5)] = None
    return list(drawn)


def _written_as(text: str, minutes: int, draw: random.Random, *, adds: bool) -> str:
    """A time in the format of the time `text`; if this lacks a.m. and p.m. and `adds` is true, with one of them."""
    match = _TIME.fullmatch(text)
    assert match is not None
    hour, minute = divmod(minutes, 60)
    mark = match["mark"]
    half = _HALF.search(mark)
    if half is None and adds:
        mark = draw.choice(_HALVES)
        half = _HALF.search(mark)
    if half is not None:
        letter = "ap"[hour >= 12]
        start, end = half.span("half")
        mark = mark[:start] + (letter.upper() if half["half"].isupper() else letter) + mark[end:]
        hour = (hour - 1) % 12 + 1
    written = f"{hour:02}" if match["hour"].startswith("0") else f"{hour}"
    return written + (f"{match['separator'] or ':'}{minute:02}" if match["minute"] or minute else "") + mark


def with_other_numbers(pair: Pair, draw: random.Random, languages: Languages = ("en", "de")) -> Pair:
    """Replace each number that both sides have once by a random one, as each language writes it; the pair itself if there is none.

    A number of two digits or more gets as many digits, or separators of thousands; one with decimals gets as many decimals; years stay
    years. Numbers of one digit may decide about the singular, and are kept.
    """
    found = [
        [each for each in find_quantities(text, language) if each.kind in ("number", "price") and not _IN_WORD.match(text, each.end)]
        for text, language in zip((pair.source, pair.target), languages, strict=True)
    ]
    single = [{each[0]: each[1] for each in _single(numbers)} for numbers in found]
    both = [value for value in single[0] if value in single[1] and (len(value[0]) > 1 or value[1])]
    changes = {value: _other_number(single[0][value], draw) for value in both}
    edited = []
    for text, language, each in zip((pair.source, pair.target), languages, single, strict=True):
        chosen = sorted(((each[value], changes[value]) for value in both), key=lambda old: old[0].start)
        written_there = (Edit(old.start, old.end, old.text, written(new, language)) for old, new in chosen)
        edited.append(apply_edits(text, written_there))
    return Pair(edited[0], edited[1], pair.domain)


def _single(numbers: Sequence[Quantity]) -> Iterator[tuple[tuple[str, str], Quantity]]:
    """Yield the numbers whose value only one has, each after its value."""
    counts = Counter(number.value for number in numbers)
    return ((number.value, number) for number in numbers if counts[number.value] == 1)


def _other_number(quantity: Quantity, draw: random.Random) -> Quantity:
    """A random number of the kind of `quantity`."""
    size, fraction = len(quantity.digits), "".join(draw.choice("0123456789") for _ in quantity.fraction)
    if not quantity.grouped and size == 4 and int(quantity.digits) in _YEARS and not fraction and not quantity.sign:
        return replace(quantity, digits=str(draw.randrange(1800, 2100)))
    if quantity.grouped or (size > 1 and not fraction and draw.random() < 0.5):
        return replace(quantity, digits=str(draw.randrange(1000, 10 ** draw.choice((4, 4, 5, 6)))), fraction=fraction, grouped=True)
    digits = draw.choice("123456789") + "".join(draw.choice("0123456789") for _ in range(size - 1))
    return replace(quantity, digits=digits, fraction=fraction[:-1] + draw.choice("123456789") if fraction else "")


def with_other_quantities(pair: Pair, draw: random.Random, languages: Languages = ("en", "de")) -> Pair:
    """Replace the times and numbers of a pair by random ones, where both sides have the same ones."""
    return with_other_numbers(with_other_times(pair, draw, languages, halves=True), draw, languages)


def with_copies(pairs: Iterable[Pair], count: int, change: Callable[[Pair, random.Random], Pair], seed: int = 0) -> Iterator[Pair]:
    """Yield each pair, and up to `count` different copies of it that `change` makes; none if it returns the pair itself."""
    draw = random.Random(seed)
    for pair in pairs:
        yield pair
        seen = {pair}
        for _ in range(count):
            copy = change(pair, draw)
            if copy not in seen:
                seen.add(copy)
                yield copy


_NUMBER = re.compile(r"\d+")
_PLAIN_NUMBER = re.compile(r"(?<![\w&#%])(?!1\b)\d+(?![\w$])")
"""A number that is not 1, which stands with the singular, and no part of a word, a character reference (&#39;) or a placeholder (%1$s)."""
_NAME = re.compile(r"\b[A-Z][a-zäöüß]{2,}\b")
_NAME_INSIDE = re.compile(r"(?<=[a-z,] )" + _NAME.pattern)
_LOWER = re.compile(r"\b[a-zäöüß]+\b")
_MOSTLY_NAME = 10
"""A name is capitalised inside sentences more than this many times as often as it is written in lower case in the target text."""
_TRIES = 20
"""Draws for a word that is not taken."""
_RARE = 200
"""Names that replace others occur at most this often, so that most of them are names that the model has hardly seen."""


class Variation:
    """Replaces numbers, times of day and names of pairs by others.

    A pair whose sides have the same numbers gets, with the probability `share`, random numbers of the same lengths instead: not for 1,
    which stands with the singular, and not in words, character references and placeholders. With the same probability, a pair whose
    sides have the same times (9:30 p.m. and 21.30 Uhr) gets others; numbers of times change in no other way. Names are capitalised words
    of the letters A to Z, a to z and äöüß inside sources that their targets have too. A pair with as many of each on both sides gets,
    with the probability `share`, rare names of `pairs` instead. Different numbers and names become different ones. The same `seed` gives
    the same result. `varied` counts the pairs changed.
    """

    def __init__(self, pairs: Iterable[Pair], share: float, seed: int = 0, languages: Languages = ("en", "de")) -> None:
        self._languages = languages
        self.share, self.varied, self._random = share, 0, random.Random(seed)
        names, lower = Counter[str](), Counter[str]()
        for pair in pairs:
            lower.update(_LOWER.findall(pair.target))
            in_target = set(_NAME.findall(pair.target))
            names.update(name for name in _NAME_INSIDE.findall(pair.source) if name in in_target)
        self._names = {name for name, count in names.items() if count > _MOSTLY_NAME * lower[name.lower()]}
        self._rare = sorted(name for name in self._names if names[name] <= _RARE)

    def __call__(self, pair: Pair) -> Pair:
        """The pair, or one with other numbers, times or names."""
        before, changes = pair, dict[str, str]()
        if self._random.random() < self.share:
            pair = with_other_times(pair, self._random, self._languages)
        found = (times(text, language) for text, language in zip((pair.source, pair.target), self._languages, strict=True))
        in_times = {number for each in found for time in each for number in _NUMBER.findall(time.text)}
        source, target = (Counter(_PLAIN_NUMBER.findall(text)) for text in (pair.source, pair.target))
        numbers = [number for number in source if source[number] == target[number] and number not in in_times]
        if numbers and same_numbers(pair.source, pair.target, self._languages) and self._random.random() < self.share:
            changes |= self._others(numbers, {*_NUMBER.findall(pair.source), "1"}, self._number)
        source, target = (Counter(_NAME.findall(text)) for text in (pair.source, pair.target))
        names = [name for name in source if name in self._names and source[name] == target[name]]
        if names and self._rare and self._random.random() < self.share:
            changes |= self._others(names, set(source), lambda _: self._random.choice(self._rare))
        varied = Pair(_replaced(pair.source, changes), _replaced(pair.target, changes), pair.domain)
        self.varied += varied != before
        return varied

    def _others(self, words: list[str], taken: set[str], draw: Callable[[str], str]) -> dict[str, str]:
        """A word that `draw` gives for each of `words`, none of them twice and none in `taken`; the word itself if none is found."""
        changes: dict[str, str] = {}
        for word in words:
            drawn = next((other for other in (draw(word) for _ in range(_TRIES)) if other not in taken), word)
            taken.add(drawn)
            changes[word] = drawn
        return changes

    def _number(self, like: str) -> str:
        first = self._random.choice("123456789") if like[0] != "0" else "0"
        return first + "".join(self._random.choice("0123456789") for _ in like[1:])


def _replaced(text: str, changes: dict[str, str]) -> str:
    for pattern in (_PLAIN_NUMBER, _NAME):
        text = pattern.sub(lambda found: changes.get(found.group(), found.group()), text)
    return text


def repetitions(counts: Mapping[str, int], temperature: float) -> dict[str, float]:
    """How often each domain is to be read, so that its share is proportional to count ** (1 / temperature) (Arivazhagan et al. 2019).

    `counts` has the number of pairs of each domain; the largest domain is read once. With a temperature of 1 or more, none is read
    less often.
    """
    largest = max(counts.values(), default=1)
    return {domain: (count / largest) ** (1 / temperature - 1) for domain, count in counts.items()}


def repeated(pairs: Iterable[Pair], times: Mapping[str, float]) -> Iterator[Pair]:
    """Yield each pair `times[its domain]` times on average, in order; the copies of a pair are adjacent.

    Of a domain that is read 2.5 times, every other pair is yielded three times, and the others twice.
    """
    seen = Counter[str]()
    for pair in pairs:
        due = times[pair.domain]
        copies = int((seen[pair.domain] + 1) * due) - int(seen[pair.domain] * due)
        seen[pair.domain] += 1
        for _ in range(copies):
            yield pair
