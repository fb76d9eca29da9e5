"""Inline tags, such as those of bold text and links: text is corrected without them, and the edits are made between them."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise

from specdec_cli.text.edits import Edit
from specdec_cli.text.void_items import Void, without_voids

_NAMES = r"a|abbr|b|bdi|big|cite|em|font|g\d+|i|ins|label|mark|q|s|small|span|strike|strong|sub|sup|u"
_ATTRIBUTE = r"\s+[\w:.-]+\s*=\s*(?:\"[^\"<]*\"|'[^'<]*'|[^\s\"'<>=`]+)"
_TAG = re.compile(rf"<(?P<slash>/?)(?P<name>{_NAMES})(?P<attributes>(?:{_ATTRIBUTE})*+)\s*+>", re.IGNORECASE)
_WORD = re.compile(r"\S+")


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
    """A `source`, and the same without its `voids` (see void_items.py) and without its inline tags (`plain`)."""

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


def bare(source: str) -> Bare:
    """Return `source` without its void items and inline tags."""
    rest, voids = without_voids(source)
    return Bare(source, untagged(rest), voids)


def untagged(source: str) -> Untagged:
    """Return `source` without its inline tags. A tag that separates two words without a space remains, as does one without
    attributes and counterpart, such as "<b>" in "a <b> c".
    """
    tags: list[Tag] = []
    texts: list[str] = []
    position = length = 0
    for run in _runs(_tags(source)):
        start, end = run[0].start(), run[-1].end()
        closing = [bool(tag["slash"]) for tag in run]
        beside = source[max(start - 1, 0) : start] + source[end : end + 1]
        if len(set(closing)) == 2 and len(beside) == 2 and beside.isalnum():
            continue
        texts.append(source[position:start])
        length += start - position
        tags += [Tag(length, *tag.span(), closes) for tag, closes in zip(run, closing, strict=True)]
        position = end
    return Untagged(source, "".join([*texts, source[position:]]), tuple(tags))


def _tags(source: str) -> list[re.Match[str]]:
    """The tags of `source` that have attributes or a counterpart, in order."""
    found = list(_TAG.finditer(source))
    opened: dict[str, list[int]] = {}
    kept = {index for index, tag in enumerate(found) if tag["attributes"]}
    for index, tag in enumerate(found):
        same = opened.setdefault(tag["name"].lower(), [])
        if not tag["slash"]:
            same.append(index)
        elif same:
            kept |= {same.pop(), index}
    return [found[index] for index in sorted(kept)]


def _runs(tags: Iterable[re.Match[str]]) -> Iterator[list[re.Match[str]]]:
    """Lists of the tags that follow each other without text between them."""
    run: list[re.Match[str]] = []
    for tag in tags:
        if run and run[-1].end() != tag.start():
            yield run
            run = []
        run.append(tag)
    if run:
        yield run


def _cuts(edit: Edit, places: Sequence[int]) -> list[int] | None:
    """Where the new text of an edit is cut if its source is cut at `places`; None if their words do not correspond."""
    if not places or not edit.text.strip():
        return [0] * len(places)
    old, new = list(_WORD.finditer(edit.source)), list(_WORD.finditer(edit.text))
    ends = [word.end() for word in old]
    before = [bisect_right(ends, place) for place in places]  # the number of words before each place
    if len(old) != len(new) or any(count < len(old) and old[count].start() < place for count, place in zip(before, places, strict=True)):
        return None
    cuts = []
    for place, count in zip(places, before, strict=True):
        after_word = count > 0 and ends[count - 1] == place
        cuts.append(new[count - 1].end() if after_word else new[count].start() if count < len(new) else len(edit.text))
    return cuts
