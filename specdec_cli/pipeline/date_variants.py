"""Variants of a text with other dates, and with numbers in the place of placeholders of which it has ordinals."""

import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from itertools import islice

from specdec_cli.pipeline.variants import Problem, Restored, Variant
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.dates import Date, find_dates, knows_dates, lost_dates, spelled_dates, with_dates
from specdec_cli.text.locale.languages import short_code
from specdec_cli.text.locale.quantities import Languages
from specdec_cli.text.locale.ranges import AmountRange, ReadAsOne, lost_ranges, read_as_one, with_ranges
from specdec_cli.text.locale.substitutes import Substitute, substitutes
from specdec_cli.text.protect.stand_ins import NUMBERS
from specdec_cli.text.shape import in_small_letters

VariantsOf = Callable[[str], Iterator[Variant]]
"""Yields the variants of a text."""
_FEW = 4
"""The largest number of variants of a text with other dates that are tried."""
_ORDINAL = re.compile(r"(?<![\w#$%{])(#|\$n|%(?:\d\$)?[ds]|%\d|%\(\w+\)[ds]|\$?\{[\w.]*\}|\{\{ ?[\w.]+ ?\}\})(?:st|nd|rd|th)(?!\w)")
"""An English ordinal of a placeholder: #th, {n}th, %1th, %dth."""
_WITH_STOP = frozenset(["cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr"])
"""The languages that write a full stop after the number of an ordinal."""


def dated(variants_of: VariantsOf, text: str, languages: Languages) -> Iterator[Variant]:
    """Yield the variants of a text, and if an output lacks dates, those with other dates."""
    if not knows_dates(languages):
        yield from variants_of(text)
        return
    text, lost = spelled_dates(text, languages[0]), set[Date | AmountRange]()
    watch = partial(_with_lost_dates, source=text, languages=languages, lost=lost)
    are_tried = False
    for each in variants_of(text):
        yield each.changed("", watch)
        if lost and not are_tried:
            are_tried = True
            yield from _with_other_dates(variants_of, text, languages, lost)


def _with_other_dates(variants_of: VariantsOf, text: str, languages: Languages, lost: Collection[Date | AmountRange]) -> Iterator[Variant]:
    """The variants of a text with other dates, which the model reads better, and with the ends of ranges, in the place of those that are
    `lost`.
    """
    found: list[Substitute | ReadAsOne] = list(substitutes(text, [each for each in lost if isinstance(each, Date)], languages))
    ranges = read_as_one(text, [each for each in lost if isinstance(each, AmountRange)], languages[0])
    for substitute in found if ranges is None else [ranges, *found]:

        def change(restored: Restored, substitute: Substitute | ReadAsOne = substitute) -> Restored | None:
            output = substitute.restored(restored.text, languages[1])
            return None if output is None else _with_lost_dates(restored._replace(text=output), text, languages, set())

        inner = variants_of(substitute.text)
        yield from (each.changed("other dates", change, lambda _: None) for each in islice(inner, _FEW))


def _with_lost_dates(restored: Restored, source: str, languages: Languages, lost: set[Date | AmountRange]) -> Restored:
    """An output with the dates of its `source` written anew where it has their parts, and the problems that it lacked them; these are added
    to `lost`.
    """
    missing: list[Date | AmountRange] = [*lost_ranges(source, restored.text, languages)]
    missing += lost_dates(source, restored.text, languages, are_strict=True)
    output = with_ranges(source, with_dates(source, restored.text, languages), languages)
    lost.update(missing)
    left: list[Date | AmountRange] = [*lost_dates(source, output, languages), *lost_ranges(source, output, languages)] if missing else []
    found = [Problem("date or range lost" if each in left else "date or range changed", each.text) for each in missing]
    return Restored(output, (*restored.problems, *found))


def with_ordinals(variants_of: VariantsOf, text: str, languages: Languages) -> Iterator[Variant]:
    """Yield the variants of a text with ordinals of numbers in the place of those of placeholders; none if it has no such ordinals."""
    if short_code(languages[0]) != "en" or short_code(languages[1]) not in _WITH_STOP:
        return
    found = list(_ORDINAL.finditer(text))
    free = [number for number in NUMBERS if number not in text]
    if not 0 < len(found) <= len(free):
        return
    numbers = dict(zip(free, (each[1] for each in found), strict=False))

    def change(restored: Restored) -> Restored | None:
        output = restored.text
        for number, placeholder in numbers.items():
            if len(re.findall(rf"(?<!\d){number}\.", output)) != 1:
                return None
            output = output.replace(f"{number}.", f"{placeholder}.")
        return restored._replace(text=output)

    shown = apply_edits(text, [Edit(*each.span(), each.group(), f"{number}th") for each, number in zip(found, numbers, strict=True)])
    inner = variants_of(shown)
    yield from (each.changed("ordinals", change, lambda _: None) for each in inner)


def in_small_letters_but_dates(text: str, language: str) -> str:
    """Return a text in capitals in small letters, but for the first letters of names in dates."""
    small = in_small_letters(text)
    edits = [Edit(each.start, each.end, small[each.start : each.end], each.text.title()) for each in find_dates(text, language)]
    return apply_edits(small, edits) if len(small) == len(text) else small
