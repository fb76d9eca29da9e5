"""Variants of a text that are decoded: as it is, with placeholders for protected spans, with other characters, in small letters, in parts.

Each output has problems, with costs. The first variant whose output has none is taken, else the one whose problems cost least.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle, islice
from typing import NamedTuple

from specdec_cli.text.apart import Apart, brackets_apart, count_repetitions, has_brackets_of, repetition_apart, speech_apart
from specdec_cli.text.checks import has_broken_characters, holds, repeats_itself, shortened_names
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.conventions import convention
from specdec_cli.text.locale.dates import Date, find_dates, knows_dates, lost_dates, spelled_dates, with_dates
from specdec_cli.text.locale.languages import is_function_word, short_code
from specdec_cli.text.locale.matching import lost_long_numbers, realise, tidied_numbers
from specdec_cli.text.locale.quantities import Languages, find_quantities, with_written, without_dash_cents, written_in
from specdec_cli.text.locale.ranges import AmountRange, ReadAsOne, lost_ranges, read_as_one, with_ranges
from specdec_cli.text.locale.scales import spelled_out
from specdec_cli.text.locale.substitutes import Substitute, substitutes
from specdec_cli.text.protect.characters import (
    DOTS,
    DOUBLE_QUOTES,
    ELLIPSIS,
    Lacks,
    known_signs,
    lacking_spans,
    plain_characters,
    with_dashes_of_ranges,
    with_fixed_spaces,
)
from specdec_cli.text.protect.spans import protected_spans, split_at
from specdec_cli.text.protect.stand_ins import (
    FOR_LOST,
    FOR_SPANS,
    NAME_AFTER,
    NAME_BEFORE,
    NUMBERS,
    name_pattern,
    names_for,
    united,
    with_names,
)
from specdec_cli.text.quotations import quotations, quoted_forms, with_own_quotes
from specdec_cli.text.segment.sentences import Segments
from specdec_cli.text.shape import in_small_letters, is_in_capitals, with_small_function_word

_CODE = re.compile(r"[`<%{$']")
"""The beginning of spans that disturb a translation more than placeholders do: code, tags and format arguments."""
_MAX_SPANS = 6
"""The largest number of spans in a text for which placeholders are tried."""
_EDGE = re.compile(r"^[\s,;:.!?)\]\"'\u2019\u201d-]+|[\s(\[\"'\u2018\u201c]+$")
_EMPTY_PAIR = re.compile(r"<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]*)?>\W*</\1>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_END = ".!?:;,\u2026"
_FEW = 4
"""The largest number of variants of a text with other dates that are tried."""
AS_IT_IS, IN_PARTS = "as it is", "in parts"
COSTS: Mapping[str, int] = {
    "copied": 60,
    "repetition": 40,
    "broken character": 30,
    "quotation marks lost": 25,
    "brackets lost": 25,
    "repetition lost": 15,
    "number lost": 20,
    "date or range lost": 20,
    "text lost": 8,
    "no text between tags": 7,
    "word lost": 7,
    IN_PARTS: 6,
    "name shortened": 5,
    "date or range changed": 3,
}
"""The problems of outputs and their costs."""


class Problem(NamedTuple):
    """What is wrong with an output: its kind, one of COSTS, and the part of the text that it is about."""

    kind: str
    detail: str = ""

    @property
    def cost(self) -> int:
        """How bad it is: an output with a smaller sum of costs is better."""
        return COSTS[self.kind]

    def __str__(self) -> str:
        return " ".join([self.kind, *filter(None, [self.detail]), str(self.cost)])


class Restored(NamedTuple):
    """The output for a text, and its problems."""

    text: str
    problems: tuple[Problem, ...] = ()

    @property
    def cost(self) -> int:
        """The sum of the costs of the problems."""
        return sum(problem.cost for problem in self.problems)


@dataclass(frozen=True)
class Variant:
    """One way to decode a text: the `segments` are decoded instead of it. `name` says what is special about it.

    `restore` returns the output for the text, given an output for each of the segments; None if it cannot be taken, since a protected span
    is lost, duplicated or out of order. `draft` returns an earlier translation of the text as a draft for the only segment; None if it can
    be no draft.
    """

    name: str
    segments: Segments
    restore: Callable[[Sequence[str]], Restored | None]
    draft: Callable[[str], str | None] = str

    def changed(self, name: str, change: Callable[[Restored], Restored | None], draft: Callable[[str], str | None] = str) -> "Variant":
        """The same variant of a changed text: `change` makes the output for the text before the change of one for it, and `draft` changes
        a draft.
        """

        def restore(outputs: Sequence[str]) -> Restored | None:
            restored = self.restore(outputs)
            return None if restored is None else change(restored)

        def changed_draft(text: str) -> str | None:
            own = draft(text)
            return None if own is None else self.draft(own)

        return Variant(f"{name}, {self.name}" if name else self.name, self.segments, restore, changed_draft)


def as_it_is(text: str) -> Variant:
    """The variant that decodes `text` as it is, without a check."""
    segments = _one(text)
    return Variant(AS_IT_IS, segments, lambda outputs: Restored(segments.join(outputs)))


def _one(text: str) -> Segments:
    return Segments((text,), ("", ""))


def _checked(segments: Segments, source: str, spans: tuple[str, ...], words: tuple[str, ...]) -> Variant:
    """The `source` as it is; each of the `words` must be in the output as often, in small or capital letters."""

    def restore(outputs: Sequence[str]) -> Restored | None:
        return _judged(segments.join(outputs), source, spans, words)

    return Variant(AS_IT_IS, segments, restore)


def _judged(output: str, source: str, spans: tuple[str, ...], words: tuple[str, ...] = ()) -> Restored | None:
    """An `output` with its problems; None if it has a protected span of the source more or less often, or tags and format arguments
    without a number or name in another order.
    """
    if not holds(output, source, spans):
        return None
    found = []
    if len(_EMPTY_PAIR.findall(output)) > len(_EMPTY_PAIR.findall(source)):
        found.append(Problem("no text between tags"))
    kept, there = source.casefold(), output.casefold()
    found += [Problem("word lost", word) for word in words if there.count(word.casefold()) < kept.count(word.casefold())]
    if _has_content(source, spans) and not _has_content(output, spans):
        found.append(Problem("text lost"))
    if repeats_itself(output, source):
        found.append(Problem("repetition"))
    if has_broken_characters(output, source):
        found.append(Problem("broken character"))
    return Restored(output, tuple(found))


def split_at_spans(text: str, positions: Sequence[tuple[int, int]], spans: tuple[str, ...]) -> Variant:
    """The texts between the `spans`, which are at the `positions` (start, end) of `text`, as `in_parts`."""
    texts: list[str] = []
    gaps, position = [""], 0
    for start, end in [*positions, (len(text), len(text))]:
        piece = text[position:start]
        if any(map(str.isalpha, piece)):
            left = _EDGE.match(piece)
            inner = piece[left.end() if left else 0 :]
            right = _EDGE.search(inner, 1)
            kept = inner[: right.start()] if right else inner
            gaps[-1] += piece[: len(piece) - len(inner)]
            texts.append(kept)
            gaps.append(inner[len(kept) :])
        else:
            gaps[-1] += piece
        gaps[-1] += text[start:end]
        position = end
    return in_parts(Segments(tuple(texts), tuple(gaps)), text, spans)


def in_parts(segments: Segments, source: str, spans: tuple[str, ...] = ()) -> Variant:
    """The parts of a text, which are decoded separately.

    Marks at the end of an output (. ! ? : ; , …) are removed if its part does not end with one, and a function word at its beginning
    gets a small letter if the part has one. If the result does not have each of the `spans` as often as the source, the source is the
    output.
    """

    def restore(outputs: Sequence[str]) -> Restored:
        pairs = zip(segments.texts, outputs, strict=True)
        kept = [with_small_function_word(output if text[-1] in _END else output.rstrip(_END) or output, text) for text, output in pairs]
        output = segments.join(kept)
        return Restored(output, (Problem(IN_PARTS),)) if holds(output, source, spans) else Restored(source, (Problem("copied"),))

    return Variant(IN_PARTS, segments, restore, lambda _: None)


def variants(
    text: str,
    *,
    latin: bool = False,
    also: Sequence[tuple[int, int]] = (),
    unchanged: bool = True,
    placeholders: Sequence[tuple[str, int]] = FOR_SPANS,
) -> Iterator[Variant]:
    """Yield the variants of `text` that concern its protected spans.

    Without spans, there is only the text itself. With spans, it is tried `unchanged`, unless one is code, a tag or a format argument, then
    with each kind of `placeholders`, first with numbers for format arguments that are numbers, so that their nouns are translated as
    after numbers, and last as separate texts between the spans. `latin`: see `protected_spans`; spans of `also` are protected too,
    overlapping ones as one span, but unchanged text is only checked for their signs and words: numbers may be written differently.
    """
    positions = protected_spans(text, latin=latin)
    checked = [text[start:end] for start, end in positions]
    positions = united([*positions, *also])
    if not positions:
        yield as_it_is(text)
        return
    spans = tuple(text[start:end] for start, end in positions)
    if unchanged and not any(map(_CODE.match, checked)):
        added = [text[start:end] for start, end in also]
        signs = [each for span in added for each in span if not _is_written_differently(each)]
        words = tuple(span for span in added if any(each.isalpha() and not each.isascii() for each in span))
        yield _checked(_one(text), text, (*checked, *signs), words)
    if len(spans) <= _MAX_SPANS:
        kinds = ((stem, first) for stem, first in placeholders if stem + str(first) not in text)
        yield from (_with_names(text, positions, spans, names) for kind in kinds for names in names_for(text, spans, kind))
    yield split_at_spans(text, positions, spans)


def _with_names(text: str, positions: Sequence[tuple[int, int]], spans: tuple[str, ...], names: tuple[str, ...]) -> Variant:
    """The text with a placeholder, one of `names`, in the place of each protected span.

    A space is inserted beside a placeholder where another span, or a character that must not stand there, is directly beside its span; it
    is removed from the output.
    """
    ends = [0, *(end for _, end in positions)]
    joined = tuple(
        (0 < start == last or NAME_BEFORE.fullmatch(text[:start][-1:]) is not None, NAME_AFTER.fullmatch(text[end : end + 1]) is not None)
        for last, (start, end) in zip(ends, positions, strict=False)
    )
    beside = [f"{' ' * before}{name}{' ' * after}" for name, (before, after) in zip(names, joined, strict=True)]
    segments = _one(apply_edits(text, [Edit(*place, span, shown) for place, span, shown in zip(positions, spans, beside, strict=True)]))

    def restore(outputs: Sequence[str]) -> Restored | None:
        output = segments.join(outputs)
        edits = []
        for name, span, (before, after) in zip(names, spans, joined, strict=True):
            found = list(re.finditer(f"{' ?' * before}{name_pattern(name)}{' ?' * after}", output))
            if len(found) != 1 or output.count(name) != 1:
                return None
            edits.append(Edit(*found[0].span(), found[0].group(), span))
        return _judged(apply_edits(output, sorted(edits)), text, spans)

    return Variant(names[0], segments, restore, lambda draft: with_names(draft, spans, names))


def _has_content(text: str, spans: Sequence[str]) -> bool:
    """Whether `text` has words outside of `spans` that are no function words."""
    for span in spans:
        text = text.replace(span, " ")
    return any(not is_function_word(word) for word in _WORD.findall(text))


def _is_written_differently(character: str) -> bool:
    return character.isalpha() or character.isdecimal() or character.isspace() or character in ".,"


def variants_with(lacks: Lacks, text: str, *, latin: bool = False, languages: Languages = ("", "")) -> Iterator[Variant]:
    """Yield the variants of `text`, for a model whose vocabulary `lacks` some characters.

    Spaces, invisible characters and ligatures become plain characters (see `plain_characters`). Currency signs, brackets and quotation
    marks are replaced by "$", "(", ")" and '"' for the model, and written back in its output, except for quotation marks. Other signs,
    and Latin letters, that are lacking are protected spans with their words (see `variants`), and so are the former if the output does
    not have as many of them. Stops, dashes and quotation marks are not protected. Long numbers and names that an output lacks become
    protected spans, numbers written as in the second of the `languages`. A text in capitals is decoded in small letters. One with
    quotations is decoded with other quotation marks if the output does not have all of them. Abbreviations of "million" and the like after
    amounts are spelled out, and dashes for no cents are left out. An ordinal of a placeholder (#th) is decoded as that of a number.
    """
    text = without_dash_cents(spelled_out(text, languages[0]), languages[0]) if languages[0] != languages[1] else text
    yield from _with_ordinals(lacks, text, latin=latin, languages=languages)
    if is_in_capitals(text, languages[0]):
        spans = tuple(text[start:end] for start, end in protected_spans(text, latin=latin))
        inner = _dated(lacks, _in_small_letters(text, languages[0]), latin=latin, languages=languages)
        # An earlier translation is in capitals too, and the model writes small letters here.
        yield from (each.changed("small letters", partial(_in_capitals, spans=spans), lambda _: None) for each in inner)
    else:
        yield from _dated(lacks, text, latin=latin, languages=languages)


def _dated(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    """The variants of a text, and if an output lacks dates, those with other dates."""
    if not knows_dates(languages):
        yield from _with_parts_apart(lacks, text, latin=latin, languages=languages)
        return
    text, lost = spelled_dates(text, languages[0]), set[Date | AmountRange]()
    watch = partial(_with_lost_dates, source=text, languages=languages, lost=lost)
    are_tried = False
    for each in _with_parts_apart(lacks, text, latin=latin, languages=languages):
        yield each.changed("", watch)
        if lost and not are_tried:
            are_tried = True
            yield from _with_other_dates(lacks, text, latin=latin, languages=languages, lost=lost)


def _with_other_dates(
    lacks: Lacks, text: str, *, latin: bool, languages: Languages, lost: Collection[Date | AmountRange]
) -> Iterator[Variant]:
    """The variants of a text with other dates, which the model reads better, and with the ends of ranges, in the place of those that are
    `lost`.
    """
    found: list[Substitute | ReadAsOne] = list(substitutes(text, [each for each in lost if isinstance(each, Date)], languages))
    ranges = read_as_one(text, [each for each in lost if isinstance(each, AmountRange)], languages[0])
    for substitute in found if ranges is None else [ranges, *found]:

        def change(restored: Restored, substitute: Substitute | ReadAsOne = substitute) -> Restored | None:
            output = substitute.restored(restored.text, languages[1])
            return None if output is None else _with_lost_dates(restored._replace(text=output), text, languages, set())

        inner = _with_parts_apart(lacks, substitute.text, latin=latin, languages=languages)
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


def _with_parts_apart(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    """The variants of a text, and if outputs have other brackets or repetitions than it, those with these apart."""
    found = _with_marks(lacks, text, latin=latin, languages=languages)
    if languages[0] == languages[1]:
        yield from found
        return
    yield from (each.changed("", partial(_with_lost_marks, source=text)) for each in found)
    for apart in (*brackets_apart(text), *repetition_apart(text, languages[1])):
        yield _decoded_apart(apart, lacks, latin=latin, languages=languages)


def _with_lost_marks(restored: Restored, source: str) -> Restored:
    """An output, and the problems that it has other brackets than the source, or repeats its first clause more or less often."""
    output, problems = restored
    if not has_brackets_of(output, source):
        problems = (*problems, Problem("brackets lost"))
    if count_repetitions(output) != count_repetitions(source) > 1:
        problems = (*problems, Problem("repetition lost"))
    return Restored(output, problems)


def _with_marks(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    """The variants of a text; if it has quotations, those with these apart, and with other quotation marks, come first."""
    for apart in speech_apart(text, languages):
        yield _decoded_apart(apart, lacks, latin=latin, languages=languages)
    forms = quoted_forms(text, languages[1])
    quotes = bool(quotations(text)) and not protected_spans(text, latin=latin)
    for form in forms if quotes and len(forms) > 1 else ():
        inner = _watched(lacks, form, latin=latin, languages=languages)
        yield from (each.changed("quotation marks", partial(_quoted, source=text, language=languages[1])) for each in inner)
    for each in _watched(lacks, text, latin=latin, languages=languages):
        yield each.changed("", partial(_unquoted, source=text, language=languages[1])) if quotes else each


def _decoded_apart(apart: Apart, lacks: Lacks, *, latin: bool, languages: Languages) -> Variant:
    """The variant of a text whose parts are decoded by themselves, each as in its own first variant."""
    parts = [next(_watched(lacks, text, latin=latin, languages=languages)) for text in apart.texts]
    texts = tuple(text for part in parts for text in part.segments.texts)

    def restore(outputs: Sequence[str]) -> Restored | None:
        own = iter(outputs)
        found = [part.restore([next(own) for _ in part.segments.texts]) for part in parts]
        kept = [each for each in found if each is not None]
        output = apart.join([each.text for each in kept]) if len(kept) == len(parts) else None
        return None if output is None else Restored(output, tuple(problem for each in kept for problem in each.problems))

    return Variant("apart", Segments(texts, ("",) * (len(texts) + 1)), restore, lambda _: None)


_ORDINAL = re.compile(r"(?<![\w#$%{])(#|\$n|%(?:\d\$)?[ds]|%\d|%\(\w+\)[ds]|\$?\{[\w.]*\}|\{\{ ?[\w.]+ ?\}\})(?:st|nd|rd|th)(?!\w)")
"""An English ordinal of a placeholder: #th, {n}th, %1th, %dth."""
_WITH_STOP = frozenset(["cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr"])
"""The languages that write a full stop after the number of an ordinal."""


def _with_ordinals(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    """The variants of a text with ordinals of numbers in the place of those of placeholders; none if it has no such ordinals."""
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
    inner = variants_with(lacks, shown, latin=latin, languages=languages)
    yield from (each.changed("ordinals", change, lambda _: None) for each in inner)


def _in_small_letters(text: str, language: str) -> str:
    """A text in capitals in small letters, but for the first letters of names in dates."""
    small = in_small_letters(text)
    edits = [Edit(each.start, each.end, small[each.start : each.end], each.text.title()) for each in find_dates(text, language)]
    return apply_edits(small, edits) if len(small) == len(text) else small


def _in_capitals(restored: Restored, spans: Sequence[str]) -> Restored:
    """An output in capitals outside of the `spans`."""
    pattern = "|".join(map(re.escape, sorted(spans, key=len, reverse=True)))
    parts = re.split(f"({pattern})", restored.text) if pattern else [restored.text]
    return restored._replace(text="".join(part if place % 2 else part.upper() for place, part in enumerate(parts)))


def _quoted(restored: Restored, source: str, language: str) -> Restored | None:
    """An output with the quotation marks of its language; None if it lacks some, or words beside them."""
    output = with_own_quotes(restored.text, source, language)
    return None if output is None else restored._replace(text=output)


def _unquoted(restored: Restored, source: str, language: str) -> Restored:
    """An output with the quotation marks of its language; if it lacks some, with its own, and this problem."""
    output = with_own_quotes(restored.text, source, language)
    if output is None:
        return restored._replace(problems=(*restored.problems, Problem("quotation marks lost")))
    return restored._replace(text=output)


def _watched(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    """The variants of a text, and if outputs of them lack long numbers, prices, times or letters of names, those with placeholders for
    these.
    """
    lost = set[str]()
    watch = partial(_with_lost, source=text, languages=languages, lost=lost)
    yield from (each.changed("", watch) for each in _in_plain_characters(lacks, text, latin=latin, languages=languages))
    if not lost:
        return
    written, spans = with_written(plain_characters(text, lacks), lost, *languages)
    also = sorted([*spans, *lacking_spans(written, [character for character in set(written) if lacks(character)])])
    inner = variants(written, latin=latin, also=also, unchanged=False, placeholders=FOR_LOST)
    yield from (each.changed("", watch) for each in inner if each.name != IN_PARTS)


def _with_lost(restored: Restored, source: str, languages: Languages, lost: set[str]) -> Restored:
    """An output with its quantities as its language writes them, and the problems that long numbers, prices, times or letters of names
    are missing; these are added to `lost`.
    """
    output = tidied_numbers(source, realise(source, restored.text, languages))
    numbers, names = lost_long_numbers(source, output, languages), shortened_names(source, output, languages[1])
    lost.update(numbers, names)
    found = [*(Problem("number lost", each) for each in numbers), *(Problem("name shortened", each) for each in names)]
    return Restored(output, (*restored.problems, *found))


def _in_plain_characters(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    plain = plain_characters(text, lacks)
    inner = _with_known_signs(lacks, plain, latin=latin, languages=languages)
    if plain == text:
        yield from inner
    else:
        change, draft = partial(_with_own_characters, source=text), partial(plain_characters, lacks=lacks)
        yield from (each.changed("plain characters", change, draft) for each in inner)


def _with_own_characters(restored: Restored, source: str) -> Restored:
    """An output with a no-break space after each number that has one in the source, and with the source's kind of ellipsis and of dash
    in ranges of numbers.
    """
    output = restored.text
    if ELLIPSIS in source and DOTS not in source:
        output = output.replace(DOTS, ELLIPSIS)
    return restored._replace(text=with_dashes_of_ranges(source, with_fixed_spaces(source, output)))


def _with_known_signs(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Variant]:
    protected = protected_spans(text, latin=latin)
    parts = split_at(text, protected)
    lacking = "".join(sorted(character for character in set("".join(parts[::2])) if lacks(character)))
    spans = lacking_spans(text, lacking)
    known, fitted = known_signs(text, lacking, lacks), _fitted_signs(text, languages)
    if known:
        parts[::2] = ["".join(known.get(character, character) for character in part) for part in parts[::2]]
        shown = "".join(parts)
        pairs = list(zip(text, shown, strict=True))
        written_back = {sign for character, sign in known.items() if character not in DOUBLE_QUOTES}
        written_back |= set("()") if written_back & set("()") else set()  # none is added in the output either
        originals = {sign: "".join(old for old, new in pairs if new == sign) for sign in written_back}
        signs = {each: sign for sign, own in originals.items() for each in own}
        rest = lacking_spans(shown, [character for character in lacking if character not in known])
        kept = tuple(text[start:end] for start, end in protected)
        change = partial(_with_originals, originals=originals, source=text, spans=kept, fitted=fitted)
        draft = partial(_with_signs, signs=signs)
        yield from (each.changed("known signs", change, draft) for each in variants(shown, latin=latin, also=rest))
    # Amounts with signs that are lacking, too, are written as in the target language.
    written, moved = written_in(text, spans, languages)
    yield from variants(written, latin=latin, also=moved, unchanged=not known)


def _fitted_signs(text: str, languages: Languages) -> frozenset[str]:
    """The signs of currencies that stand only in prices. An output need not be checked for these signs: `realise` writes the sign beside
    each amount, and lost amounts are found by another check.
    """
    if languages[0] == languages[1] or convention(languages[1]) is None:
        return frozenset()
    prices = Counter(quantity.sign for quantity in find_quantities(text, languages[0]) if quantity.sign)
    return frozenset(sign for sign, count in prices.items() if text.count(sign) == count)


def _with_originals(
    restored: Restored, originals: Mapping[str, str], source: str, spans: Sequence[str], fitted: frozenset[str]
) -> Restored | None:
    """An output with the original characters, in order, for the known ones that stood for them in the text.

    `originals` maps each known character to those in the `source` that were written as it, itself included. None if the output has more or
    fewer of the known ones, other than those that stand for `fitted` signs, or if one of the protected `spans` is changed.
    """
    output = restored.text
    if any(output.count(known) != len(found) for known, found in originals.items() if not found or not fitted.issuperset(found)):
        return None
    found = {known: cycle(characters) for known, characters in originals.items()}
    output = "".join(next(found[character]) if character in found else character for character in output)
    return restored._replace(text=output) if holds(output, source, spans) else None


def _with_signs(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(character, character) for character in text)
