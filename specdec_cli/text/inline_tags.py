"""Inline tags, such as those of bold text and links: text is corrected without them, and the edits are made between them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from specdec_cli.text.edits import Edit

_NAMES = r"a|abbr|b|bdi|big|cite|em|font|g\d+|i|ins|label|mark|q|s|small|span|strike|strong|sub|sup|u"
_TAG = rf"</?(?:{_NAMES})(?:\s[^<>]*)?(?<!/)>"
_TAGS = re.compile(rf"(?:{_TAG})+", re.IGNORECASE)
_ONE = re.compile(_TAG, re.IGNORECASE)
_WORD = re.compile(r"\S+")


@dataclass(frozen=True)
class Tag:
    """The tag at the characters `start` to `end` of a text; `place` is its offset in the text without tags."""

    place: int
    start: int
    end: int
    closes: bool


@dataclass(frozen=True)
class Untagged:
    """A `source`, and its `text` without inline tags; `tags` are those that were removed, in order."""

    source: str
    text: str
    tags: tuple[Tag, ...] = ()

    @property
    def is_enclosed(self) -> bool:
        """Whether the text begins and ends with a removed tag."""
        return bool(self.tags) and self.tags[0].start == 0 and self.tags[-1].end == len(self.source)

    def restored(self, edits: Sequence[Edit]) -> list[Edit]:
        """Return `edits` of the text as edits of the source.

        An edit on both sides of a tag is divided between its words; it is left out if its two texts have different numbers of words.
        So the source keeps every tag.
        """
        if not self.tags:
            return list(edits)
        return [self._moved(part) for edit in edits for part in self._parts(edit)]

    def _parts(self, edit: Edit) -> Iterator[Edit]:
        inner = sorted({tag.place for tag in self.tags if edit.start < tag.place < edit.end})
        bounds = [edit.start, *inner, edit.end]
        cuts = _cuts(edit, [place - edit.start for place in inner])
        if cuts is not None:
            cuts = [0, *cuts, len(edit.text)]
            for start, end, first, last in zip(bounds, bounds[1:], cuts, cuts[1:], strict=False):
                source, text = self.text[start:end], edit.text[first:last]
                if not inner or source != text:
                    yield replace(edit, start=start, end=end, source=source, text=text)

    def _moved(self, edit: Edit) -> Edit:
        """The edit at its place in the source; an insertion beside tags is after those that close and before those that open."""
        before = [tag for tag in self.tags if tag.place < edit.start]
        for tag in self.tags:
            if tag.place == edit.start and (edit.start < edit.end or tag.closes):
                before.append(tag)
            elif tag.place >= edit.start:
                break
        moved = sum(tag.end - tag.start for tag in before)
        return replace(edit, start=edit.start + moved, end=edit.end + moved)


def untagged(source: str) -> Untagged:
    """Return `source` without its inline tags. Tags that separate two words without a space remain."""
    tags: list[Tag] = []
    texts: list[str] = []
    position = length = 0
    for run in _TAGS.finditer(source):
        found = list(_ONE.finditer(source, *run.span()))
        closing = [tag.group().startswith("</") for tag in found]
        beside = source[max(run.start() - 1, 0) : run.start()] + source[run.end() : run.end() + 1]
        if len(set(closing)) == 2 and len(beside) == 2 and beside.isalnum():
            continue
        texts.append(source[position : run.start()])
        length += run.start() - position
        tags += [Tag(length, *tag.span(), closes) for tag, closes in zip(found, closing, strict=True)]
        position = run.end()
    return Untagged(source, "".join([*texts, source[position:]]), tuple(tags))


def _cuts(edit: Edit, places: Sequence[int]) -> list[int] | None:
    """Where the new text of an edit is cut if its source is cut at `places`; None if their words do not correspond."""
    if not places or not edit.text.strip():
        return [0] * len(places)
    old, new = list(_WORD.finditer(edit.source)), list(_WORD.finditer(edit.text))
    if len(old) != len(new) or any(word.start() < place < word.end() for word in old for place in places):
        return None
    cuts = []
    for place in places:
        count = sum(word.end() <= place for word in old)
        after_word = count > 0 and old[count - 1].end() == place
        cuts.append(new[count - 1].end() if after_word else new[count].start() if count < len(new) else len(edit.text))
    return cuts
