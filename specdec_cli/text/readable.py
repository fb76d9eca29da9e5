"""Texts in which known characters stand for those that a vocabulary lacks, and edits of the texts with their own characters.

Quotation marks, dashes and spaces are written as those of ASCII, letters without their accents. Emoji, invisible characters and repeated
spaces are left out.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from specdec_cli.text.edits import Edit
from specdec_cli.text.inline_tags import Tag, Untagged

_KNOWN = dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"')
_PICTURES = r"\u2600-\u27bf\U0001f000-\U0001faff"
_RUN = rf"(?:[{_PICTURES}][\ufe0f\u200d]*+)++"
_INVISIBLE = r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff]"
_LEFT_OUT = re.compile(rf"\s?{_RUN}(?!\w)|(?<![\w\ufe0f\u200d{_PICTURES}]){_RUN}|{_INVISIBLE}|(?<=\S\s)\s+(?=\S)")
"""Emoji that are not between two letters, with a space before them; soft hyphens and other invisible characters; repeated spaces."""
_SPACES = re.compile(r"\S\s\s+\S")
_PICTURE = re.compile(f"[{_PICTURES}]")
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


def readable(source: str, lacks: Callable[[str], bool]) -> Readable:
    """Return `source` as a model reads it whose vocabulary `lacks` some characters; characters of ASCII stay as they are."""
    if source.isascii() and not _SPACES.search(source):
        return Readable(source, Untagged(source, source), source)
    bare = _shortened(source, lacks)
    return Readable(source, bare, "".join(_known(each) if not each.isascii() and lacks(each) else each for each in bare.text))


def _known(character: str) -> str:
    """The character of ASCII that stands for another one, if there is one, else the character itself."""
    if character in _KNOWN:
        return _KNOWN[character]
    if unicodedata.category(character) == "Pd":
        return "-"
    if character.isspace():
        return " "
    base = unicodedata.normalize("NFD", character)[0]
    return base if base.isascii() and base.isalpha() else character


def _shortened(source: str, lacks: Callable[[str], bool]) -> Untagged:
    """Return `source` without the emoji, invisible characters and repeated spaces that the model does not read (_LEFT_OUT)."""
    tags: list[Tag] = []
    texts: list[str] = []
    position = length = 0
    for found in _LEFT_OUT.finditer(source):
        start, end = max(found.start(), position), found.end()
        seen = found.group().lstrip()
        if seen and not lacks(seen[0]):
            continue
        if seen and not texts and not source[:start].strip():
            end += len(source[end:]) - len(source[end:].lstrip())
        texts.append(source[position:start])
        length += start - position
        tags.append(Tag(length, start, end, closes=False, kept=bool(seen)))
        position = end
    return Untagged(source, "".join([*texts, source[position:]]), tuple(tags))


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
