"""Accelerators of menus and buttons in the messages of programs."""

import re
from collections.abc import Sequence
from dataclasses import replace

from specdec_cli.documents.segments import Segment
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.view import joined

_HEADER = re.compile(r"^X-Accelerator-Marker:\s*([&_])\s*$", re.MULTILINE | re.IGNORECASE)
_SIGNS = {"&": re.compile(r"&(?!\w+;)(?!(?<=[A-Z]&)[A-Z])[^\W_]"), "_": re.compile(r"(?<![\w%])_[^\W_]")}
_SHOWN = "&&"
"""What shows an ampersand where one sign alone would mark an accelerator."""
_LEAST = 3
"""The number of texts with an accelerator from which a catalogue whose header names no sign has accelerators."""
_LABEL = re.compile(r"(?!.*[.!?:]\s)(?:[^&_\s]\S*\s+){0,3}(?:&[A-Z]|_[A-Z][a-z])[^&_]*", re.DOTALL)
"""A label such as "&File" or "Save &As...", whose sign before a capital letter can be nothing but that of an accelerator."""


def accelerator_sign(header: str, texts: Sequence[str]) -> str:
    """Return the sign of accelerators in a catalogue with this header and these texts: "&", "_", or "" for none."""
    named = _HEADER.search(header)
    if named:
        return named[1]
    accelerated = {sign: [text for text in texts if accelerator_at(text, sign) is not None] for sign in _SIGNS}
    sign = max(accelerated, key=lambda each: len(accelerated[each]))
    return sign if len(accelerated[sign]) >= _LEAST or any(map(_LABEL.fullmatch, accelerated[sign])) else ""


def accelerator_at(text: str, sign: str) -> int | None:
    """The offset of the accelerator's sign in `text`; None if `text` has no sign, or more than one.

    A "_" inside a word is not an accelerator, because names in code contain it too.
    """
    shown = text.replace(_SHOWN, "\0\0") if sign == "&" else text
    match = _SIGNS[sign].search(shown) if sign and shown.count(sign) == 1 else None
    if match is None:
        return None
    inside = any(start <= match.start() < end for start, end in protected_spans(text))
    return None if inside else match.start()


def without_sign(segment: Segment, place: int) -> Segment:
    """Return the segment without the character at `place` of its text."""
    rest = joined([segment.part(0, place), segment.part(place + 1, len(segment.text))])
    return replace(segment, text=rest.text, pieces=rest.pieces)


def with_single_ampersands(segment: Segment) -> Segment:
    """Return the segment with "&" for each "&&", which is written again for each "&" of its output; itself if it has none."""
    if _SHOWN not in segment.text:
        return segment
    escape = segment.layout.escape
    for match in reversed(list(re.finditer(_SHOWN, segment.text))):
        segment = without_sign(segment, match.start())
    return replace(segment, layout=replace(segment.layout, escape=lambda text: escape(text).replace("&", _SHOWN)))


def with_accelerator(text: str, accelerator: str) -> str:
    """Return `text` with an accelerator such as "&F" before the first such letter in either case, or else before the first letter.

    Letters in protected spans are skipped. A text without other letters is returned as it is.
    """
    spans = protected_spans(text)
    places = [index for index, each in enumerate(text) if each.isalnum() and not any(start <= index < end for start, end in spans)]
    if not places:
        return text
    sign, letter = accelerator[0], accelerator[1]
    place = next((each for each in places if text[each].casefold() == letter.casefold()), places[0])
    return f"{text[:place]}{sign}{text[place:]}"
