"""Messages with a form for each number or choice, as ICU and Java write them: the syntax around the texts of the forms."""

import re
from collections.abc import Iterator

_HEAD = re.compile(r"\{\s*[\w.]+\s*,\s*(?:plural|select|selectordinal)\s*,(?:\s*offset:\d+)?")
_FORM = re.compile(r"\s*(?:=\d+|[\w-]+)\s*\{")
_END = re.compile(r"\s*\}")
_CHOICE = re.compile(r"\{\s*\w+\s*,\s*choice\s*,")
_LIMIT = re.compile(r"\|?\s*-?(?:\d+(?:\.\d+)?|\u221e)\s*[#<\u2264]\s*")
_IN_CHOICE = re.compile(r"\{[^{}]*\}|[|}]")
"""A value in a form, the end of a form, or that of all."""
_VALUE = re.compile(r"\{\{[^{}]*\}\}|\{[^{}]*\}")
_TOKEN = re.compile(r"'[{}][^{}']*[{}]?'|[{}]")
"""Braces, and those between quotation marks, which are text."""


class FormReader:
    """Finds the syntax of messages with forms in the parts of a text, which are read one after the other."""

    def __init__(self) -> None:
        self._depth = 0

    def syntax(self, part: str) -> Iterator[tuple[int, int]]:
        """Yield begin and end of each piece of `part` that is syntax around the texts of forms."""
        position = 0
        while found := _TOKEN.search(part, position):
            start, position = found.span()
            head = _HEAD.match(part, start)
            if choice := _choice(part, start):
                yield from choice
                position = choice[-1][1]
                continue
            if head:
                self._depth += 1
                position = self._form(part, head.end())
            elif found.group()[0] == "'":
                continue
            elif found.group() == "{":
                value = _VALUE.match(part, start)
                position = value.end() if value else position
                continue
            elif not self._depth:
                continue
            else:
                position = self._form(part, position)
            yield start, position

    def _form(self, part: str, position: int) -> int:
        """The offset after the name of the form that begins at `position`, or after the end of the message if there is none."""
        form = _FORM.match(part, position)
        if form:
            return form.end()
        self._depth -= 1
        end = _END.match(part, position)
        return end.end() if end else position


def _choice(part: str, start: int) -> list[tuple[int, int]]:
    """The pieces of the syntax of forms for numbers from limits on, as in {0,choice,0#no files|1#one file}; none if there is no such."""
    head = _CHOICE.match(part, start)
    limit = _LIMIT.match(part, head.end()) if head else None
    pieces = [(start, limit.end())] if limit else []
    for each in _IN_CHOICE.finditer(part, limit.end()) if limit else ():
        if each.group() == "}":
            return [*pieces, each.span()]
        if each.group() == "|" and (limit := _LIMIT.match(part, each.start())):
            pieces.append(limit.span())
    return []
