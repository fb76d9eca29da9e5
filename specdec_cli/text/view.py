"""The map of offsets: texts that stand for parts of a source, and edits of these texts as edits of their sources.

A `View` is the only map between the offsets of two texts. Segments of documents, lines of wrapped paragraphs, lines that the server
checks, and texts without tags, emoji and invisible signs are views. All offsets are in code points; `Utf16` (text/edits.py) counts code
units for clients that need these. Two other conversions are no maps between texts: the readers of XML and HTML turn bytes, lines and
columns of their libraries into code points of the same text, and `documents.document` turns these into lines and columns.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Literal, NamedTuple, Self

from specdec_cli.text.edits import Edit
from specdec_cli.text.marks import ACCENTS, PICTURES

PieceKind = Literal["text", "gap", "markup"]


class Piece(NamedTuple):
    """The characters `start` to `end` of a text, and `begin` to `finish` of its source, which they stand for.

    A gap is a space for a line break, or for what else separates words in the source; changes keep it. Markup is a stand-in of it, or no
    character if it was removed.
    """

    start: int
    end: int
    begin: int
    finish: int
    kind: PieceKind = "text"

    @property
    def is_gap(self) -> bool:
        """Whether the piece is a gap."""
        return self.kind == "gap"

    @property
    def is_copied(self) -> bool:
        """Whether each character of the piece stands for one of the source: then it has no escaped characters and no markup."""
        return self.kind == "text" and self.end - self.start == self.finish - self.begin


Part = tuple[str, int, int, PieceKind]
"""A text, the offsets in its source of what it stands for, and its kind."""


@dataclass(frozen=True)
class View:
    """A `text`, and its `pieces`, which are in order and cover it."""

    text: str
    pieces: tuple[Piece, ...]

    @property
    def begin(self) -> int:
        """The offset in the source at which the text begins."""
        return self.pieces[0].begin

    @property
    def finish(self) -> int:
        """The offset in the source at which the text ends."""
        return self.pieces[-1].finish

    @cached_property
    def _ends(self) -> list[int]:
        return [piece.end for piece in self.pieces]

    @cached_property
    def _finishes(self) -> list[int]:
        return [piece.finish for piece in self.pieces]

    def position(self, offset: int) -> int:
        """The offset in the source of the character at `offset` of the text, after removed markup; `finish` for the end of the text."""
        index = bisect_right(self._ends, offset)
        if index == len(self.pieces):
            return self.finish
        piece = self.pieces[index]
        return piece.begin + (offset - piece.start if piece.is_copied else 0)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The offsets in the source of the characters `start` to `end` of the text; without characters, twice that of the next one."""
        begin = self.position(start)
        if start == end:
            return begin, begin
        piece = self.pieces[bisect_right(self._ends, end - 1)]
        return begin, piece.begin + end - piece.start if piece.is_copied else piece.finish

    def offset(self, position: int) -> int:
        """The offset in the text of a `position` in the source. One inside a piece that is not copied becomes the offset of this piece."""
        index = bisect_right(self._finishes, position)
        if index == len(self.pieces):
            return len(self.text)
        piece = self.pieces[index]
        return piece.start + (max(position - piece.begin, 0) if piece.is_copied else 0)

    def among(self, start: int, end: int) -> tuple[Piece, ...]:
        """The pieces of which at least one character, or removed markup, is between `start` and `end` of the text."""
        first, last = bisect_right(self._ends, start), bisect_left(self.pieces, end, key=lambda piece: piece.start)
        return self.pieces[first:last]

    def part(self, start: int, end: int) -> Self:
        """The view of the characters `start` to `end` of the text."""
        found = []
        for piece in self.among(start, end):
            first, last = max(start, piece.start), min(end, piece.end)
            if first < last or start < piece.start < end:
                begin, finish = piece.begin, piece.finish
                if piece.is_copied:
                    begin, finish = begin + (first - piece.start), finish - (piece.end - last)
                found.append(piece._replace(start=first - start, end=last - start, begin=begin, finish=finish))
        return replace(self, text=self.text[start:end], pieces=tuple(found))

    def moved(self, distance: int) -> Self:
        """The same view of a source that has `distance` more characters before it."""
        return replace(
            self, pieces=tuple(each._replace(begin=each.begin + distance, finish=each.finish + distance) for each in self.pieces)
        )

    def divided(self, edits: Iterable[Edit], places: Sequence[int]) -> list[Edit]:
        """Return `edits` of the text; one on both sides of one of `places`, which are in order, is divided between its words there, or left
        out if its two texts have different numbers of words.
        """
        tags = tuple(Tag(place, place, place) for place in places)
        return Untagged(self.text, self.text, tags).restored(list(edits))


def view_of(parts: Iterable[Part]) -> View:
    """The view of these parts, one after the other."""
    texts, pieces, length = list[str](), list[Piece](), 0
    for text, begin, finish, kind in parts:
        texts.append(text)
        pieces.append(Piece(length, length + len(text), begin, finish, kind))
        length += len(text)
    return View("".join(texts), tuple(pieces))


def joined(views: Iterable[View]) -> View:
    """The view of these views of one source, one after the other."""
    return view_of((view.text[each.start : each.end], *each[2:]) for view in views for each in view.pieces)


Side = Literal["before", "after", "gap"]
"""Where an item is: before the word that follows it, after the word before it, or in the place of the space between both."""


_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True)
class Tag:
    """What was removed at the characters `start` to `end` of a text: a tag, or a void item, with the white space beside it. In the text
    without it, `width` spaces (0 or 1) at the offset `place` are in its place.

    An edit that begins before it and ends after it removes it if it is not `kept`. `side` is that of a void item. Both tags of a pair have
    one `name`.
    """

    place: int
    start: int
    end: int
    closes: bool = False
    kept: bool = True
    width: int = 0
    side: Side = "before"
    name: str = ""


@dataclass(frozen=True)
class Untagged:
    """A `source`, and its `text` without `tags`, which are in order."""

    source: str
    text: str
    tags: tuple[Tag, ...] = ()

    @classmethod
    def without(cls, source: str, tags: Iterable[Tag]) -> Self:
        """Remove `tags`, which are in order and have the right `width`, but not yet their places, from `source`."""
        pieces, placed, position, length = list[str](), list[Tag](), 0, 0
        for tag in tags:
            pieces += [source[position : tag.start], " " * tag.width]
            placed.append(replace(tag, place=length + tag.start - position))
            length += tag.start - position + tag.width
            position = tag.end
        return cls(source, "".join([*pieces, source[position:]]), tuple(placed))

    @property
    def is_enclosed(self) -> bool:
        """Whether the text begins and ends with a removed tag."""
        return bool(self.tags) and self.tags[0].start == 0 and self.tags[-1].end == len(self.source)

    def restored(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return `edits` of the text as edits of the source.

        An edit on both sides of a tag is divided between its words; it is left out if its two texts have different numbers of words, or
        if it deletes all words between two tags. So the source keeps every tag that must be kept. The first word after a tag is deleted
        with the space after it.
        """
        if not self.tags:
            return list(edits)
        places = [tag.place for tag in self.tags]
        moved = (self._after_space(edit) for edit in edits)
        return [self._moved(part, places) for edit in moved if not self._empties(edit) for part in self._parts(edit, places)]

    @cached_property
    def view(self) -> View:
        """The text as a view of the source."""
        parts, start, begin = list[Part](), 0, 0
        for tag in self.tags:
            parts.append((self.text[start : tag.place], begin, tag.start, "text"))
            parts.append((" " * tag.width, tag.start, tag.end, "gap" if tag.width else "markup"))
            start, begin = tag.place + tag.width, tag.end
        return view_of([*parts, (self.text[start:], begin, len(self.source), "text")])

    def _after_space(self, edit: Edit) -> Edit:
        """Return `edit`. If it deletes a space before a tag and the first words after it, it then deletes the space after these instead."""
        start, end = edit.start + 1, edit.end + 1
        if edit.text or not self.text[edit.start : start] == self.text[edit.end : end] == " ":
            return edit
        if not any(tag.place == start and not tag.closes for tag in self.tags):
            return edit
        return edit._replace(start=start, end=end, source=self.text[start:end])

    def _empties(self, edit: Edit) -> bool:
        """Whether `edit` deletes all text between a tag that opens and one that closes."""
        if edit.text.strip():
            return False
        pairs = (pair for pair in pairwise(tag for tag in self.tags if tag.kept) if not pair[0].closes and pair[1].closes)
        return any(edit.start <= first.place < last.place <= edit.end for first, last in pairs)

    def _parts(self, edit: Edit, places: Sequence[int]) -> Iterator[Edit]:
        """Yield the parts of an edit between tags; none if it cannot be divided."""
        among = self.tags[bisect_left(places, edit.start) : bisect_left(places, edit.end)]
        inner = {tag.place: tag.width for tag in among if tag.kept and edit.start < tag.place + tag.width}
        cuts = _cuts(edit, [place - edit.start for place in inner])
        if not inner or cuts is None:
            yield from () if inner else (edit,)
            return
        start, first, spaced = edit.start, 0, 0
        for (place, width), cut in zip([*inner.items(), (edit.end, 0)], [*cuts, len(edit.text)], strict=True):
            end, text = place, edit.text[first:cut].lstrip() if spaced else edit.text[first:cut]
            if spaced and not text and start < end and self.text[end : end + 1] == " " and end not in places:
                end += 1
            if self.text[start:end] != text:
                yield edit._replace(start=start, end=end, source=self.text[start:end], text=text)
            start, first, spaced = place + width, cut, width

    def _moved(self, edit: Edit, places: Sequence[int]) -> Edit:
        """The edit at its place in the source; an insertion beside tags is after those that close and before those that open."""
        if edit.start < edit.end:
            start, end = self.view.span(edit.start, edit.end)
        else:
            count, behind = bisect_left(places, edit.start), ["after"] * edit.text[:1].isspace()
            while count < len(places) and places[count] == edit.start and (self.tags[count].closes or self.tags[count].side in behind):
                count += 1
            before = self.tags[count - 1] if count else Tag(0, 0, 0)
            start = end = before.end + edit.start - before.place - before.width
        return edit._replace(start=start, end=end, source=self.source[start:end])


@dataclass(frozen=True)
class Bare:
    """A source without its void items (`items`), and that without its inline tags (`plain`; see tags/markup.py)."""

    items: Untagged
    plain: Untagged

    @property
    def source(self) -> str:
        """The text with its inline tags and void items."""
        return self.items.source

    @property
    def text(self) -> str:
        """The source without its inline tags and void items, that is, the text that the model reads."""
        return self.plain.text

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The inline tags, in order."""
        return self.plain.tags

    @property
    def is_enclosed(self) -> bool:
        """Whether the text begins and ends with a removed tag."""
        return self.plain.is_enclosed

    @property
    def removed(self) -> list[str]:
        """The inline tags and the void items, without white space beside these."""
        return [each.source[tag.start : tag.end].strip() for each in (self.plain, self.items) for tag in each.tags]

    def restored(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return `edits` of the text as edits of the source, which keeps every tag and void item."""
        return self.items.restored(self.plain.restored(edits))


def unchanged(source: str) -> Bare:
    """A text that has no tags and void items, or keeps them."""
    return Bare(Untagged(source, source), Untagged(source, source))


def _cuts(edit: Edit, places: Sequence[int]) -> list[int] | None:
    """Where the new text of an edit is cut if its source is cut at `places`; None if their words do not correspond."""
    if not places or not edit.text.strip():
        return [0] * len(places)
    old, new = list(_TOKEN.finditer(edit.source)), list(_TOKEN.finditer(edit.text))
    ends = [word.end() for word in old]
    before = [bisect_right(ends, place) for place in places]  # the number of words before each place
    if len(old) != len(new) or any(count < len(old) and old[count].start() < place for count, place in zip(before, places, strict=True)):
        return None
    cuts = []
    for place, count in zip(places, before, strict=True):
        after_word = count > 0 and ends[count - 1] == place
        cuts.append(new[count - 1].end() if after_word else new[count].start() if count < len(new) else len(edit.text))
    return cuts


_PICTURE = re.compile(f"[{PICTURES}]")
_WORD = re.compile(r"\w+")
_MARKS = "'\"-"
_APOSTROPHES = "'\u2019\u02bc"


@dataclass(frozen=True)
class Readable:
    """A source text as the model reads it.

    `bare` is the `source` without emoji, invisible characters and repeated spaces. `text` is the text of `bare`, in characters of the
    model's vocabulary, one for each character of `bare`.
    """

    source: str
    bare: Untagged
    text: str

    def restored(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return `edits` of the text as edits of the source, in its characters; those that would change a word with accents
        which the model did not see, or remove an emoji, are left out.
        """
        found = [self._in_own_characters(edit) for edit in edits]
        return self.bare.restored([edit for edit in found if edit is not None and edit.source != edit.text])

    def places(self, places: Sequence[int]) -> list[int]:
        """The offsets in `text` of offsets in `source`. An offset inside a part that was left out becomes the offset of this part."""
        return [self.bare.view.offset(place) for place in places]

    def _in_own_characters(self, edit: Edit) -> Edit | None:
        own = self.bare.text[edit.start : edit.end]
        if _PICTURE.findall(own) != _PICTURE.findall(edit.text):  # an emoji between letters, which the model cannot read
            return None
        text = _with_words(own, edit.source, edit.text) if own != edit.source else edit.text
        for mark in [mark for mark in _MARKS if mark in edit.source or mark in edit.text]:
            text = None if text is None else _with_marks(self._originals(mark, edit.start, edit.end), self._everywhere[mark], mark, text)
        return None if text is None else edit._replace(source=own, text=text)

    @cached_property
    def _everywhere(self) -> Mapping[str, str]:
        """For each of _MARKS, the characters of the whole text that are written as it."""
        return {mark: self._originals(mark) for mark in _MARKS}

    def _originals(self, mark: str, start: int = 0, end: int | None = None) -> str:
        """The characters that are written as `mark` from `start` to `end`; an accent in the place of an apostrophe counts as this."""
        if self.text == self.bare.text:
            return mark * self.text.count(mark, start, end)
        shown = zip(self.bare.text[start:end], self.text[start:end], strict=True)
        return "".join(mark if own in ACCENTS else own for own, new in shown if new == mark)


def _with_words(own: str, known: str, text: str) -> str | None:
    """`text` with the words of `own` that are written otherwise in `known`; None if one of them is not in `text`."""
    for word in _WORD.finditer(own):
        shown = known[word.start() : word.end()]
        if shown != word.group():
            text, count = re.subn(rf"(?<!\w){re.escape(shown)}(?!\w)", word.group(), text, count=1)
            if not count:
                return None
    return text


def _with_marks(originals: str, everywhere: str, mark: str, text: str) -> str | None:
    """`text`, which replaces text that has the `originals` of `mark`, with these in its place; None if it is not clear which one to take.

    If there are none, a "'" becomes the apostrophe of the whole text, whose originals are `everywhere`, if it has only one kind; other
    marks remain.
    """
    if not originals:
        apostrophes = set(everywhere).intersection(_APOSTROPHES)
        return text.replace(mark, apostrophes.pop()) if len(apostrophes) == 1 else text
    count = text.count(mark)
    if len(set(originals)) == 1 and (count <= len(originals) or originals[0] in _APOSTROPHES):
        return text.replace(mark, originals[0])
    if count != len(originals):
        return None
    rest = iter(originals)
    return "".join(next(rest) if character == mark else character for character in text)
