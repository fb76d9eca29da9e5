"""Checks of an output against its source: repetition, empty output, lost numbers, names and protected spans."""

import re
from collections import Counter
from collections.abc import Sequence

from specdec_cli.language_codes import short_code
from specdec_cli.text.apart import count_repetitions, has_brackets_of
from specdec_cli.text.locale.amounts import lost_ranges
from specdec_cli.text.locale.dates import lost_dates
from specdec_cli.text.locale.languages import CODES, known
from specdec_cli.text.locale.matching import lost_amounts, lost_numbers
from specdec_cli.text.locale.other_dates import with_named_months
from specdec_cli.text.locale.quantities import Languages
from specdec_cli.text.protect.spans import keeps_order, protected_spans
from specdec_cli.text.quotations import quotations, without_escapes

REPETITION, EMPTY, NUMBERS, NEGATION, MARKS, GLOSSARY = "repetition", "empty", "numbers lost", "negation lost", "marks lost", "glossary"
DESCRIPTIONS = {
    REPETITION: "the output repeats itself",
    EMPTY: "the model gave no output for a text, which stays as it is",
    NUMBERS: "a number of the input is missing from the output or has changed, or its currency is",
    NEGATION: "the input says not, no, never or the like, and the output does not",
    MARKS: "the output has other quotation marks or brackets than the input, or repeats its first words more or less often",
}
BROKEN = "\ufffd"
"""The character that stands in an output for bytes that are no character."""
_WORD = re.compile(r"\w+|[^\w\s]+")
_STUTTER = re.compile(r"([^\W\d_]{1,6}?)\1{5,}")
_SEPARATORS = re.compile(r"([,;:])\s?\1\s?\1")
_OFTEN, _SHARE = 5, 3
"""A word repeats itself that occurs so often, and is one in so many words and marks."""
_LONGER = 2
"""How many times as long as in the source a repetition of letters may be."""
_CHECKED_CHARACTERS = 2000
"""The number of characters, from the end of an output, that are checked for repetition."""
_NEGATION, _NO_NEGATION, _NEGATED = (
    {code: re.compile("|".join(known(code)[key]), re.IGNORECASE) for code in CODES if key in known(code)}
    for key in ("negation", "no-negation", "negated")
)
"""By languages: negations, those that other languages express without one, and what translates one."""


def output_warnings(source: str, output: str, languages: Languages = ("", "")) -> tuple[str, ...]:
    """The problems of `output` as the translation or correction of `source`: any of REPETITION, EMPTY, NUMBERS, NEGATION and MARKS.

    If the `languages` of both are given, numbers, prices and times must have the same values, and negations of some languages stay. If they
    differ, quotation marks and brackets stay, too.
    """
    if not output.strip():
        return (EMPTY,) if source.strip() else ()
    if output == source:
        return ()
    warnings: tuple[str, ...] = (REPETITION,) if repeats_itself(output, source) else ()
    if languages[0] != languages[1]:
        source = with_named_months(source, languages[0])
    if any(lost(source, output, languages) for lost in (lost_numbers, lost_amounts, lost_dates, lost_ranges)):
        warnings += (NUMBERS,)
    if _loses_negation(source, output, languages):
        warnings += (NEGATION,)
    return (*warnings, MARKS) if languages[0] != languages[1] and _loses_marks(source, output) else warnings


def _loses_marks(source: str, output: str) -> bool:
    """Whether an output has other brackets or quotations than its source, or repeats its first clause more or less often."""
    marks = [[opens for each in quotations(text) for _, opens, _ in each.marks()] for text in map(without_escapes, (source, output))]
    repeats = count_repetitions(output) != count_repetitions(source) > 1
    return repeats or marks[0] != marks[1] or not has_brackets_of(output, source)


def has_broken_characters(output: str, source: str) -> bool:
    """Whether `output` has a replacement character (U+FFFD), and `source` has none."""
    return BROKEN in output and BROKEN not in source


def repeats_itself(output: str, source: str) -> bool:
    """Whether `output` has repetitions of more kinds than `source`.

    A repetition is a group of letters six times, a word four times, a group of two to eight words three times, or a comma, colon or
    semicolon three times in a row; or a word that is a third of all words and marks, and occurs five times. The kinds are letters, each
    number of words, separators, and one word. If the source repeats letters, the output may do so up to twice as long.
    """
    signs = _repetitions(output)
    return signs > 0 and (signs > _repetitions(source) or _longest_stutter(output) > _LONGER * _longest_stutter(source) > 0)


def _longest_stutter(text: str) -> int:
    """The characters of the longest group of letters that is repeated six times or more in a row; 0 if there is none."""
    return max((len(match.group()) for match in _STUTTER.finditer(text[-_CHECKED_CHARACTERS:].lower())), default=0)


def _repetitions(text: str) -> int:
    """The number of kinds (letters, 1 to 8 words, separators, or one word) of which `text` has a repetition."""
    text = text[-_CHECKED_CHARACTERS:].lower()
    words = _WORD.findall(text)
    signs = sum(pattern.search(text) is not None for pattern in (_STUTTER, _SEPARATORS))
    if len(words) - len(set(words)) < 3:  # of any repetition of words, at least three stood before
        return signs
    most = max((count for word, count in Counter(words).items() if word.isalpha()), default=0)
    signs += most >= _OFTEN and most * _SHARE >= len(words)
    for size in range(1, 9):
        times, run = (4 if size == 1 else 3), 0
        for index in range(size, len(words)):
            run = run + 1 if words[index] == words[index - size] else 0
            if run >= size * (times - 1) and any(map(str.isalpha, "".join(words[index - size : index]))):
                signs += 1
                break
    return signs


_BEFORE, _AFTER = r"(?<!\w)", r"(?!\w|(?<=\d)-\d)"


def count_kept(source: str, output: str) -> tuple[int, int]:
    """The number of protected spans of `source`, and of those which `output` has exactly as often (see `protected_spans`)."""
    spans = [source[start:end] for start, end in protected_spans(source)]
    return len(spans), sum(not _differs(span, source, output) for span in spans)


def holds(output: str, source: str, spans: Sequence[str]) -> bool:
    """Whether `output` has each span as often as `source`, and the spans whose order matters in the same order."""
    if any(_differs(span, source, output) for span in set(spans)):
        return False
    ordered = [span for span in spans if keeps_order(span)]
    if len(ordered) < 2:
        return True
    found = [output[start:end] for start, end in protected_spans(output)]
    return [span for span in found if span in ordered] == ordered


def _differs(span: str, source: str, output: str) -> bool:
    """Whether the number of occurrences of `span` differs, counted as whole words or also within longer words."""
    whole = re.compile(rf"{_BEFORE * _is_word(span[0])}{re.escape(span)}{_AFTER * _is_word(span[-1])}")
    return output.count(span) != source.count(span) or len(whole.findall(output)) != len(whole.findall(source))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


_LETTERS = re.compile(r"[^\W\d_]+")
_DOUBLED = re.compile(r"(.)\1+")
_SHORTER = {"de": {"glas", "gras", "peperoni"}}
"""The languages in which names are checked for lost letters. For each one, its words that are rightly shorter than the English ones."""


def shortened_names(source: str, output: str, language: str) -> list[str]:
    """The words of `source` with a capital and a doubled letter that `output`, in `language`, has only with one of the letters."""
    shorter = _SHORTER.get(short_code(language))
    names = [word for word in _LETTERS.findall(source) if word[0].isupper() and _DOUBLED.search(word.lower())]
    if shorter is None or not names:
        return []
    there = {word.lower() for word in _LETTERS.findall(output)}
    new = there - shorter - {word.lower() for word in _LETTERS.findall(source)}
    return [name for name in names if name.lower() not in there and _shorter_forms(name.lower()) & new]


def _shorter_forms(word: str) -> set[str]:
    """A word with one letter in place of each doubled one, or of one of them; and the same with an s, as in the genitive."""
    doubled = list(_DOUBLED.finditer(word))
    forms = {_DOUBLED.sub(r"\1", word), *(word[: each.start() + 1] + word[each.end() :] for each in doubled)}
    return forms | {f"{form}s" for form in forms}


def _loses_negation(source: str, output: str, languages: Languages) -> bool:
    """Whether a source has a negation, and its translation has none. Only languages whose negations are known are checked."""
    own, other = map(short_code, languages)
    if own == other or own not in _NEGATION or other not in _NEGATED:
        return False
    return _NEGATION[own].search(_NO_NEGATION[own].sub(" ", source)) is not None and _NEGATED[other].search(output) is None
