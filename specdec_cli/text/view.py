"""Texts without their tags, and as a model reads them; edits of these texts as edits of their sources."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise
from typing import Literal

from specdec_cli.text.edits import Edit

Side = Literal["before", "after", "gap"]
"""Where an item is: before the word that follows it, after the word before it, or in the place of the space between both."""


@dataclass(frozen=True)
class Void:
    """A removed `item`, with the white space beside it that was removed too.

    In the text without items, `width` spaces (0 or 1) at the offset `place` are in its place.
    """

    place: int
    width: int
    item: str
    side: Side


_TOKEN = re.compile(r"\S+")


@dataclass(frozen=True)
class Tag:
    """The tag at the characters `start` to `end` of a text; `place` is its offset in the text without tags.

    An edit that begins before the tag and ends after it removes the tag if it is not `kept`.
    """

    place: int
    start: int
    end: int
    closes: bool
    kept: bool = True


@dataclass(frozen=True)
class Untagged:
    """A `source`, and its `text` without inline tags; `tags` are those that were removed, in order.

    `voids` were removed before the tags; they are not in the `source`, and `marks` are their offsets in it.
    """

    source: str
    text: str
    tags: tuple[Tag, ...] = ()
    voids: tuple[Void, ...] = ()
    marks: tuple[int, ...] = ()

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
        among = self.tags[bisect_right(places, edit.start) : bisect_left(places, edit.end)]
        inner = list(dict.fromkeys(tag.place for tag in among if tag.kept))
        bounds = [edit.start, *inner, edit.end]
        cuts = _cuts(edit, [place - edit.start for place in inner])
        if cuts is not None:
            cuts = [0, *cuts, len(edit.text)]
            for start, end, first, last in zip(bounds, bounds[1:], cuts, cuts[1:], strict=False):
                source, text = self.text[start:end], edit.text[first:last]
                if not inner or source != text:
                    yield edit._replace(start=start, end=end, source=source, text=text)

    def _moved(self, edit: Edit, places: Sequence[int]) -> Edit:
        """The edit at its place in the source; an insertion beside tags is after those that close and before those that open."""
        count = (bisect_right if edit.start < edit.end else bisect_left)(places, edit.start)
        while count < len(places) and places[count] == edit.start and self.tags[count].closes:
            count += 1
        moved = self.tags[count - 1].end - self.tags[count - 1].place if count else 0
        inside = sum(tag.end - tag.start for tag in self.tags[count : bisect_left(places, edit.end)])
        start, end = edit.start + moved, edit.end + moved + inside
        return edit._replace(start=start, end=end, source=self.source[start:end])


@dataclass(frozen=True)
class Bare:
    """A `source`, and the same without its `voids` (see tags/markup.py) and without its inline tags (`plain`)."""

    source: str
    plain: Untagged
    voids: tuple[Void, ...] = ()

    @property
    def text(self) -> str:
        """The source without its inline tags and `voids`, that is, the text that the model reads."""
        return self.plain.text

    @property
    def tags(self) -> tuple[Tag, ...]:
        """The inline tags, in order."""
        return self.plain.tags

    @property
    def is_enclosed(self) -> bool:
        """Whether the text begins and ends with a removed tag."""
        return self.plain.is_enclosed

    def restored(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return `edits` of the text as edits of the source, which keeps every tag and void item.

        An edit on both sides of an item is divided between its words, and left out if that is not possible.
        """
        found = self.plain.restored(edits)
        return [self._moved(part) for edit in found for part in self._parts(edit)] if self.voids else found

    def _parts(self, edit: Edit) -> Iterator[Edit]:
        """Yield the parts, between void items, of an edit of the source without these."""
        among = self.voids[bisect_left(self._places, edit.start) : bisect_left(self._places, edit.end)]
        inner = [void for void in among if edit.start < void.place + void.width]
        cuts = _cuts(edit, [void.place - edit.start for void in inner])
        if not inner or cuts is None:
            yield from () if inner else (edit,)
            return
        start, first, spaced = edit.start, 0, False
        for void, cut in zip(inner, cuts, strict=True):
            yield from self._part(edit, start, void.place, edit.text[first:cut], spaced)
            start, first, spaced = void.place + void.width, cut, void.width > 0
        yield from self._part(edit, start, edit.end, edit.text[first:], spaced)

    def _part(self, edit: Edit, start: int, end: int, text: str, spaced: bool) -> Iterator[Edit]:
        """Yield the part of an edit from `start` to `end`, if it changes these; `spaced`: after an item in place of a space."""
        rest = self.plain.source
        text = text.lstrip() if spaced else text
        if spaced and not text and start < end and rest[end : end + 1] == " " and end not in self._places:
            end += 1
        if rest[start:end] != text:
            yield edit._replace(start=start, end=end, source=rest[start:end], text=text)

    def _moved(self, edit: Edit) -> Edit:
        """The edit at its place in the source; an insertion beside an item is after it only if it begins with a space."""
        count = bisect_left(self._places, edit.start)
        if count < len(self.voids) and self.voids[count].place + self.voids[count].width == edit.start:
            count += edit.start < edit.end or (self.voids[count].side == "after" and edit.text[:1].isspace())
        moved = self._removed[count]
        return edit._replace(start=edit.start + moved, end=edit.end + moved)

    @cached_property
    def _places(self) -> list[int]:
        return [void.place for void in self.voids]

    @cached_property
    def _removed(self) -> list[int]:
        return list(accumulate((len(void.item) - void.width for void in self.voids), initial=0))


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


PICTURES = r"\u2190-\u21ff\u2300-\u23ff\u25a0-\u27bf\u2900-\u297f\u2b00-\u2bff\U0001f000-\U0001faff"
"""Ranges of emoji, pictographs and arrows."""
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
        tags = self.bare.tags
        starts, ends = [*(tag.start for tag in tags), len(self.source)], [tag.end for tag in tags]
        removed = [0, *accumulate(tag.end - tag.start for tag in tags)]
        counts = [bisect_right(ends, place) for place in places]
        return [min(place, starts[count]) - removed[count] for place, count in zip(places, counts, strict=True)]

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
        """The characters that are written as `mark` from `start` to `end`."""
        if self.text == self.bare.text:
            return mark * self.text.count(mark, start, end)
        return "".join(own for own, new in zip(self.bare.text[start:end], self.text[start:end], strict=True) if new == mark)


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
