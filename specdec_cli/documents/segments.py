"""Segments of a document: their text as the model sees it, where each part of it is in the document, and their construction."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.locale.amounts import may_be_alone
from specdec_cli.text.protect.spans import without_protected
from specdec_cli.text.segment.paragraphs import wrap_words
from specdec_cli.text.view import View, view_of

STAND_IN = re.compile(r"</?g\d+>|<[nvx]\d+/>")
"""What stands for inline markup in the text of a segment: <g1> and </g1> for a pair, <n1/> for a line break or an image, <v1/> for
other markup without a meaning in the sentence, and <x1/> for any other.
"""
_JOINT = "\0"
_WORD_MARKUP = re.compile(r"</?g\d+>|<[nx]\d+/>")
"""The stand-ins of markup that may begin a line of a paragraph; a comment there would end the paragraph."""


_DATA = re.compile(
    r"true|false|null|nil|undefined|[a-z][\w-]*+(?:\.[a-z][\w-]*+)+"
    r"|(?=.*\b(?:[b-df-hj-np-tv-z]{2,}|\d+)\b)[a-z][a-z0-9]*(?:-[a-z0-9]+)+(?: [a-z][a-z0-9]*(?:-[a-z0-9]+)+)*",
    re.ASCII,
)
"""Texts that are data: values such as true and null, keys such as app.title, and names of styles such as btn-primary."""


def is_decoded(text: str) -> bool:
    """Whether a text of a document is decoded: it is no key, and has letters outside protected spans or may be a price, time or number."""
    outside = without_protected(text)
    if _DATA.fullmatch(text.strip()):
        return False
    return any(map(str.isalpha, outside)) or may_be_alone(outside)


class Change(NamedTuple):
    """A replacement of the characters `start` to `end` of a document by `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Layout:
    """How the output of a segment is written to the document.

    `marks` has where the markup of each stand-in is in the document; `escape` is applied to all other text. If `width` is not 0, the
    result is wrapped into lines of at most `width` characters: `gap` separates them, `column` characters are before
    the first, and `can_begin` says which words may begin a line. `gaps` has the line breaks that the document has for the space after a
    stand-in (the key "<g1> ") or before it (" <g1>"); they stay there. For a text that is a value without quotation marks, `quoted` returns
    the whole of it with those that it needs, or itself.
    """

    marks: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    escape: Callable[[str], str] = str
    width: int = 0
    gap: str = "\n"
    column: int = 0
    can_begin: Callable[[str], bool] = bool
    gaps: Mapping[str, str] = field(default_factory=dict)
    quoted: Callable[[str], str] | None = None

    def write(self, output: str, read: Callable[[int, int], str]) -> str:
        """Return the text of the document for the `output` of a segment; `read` returns a part of the document."""
        if self.quoted is not None and (quoted := self.quoted(output)) != output:
            return quoted
        chunks, gaps, position = [""], list[str](), 0
        for match in STAND_IN.finditer(output):
            if match.group() not in self.marks:
                continue
            before, after = (self.gaps.get(key) for key in (f" {match.group()}", f"{match.group()} "))
            text, position = output[position : match.start()], match.end()
            if before is not None and text.endswith(" "):
                chunks[-1] += self.escape(text[:-1])
                chunks, gaps, text = [*chunks, ""], [*gaps, before], ""
            chunks[-1] += self.escape(text) + read(*self.marks[match.group()]).replace(" ", _JOINT)
            if after is not None and output.startswith(" ", position):
                chunks, gaps, position = [*chunks, ""], [*gaps, after], position + 1
        chunks[-1] += self.escape(output[position:])
        columns = [self.column, *(len(gap.rpartition("\n")[2]) for gap in gaps)]
        written = "".join(gap + self._wrapped(chunk, column) for gap, chunk, column in zip(["", *gaps], chunks, columns, strict=True))
        return written.replace(_JOINT, " ")

    def _wrapped(self, text: str, column: int) -> str:
        """`text` in lines of at most `width` characters; the first one has `column` characters already."""
        if not self.width:
            return text
        groups = wrap_words(text.split(" "), self.width, column, len(self.gap.rpartition("\n")[2]), self.can_begin)
        return self.gap.join(" ".join(group) for group in groups)


@dataclass(frozen=True)
class Segment(View):
    """A text that is decoded, as a view of its document.

    `text` has no line breaks and no white space at its ends. Inline markup is replaced by stand-ins.
    """

    layout: Layout = Layout()

    def replaced(self, output: str, read: Callable[[int, int], str]) -> Change:
        """Return the change of the document for the `output` of the segment; `read` returns a part of the document."""
        return Change(self.begin, self.finish, self.layout.write(output, read))

    def fitted(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return those of `edits` of the text that its lines in the document allow.

        An edit that only removes a gap is left out, since gaps are kept. So is one that would leave a line empty, or change it to begin
        with a mark such as that of a list. The first word of a line is deleted with the space after it.
        """
        moved = [self._without_gap(edit) for edit in edits]
        return [edit for edit in moved if any(self._parts(edit)) and self._keeps_lines(edit)]

    def edited(self, edits: Iterable[Edit]) -> Iterator[Change]:
        """Yield the changes of the document for those `edits` of the text that are `fitted`; line breaks and other gaps are kept."""
        changes = self.fitted(edits)
        if changes and self.layout.quoted is not None:
            result = apply_edits(self.text, changes)
            if (quoted := self.layout.quoted(result)) != result:
                yield Change(self.begin, self.finish, quoted)
                return
        for edit in changes:
            for part in self._parts(edit):
                yield Change(*self.span(part.start, part.end), self.layout.escape(part.text))

    def _without_gap(self, edit: Edit) -> Edit:
        """Return `edit`. If it deletes the first words of a line, it then deletes the space after them, and not the gap before them."""
        gap = next((piece for piece in self.pieces if piece.is_gap and piece.start == edit.start), None)
        start = edit.start if gap is None else gap.end
        if edit.text.strip() or not start < edit.end or (gap is None and start not in self._line_starts):
            return edit
        end = self._space_end(edit.end)
        return edit._replace(start=start, end=end, source=self.text[start:end], text="")

    def _parts(self, edit: Edit) -> Iterator[Change]:
        """Divide an edit at the gaps inside it, and yield those parts that change the text."""
        gaps = [piece for piece in self.among(edit.start, edit.end) if piece.is_gap]
        words, start = edit.text, edit.start
        parts = []
        for gap in gaps:
            before, words = _split_words(words, len(self.text[start : gap.start].split()))
            parts.append(Change(start, gap.start, before))
            start = gap.end
        last = max(start, edit.end)
        parts.append(Change(start, self._space_end(last) if gaps and start < last and not words else last, words))
        return (part for part in parts if part.text != self.text[part.start : part.end])

    def _keeps_lines(self, edit: Edit) -> bool:
        """Whether the first word of each line that an edit changes may begin a line."""
        for part in self._parts(edit):
            if part.start in self._line_starts:
                end = next((piece.start for piece in self.pieces if piece.is_gap and part.end <= piece.start), len(self.text))
                words = f"{part.text}{self.text[part.end : end]}".split(maxsplit=1)
                if not words or not (_WORD_MARKUP.match(words[0]) or self.layout.can_begin(words[0])):
                    return False
        return True

    @cached_property
    def _line_starts(self) -> frozenset[int]:
        """The offsets in the text at which its lines in the document begin."""
        return frozenset([0, *(piece.end for piece in self.pieces if piece.is_gap)])

    def _space_end(self, offset: int) -> int:
        """The offset after the white space that begins at `offset` in the text. It ends before the next gap, such as a line break."""
        ends = [piece.start for piece in self.pieces if piece.is_gap and offset <= piece.start]
        rest = self.text[offset : min(ends, default=len(self.text))]
        return offset + len(rest) - len(rest.lstrip())

    def change(self, content: str, edit: Edit) -> Change:
        """The one change of the document `content` that makes an edit of the text; gaps in it are kept.

        An edit that would break the document's layout (see `fitted`) is not made; the result is then an empty change.
        """
        changes = sorted(self.edited([edit]))
        if not changes:
            place = self.position(edit.start)
            return Change(place, place, "")
        begin, finish = changes[0].start, changes[-1].end
        inner = [Change(each.start - begin, each.end - begin, each.text) for each in changes]
        return Change(begin, finish, apply_edits(content[begin:finish], inner))


def _split_words(text: str, count: int) -> tuple[str, str]:
    """Split `text` after `count` words, without the space between both parts."""
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    end = 0 if count == 0 or not ends else ends[min(count, len(ends)) - 1]
    return text[:end], text[end:].lstrip()


_TEXT, _GAP, _OPEN, _CLOSE, _SINGLE, _VOID, _BREAK = range(7)
_LETTERS = {_SINGLE: "x", _VOID: "v", _BREAK: "n"}
_SEPARATOR = re.compile(r"\s*[|/\u00b7\u2022\u203a\u00bb\u2013\u2014]\s*")
"""A separator between the links of a menu, as in "Home | About": | / and typographic dots, arrows and dashes."""
_LINK = re.compile(r"<a\s|\[", re.IGNORECASE)
_Part = tuple[int, int, int, str]
"""Kind, begin and finish in the document, text."""


class SegmentBuilder:
    """Collects the parts of a segment of the document `content`."""

    def __init__(self, content: str) -> None:
        self._content = content
        self._parts: list[_Part] = []

    def text(self, begin: int, finish: int) -> None:
        """Add the characters `begin` to `finish` of the document, which contain no line break."""
        if begin < finish:
            self._parts.append((_TEXT, begin, finish, self._content[begin:finish]))

    def instead(self, begin: int, finish: int, text: str) -> None:
        """Add `text` in place of the characters `begin` to `finish` of the document, for example "<" in place of "&lt;"."""
        self._parts.append((_TEXT, begin, finish, text))

    def gap(self, begin: int, finish: int) -> None:
        """Add a space, for characters that separate words, such as a line break with the indentation after it."""
        self._parts.append((_GAP, begin, finish, " "))

    def open(self, begin: int, finish: int) -> None:
        """Add markup that opens a pair."""
        self._parts.append((_OPEN, begin, finish, ""))

    def close(self, begin: int, finish: int) -> None:
        """Add markup that closes the pair that was opened last."""
        self._parts.append((_CLOSE, begin, finish, ""))

    def single(self, begin: int, finish: int) -> None:
        """Add markup that is no part of a pair and may stand for a word, such as code, or anything else that must not change."""
        self._parts.append((_SINGLE, begin, finish, ""))

    def void(self, begin: int, finish: int) -> None:
        """Add markup without a meaning in its sentence, such as a comment or the mark of a footnote."""
        self._parts.append((_VOID, begin, finish, ""))

    def line_break(self, begin: int, finish: int) -> None:
        """Add markup that separates words as a space does, such as a line break or an image."""
        self._parts.append((_BREAK, begin, finish, ""))

    def build(self, layout: Layout | None = None) -> Segment | None:
        """Return the segment, without white space and markup around its text; None if this is not decoded (see `is_decoded`).

        The marks of `layout` are filled in.
        """
        parts = _trimmed(self._parts, _pairs(self._parts))
        names = _names(parts, _pairs(parts))
        marks = {name: (begin, finish) for (_, begin, finish, _), name in zip(parts, names, strict=True) if name}
        view = view_of(
            (name or text, begin, finish, "markup" if name else "gap" if kind == _GAP else "text")
            for (kind, begin, finish, text), name in zip(parts, names, strict=True)
        )
        text = view.text
        if not is_decoded(text):
            return None
        segment = Segment(text, view.pieces, replace(layout or Layout(), marks=marks))
        start, end = len(text) - len(text.lstrip()), len(text.rstrip())
        return segment.part(start, end) if (start, end) != (0, len(text)) else segment

    def build_each(self, layout: Layout | None = None) -> list[Segment]:
        """Return the segments as `build` does: that of all parts, or one for each link or other pair of a menu, in which there is nothing
        but a separator between two pairs, and between two links not even this.
        """
        inner = self._menu()
        builders = [self] if inner is None else [SegmentBuilder(self._content) for _ in inner]
        for builder, (first, last) in zip(builders, inner or (), strict=False):
            builder._parts = self._parts[first + 1 : last]
        return [segment for builder in builders if (segment := builder.build(layout)) is not None]

    def _menu(self) -> list[tuple[int, int]] | None:
        """The indices of the ends of the pairs, if the parts are a menu."""
        pairs, index, between = _pairs(self._parts), 0, [""]
        spans: list[tuple[int, int]] = []
        while index < len(self._parts):
            kind, _, _, text = self._parts[index]
            if kind == _OPEN and index in pairs:
                spans.append((index, pairs[index]))
                between.append("")
                index = pairs[index]
            elif kind == _SINGLE:
                return None
            else:
                between[-1] += text if kind in (_TEXT, _GAP) else " "
            index += 1
        if len(spans) < 2 or any(map(str.isalnum, between[0] + between[-1])):
            return None
        are_links = all(_LINK.match(self._content, self._parts[first][1]) for first, _ in spans)
        return spans if all(((are_links and text.isspace()) or _SEPARATOR.fullmatch(text)) for text in between[1:-1]) else None


def _pairs(parts: list[_Part]) -> dict[int, int]:
    """The index of the closing part for each opening part, and the reverse; parts without a counterpart are missing."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for index, part in enumerate(parts):
        if part[0] == _OPEN:
            opened.append(index)
        elif part[0] == _CLOSE and opened:
            first = opened.pop()
            pairs |= {first: index, index: first}
    return pairs


def _trimmed(parts: list[_Part], pairs: dict[int, int]) -> list[_Part]:
    """`parts` without white space, single markup, and pairs around everything, at both ends."""
    first, last = 0, len(parts) - 1

    def is_removable(index: int) -> bool:
        kind, _, _, text = parts[index]
        return kind in (_GAP, *_LETTERS) or (kind == _TEXT and not text.strip()) or (kind in (_OPEN, _CLOSE) and index not in pairs)

    while first <= last:
        if is_removable(first):
            first += 1
        elif is_removable(last):
            last -= 1
        elif pairs.get(first) == last or (parts[first][0] == _OPEN and pairs.get(first) == first + 1):
            first, last = first + 1, last - (pairs[first] == last)
        elif parts[first][0] == _CLOSE and pairs[first] < first:
            first += 1
        elif parts[last][0] == _CLOSE and pairs.get(last) == last - 1:
            last -= 2
        else:
            break
    return parts[first : last + 1]


def _names(parts: list[_Part], pairs: dict[int, int]) -> list[str]:
    """The stand-in for each part, "" for text; numbers that occur in the text already are not used."""
    taken = {int(number) for part in parts for each in STAND_IN.findall(part[3]) for number in re.findall(r"\d+", each)}
    number, numbers, names = 0, {}, []
    for index, part in enumerate(parts):
        if part[0] in (_TEXT, _GAP):
            names.append("")
            continue
        first = min(index, pairs.get(index, index))
        if first not in numbers:
            number = next(each for each in range(number + 1, number + len(taken) + 2) if each not in taken)
            numbers[first] = number
        slash = "/" if part[0] == _CLOSE else ""
        letter = _LETTERS.get(part[0], "v")
        names.append(f"<{slash}g{numbers[first]}>" if index in pairs else f"<{letter}{numbers[first]}/>")
    return names
