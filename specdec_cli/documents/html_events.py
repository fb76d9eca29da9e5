"""The tags, texts and other parts of HTML, with their offsets; html.parser reads HTML as it is found, errors included."""

import html
import re
from collections.abc import Iterator
from contextlib import suppress
from html.parser import HTMLParser
from typing import Literal, NamedTuple

from specdec_cli.documents.document import line_starts

Kind = Literal["start", "end", "text", "reference", "other"]
VOID = frozenset(["area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param", "source", "track", "wbr"])
"""The elements without content and end tag."""
_LONG_NUMBER = re.compile(r"&#\d{4000,}")
"""A character reference with so many digits that int() may raise ValueError."""


_TAG_START = re.compile(r"</?[A-Za-z]")


class Event(NamedTuple):
    """A part of HTML: the characters `begin` to `finish`; `name` is that of the tag, in lower case.

    `kept` is true for a tag whose attributes and content must not be translated (translate="no", or the class notranslate).
    """

    kind: Kind
    begin: int
    finish: int
    name: str = ""
    kept: bool = False


def html_events(text: str) -> Iterator[Event]:
    """Yield the parts of `text`, which cover it, in order."""
    readable = _LONG_NUMBER.sub(lambda found: "&".ljust(len(found.group()), "x"), text)
    unclosed = _TAG_START.search(readable, readable.rfind(">") + 1)  # such a tag is markup up to the end
    parser = _Parser(readable[: unclosed.start()] if unclosed else readable)
    parser.read()
    if unclosed:
        parser.found.append(Event("other", unclosed.start(), len(text)))
    ends = [*(event.begin for event in parser.found[1:]), len(text)]
    for event, end in zip(parser.found, ends, strict=False):
        yield event._replace(finish=end)


def unescape(text: str) -> str:
    """Return `text` with its character references as characters, as html.unescape does, with numbers of any length."""
    return html.unescape(_LONG_NUMBER.sub("&#1114112", text))  # also beyond the last character


def is_space(reference: str) -> bool:
    """Whether a character reference, such as &nbsp;, stands for a space. It is kept as it is, as a mark between two words."""
    return unescape(reference).isspace()


class _UnclosedError(Exception):
    """All that follows is in a comment or declaration without an end."""


class _Parser(HTMLParser):
    """Collects the parts; their ends are set later."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=False)
        self._text, self._starts = text, line_starts(text)
        self.found: list[Event] = []

    def read(self) -> None:
        """Read the text to its end."""
        with suppress(_UnclosedError):
            self.feed(self._text)
            self.close()

    def _add(self, kind: Kind, name: str = "", kept: bool = False) -> None:
        line, column = self.getpos()
        begin = self._starts[line - 1] + column
        is_text = kind == "text"
        if is_text and self._text.startswith("<!", begin):
            kind = "other"
        if not (self.found and kind == "text" and self.found[-1].kind == "text"):
            self.found.append(Event(kind, begin, begin, name, kept))
        if kind == "other" and is_text and (self._text.startswith("<!--", begin) or self._text.find(">", begin) < 0):
            raise _UnclosedError

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("start", tag, _is_kept(attrs))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._add("start", tag, tag in VOID and _is_kept(attrs))

    def handle_endtag(self, tag: str) -> None:
        self._add("end", tag)

    def handle_data(self, data: str) -> None:  # noqa: ARG002
        self._add("text")

    def handle_entityref(self, name: str) -> None:
        self._add("reference", name)

    def handle_charref(self, name: str) -> None:
        self._add("reference", f"#{name}")

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        self._add("other")

    def handle_decl(self, decl: str) -> None:  # noqa: ARG002
        self._add("other")

    def handle_pi(self, data: str) -> None:  # noqa: ARG002
        self._add("other")

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        """Read <![..> as a comment if it is no section that html.parser knows, as the HTML standard says."""
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i, report)

    def unknown_decl(self, data: str) -> None:  # noqa: ARG002
        self._add("other")


def _is_kept(attributes: list[tuple[str, str | None]]) -> bool:
    values = dict(attributes)
    return (values.get("translate") or "").lower() == "no" or "notranslate" in re.split(r"\s+", values.get("class") or "")
