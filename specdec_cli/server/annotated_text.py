"""Texts with markup, as editors send them to LanguageTool in the field `data`."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from specdec_cli.server.request_error import RequestError
from specdec_cli.server.utf16 import utf16_length


@dataclass(frozen=True)
class Part:
    """A part of a text: what the client's document has (`original`), and what is checked in its place (`checked`)."""

    original: str
    checked: str
    is_markup: bool


class AnnotatedText:
    """A text of several parts; `checked` is the text to correct, in which markup begins or ends at the offsets `breaks`, in order."""

    def __init__(self, parts: Iterable[Part]) -> None:
        checked: list[str] = []
        breaks: list[int] = []
        self._places: list[int | None] = []  # of each character of `checked`, in UTF-16 code units; None in markup
        start = 0
        for part in parts:
            checked.append(part.checked)
            if part.is_markup:
                breaks += [len(self._places), len(self._places) + len(part.checked)]
                self._places += [None] * len(part.checked)
            else:
                self._places += list(accumulate(map(utf16_length, part.checked), initial=start))[:-1]
            start += utf16_length(part.original)
        self.checked, self.breaks = "".join(checked), tuple(dict.fromkeys(breaks))

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """The span (start, end) of the client's document, in UTF-16 code units, of a span of `checked` in code points.

        The span must not be empty. None if there is markup in it, which a replacement would remove.
        """
        first, last = self._places[start], self._places[end - 1]
        if first is None or last is None or last - first != utf16_length(self.checked[start : end - 1]):
            return None
        return first, last + utf16_length(self.checked[end - 1])


def plain_text(text: str) -> AnnotatedText:
    """A text without markup."""
    return AnnotatedText([Part(text, text, False)])


def read_annotations(data: Any) -> AnnotatedText:
    """Read the field `data`: JSON with a list `annotation` of objects with `text`, or `markup` and perhaps `interpretAs`.

    Raises RequestError for anything else.
    """
    try:
        found = json.loads(data) if isinstance(data, str) else data
        if isinstance(found.get("text"), str):
            return plain_text(found["text"])
        return AnnotatedText([_part(each) for each in found["annotation"]])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RequestError(400, "'data' is not valid: a list 'annotation' of objects with 'text' or 'markup' is expected") from error


def _part(annotation: dict[str, Any]) -> Part:
    text, markup, replacement = annotation.get("text"), annotation.get("markup"), annotation.get("interpretAs")
    if isinstance(text, str) and markup is None:
        return Part(text, text, False)
    if isinstance(markup, str) and isinstance(replacement, str | None) and text is None:
        return Part(markup, replacement or "", True)
    raise ValueError
