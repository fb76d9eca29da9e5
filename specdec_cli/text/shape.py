"""The shape of an output: final marks, capitals and spaces beside protected spans as in the source; texts in capitals."""

import re
from collections.abc import Collection, Sequence
from functools import partial
from typing import NamedTuple

from specdec_cli.english.words import QUESTION_WORDS
from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits, count_words
from specdec_cli.text.locale.languages import is_function_word, is_stressed, often_begins
from specdec_cli.text.marks import STOPS
from specdec_cli.text.protect.spans import changed_outside, is_number, kind_of, protected_spans, split_at, without_protected

_WORD = re.compile(r"[^\W\d_]{2,}")
_LONGEST, _ONLY = 4, 5
"""The least number of letters of the longest word of a text in capitals, and of its only word: shorter ones may be abbreviations."""
_STRESSED = re.compile(r"(?<![\w'\u2019&.+-])[A-Z\u00c4\u00d6\u00dc]{2,}(?![\w'\u2019&+-])")
"""A word in capitals."""
_SHORT_WORD, _VOWEL, _SHOUTED = re.compile(r"[^\W\d_]+"), re.compile(r"[AEIOUY\u00c0-\u00de]"), re.compile(r"[!?][\"'\u201d)]*\s*$")
_ABBREVIATIONS = ("US", "IT", "WHO")
"""Abbreviations that are function words in small letters."""
_CAPITALS = re.compile(rf"[A-Z\u00c0-\u00de]{{{_LONGEST}}}")
_ENGLISH_I, _YOU, _POLITE = re.compile(r"I\b"), re.compile(r"you"), re.compile(r"Sie|Ihr(?:e[mnrs]?)?|Ihnen")
"""Words at the beginning of English and German sentences that have a capital or not, by what they mean."""
_I, _LETTER = re.compile(r"\bi\b"), re.compile(r"[^\W\d_]")
_FIRST = re.compile(r"[^\w'\u2019<{$%\\@#/]*([^\W\d_]\w*)")
"""The first word of a text, after marks such as quotation marks."""


def is_in_capitals(text: str, language: str = "") -> bool:
    """Whether all letters of `text` outside its protected spans are capitals, and it is no list of abbreviations.

    One of its words is too long for an abbreviation, or it has two function words of its `language`, or it is an exclamation or question.
    """
    if not text.isupper() and not _CAPITALS.search(text):
        return False
    outside = without_protected(text)
    if not outside.isupper():
        return False
    words = _WORD.findall(outside)
    if max(map(len, words), default=0) >= (_ONLY if len(words) == 1 else _LONGEST):
        return True
    short = _SHORT_WORD.findall(outside)
    function_words = sum(word not in _ABBREVIATIONS and is_function_word(word, language) for word in short)
    is_shouted = len(short) > 1 and _SHOUTED.search(outside) is not None
    return function_words > 1 or (is_shouted and (function_words > 0 or all(map(_VOWEL.search, short))))


def without_stress(text: str, language: str) -> str:
    """Return `text` with those of its words in small letters that are in capitals for stress (This is VERY good), outside protected spans.
    Texts in which no word has small letters stay as they are.
    """
    if not _STRESSED.search(text) or not any(map(str.islower, without_protected(text))):
        return text

    def in_small(word: re.Match[str]) -> str:
        return word[0].lower() if is_stressed(word[0], language) else word[0]

    first, made = _FIRST.match(text), changed_outside(text, partial(_STRESSED.sub, in_small))
    return made if first is None else made[: first.start(1)] + text[first.start(1)] + made[first.start(1) + 1 :]


def with_first_capital(output: str, source: str) -> str:
    """Return `output` with a capital as its first letter if `source` has one, unless its first word is in `source`, such as a name."""
    start = _after_spans(source)
    own, first = _FIRST.match(source, start), _FIRST.match(output, _after_spans(output) if start else 0)
    if own is None or first is None or not own[1][0].isupper() or not first[1][0].islower():
        return output
    place = first.start(1)
    is_name = re.search(rf"(?<!\w){re.escape(first[1])}(?!\w)", source) or any(begin == place for begin, _ in protected_spans(output))
    return output if is_name else f"{output[:place]}{output[place].upper()}{output[place + 1 :]}"


def _after_spans(text: str) -> int:
    """The end of the tags and other protected spans with which a text begins; 0 if there are none, or if one stands for a number."""
    place = 0
    for start, end in protected_spans(text):
        if text[place:start].strip():
            break
        if is_number(text[start:end]):
            return 0
        place = end
    return place


def with_small_function_word(output: str, source: str) -> str:
    """Return `output` with a small letter at its beginning if `source` begins with one, and the first word of `output` is a function word
    of any language, but the English "I" and the polite "Sie" for "you": other words may be nouns of German.
    """
    first = _FIRST.match(output)
    if first is None or first[1] == "I" or not source[:1].islower() or not is_function_word(first[1]) or _is_polite(first[1], source):
        return output
    return output[: first.start(1)] + first[1].lower() + output[first.end(1) :]


def with_small_beginning(output: str, source: str, language: str) -> str:
    """Return `output`, in the target `language`, which goes on behind a greeting as `source` does, with a small letter at its beginning if
    `source` begins with one, or with the English "I". This word, words of the source, such as names, the polite "Sie", and what may be a
    noun of German keep their capital.
    """
    first = _FIRST.match(output)
    if (
        first is None
        or not (source[:1].islower() or _ENGLISH_I.match(source))
        or first[1] == "I"
        or re.search(rf"\b{re.escape(first[1])}\b", source)
    ):
        return output
    if _is_polite(first[1], source):
        return output
    if short_code(language) == "de" and not is_function_word(first[1]) and not often_begins(first[1].lower(), language):
        return output
    return output[: first.start(1)] + first[1][0].lower() + output[first.start(1) + 1 :]


def _is_polite(word: str, source: str) -> bool:
    """Whether the first word of a translation is the polite "Sie" or "Ihr" for the "you" or "your" at the beginning of the `source`."""
    return _YOU.match(source) is not None and _POLITE.fullmatch(word) is not None


def in_small_letters(text: str) -> str:
    """Return a text in capitals in small letters, except for its first letter, the English "I" and its protected spans."""
    parts = split_at(text, protected_spans(text))
    parts[::2] = [_I.sub("I", part.lower()) for part in parts[::2]]
    first = next((index for index, part in enumerate(parts[::2]) if _LETTER.search(part)), 0)
    parts[2 * first] = _LETTER.sub(lambda letter: letter.group().upper(), parts[2 * first], count=1)
    return "".join(parts)


_ELLIPSIS_AT_END, _STOPS_AT_END = re.compile(r"(?<!\.)(\.\.\.|\u2026)$"), re.compile(r"(?<![.\d])\.{1,2}$")
_TWO_STOPS, _MANY_STOPS = re.compile(r"(?<!\.)\.\.(?!\.)"), re.compile(r"\.{4,}")
_RUN = re.compile(r"(?<=[^\W_])[!?]+(?![\w!?=])")
"""The marks of an exclamation or question."""
_JOINT = re.compile(r"(?<=[^\W\d_]) ?\+ ?(?=[^\W\d_])")
"""A plus sign between words."""
_DASH_BEFORE = re.compile(r"(?<=[^\W\d_]) ([\u2013\u2014])(?=[^\W\d_])")
_ADDED = re.compile(r"(?<!\.)[.,;:?!]$")
_ABBREVIATED = re.compile(r"(?:\b[^\W\d_]\.\s?[^\W\d_]|\b(?:usw|etc|Chr))\.$")
"""An abbreviation whose stop ends no sentence: `p.m.`, `etc.`"""
_MARKS = STOPS + ",;:\u2026\uff0c\uff1b\uff1a\u3001"
_PAUSES = ",;:\u2013\u2014"
_STOP = re.compile(r"(?<!\.)[.!?]$")
_SENTENCE = 8
"""A line of at least so many words is a sentence, and not a title, a signature or the like."""


def without_added_stop(output: str, source: str) -> str:
    """Return `output` without its last character if that is one of . , ; : ? ! and `source` ends with a letter or digit.

    Otherwise, if a full stop is before this character (as in an ellipsis), and if a protected span ends with it (as a short code of an
    emoji does) or an abbreviation (p.m.), `output` is returned as it is.
    """
    if not source[-1:].isalnum() or not _ADDED.search(output) or _ABBREVIATED.search(output) or _ends_with_span(output):
        return output
    return output[:-1]


def _ends_with_span(text: str) -> bool:
    """Whether the last character of a text is part of a protected span."""
    return any(end == len(text) for _, end in protected_spans(text))


def with_single_stops(output: str, source: str) -> str:
    """Return `output` with one stop where it has two, and with three where it has more, if `source` has no such group of stops.

    Two become three at the end, and one there an ellipsis, if the source ends with one.
    """
    if (ellipsis := _ELLIPSIS_AT_END.search(source)) is not None:
        output = _STOPS_AT_END.sub("..." if ".." in output else ellipsis[1], output)
    if ".." not in output:
        return output
    if not _TWO_STOPS.search(source):
        output = _TWO_STOPS.sub(".", output)
    return output if "...." in source else _MANY_STOPS.sub("...", output)


def with_own_joints(output: str, source: str) -> str:
    """Return `output` with the spaces around plus signs between words that all those of `source` have, as in Ctrl + C and Ctrl+C, and with
    spaces at both sides of a dash between words that has one before it alone, but not in the source.
    """
    if not _DASH_BEFORE.search(source):
        output = _DASH_BEFORE.sub(r" \1 ", output)
    joints = set(_JOINT.findall(source)) if "+" in source else set[str]()
    return _JOINT.sub(joints.pop(), output) if len(joints) == 1 else output


def with_repeated_marks(output: str, source: str) -> str:
    """Return `output` with the runs of ! and ? of `source`, as in "Really?!" and "Thank you!!!", in their order, if it has as many runs."""
    own = _RUN.findall(source)
    if all(len(run) == 1 for run in own) or len(_RUN.findall(output)) != len(own):
        return output
    runs = iter(own)
    return _RUN.sub(lambda _: next(runs), output)


_AT_END = r"[\"'\u201d\u201c\u2018\u2019\u00bb\u00ab)]"
_FINAL = re.compile(rf"(?P<mark>[.!?]|(?<!{_AT_END}))(?P<closing>{_AT_END}*)$")


def with_own_end(output: str, source: str) -> str:
    """Return `output` with the full stop, question or exclamation mark at the end of `source` in the place of another one, and with it if
    it has none there and the source ends with one of the latter two. Marks of protected spans and runs of marks stay.
    """
    own, end = _FINAL.search(source), _FINAL.search(output)
    if own is None or end is None or not own["mark"] or own["mark"] == end["mark"] or (not end["mark"] and own["mark"] == "."):
        return output
    beside = source[own.start() - 1 : own.start()] + output[end.start() - 1 : end.start()]
    if any(mark in STOPS + _MARKS for mark in beside) or _ends_with_span(source) or _ends_with_span(output):
        return output
    return output[: end.start()] + own["mark"] + end["closing"]


def without_own_stop(output: str, source: str) -> str:
    """Return `output`, of a piece of a sentence that goes on after it, with the last mark of `source` in place of a final . ! or ?
    that `source` does not have; without it if `source` ends with none of , ; : and dashes. A mark of a protected span stays.
    """
    if not _STOP.search(output) or source[-1:] in tuple(STOPS) or _ends_with_span(output):
        return output
    return output[:-1] + (source[-1:] if source[-1:] in tuple(_PAUSES) else "")


def with_own_marks(edits: Sequence[Edit], text: str, *, continues: bool = False, closes: bool = False) -> list[Edit]:
    """Return `edits` of `text`, a sentence or heading, without their changes of the punctuation after its last letter or digit.

    No mark is added there, as to a title or a signature, and none removed, as from an ellipsis. Only if the text has a single
    mark there, and it is one of . ? !, may it become another of them. Marks never replace the last word. If the sentence
    `continues` on the next line, the last word is not removed either. With `closes`, a text of at least 8 words that does not continue,
    and ends with one, may get a stop, unless it begins with a question word: it is a sentence.
    """
    end, last = _end_of_words(text), _marks(text[_end_of_words(text) :])
    is_sentence = closes and not continues and end == len(text) and count_words(text) >= _SENTENCE and not _asks(text)
    changeable = {last} if last in tuple(STOPS) or is_sentence else set[str]()
    found = [_with_own_marks(edit, end, changeable) if edit.end >= end else edit for edit in edits]
    if continues:
        found = [edit for edit in found if edit.end < end or _end_of_words(edit.text) or not _end_of_words(edit.source)]
    return [edit for edit in found if edit.text != edit.source]


def _asks(text: str) -> bool:
    """Whether a text begins as a question or the title of a guide does (How to ...)."""
    first = _FIRST.match(text)
    return first is not None and first[1].lower() in QUESTION_WORDS


def with_own_beginning(edits: Sequence[Edit]) -> list[Edit]:
    """Return `edits` of a text that continues a sentence of the previous line, without those that would begin a sentence.

    The first letter keeps its case (except for the pronoun I), and no capitalised word is inserted before it.
    """
    if not edits or edits[0].start or re.match(r"I\b", edits[0].text):
        return list(edits)
    first = edits[0]._replace(text=_as_in(edits[0].source, edits[0].text))
    begins = first.text[:1].isupper() and not first.source[:1].isupper()
    return list(edits[1:]) if begins or first.text == first.source else [first, *edits[1:]]


def _with_own_marks(edit: Edit, end: int, changeable: Collection[str]) -> Edit:
    """The edit of a text whose words end at `end` with the punctuation of its source; if that is `changeable`, it may be a stop."""
    rest, cut = edit.source[max(0, end - edit.start) :], _end_of_words(edit.text)
    old, new = _marks(rest), _marks(edit.text[cut:])
    if old == new or (old in changeable and new in tuple(STOPS)):
        return edit
    return edit._replace(text=edit.text[:cut] + rest if cut else edit.source)


def _end_of_words(text: str) -> int:
    """The offset after the last letter or digit of `text`."""
    return next((index for index in range(len(text), 0, -1) if text[index - 1].isalnum()), 0)


def _marks(text: str) -> str:
    """The punctuation marks of `text`, without other characters."""
    return "".join(character for character in text if character in _MARKS)


def _as_in(source: str, text: str) -> str:
    """`text` with its first letter in the case of that of `source`, if both are the same letter."""
    return source[0] + text[1:] if source[:1].lower() == text[:1].lower() != "" else text


_SPACES = re.compile(r"(?<!\s)\s+(?=[.,;:!?])")


def tidied(text: str) -> str:
    """Return `text` with the changes that nearly all corrections make: no white space before the marks ".,;:!?", a capital letter
    at the start, and a full stop after a letter or digit at the end.

    Each of these changes that the copied text lacks costs a round or two.
    """
    text = _SPACES.sub("", text)
    return text[:1].upper() + text[1:] + ("." if text[-1:].isalnum() else "")


_TITLE_WORD = re.compile(r"[^\W\d_][\w'\u2019-]*")


def is_title(text: str) -> bool:
    """Whether a text is a title in the style of English: three words or more, without a stop at its end, and all words of four letters or
    more begin with capitals, at least two of them after the first word.
    """
    words = _TITLE_WORD.findall(text)
    if len(words) < 3 or text.rstrip()[-1:] in (*STOPS, ",", ";"):
        return False
    capitals = [word[0].isupper() for word in words]
    long = [capital for word, capital in zip(words, capitals, strict=True) if len(word) > 3]
    return capitals[0] and all(long) and sum(capitals[1:]) > 1


def lowers_word(edit: Edit) -> bool:
    """Whether an edit writes a word with a small letter in the place of one with a capital."""
    old, new = edit.source.lstrip()[:1], edit.text.lstrip()[:1]
    return old.isupper() and new.islower()


_ENGLISH_ORDINAL = re.compile(r"(?<![\w.,])(\d*?(1?)(\d))(?:st|nd|rd|th)\b")


def with_ordinal_endings(output: str) -> str:
    """Return an English `output` with the endings of its ordinals that their last digits need: 3rd in place of 3nd."""

    def ending(match: re.Match[str]) -> str:
        return match[1] + ("th" if match[2] else {"1": "st", "2": "nd", "3": "rd"}.get(match[3], "th"))

    return _ENGLISH_ORDINAL.sub(ending, output)


_GLUED = frozenset(
    ("argument", "named_argument", "braces", "erb", "environment", "formula", "shown_tag", "entity", "shortcode", "emoticon")
)
_GLUED |= {"link_target", "tag", "declaration", "emoji"}
"""The kinds of spans to which translations must not join words by a hyphen; a name or code may have one, as in "config.yaml-Datei"."""


def fit_neighbours(source: str, output: str) -> str:
    """Return `output`, the translation of `source`, with the white space of the source beside protected spans, and no new hyphens there.

    A hyphen that joins a word to a placeholder, tag or formula in the output, but not in the source, becomes a space if the source has
    one there, and else is left out.
    """
    by_text: dict[str, list[tuple[int, int]]] = {}
    for start, end in protected_spans(source):
        by_text.setdefault(source[start:end], []).append((start, end))
    changes: dict[tuple[int, int], str] = {}
    for text, places in by_text.items():
        kind = kind_of(text)
        there = [match.span() for match in re.finditer(re.escape(text), output)]
        if len(there) != len(places) or not (text.endswith("[") or (kind is not None and kind.name in _GLUED)):
            continue
        for (start, end), (begin, finish) in zip(places, there, strict=True):
            before, after = source[max(start - 1, 0) : start], source[end : end + 1]
            left, right = output[max(begin - 2, 0) : begin], output[finish : finish + 2]
            if right[:1] == "-" != after and right[1:].isalnum():
                changes[finish, finish + 1] = " " if after.isspace() else ""
            elif after.isspace() and right[:1].isalnum():
                changes[finish, finish] = " "
            if left[-1:] == "-" != before and left[:-1].isalnum():
                changes[begin - 1, begin] = " " if before.isspace() else ""
            elif before.isspace() and left[-1:].isalnum():
                changes[begin, begin] = " "
    return apply_edits(output, [Edit(*place, "", text) for place, text in sorted(changes.items())])


class Place(NamedTuple):
    """Where a text stands in its line, which the ends of its output must fit.

    - `is_fragment`: as for a heading or a table cell, a final punctuation mark is removed from the output if the text ends with a letter or
      digit.
    - `is_continued`: the sentence goes on after the text.
    - `begins`: a capital at its beginning stays one.
    - `goes_on`: it is a later piece of a sentence that was cut.
    - `is_behind_greeting`: it goes on behind the greeting of a letter.
    """

    is_fragment: bool = False
    is_continued: bool = False
    begins: bool = False
    goes_on: bool = False
    is_behind_greeting: bool = False


def shaped(output: str, source: str, place: Place, languages: tuple[str, str]) -> str:
    """Return `output` with the shape of its `source`: its final marks, first letter, and white space beside protected spans."""
    translates, target = languages[0] != languages[1], short_code(languages[1])
    if translates:
        output = fit_neighbours(source, with_own_joints(output, source))
        output = with_single_stops(output, source)
        output = with_ordinal_endings(output) if target == "en" else output
        output = with_own_end(with_repeated_marks(output, source), source)
        if place.is_fragment and source[-1:].isalnum():
            output = with_small_function_word(output, source)
    if place.is_behind_greeting or (place.goes_on and target == "de"):  # of whose words more are known to be no nouns
        output = with_small_beginning(output, source, target)
    elif place.begins:
        output = with_first_capital(output, source)
    elif place.goes_on:
        output = with_small_function_word(output, source)
    if place.is_continued:
        return without_own_stop(output, source)
    return without_added_stop(output, source) if place.is_fragment or translates else output
