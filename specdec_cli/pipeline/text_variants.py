"""All variants of a text: with other characters, quotation marks and brackets, in small letters, with other dates and ordinals, in parts,
and with placeholders for what an output lacks. STEPS has their order.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, cycle, islice
from operator import methodcaller
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.pipeline.variants import IN_PARTS, Problem, Restored, Variant, variants
from specdec_cli.text.apart import (
    Apart,
    brackets_apart,
    count_repetitions,
    has_brackets_of,
    has_menus_of,
    menus_apart,
    repeats_as,
    repetition_apart,
    speech_apart,
)
from specdec_cli.text.checks import holds, shortened_names
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.amounts import (
    AmountRange,
    find_ranges,
    lost_letters,
    lost_ranges,
    read_as_one,
    spelled_out,
    with_ranges,
    with_references,
)
from specdec_cli.text.locale.dates import Date, find_dates, knows_dates, lost_dates, spelled_dates, with_dates
from specdec_cli.text.locale.languages import convention
from specdec_cli.text.locale.matching import lost_long_numbers, realise, tidied_numbers
from specdec_cli.text.locale.other_dates import substitutes, with_months_in_digits, with_named_months
from specdec_cli.text.locale.quantities import Languages, find_quantities, with_written, without_dash_cents, written_in
from specdec_cli.text.marks import DOTS, ELLIPSIS
from specdec_cli.text.people import lost_names, names_in, without_gender_signs
from specdec_cli.text.protect.characters import (
    DOUBLE_QUOTES,
    TWO_ELLIPSES,
    Lacks,
    known_signs,
    lacking_spans,
    plain_characters,
    with_dashes_of_ranges,
    with_fixed_spaces,
)
from specdec_cli.text.protect.spans import protected_spans, split_at
from specdec_cli.text.protect.stand_ins import FOR_LOST, FOR_SPANS, NUMBERS, ReadText, StandIn, read_text, read_with
from specdec_cli.text.quotations import (
    escaped_marks,
    has_marks,
    lost_primes,
    quotations,
    quoted_forms,
    with_own_quotes,
    with_primes,
    without_escapes,
)
from specdec_cli.text.segment.sentences import Segments
from specdec_cli.text.shape import in_small_letters, is_in_capitals, without_stress

_FEW = 4
"""The largest number of variants of a text with other units and names, or other dates, that are tried."""
_ORDINAL = re.compile(r"(?<![\w#$%{])(#|\$n|%(?:\d\$)?[ds]|%\d|%\(\w+\)[ds]|\$?\{[\w.]*\}|\{\{ ?[\w.]+ ?\}\})(?:st|nd|rd|th)(?!\w)")
"""An English ordinal of a placeholder: #th, {n}th, %1th, %dth."""
_WITH_STOP = frozenset(["cs", "da", "de", "et", "fi", "hr", "hu", "is", "lv", "nb", "nn", "no", "pl", "sk", "sl", "sr"])
"""The languages that write a full stop after the number of an ordinal."""


class Setting(NamedTuple):
    """What the variants of a text depend on: whether the model's vocabulary `lacks` a character, `latin` (see `protected_spans`), the
    languages of text and translation, and which of RULES are off.
    """

    lacks: Lacks
    latin: bool
    languages: Languages
    without: Collection[str] = ()

    def uses(self, rule: str) -> bool:
        """Whether one of RULES is on."""
        return rule not in self.without

    @property
    def translates(self) -> bool:
        """Whether the languages differ."""
        return self.languages[0] != self.languages[1]


Change = Callable[[Restored], Restored | None]
"""Turns the translation of a replaced text into the translation of the original text; None if that is not possible."""


def _no_draft(_: str) -> None:
    return None


class Read(NamedTuple):
    """A text that is read in the place of another one: `name` says what is special about it, `change` and `draft` are those of
    `Variant.changed`, and `most` is the largest number of its variants that are tried.
    """

    text: str
    change: Change | None = None
    name: str = ""
    draft: Callable[[str], str | None] = str
    most: int | None = None


class Step(NamedTuple):
    """One step in rewriting a text before the model translates it. `rule` is the name by which `--without` turns it off; "" if it has
    several rules or is always on. `read` returns the texts to translate in place of a text, or variants of it, in the order in which to
    try them; None if the step does not apply to the text.

    `again` returns more of them for the problems of outputs that were found: as soon as there are some if it is `at_once`, else at last.
    """

    rule: str
    read: Callable[[Setting, str], Iterator[Read | Variant] | None]
    again: Callable[[Setting, str, Collection[Problem]], Iterator[Read | Variant]] | None = None
    at_once: bool = False


def variants_with(
    lacks: Lacks, text: str, *, latin: bool = False, languages: Languages = ("", ""), without: Collection[str] = ()
) -> Iterator[Variant]:
    """Yield the variants of `text` that STEPS make, but for those of RULES that are in `without`, for a model whose vocabulary `lacks` some
    characters; `latin` is as in `protected_spans`.
    """
    return _variants(Setting(lacks, latin, languages, without), text, STEPS)


def _variants(setting: Setting, text: str, steps: Sequence[Step]) -> Iterator[Variant]:
    """Yield the variants of a text by some of the STEPS, of which the last one yields variants alone."""
    for number, step in enumerate(steps, 1):
        reads = step.read(setting, text) if setting.uses(step.rule) else None
        if reads is None:
            continue
        problems, again = set[Problem](), step.again
        tried = partial(_tried, setting, steps=steps[number:], problems=None if again is None else problems)
        for each in tried(reads):
            yield each
            if again and problems and step.at_once:
                yield from tried(again(setting, text, problems))
                again = None
        if again and problems:
            yield from tried(again(setting, text, problems))
        return


def _tried(setting: Setting, reads: Iterator[Read | Variant], steps: Sequence[Step], problems: set[Problem] | None) -> Iterator[Variant]:
    """Yield the variants of texts that are read in the place of another one; `problems` become those that their changes find."""
    for read in reads:
        if isinstance(read, Variant):
            yield read
            continue
        change = read.change if problems is None or read.change is None else partial(_noted, change=read.change, problems=problems)
        for each in islice(_variants(setting, read.text, steps), read.most):
            yield each.changed(read.name, change, read.draft) if change else each


def _noted(restored: Restored, change: Change, problems: set[Problem]) -> Restored | None:
    changed = change(restored)
    if changed is not None and changed.problems != restored.problems:
        problems.update({*changed.problems} - {*restored.problems})
    return changed


def _escapes(setting: Setting, text: str) -> Iterator[Read] | None:
    marks = escaped_marks(text) if setting.translates else None
    return iter([Read(without_escapes(text), partial(_with_escapes, marks=marks), "escapes", without_escapes)]) if marks else None


def _with_escapes(restored: Restored, marks: Collection[str]) -> Restored:
    """An output with a backslash before each of the `marks`."""
    return restored._replace(text=re.sub(f"(?<!\\\\)[{''.join(sorted(marks))}]", r"\\\g<0>", restored.text))


def _readings(setting: Setting, text: str) -> Iterator[Read] | None:
    read = read_text(text, setting.languages) if setting.translates else None
    if read is None:
        return None
    return _with_stand_ins(text, read, "readings", _FEW)


def _with_stand_ins(text: str, read: ReadText, rule: str, most: int | None = None) -> Iterator[Read]:
    """Try a text with stand-ins, then the text itself."""
    return iter([Read(read.text, partial(_put_back, back=read.restored), rule, _no_draft, most), Read(text)])


def _put_back(restored: Restored, back: Callable[[str], str | None]) -> Restored | None:
    output = back(restored.text)
    return None if output is None else restored._replace(text=output)


def _rewritten(write: Callable[[str, str], str]) -> Callable[[Setting, str], Iterator[Read] | None]:
    """Make the step that translates `write(text, language)` in place of a text."""

    def read(setting: Setting, text: str) -> Iterator[Read] | None:
        shown = write(text, setting.languages[0]) if setting.translates else text
        return iter([Read(shown)]) if shown != text else None

    return read


def _months(setting: Setting, text: str) -> Iterator[Read] | None:
    named = with_named_months(text, setting.languages[0]) if setting.translates else text
    back = partial(with_months_in_digits, text, languages=setting.languages)
    return iter([Read(named, partial(_put_back, back=back))]) if named != text else None


def _ordinals(setting: Setting, text: str) -> Iterator[Read] | None:
    """Try a text whose ordinals of placeholders (#th) are replaced by those of numbers (37th), then the text itself."""
    if short_code(setting.languages[0]) != "en" or short_code(setting.languages[1]) not in _WITH_STOP:
        return None
    matches = list(_ORDINAL.finditer(text))
    free = [number for number in NUMBERS if number not in text]
    if not 0 < len(matches) <= len(free):
        return None
    pairs = zip(matches, free, strict=False)
    numbers = [StandIn(*each.span(), f"{number}th", rf"(?<!\d){number}\.", f"{each[1]}.") for each, number in pairs]
    return _with_stand_ins(text, read_with(text, numbers), "ordinals")


def _small_letters(setting: Setting, text: str) -> Iterator[Read] | None:
    """A text in capitals in small letters, but for the first letters of names in dates."""
    language = setting.languages[0]
    if not is_in_capitals(text, language):
        return None
    spans, small = tuple(text[start:end] for start, end in protected_spans(text, latin=setting.latin)), in_small_letters(text)
    if len(small) == len(text):
        dates = find_dates(text, language)
        small = apply_edits(small, [Edit(each.start, each.end, small[each.start : each.end], each.text.title()) for each in dates])
    # An earlier translation is in capitals too, and the model writes small letters here.
    return iter([Read(small, partial(_in_capitals, spans=spans), "small letters", _no_draft)])


def _in_capitals(restored: Restored, spans: Sequence[str]) -> Restored:
    """Write an output in capital letters, except the parts that equal one of the `spans`."""
    pattern = "|".join(map(re.escape, sorted(spans, key=len, reverse=True)))
    parts = re.split(f"({pattern})", restored.text) if pattern else [restored.text]
    return restored._replace(text="".join(part if index % 2 else part.upper() for index, part in enumerate(parts)))


def _dates(setting: Setting, text: str) -> Iterator[Read] | None:
    languages = setting.languages
    if not knows_dates(languages):
        return None
    spelled = spelled_dates(text, languages[0])
    return iter([Read(spelled, partial(_with_lost_dates, source=spelled, languages=languages))])


def _other_dates(setting: Setting, text: str, problems: Collection[Problem]) -> Iterator[Read]:
    """A text with other dates, which the model reads better, and with the ends of ranges, in the place of those that outputs lack."""
    text, languages = spelled_dates(text, setting.languages[0]), setting.languages
    lost = {each.detail for each in problems}

    def change(restored: Restored, back: Callable[[str], str | None]) -> Restored | None:
        whole = _put_back(restored, back)
        return None if whole is None else _with_lost_dates(whole, text, languages)

    if (ranges := read_as_one(text, [each for each in find_ranges(text, languages[0]) if each.text in lost], languages)) is not None:
        yield Read(ranges.text, partial(change, back=ranges.restored), "other dates", _no_draft, _FEW)
    for other in substitutes(text, [each for each in find_dates(text, languages[0]) if each.text in lost], languages):
        yield Read(other.text, partial(change, back=other.restored), "other dates", _no_draft, _FEW)


def _with_lost_dates(restored: Restored, source: str, languages: Languages) -> Restored:
    """An output with the dates of its `source` written anew where it has their parts, and the problems that it lacked them."""

    def lost(output: str, *, are_strict: bool) -> list[Date | AmountRange]:
        return [*lost_ranges(source, output, languages), *lost_dates(source, output, languages, are_strict=are_strict)]

    output = with_ranges(source, with_dates(source, restored.text, languages), languages)
    missing = lost(restored.text, are_strict=True)
    left = lost(output, are_strict=False) if missing else []
    problems = [Problem("date or range lost" if each in left else "date or range changed", each.text) for each in missing]
    return Restored(output, (*restored.problems, *problems))


def _cut(rule: str, has: Callable[[str], bool], keeps: Callable[[str, str], bool], cut: Callable[[str, str], Iterator[Apart]]) -> Step:
    """The step of a rule that cuts a text, for a translation in a language, if outputs do not keep what the rule is about and the text
    `has`.
    """

    def change(restored: Restored, source: str) -> Restored:
        return restored if keeps(restored.text, source) else restored.with_problems(f"{rule} lost")

    def read(setting: Setting, text: str) -> Iterator[Read | Variant] | None:
        if not setting.translates or not has(text):
            return None
        apart = (_decoded_apart(each, setting, rule) for each in cut(text, setting.languages[1]))
        return chain([Read(text, partial(change, source=text))], apart)

    return Step(rule, read)


def _speech(setting: Setting, text: str) -> Iterator[Read | Variant] | None:
    if not quotations(text):
        return None
    return chain((_decoded_apart(apart, setting, "speech") for apart in speech_apart(text, setting.languages)), [Read(text)])


def _decoded_apart(apart: Apart, setting: Setting, rule: str) -> Variant:
    """The variant of a text, by the name of a rule, whose parts are decoded by themselves, each as in its own first variant."""
    parts = [next(_variants(setting, text, STEPS[_OF_PARTS:])) for text in apart.texts]
    texts = tuple(text for part in parts for text in part.segments.texts)

    def restore(outputs: Sequence[str]) -> Restored | None:
        own = iter(outputs)
        found = [part.restore([next(own) for _ in part.segments.texts]) for part in parts]
        kept = [each for each in found if each is not None]
        output = apart.join([each.text for each in kept]) if len(kept) == len(parts) else None
        return None if output is None else Restored(output, tuple(problem for each in kept for problem in each.problems))

    return Variant(f"{rule} apart", Segments(texts, ("",) * (len(texts) + 1)), restore, lambda _: None)


def _quotation_marks(setting: Setting, text: str) -> Iterator[Read] | None:
    """Try a text that has quotations with other kinds of quotation marks, then with its own marks."""
    in_spans = (text[start:end] for start, end in protected_spans(text, latin=setting.latin))
    if not quotations(text) or any(map(has_marks, in_spans)):
        return None
    language = setting.languages[1]
    forms = quoted_forms(text, language)
    quoted, unquoted = (partial(change, source=text, language=language) for change in (_quoted, _unquoted))
    return chain((Read(form, quoted, "quotation marks") for form in (forms if len(forms) > 1 else ())), [Read(text, unquoted)])


def _speech_at_last(setting: Setting, text: str, _: Collection[Problem]) -> Iterator[Variant]:
    parts = speech_apart(text, setting.languages, at_last=True) if setting.uses("speech") else ()
    return (_decoded_apart(apart, setting, "speech") for apart in parts)


def _quoted(restored: Restored, source: str, language: str) -> Restored | None:
    """An output with the quotation marks of its language; None if it lacks some, or words beside them."""
    output = with_own_quotes(restored.text, source, language)
    return None if output is None else restored._replace(text=output)


def _unquoted(restored: Restored, source: str, language: str) -> Restored:
    """An output with the quotation marks of its language; if it lacks some, with its own, and this problem."""
    return _quoted(restored, source, language) or restored.with_problems("quotation marks lost")


def _with_placeholders_for_lost(setting: Setting, text: str, problems: Collection[Problem]) -> Iterator[Variant]:
    """The variants with placeholders for long numbers, prices, times and names that outputs lack."""
    lost = {each.detail for each in problems}
    written, spans = with_written(plain_characters(text, setting.lacks), lost, *setting.languages)
    also = sorted([*spans, *lacking_spans(written, [character for character in set(written) if setting.lacks(character)])])
    kinds = FOR_SPANS if lost.issubset(names_in(text, setting.languages[0])) else FOR_LOST
    watch = partial(_with_lost, source=text, setting=setting)
    inner = variants(written, latin=setting.latin, also=also, unchanged=False, placeholders=kinds)
    return (each.changed("", watch) for each in inner if each.name != IN_PARTS)


def _with_lost(restored: Restored, source: str, setting: Setting) -> Restored:
    """An output with its quantities as its language writes them, and the problems that long numbers, prices, times or letters of names
    are missing.
    """
    output, languages = restored.text, setting.languages
    numbers, names, others = list[str](), list[str](), list[str]()
    if setting.uses("numbers"):
        output = with_references(source, with_primes(source, tidied_numbers(source, realise(source, output, languages))), languages)
        numbers = lost_long_numbers(source, output, languages)
        numbers += [*lost_primes(source, output), *lost_letters(source, output)] if setting.translates else []
    if setting.uses("names"):
        names = shortened_names(source, output, languages[1])
        others = lost_names(source, output, languages[0]) if setting.translates else []
    kinds = {"number lost": numbers, "name shortened": names, "name lost": others}
    problems = [Problem(kind, each) for kind, parts in kinds.items() for each in parts]
    return Restored(output, (*restored.problems, *problems))


def _plain_characters(setting: Setting, text: str) -> Iterator[Read] | None:
    plain = plain_characters(text, setting.lacks)
    change, draft = partial(_with_own_characters, source=text), partial(plain_characters, lacks=setting.lacks)
    return iter([Read(plain, change, "plain characters", draft)]) if plain != text else None


def _with_own_characters(restored: Restored, source: str) -> Restored:
    """An output with a no-break space after each number that has one in the source, and with the source's kind of ellipsis and of dash
    in ranges of numbers.
    """
    output = restored.text
    if ELLIPSIS in source and DOTS not in source:
        output = output.replace(DOTS, ELLIPSIS)
    if " && " in source and "&&" not in output:
        output = output.replace(" & ", " && ")
    if source.count(TWO_ELLIPSES) == output.count(f"{DOTS} ") == 1 and TWO_ELLIPSES not in output:
        output = output.replace(f"{DOTS} ", TWO_ELLIPSES)
    return restored._replace(text=with_dashes_of_ranges(source, with_fixed_spaces(source, output)))


def _with_known_signs(setting: Setting, text: str) -> Iterator[Variant]:
    protected = protected_spans(text, latin=setting.latin)
    parts = split_at(text, protected)
    lacking = "".join(sorted(character for character in set("".join(parts[::2])) if setting.lacks(character)))
    spans = lacking_spans(text, lacking)
    known, fitted = known_signs(text, lacking, setting.lacks), _fitted_signs(text, setting.languages)
    if known and setting.uses("known signs"):
        parts[::2] = ["".join(known.get(character, character) for character in part) for part in parts[::2]]
        shown = "".join(parts)
        pairs = list(zip(text, shown, strict=True))
        written_back = {sign for character, sign in known.items() if character not in DOUBLE_QUOTES}
        written_back |= set("()") if written_back & set("()") else set()  # none is added in the output either
        originals = {sign: "".join(old for old, new in pairs if new == sign) for sign in written_back}
        signs = str.maketrans({each: sign for sign, own in originals.items() for each in own})
        rest = lacking_spans(shown, [character for character in lacking if character not in known])
        kept = tuple(text[start:end] for start, end in protected)
        change = partial(_with_originals, originals=originals, source=text, spans=kept, fitted=fitted)
        draft = methodcaller("translate", signs)
        yield from (each.changed("known signs", change, draft) for each in variants(shown, latin=setting.latin, also=rest))
    # Amounts with signs that are lacking, too, are written as in the target language.
    written, moved = written_in(text, spans, setting.languages)
    yield from variants(written, latin=setting.latin, also=moved, unchanged=not (known and setting.uses("known signs")))


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


STEPS = (
    Step("escapes", _escapes),
    Step("readings", _readings),
    Step("scales", _rewritten(lambda text, language: without_dash_cents(spelled_out(text, language), language))),
    Step("genders", _rewritten(without_gender_signs)),
    Step("stress", _rewritten(without_stress)),
    Step("months", _months),
    Step("ordinals", _ordinals),
    Step("small letters", _small_letters),
    Step("dates", _dates, _other_dates, at_once=True),
    _cut(
        "repetition",
        lambda text: count_repetitions(text) > 1,
        repeats_as,
        repetition_apart,
    ),
    _cut("menus", lambda text: " > " in text, has_menus_of, lambda text, _: menus_apart(text)),
    _cut("brackets", lambda _: True, has_brackets_of, lambda text, _: brackets_apart(text)),  # an output may have new ones
    Step("speech", _speech),
    Step("quotation marks", _quotation_marks, _speech_at_last),
    Step("", lambda setting, text: iter([Read(text, partial(_with_lost, source=text, setting=setting))]), _with_placeholders_for_lost),
    Step("plain characters", _plain_characters),
    Step("", _with_known_signs),
)
"""The steps in order: what an earlier one reads goes through the later ones, and what it changes in outputs is changed after these."""
_OF_PARTS = 14
"""From this step on, each part of a text that is cut is decoded as a text of its own."""
RULES = (*(step.rule for step in STEPS if step.rule), "numbers", "names", "known signs")
"""The names of the rules by which a text is decoded in other ways than as it is, or its output is written anew; each may be off."""
