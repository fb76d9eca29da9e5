"""Accelerators of menus and buttons: the sign & or _ before the letter of a keyboard shortcut, as in "&File" and "_Open"."""

import re
from collections.abc import Sequence
from dataclasses import replace

from specdec_cli.documents.segments import Segment
from specdec_cli.text.protect.spans import protected_spans

_HEADER = re.compile(r"^X-Accelerator-Marker:\s*([&_])\s*$", re.MULTILINE | re.IGNORECASE)
_SIGNS = {"&": re.compile(r"&(?!\w+;)(?!(?<=[A-Z]&)[A-Z])[^\W_]"), "_": re.compile(r"(?<![\w%])_[^\W_]")}
_LEAST = 3
"""The number of texts with an accelerator from which a catalogue whose header names no sign has accelerators."""


def accelerator_sign(header: str, texts: Sequence[str]) -> str:
    """Return the sign of accelerators in a catalogue with this header and these texts: "&", "_", or "" for none."""
    named = _HEADER.search(header)
    if named:
        return named[1]
    counts = {sign: sum(accelerator_at(text, sign) is not None for text in texts) for sign in _SIGNS}
    sign = max(counts, key=lambda each: counts[each])
    return sign if counts[sign] >= _LEAST else ""


def accelerator_at(text: str, sign: str) -> int | None:
    """The offset of the accelerator's sign in `text`; None if `text` has no sign, or more than one.

    A "_" inside a word is not an accelerator, because names in code contain it too.
    """
    found = _SIGNS[sign].search(text) if sign and text.count(sign) == 1 else None
    if found is None:
        return None
    inside = any(start <= found.start() < end for start, end in protected_spans(text))
    return None if inside else found.start()


def without_sign(segment: Segment, place: int) -> Segment:
    """Return the segment without the character at `place` of its text."""
    if place == 0:
        return segment.part(1, len(segment.text))
    first, last = segment.part(0, place), segment.part(place + 1, len(segment.text))
    moved = [piece._replace(start=piece.start + place, end=piece.end + place) for piece in last.pieces]
    return replace(segment, text=first.text + last.text, pieces=(*first.pieces, *moved))


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
