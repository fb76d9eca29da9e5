"""Quotations: where they are in a text, in which forms a model reads them, and the marks of the language of its output."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.languages import CODES, is_abbreviation, known
from specdec_cli.text.marks import APOSTROPHES, QUOTATION_MARKS
from specdec_cli.text.protect.spans import once, protected_spans, split_at

_STRAIGHT = ('""', "''")
_ALL = frozenset(QUOTATION_MARKS) | frozenset("".join(QUOTATION_MARKS.values()))
_DOUBLE = frozenset('"\u201c\u201d\u201e\u00ab\u00bb')
_SIGN = re.compile("[" + re.escape("".join(sorted(_ALL))) + "]")
_BEFORE_OPENING = "([{\u2013\u2014/-"
WRITTEN = {code: known(code)["quotes"] for code in CODES if "quotes" in known(code)}
"""For languages, the marks around a quotation and around one inside another; in English the straight ones, which most texts have."""
_NOT_OPENING = re.compile("['\u2019](?:(?:tis|twas|cause|em|til|bout)\\b|n['\u2019]|\\d)", re.IGNORECASE)
"""Words with an apostrophe at their beginning."""
_PRIME = re.compile(r"(?<![\w'\"])(?P<number>\d+(?:[.,]\d+)?)(?P<mark>['\"\u2032\u2033])(?=[\s.,;:!?)x\u00d7-]|$)")
"""A number with a mark that may be that of feet, inches, minutes or seconds."""
_AFTER_DIGIT = re.compile(r"\d\s?['\"]")
_QUOTES_AFTER = r"\s?['\"\u2018-\u201f\u00ab\u00bb\u2032\u2033`\u00b4]"
LETTER = re.compile(r"[^\W\d_]")
_SMALL = "[a-z\u00e0-\u00f6\u00f8-\u00ff]"
MOST = 4
"""The most quotations in a text that is written with other marks for the model."""


class Quotation(NamedTuple):
    """The characters `start` to `end` of a text, with their marks, and the quotations inside.

    One that `opens` or `closes` only begins or ends in this text, as a sentence of a longer speech does.
    """

    start: int
    end: int
    inner: "tuple[Quotation, ...]" = ()
    opens: bool = True
    closes: bool = True

    def content(self, text: str) -> str:
        """What is between the marks."""
        return text[self.start + self.opens : self.end - self.closes]

    def is_literal(self, text: str) -> bool:
        """Whether it is no speech, but a name or value between straight single marks, as in manuals; texts of all languages have these."""
        return text[self.start] == text[self.end - 1] == "'" and not self.inner and self.content(text)[-1:] not in tuple(".,!?")

    def marks(self, depth: int = 0) -> Iterator[tuple[int, bool, int]]:
        """Yield the offset of each mark, whether it opens, and how many quotations it is in, in order."""
        if self.opens:
            yield self.start, True, depth
        for each in self.inner:
            yield from each.marks(depth + 1)
        if self.closes:
            yield self.end - 1, False, depth


def unquoted(text: str) -> str:
    """Return `text` without its quotations, or all of it if there are no words outside of these."""
    outside = " ".join(split_at(text, (each[:2] for each in quotations(text)))[::2])
    return outside if LETTER.search(outside) else text


@once
def quotations(text: str) -> tuple[Quotation, ...]:
    """The quotations of a text, in order, outside its protected spans.

    A single mark between letters is an apostrophe, as is one after an s if another may close the quotation. A text that begins inside a
    quotation, or ends inside one, has one that does not open, or does not close: then its words reach to the beginning or the end.
    """
    if not _SIGN.search(text):
        return ()
    spans = protected_spans(text) if any(sign in text for sign in "<`{=") or _AFTER_DIGIT.search(text) else []
    signs = [found.start() for found in _SIGN.finditer(text) if not any(start <= found.start() < end for start, end in spans)]
    opened: list[tuple[int, list[Quotation]]] = []
    found: list[Quotation] = []

    def level() -> list[Quotation]:
        return opened[-1][1] if opened else found

    for place in signs:
        sign, before, after = text[place], text[place - 1 : place] or " ", text[place + 1 : place + 2] or " "
        if sign in APOSTROPHES and before.isalnum() and after.isalnum():
            continue
        if (index := _closed(text, place, [start for start, _ in opened])) is not None and _may_close(text, place, before, after):
            for _, inner in opened[index + 1 :]:  # of marks that are not closed, as an apostrophe before a word
                opened[index][1].extend(inner)
            start, inner = opened[index]
            del opened[index:]
            level().append(Quotation(start, place + 1, tuple(inner)))
        elif sign in QUOTATION_MARKS and _may_open(text, place, before, after, opened[-1][0] if opened else -1):
            opened.append((place, []))
        elif not opened and (not found or found[0].opens) and _ends_earlier(text, place, before, after):
            found = [Quotation(0, place + 1, tuple(found), opens=False)]
    while opened:
        start, inner = opened.pop()
        whole = not opened and _goes_on(text, start)
        level().extend([Quotation(start, len(text), tuple(inner), closes=False)] if whole else inner)
    return tuple(found)


def _closed(text: str, place: int, opened: Sequence[int]) -> int | None:
    """The index of the last one of the `opened` marks that the mark at `place` closes; None if there is none."""
    return next((index for index in reversed(range(len(opened))) if text[place] in QUOTATION_MARKS[text[opened[index]]]), None)


def _may_close(text: str, place: int, before: str, after: str) -> bool:
    if before.isspace() or after.isalnum():
        return False
    is_plural = text[place] in APOSTROPHES and before == "s" and after == " "
    return not (is_plural and re.search(f"(?<![\\s\\w])[{APOSTROPHES}](?!\\w)", text[place + 1 :]) is not None)


def _may_open(text: str, place: int, before: str, after: str, outer: int) -> bool:
    if after.isspace() or not (before.isspace() or before in _BEFORE_OPENING or outer == place - 1):
        return False
    return _NOT_OPENING.match(text, place) is None


def _ends_earlier(text: str, place: int, before: str, after: str) -> bool:
    """Whether a mark ends a quotation that began before the text: after words, and a single mark after punctuation."""
    if before.isspace() or before.isdigit() or after.isalnum() or not LETTER.search(text, 0, place) or text[place] in "\u201e\u201a":
        return False
    return text[place] in _DOUBLE or before in ".,!?\u2026"


def _goes_on(text: str, start: int) -> bool:
    """Whether the quotation that a mark at `start` opens goes on after the text."""
    rest = text[start + 1 :]
    is_begun = text[start] in _DOUBLE or (rest[:1].isupper() and (start == 0 or text[start - 2 : start].rstrip() in (",", ":")))
    return is_begun and LETTER.search(rest) is not None


def quoted_forms(text: str, language: str) -> tuple[str, ...]:
    """The ways to write a text with quotations for a model into `language`, the best first; only `text` for one without, or with literals.

    Single quotation marks and those of the language are the others.
    """
    found = quotations(text)
    if not 0 < len(found) <= MOST or not all(each.opens and each.closes for each in found):
        return (text,)
    own = WRITTEN.get(short_code(language), _STRAIGHT)[0]
    marks, moved = [*_STRAIGHT, "\u201c\u201d" if own in _STRAIGHT else own], "," * (_marks_inside(short_code(language)) is not None)
    forms = [_with_marks(text, found, pair, moved) for pair in marks]
    return tuple(dict.fromkeys([*forms[:1], text, *forms[1:]]))


def _with_marks(text: str, found: Sequence[Quotation], pair: str, moved: str) -> str:
    """A text with the marks of a `pair` around its outer quotations, and a mark that is `moved` after the closing one."""
    for each in reversed([each for each in found if not each.is_literal(text)]):
        words = each.content(text)
        after = moved * words.endswith(",")
        text = f"{text[: each.start]}{pair[0]}{words.removesuffix(after)}{pair[1]}{after}{text[each.end :]}"
    return text


def _primes(text: str) -> Iterator[re.Match[str]]:
    """The numbers of a text, outside of protected spans, with a mark that is no quotation mark."""
    if not _PRIME.search(text):
        return
    quoted = {place for each in quotations(text) for place, _, _ in each.marks()}
    spans = protected_spans(text)
    for match in _PRIME.finditer(text):
        if match.start("mark") not in quoted and not any(start <= match.start() < end for start, end in spans):
            yield match


def with_primes(source: str, output: str) -> str:
    """Return `output`, the translation of `source`, with the marks of feet and inches that numbers have in the source, as in 15", in the
    place of other marks, or of none, after the same numbers.
    """
    for found in _primes(source):
        there = _number_with_mark(found["number"]).search(output)
        if there is not None:
            start = there.start("mark") if there["mark"] else there.end()
            output = f"{output[:start]}{found['mark']}{output[there.end() :]}"
    return output


def lost_primes(source: str, output: str) -> list[str]:
    """The numbers of `source` with a mark of feet or inches that `output` lacks; all of them if it has quotation marks and `source` has
    none.
    """
    found = list(_primes(source))
    are_added = found and not quotations(source) and _OUTPUT_MARKS.search(_PRIME.sub("", output)) is not None
    return [each.group() for each in found if are_added or not _number_with_mark(each["number"]).search(output)]


def _number_with_mark(number: str) -> re.Pattern[str]:
    """A number in either form of decimals, with any mark behind it in the group `mark`, or none; not one with a word such as "inches"."""
    forms = "|".join(map(re.escape, dict.fromkeys((number, number.translate(_SWAPPED)))))
    return re.compile(rf"(?<![\w.,'\"])(?:{forms})(?P<mark>{_QUOTES_AFTER})?(?![\w'\"]|[.,]\d|[ -]?(?:Zoll|Fu\u00df|inch|f[eo]{{2}}t))")


_SWAPPED = str.maketrans(",.", ".,")
_OUTPUT_MARKS = re.compile(r"[\"\u201c\u201d\u201e\u00ab\u00bb]|(?<!\w)['\u201a\u2018\u2039\u203a]|['\u2018\u2019](?!\w)")


def has_marks(text: str) -> bool:
    """Whether a text has what may be a quotation mark, or a part of one."""
    return _OUTPUT_MARKS.search(text) is not None


def with_own_quotes(output: str, source: str, language: str, depth: int = 0) -> str | None:
    """Return `output` with the quotation marks of its `language`, and of some a comma after speech that more words follow; None if it has
    another number of them than the quotations of `source` need, or no words before, in or after them where `source` has some.

    A last mark at the end that is one too many is removed. The text itself is inside of `depth` quotations.
    """
    quoted = quotations(source)
    needed = [mark for each in quoted for mark in each.marks(depth)]
    spans = protected_spans(output) if _AFTER_DIGIT.search(output) else []
    found = [each for each in _OUTPUT_MARKS.finditer(output) if not any(start <= each.start() < end for start, end in spans)]
    if len(found) == len(needed) + 1 and found[-1].end() == len(output):
        output = output[: found.pop().start()]
    if len(found) != len(needed) or not needed:
        return None
    before = LETTER.search(source, 0, quoted[0].start) is None or LETTER.search(output, 0, found[0].start()) is not None
    after = LETTER.search(source, quoted[-1].end) is None or LETTER.search(output, found[-1].end()) is not None
    sides = [opens for _, opens, _ in needed]
    inside = all(
        LETTER.search(output, first.end(), last.start())
        for (first, last), side in zip(pairwise(found), pairwise(sides), strict=True)
        if side == (True, False)
    )
    fits = inside and all(_is_at_words(output, mark.start(), opens) for mark, opens in zip(found, sides, strict=True))
    if not fits or not (depth or (before and after)):  # inside of speech, the name may come first or last
        return None
    written = WRITTEN.get(short_code(language))
    if written is None:
        return output
    literal = {mark for each in quoted if each.is_literal(source) for mark in (each.start, each.end - 1)}
    for mark, (place, opens, level) in reversed(list(zip(found, needed, strict=True))):
        if place in literal and mark.group() == "'":
            continue
        output = output[: mark.start()] + written[level % 2][not opens] + output[mark.end() :]
    if (behind := _marks_inside(short_code(language))) is not None:
        end = written[0][1]
        output = behind.no_comma.sub(r"\g<0>,", output.replace(f",{end} ", f"{end}, "))
    return without_inner_stops(output, language)


class _MarksInside(NamedTuple):
    """What is not inside of quotations in a language: the end of one before the words that say who speaks, without a comma behind it, and
    a stop at the end of one after which the sentence goes on.
    """

    no_comma: re.Pattern[str]
    stop: re.Pattern[str]


@cache
def _marks_inside(code: str) -> _MarksInside | None:
    """Those of a language that writes them behind its quotations; None for others."""
    if not known(code).get("stops-behind-quotes"):
        return None
    outer, inner = (re.escape(pair[1]) for pair in WRITTEN[code])
    stop = rf"(?<![^\W\d_])(?P<word>[^\W\d_]++)\.(?=(?:{outer}|{inner})(?:,| {_SMALL}))"
    return _MarksInside(re.compile(rf"(?<=[!?]){outer}(?= {_SMALL})"), re.compile(stop))


def without_inner_stops(output: str, language: str) -> str:
    """Return `output` without the stops at the ends of quotations after which a sentence goes on, if its language writes none there."""
    inside = _marks_inside(short_code(language))
    return output if inside is None else inside.stop.sub(_without_stop, output)


def _without_stop(match: re.Match[str]) -> str:
    """The last word of a quotation, without its stop unless that is part of an abbreviation."""
    return match.group() if is_abbreviation(match.group(), "") else str(match["word"])


def _is_at_words(output: str, place: int, opens: bool) -> bool:
    """Whether a mark of an output is where one that opens, or closes, a quotation can be."""
    before, after = output[place - 1 : place] if place else " ", output[place + 1 : place + 2]
    if opens:
        return after.strip() != "" and not before.isalnum()
    return not before.isspace() and not after.isalnum()


_ESCAPED = re.compile(r"(?<!\\)\\(['\"])")


def escaped_marks(text: str) -> set[str]:
    """The straight quotation marks that have a backslash before them in a text, as in string literals: It\\'s."""
    return set(_ESCAPED.findall(text)) if "\\" in text else set()


def without_escapes(text: str) -> str:
    """Return `text` without the backslashes before straight quotation marks."""
    return _ESCAPED.sub(r"\1", text)
