"""Characters that a vocabulary lacks: the spans that they make, and characters that the model reads in their place."""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable
from functools import partial

from specdec_cli.text.marks import ACCENTS, DOTS, ELLIPSIS, FIXED_SPACES, PICTURES
from specdec_cli.text.protect.spans import changed_outside, protected_spans, split_at
from specdec_cli.text.view import Readable, Tag, Untagged

Lacks = Callable[[str], bool]
"""Whether a vocabulary lacks a character."""
_SPACED_NUMBER = re.compile(r"(?<![\w.,])(\d+(?:[.,]\d+)*)(\s)(?=\S)")
"""A number with a space after it."""
_REPEATED_SPACES = re.compile(" {2,}")
_ACCENT = re.compile(rf"(?<=[^\W\d_])[{ACCENTS}](?=[^\W\d_])")
_EN_DASH = "\u2013"
_CLOSED_DASH = re.compile(rf"(?<=[\w%\u20ac\u00a3]){_EN_DASH}(?=[\w$\u20ac\u00a3])")
"""An en dash without spaces, as in 1939\u20131945 and Mon\u2013Fri, which models read worse than a hyphen."""
_RANGE = re.compile(rf"(?<=[\w$%\u20ac\u00a3])(?P<dash>{_EN_DASH}|-)(?=[\d$\u20ac\u00a3])")
"""A dash or hyphen before the second number of a range."""
TWO_ELLIPSES = f"{DOTS} {DOTS}"
_QUOTED = re.compile("(?<!\\w)\u2018(?=\\S)(?:[^\u2018\u2019]|(?<=\\w)\u2019(?=\\w))*(?<=\\S)\u2019(?!\\w)")
"""Words between single quotation marks, in which a mark between two letters is an apostrophe."""


def plain_characters(text: str, lacks: Lacks) -> str:
    """Return `text` in plain characters where the vocabulary `lacks` others; protected spans stay as they are.

    Accents are joined to their letters, spaces become plain ones, several spaces one, invisible characters such as soft hyphens are left
    out, ligatures become their letters, an ellipsis becomes three dots, and single quotation marks become double ones around words, else
    apostrophes. An en dash between words or numbers without spaces becomes a hyphen, whatever the vocabulary has, "&&" between words "&",
    two ellipses in a row ("so... ...he went") one, an accent between two letters (don`t) an apostrophe.
    """
    if text.isascii() and text.isprintable() and not any(each in text for each in ("  ", "&&", TWO_ELLIPSES, "`")):
        return text
    spans = protected_spans(text)
    if lacks("\u2018"):
        text = _with_double_quotes(text, spans)
    parts = split_at(text, spans)
    plain = ("".join(_plain(each, lacks) for each in unicodedata.normalize("NFC", _ACCENT.sub("'", part))) for part in parts[::2])
    parts[::2] = [_CLOSED_DASH.sub("-", _REPEATED_SPACES.sub(" ", part)) for part in plain]
    parts[::2] = [part.replace(" && ", " & ").replace(TWO_ELLIPSES, f"{DOTS} ") for part in parts[::2]]
    return "".join(parts)


def is_raised(character: str) -> bool:
    """Whether a character is a superscript or subscript form of another one."""
    return unicodedata.decomposition(character).startswith(("<super>", "<sub>"))


def with_fixed_spaces(source: str, output: str) -> str:
    """`output` with a no-break space after each number that has one in `source`; of equal numbers, in their order."""
    spaces = defaultdict[str, list[str]](list)
    for number, space in reversed(_SPACED_NUMBER.findall(source)):
        spaces[re.sub("[.,]", "", number)].append(space)

    def written(match: re.Match[str]) -> str:
        own = spaces[re.sub("[.,]", "", match[1])]
        space = own.pop() if own else ""
        return match[1] + (space if space in FIXED_SPACES and space else match[2])

    return _SPACED_NUMBER.sub(written, output)


def with_dashes_of_ranges(source: str, output: str) -> str:
    """`output` with en dashes before its numbers in the place of hyphens, if `source` has only dashes there."""
    return _RANGE.sub(_EN_DASH, output) if set(_RANGE.findall(source)) == {_EN_DASH} else output


def _with_double_quotes(text: str, spans: Iterable[tuple[int, int]]) -> str:
    """Return `text` with the single quotation marks around words replaced by double ones, except inside the protected `spans`."""
    shown = list(text)
    for start, end in spans:
        shown[start:end] = "x" * (end - start)
    characters = list(text)
    for found in _QUOTED.finditer("".join(shown)):
        characters[found.start()] = characters[found.end() - 1] = '"'
    return "".join(characters)


def _plain(character: str, lacks: Lacks) -> str:
    if not lacks(character):
        return character
    category = unicodedata.category(character)
    if character.isspace():
        return " "
    if character == ELLIPSIS:
        return DOTS
    if character in "\u2018\u2019":
        return "'"
    if category in ("Cc", "Cf") or "\ufe00" <= character <= "\ufe0f":
        return ""
    is_letter = category.startswith("L") and not is_raised(character)
    letters = unicodedata.normalize("NFKC", character) if is_letter else ""
    return letters if letters.isalpha() and not any(map(lacks, letters)) else character


Span = tuple[int, int]
_TRANSLATED = ("Pd", "Pi", "Pf")
"""Categories of characters that translations write differently: dashes and quotation marks."""
_STOPS = ".,;:!?'\"\u201a\u201e\u2026\u00a1\u00bf\u3001\u3002\uff01\uff0c\uff1a\uff1b\uff1f"
"""Punctuation that translations write differently."""
DOUBLE_QUOTES = "\u201c\u201d\u201e\u201f"
_KNOWN_SIGNS = {"Sc": "$", "Ps": "(", "Pe": ")"}
"""For categories of characters, the character that is written in their place for the model."""
_WORD = r"\w+(?:[.,]\w+)*"
_NUMBER = r"\d+(?:[.,]\d+)*"
_LONGEST = 500
"""The largest text in which signs are found with their words, as the pattern takes quadratic time on some texts."""


def lacking_spans(text: str, lacking: Collection[str]) -> list[Span]:
    """Offsets (start, end), in order, of the signs and Latin letters of `text` that are `lacking`, with their word or number.

    "*" and "_" at one side of a word are a span without it, because they mark emphasis. A "&" between words is none, because it
    is a word that is translated.
    """
    signs = [character for character in lacking if not character.isspace() and _is_sign(character)]
    if not signs:
        return []
    sign = f"[{re.escape(''.join(signs))}]"
    currencies = re.escape("".join(character for character in signs if unicodedata.category(character) == "Sc"))
    amount = rf"[{currencies}]\s?{_NUMBER}|(?<![\w.,]){_NUMBER}\s?[{currencies}]|" if currencies else ""
    strong = "|".join(re.escape(character) for character in signs if character not in "*_")
    if len(text) > _LONGEST:
        return [found.span() for found in re.finditer(sign, text) if found.group() != "&"]
    inner = rf"(?:(?:{strong})+|(?<=\w)[*_]+(?=\w))" if strong else r"(?<=\w)[*_]+(?=\w)"
    matches = re.finditer(rf"{amount}(?<!\w)(?:{_WORD})?(?:{inner}(?:{_WORD})?)+|{sign}", text)
    return [found.span() for found in matches if found.group() != "&"]


def _is_sign(character: str) -> bool:
    category = unicodedata.category(character)
    if category[0] == "L" and not is_raised(character):
        return not character.isascii() and unicodedata.name(character, "").startswith("LATIN")
    return category[0] in "PSNL" and category not in _TRANSLATED and not character.isdecimal() and character not in _STOPS


def known_signs(text: str, lacking: Collection[str], lacks: Lacks) -> dict[str, str]:
    """For each character of `text` that another one can stand for, that one.

    A "$" stands for one currency only, and for none if it is in the text itself. If one quotation mark is lacking, all are replaced.
    """
    known = {character: _KNOWN_SIGNS.get(unicodedata.category(character), "") for character in lacking if character not in _STOPS}
    if any(mark in lacking for mark in DOUBLE_QUOTES):
        known |= dict.fromkeys(DOUBLE_QUOTES, '"')
    if "$" in text or sum(sign == "$" for sign in known.values()) > 1:
        known = {character: sign for character, sign in known.items() if sign != "$"}
    return {character: sign for character, sign in known.items() if sign and not lacks(sign)}


_ASCII_MARKS = dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
_RUN = rf"(?:[{PICTURES}][\ufe0f\u200d]*+)++"
_INVISIBLE = r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_LEFT_OUT = re.compile(rf"\s?{_RUN}(?!\w)|(?<![\w\ufe0f\u200d{PICTURES}]){_RUN}|{_INVISIBLE}|(?<=\S\s)\s+(?=\S)")
"""Emoji that are not between two letters, with a space before them; soft hyphens and other invisible characters; repeated spaces."""
_EXTRA_SPACES = re.compile(r"\S\s\s+\S")


def readable(source: str, lacks: Callable[[str], bool]) -> Readable:
    """Return `source` as a model reads it whose vocabulary `lacks` some characters; characters of ASCII stay as they are."""
    if source.isascii() and not _EXTRA_SPACES.search(source):
        return Readable(source, Untagged(source, source), with_apostrophes(source))
    bare = _shortened(source, lacks)
    text = with_apostrophes(bare.text)
    return Readable(source, bare, "".join(_ascii_character(each) if not each.isascii() and lacks(each) else each for each in text))


def with_apostrophes(text: str) -> str:
    """Return `text` with apostrophes in place of accents between two letters (don`t), except in protected spans."""
    return changed_outside(text, partial(_ACCENT.sub, "'")) if _ACCENT.search(text) else text


def _ascii_character(character: str) -> str:
    """The character of ASCII that stands for another one, if there is one, else the character itself."""
    if character in _ASCII_MARKS:
        return _ASCII_MARKS[character]
    if unicodedata.category(character) == "Pd":
        return "-"
    if character.isspace():
        return " "
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isascii() and base.isalpha() else character


def _shortened(source: str, lacks: Callable[[str], bool]) -> Untagged:
    """Return `source` without the emoji, invisible characters and repeated spaces that the model does not read (_LEFT_OUT)."""
    tags: list[Tag] = []
    for match in _LEFT_OUT.finditer(source):
        start, end = max(match.start(), tags[-1].end if tags else 0), match.end()
        seen = match.group().lstrip()
        if seen and not lacks(seen[0]):
            continue
        if seen and not tags and not source[:start].strip():
            end += len(source[end:]) - len(source[end:].lstrip())
        tags.append(Tag(0, start, end, kept=bool(seen)))
    return Untagged.without(source, tags)
