"""Inline markup of Markdown: emphasis, links, images, HTML tags, references."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from specdec_cli.text.protect.spans import CODE, FORMULA, TAG_ATTRIBUTES
from specdec_cli.text.tags.markup import RAISED

Kind = Literal["open", "close", "single", "void", "line_break", "end"]
_CODE = rf"(?P<code>{CODE})"
_ESCAPE = r"(?P<escape>\\[!-/:-@\[-`{-~])"
_COMMENT = r"(?P<comment><!--.{0,2000}?-->)"
_HTML = rf"(?P<raised>{RAISED})|{_COMMENT}|" + r"(?P<address><[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*>|<[\w.+-]+@[\w.-]+>)"
_TAG = rf"<(?P<slash>/?)(?P<tag>[A-Za-z][\w-]*)(?:{TAG_ATTRIBUTES}|(?P<empty>\s*/))?>"
_MATH = rf"(?P<math>{FORMULA})"
_DISPLAY = r"(?P<display>(?<![$\\])\$\$(?:[^$]|\$(?!\$))+\$\$(?!\$))"
_NOTE = r"(?P<note>\[\^[^][\s]+\])"
_DESTINATION = r"\((?:[^()\\]|\\.|\([^()]*\))*\)"
_END = rf"(?P<end>\](?P<target>{_DESTINATION}|\[[^][]*\])?)"
_DELIMITER = r"(?P<delimiter>\*+|_+|~~)"
_INLINE = re.compile("|".join((_CODE, _ESCAPE, _HTML, _TAG, _MATH, _DISPLAY, _NOTE, r"(?P<start>!?\[)", _END, _DELIMITER)), re.DOTALL)
_OPENING = re.compile(r"(?:[\s*_~\[>(\"'\u2018\u201c\u201e\u00ab]|<\w[^<>]{0,256}>){0,16}+")
"""What may be before the first letter of a text."""
_MOST_OPEN = 100
"""What was opened before so many others is not closed."""
_VOID = frozenset(("br", "hr", "img", "input", "wbr"))


class Mark(NamedTuple):
    """The characters `start` to `end` of a text are markup that opens or closes a pair, or is single: one that may stand for a word, one
    without a meaning in its sentence, one that separates words, or one that ends a text. The description of an image is at the offsets
    `label`.
    """

    start: int
    end: int
    kind: Kind
    label: tuple[int, int] = (0, 0)


class _Opened(NamedTuple):
    """Markup that begins a pair if its other end follows: the start of a link, an HTML tag, or a run of delimiters such as `**`.

    - `name`: "[", "<" and the name of the tag, or the delimiter.
    - `found`: the match of the markup.
    - `start`, `end`: the delimiters of a run that belong to no pair yet.
    - `closes`: the run could also end a pair.
    """

    name: str
    found: re.Match[str]
    start: int = 0
    end: int = 0
    closes: bool = False


def inline_marks(text: str, references: Collection[str]) -> list[Mark]:
    """Return the inline markup of `text`, the source of a paragraph, in order; pairs are nested.

    `references` are the labels of the document's link definitions, in upper case and with single spaces. Code and
    escapes are not marks: they are text that other rules protect. A delimiter without a counterpart is text.
    """
    marks: list[Mark] = []
    opened: list[_Opened] = []
    for found in _INLINE.finditer(text):
        if found["comment"] or found["note"] or found["raised"]:
            marks.append(Mark(*found.span(), "void"))
        elif found["address"] or found["display"]:
            marks.append(Mark(*found.span(), "single"))
        elif found["tag"]:
            _take_tag(found, opened, marks)
        elif found["start"]:
            opened.append(_Opened("[", found))
        elif found["end"]:
            _take_link(text, found, opened, marks, references)
        elif found["delimiter"]:
            _take_delimiter(text, found, opened, marks)
    marks += _tags_alone(opened)
    return _without_inner(sorted(marks))


def _take_tag(found: re.Match[str], opened: list[_Opened], marks: list[Mark]) -> None:
    """Add an HTML tag: a pair with the last one of the same name, or a single mark."""
    name = f"<{found['tag'].lower()}"
    if found["slash"]:
        if not _close(name, found, opened, marks):
            marks.append(Mark(*found.span(), "void"))
    elif found["tag"].lower() in _VOID:
        marks.append(Mark(*found.span(), _void_kind(found)))
    elif found.group().endswith("/>"):
        marks.append(Mark(*found.span(), "single"))
    else:
        opened.append(_Opened(name, found))


def _void_kind(found: re.Match[str]) -> Kind:
    """The kind of mark for an HTML tag without content. `<br>` ends a text, unless the next letter is in lower case."""
    name, text = found["tag"].lower(), found.string
    if name == "wbr":
        return "void"
    opening = _OPENING.match(text, found.end())
    goes_on = opening is not None and text[opening.end() : opening.end() + 1].islower()
    return "end" if name == "br" and not goes_on else "line_break"


def _take_link(text: str, found: re.Match[str], opened: list[_Opened], marks: list[Mark], references: Collection[str]) -> None:
    """Add a link or image whose text ends here; one that is its own label is single, because its text must not change."""
    index = _last(opened, lambda each: each.name == "[")
    if index is None:
        return
    start = opened[index].found
    label = text[start.end() : found.start()]
    target = found["target"] or ""
    if target.startswith("(") or (target not in ("", "[]") and normal_label(target[1:-1]) in references):
        if start.group() == "[":
            _close("[", found, opened, marks)
        else:  # the description of an image is a text of its own
            del opened[index:]
            around = opened[-1].found if opened else None
            begins_link = around is not None and around.group() == "[" and around.end() == start.start()
            kind: Kind = "line_break" if begins_link else "single"  # a badge is no word of its sentence
            marks.append(Mark(start.start(), found.end(), kind, (start.end(), found.start())))
    elif normal_label(label) in references:
        del opened[index:]
        marks.append(Mark(start.start(), found.end(), "single"))
    else:
        del opened[index]


def _take_delimiter(text: str, found: re.Match[str], opened: list[_Opened], marks: list[Mark]) -> None:
    """Add the pairs that a run of delimiters closes, as in CommonMark (section 6.2); what is left of it may open others.

    Equal runs are one pair.
    """
    before, after = text[found.start() - 1 : found.start()], text[found.end() : found.end() + 1]
    inner = found.group()[0] == "_"
    closes = before != "" and not before.isspace() and not (inner and after.isalnum())
    opens = after != "" and not after.isspace() and not (inner and before.isalnum())
    name, (start, end) = found.group() if found.group() == "~~" else found.group()[0], found.span()
    while closes and start < end:
        index = _last(opened, lambda each: _fits(each, name, found, opens))
        if index is None:
            break
        other = opened[index]
        left = other.end - other.start
        count = left if left == end - start else 2 if min(left, end - start) > 1 else 1
        marks += [*_tags_alone(opened[index + 1 :]), Mark(other.end - count, other.end, "open"), Mark(start, start + count, "close")]
        opened[index:] = [other._replace(end=other.end - count)] if count < left else []
        start += count
    if opens and start < end:
        opened.append(_Opened(name, found, start, end, closes))


def _last(opened: Sequence[_Opened], fits: Callable[[_Opened], bool]) -> int | None:
    """The place of the last of `opened` that `fits`, among the last _MOST_OPEN, so that much markup without counterparts takes
    little time; None if there is none.
    """
    return next((place for place in reversed(range(max(len(opened) - _MOST_OPEN, 0), len(opened))) if fits(opened[place])), None)


def _fits(opened: _Opened, name: str, found: re.Match[str], opens: bool) -> bool:
    """Whether the delimiters `found` can close what `opened` opens. `opens`: they could also open a pair (CommonMark, emphasis, rule 9)."""
    if opened.name != name:
        return False
    first, last = len(opened.found.group()), len(found.group())
    return not (opened.closes or opens) or (first + last) % 3 != 0 or (first % 3 == 0 and last % 3 == 0)


def _close(name: str, found: re.Match[str], opened: list[_Opened], marks: list[Mark]) -> bool:
    """Add the pair of what was opened last under this name and `found`; whether there was one."""
    index = _last(opened, lambda each: each.name == name)
    if index is None:
        return False
    marks += [*_tags_alone(opened[index + 1 :]), Mark(*opened[index].found.span(), "open"), Mark(*found.span(), "close")]
    del opened[index:]
    return True


def _tags_alone(opened: Sequence[_Opened]) -> Iterator[Mark]:
    """The marks of HTML tags that nothing closes."""
    return (Mark(*each.found.span(), "void") for each in opened if each.name.startswith("<"))


def _without_inner(marks: list[Mark]) -> list[Mark]:
    """`marks` without those inside a single mark."""
    kept: list[Mark] = []
    for mark in marks:
        if not kept or mark.start >= kept[-1].end:
            kept.append(mark)
    return kept


def normal_label(label: str) -> str:
    """Return the label of a link definition as CommonMark compares it: in upper case, with single spaces."""
    return " ".join(label.split()).upper()
