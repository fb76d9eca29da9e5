"""All variants of a text: with other characters, quotation marks and brackets, in small letters, with other dates and ordinals, in parts,
and with placeholders for what an output lacks.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import cycle, islice
from typing import NamedTuple

from specdec_cli.pipeline.date_variants import dated, in_small_letters_but_dates, with_ordinals
from specdec_cli.pipeline.variants import IN_PARTS, Problem, Restored, Variant, variants
from specdec_cli.text.apart import (
    Apart,
    brackets_apart,
    count_repetitions,
    has_brackets_of,
    has_menus_of,
    menus_apart,
    repetition_apart,
    speech_apart,
)
from specdec_cli.text.checks import holds, shortened_names
from specdec_cli.text.genders import without_gender_signs
from specdec_cli.text.locale.conventions import convention
from specdec_cli.text.locale.dates_in_digits import with_months_in_digits, with_named_months
from specdec_cli.text.locale.matching import lost_long_numbers, realise, tidied_numbers
from specdec_cli.text.locale.quantities import Languages, find_quantities, with_written, without_dash_cents, written_in
from specdec_cli.text.locale.readings import ReadText, read_text
from specdec_cli.text.locale.scales import lost_letters, spelled_out, with_references
from specdec_cli.text.marks import DOTS, ELLIPSIS
from specdec_cli.text.people import lost_names, names_in
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
from specdec_cli.text.protect.stand_ins import FOR_LOST, FOR_SPANS
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
from specdec_cli.text.shape import is_in_capitals, without_stress

_FEW = 4
"""The largest number of variants of a text with other units and names that are tried."""


RULES = (
    *("escapes", "readings", "scales", "genders", "stress", "months", "ordinals", "dates", "small letters", "speech"),
    *("quotation marks", "brackets", "menus", "repetition", "numbers", "names", "plain characters", "known signs"),
)
"""The names of the rules by which a text is decoded in other ways than as it is, or its output is written anew; each may be off."""


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


def variants_with(
    lacks: Lacks, text: str, *, latin: bool = False, languages: Languages = ("", ""), without: Collection[str] = ()
) -> Iterator[Variant]:
    """Yield the variants of `text`, for a model whose vocabulary `lacks` some characters.

    Spaces, invisible characters and ligatures become plain characters (see `plain_characters`). Currency signs, brackets and quotation
    marks are replaced by "$", "(", ")" and '"' for the model, and written back in its output, except for quotation marks. Other signs, and
    Latin letters, that are lacking are protected spans with their words (see `variants`), and so are the former if the output does not
    have as many of them. Stops, dashes and quotation marks are not protected. Long numbers and names that an output lacks become protected
    spans, numbers written as in the second of the `languages`. A text in capitals is decoded in small letters, and so are words in
    capitals for stress. One with quotations is decoded with other quotation marks if the output does not have all of them. Abbreviations
    of "million" and the like after amounts are spelled out, and dashes for no cents are left out. Quotation marks and apostrophes with a
    backslash, as in string literals, are read without it; those of the output have one again. An ordinal of a placeholder (#th) is decoded
    as that of a number. Those of RULES that are in `without` are off.
    """
    setting = Setting(lacks, latin, languages, without)
    again = partial(variants_with, lacks, latin=latin, languages=languages, without=without)
    if setting.translates:
        if setting.uses("escapes") and (escaped := escaped_marks(text)):
            found = again(without_escapes(text))
            yield from (each.changed("escapes", partial(_with_escapes, marks=escaped), without_escapes) for each in found)
            return
        if setting.uses("readings") and (read := read_text(text, languages)) is not None:
            found = again(read.text)
            yield from (each.changed("readings", partial(_with_readings, read=read), lambda _: None) for each in islice(found, _FEW))
        text = _read_alike(setting, text)
        if setting.uses("months") and (named := with_named_months(text, languages[0])) != text:
            change = partial(_with_months_in_digits, source=text, languages=languages)
            yield from (each.changed("", change) for each in again(named))
            return
    if setting.uses("ordinals"):
        yield from with_ordinals(again, text, languages)
    inner_variants = partial(_with_parts_apart, setting)
    with_dates = partial(dated, inner_variants, languages=languages) if setting.uses("dates") else inner_variants
    if setting.uses("small letters") and is_in_capitals(text, languages[0]):
        spans = tuple(text[start:end] for start, end in protected_spans(text, latin=latin))
        inner = with_dates(in_small_letters_but_dates(text, languages[0]))
        # An earlier translation is in capitals too, and the model writes small letters here.
        yield from (each.changed("small letters", partial(_in_capitals, spans=spans), lambda _: None) for each in inner)
    else:
        yield from with_dates(text)


def _read_alike(setting: Setting, text: str) -> str:
    """A text with scales of amounts spelled out, without dashes for no cents, signs of genders, and capitals for stress."""
    language = setting.languages[0]
    if setting.uses("scales"):
        text = without_dash_cents(spelled_out(text, language), language)
    if setting.uses("genders"):
        text = without_gender_signs(text, language)
    return without_stress(text, language) if setting.uses("stress") else text


def _with_escapes(restored: Restored, marks: Collection[str]) -> Restored:
    """An output with a backslash before each of the `marks`."""
    return restored._replace(text=re.sub(f"(?<!\\\\)[{''.join(sorted(marks))}]", r"\\\g<0>", restored.text))


def _with_readings(restored: Restored, read: ReadText) -> Restored | None:
    output = read.restored(restored.text)
    return None if output is None else restored._replace(text=output)


def _with_months_in_digits(restored: Restored, source: str, languages: Languages) -> Restored:
    return restored._replace(text=with_months_in_digits(source, restored.text, languages))


def _with_parts_apart(setting: Setting, text: str) -> Iterator[Variant]:
    """The variants of a text, and if outputs have other brackets or repetitions than it, those with these apart."""
    found = _with_marks(setting, text)
    if not setting.translates:
        yield from found
        return
    yield from (each.changed("", partial(_with_lost_marks, source=text, setting=setting)) for each in found)
    ways: dict[str, Callable[[str], Iterator[Apart]]] = {
        "brackets": brackets_apart,
        "menus": menus_apart,
        "repetition": partial(repetition_apart, language=setting.languages[1]),
    }
    for rule, cut in ways.items():
        yield from (_decoded_apart(apart, setting, rule) for apart in (cut(text) if setting.uses(rule) else ()))


def _with_lost_marks(restored: Restored, source: str, setting: Setting) -> Restored:
    """An output, and the problems that it has other brackets or menus than the source, or repeats its first clause more or less often."""
    output, problems = restored
    if setting.uses("brackets") and not has_brackets_of(output, source):
        problems = (*problems, Problem("brackets lost"))
    if setting.uses("menus") and not has_menus_of(output, source):
        problems = (*problems, Problem("menus lost"))
    if setting.uses("repetition") and count_repetitions(output) != count_repetitions(source) > 1:
        problems = (*problems, Problem("repetition lost"))
    return Restored(output, problems)


def _with_marks(setting: Setting, text: str) -> Iterator[Variant]:
    """The variants of a text; if it has quotations, those with these apart, and with other quotation marks, come first."""
    if setting.uses("speech"):
        yield from (_decoded_apart(apart, setting, "speech") for apart in speech_apart(text, setting.languages))
    if not setting.uses("quotation marks"):
        yield from _watched(setting, text)
        return
    forms = quoted_forms(text, setting.languages[1])
    in_spans = (text[start:end] for start, end in protected_spans(text, latin=setting.latin))
    quotes = bool(quotations(text)) and not any(map(has_marks, in_spans))
    for form in forms if quotes and len(forms) > 1 else ():
        inner = _watched(setting, form)
        yield from (each.changed("quotation marks", partial(_quoted, source=text, language=setting.languages[1])) for each in inner)
    for each in _watched(setting, text):
        yield each.changed("", partial(_unquoted, source=text, language=setting.languages[1])) if quotes else each


def _decoded_apart(apart: Apart, setting: Setting, rule: str) -> Variant:
    """The variant of a text, by the name of a rule, whose parts are decoded by themselves, each as in its own first variant."""
    parts = [next(_watched(setting, text)) for text in apart.texts]
    texts = tuple(text for part in parts for text in part.segments.texts)

    def restore(outputs: Sequence[str]) -> Restored | None:
        own = iter(outputs)
        found = [part.restore([next(own) for _ in part.segments.texts]) for part in parts]
        kept = [each for each in found if each is not None]
        output = apart.join([each.text for each in kept]) if len(kept) == len(parts) else None
        return None if output is None else Restored(output, tuple(problem for each in kept for problem in each.problems))

    return Variant(f"{rule} apart", Segments(texts, ("",) * (len(texts) + 1)), restore, lambda _: None)


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


def _watched(setting: Setting, text: str) -> Iterator[Variant]:
    """The variants of a text, and if outputs of them lack long numbers, prices, times or letters of names, those with placeholders for
    these.
    """
    lost = set[str]()
    watch = partial(_with_lost, source=text, setting=setting, lost=lost)
    yield from (each.changed("", watch) for each in _in_plain_characters(setting, text))
    if not lost:
        return
    written, spans = with_written(plain_characters(text, setting.lacks), lost, *setting.languages)
    also = sorted([*spans, *lacking_spans(written, [character for character in set(written) if setting.lacks(character)])])
    kinds = FOR_SPANS if lost.issubset(names_in(text, setting.languages[0])) else FOR_LOST
    inner = variants(written, latin=setting.latin, also=also, unchanged=False, placeholders=kinds)
    yield from (each.changed("", watch) for each in inner if each.name != IN_PARTS)


def _with_lost(restored: Restored, source: str, setting: Setting, lost: set[str]) -> Restored:
    """An output with its quantities as its language writes them, and the problems that long numbers, prices, times or letters of names
    are missing; these are added to `lost`.
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
    lost.update(numbers, names, others)
    kinds = {"number lost": numbers, "name shortened": names, "name lost": others}
    found = [Problem(kind, each) for kind, parts in kinds.items() for each in parts]
    return Restored(output, (*restored.problems, *found))


def _in_plain_characters(setting: Setting, text: str) -> Iterator[Variant]:
    plain = plain_characters(text, setting.lacks) if setting.uses("plain characters") else text
    inner = _with_known_signs(setting, plain)
    if plain == text:
        yield from inner
    else:
        change, draft = partial(_with_own_characters, source=text), partial(plain_characters, lacks=setting.lacks)
        yield from (each.changed("plain characters", change, draft) for each in inner)


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
        signs = {each: sign for sign, own in originals.items() for each in own}
        rest = lacking_spans(shown, [character for character in lacking if character not in known])
        kept = tuple(text[start:end] for start, end in protected)
        change = partial(_with_originals, originals=originals, source=text, spans=kept, fitted=fitted)
        draft = partial(_with_signs, signs=signs)
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


def _with_signs(text: str, signs: Mapping[str, str]) -> str:
    return "".join(signs.get(character, character) for character in text)
