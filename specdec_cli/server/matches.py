"""Edits as matches of LanguageTool, with their places in the client's text, which may have markup."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from specdec_cli.error_types.names import description, explanation
from specdec_cli.server.guard import RequestError
from specdec_cli.text.edits import Edit, Utf16
from specdec_cli.text.segment.sentences import split_sentences
from specdec_cli.text.shape import with_own_marks
from specdec_cli.text.view import Part, PieceKind, view_of


class AnnotatedText:
    """A text that is a view of the client's document; `checked` is the text to correct, in which markup begins or ends at the offsets
    `breaks`, in order. The parts are those of a view: texts and markup, with their places in the document.
    """

    def __init__(self, document: str, parts: Iterable[Part]) -> None:
        self._view, self._units = view_of(parts), Utf16(document)
        self.checked = self._view.text
        self.breaks = tuple(dict.fromkeys(place for each in self._view.pieces if each.kind == "markup" for place in each[:2]))

    def original_span(self, start: int, end: int) -> tuple[int, int] | None:
        """The span (start, end) of the client's document, in UTF-16 code units, of a span of `checked` in code points.

        The span must not be empty. None if there is markup in it, which a replacement would remove.
        """
        if any(piece.kind == "markup" for piece in self._view.among(start, end)):
            return None
        first, last = self._view.span(start, end)
        return self._units.offset(first), self._units.offset(last)


def plain_text(text: str) -> AnnotatedText:
    """A text without markup."""
    return AnnotatedText(text, [(text, 0, len(text), "text")])


def read_annotations(data: Any) -> AnnotatedText:
    """Read the field `data`: JSON with a list `annotation` of objects with `text`, or `markup` and perhaps `interpretAs`.

    Raises RequestError for anything else.
    """
    try:
        annotations = json.loads(data) if isinstance(data, str) else data
        if isinstance(annotations.get("text"), str):
            return plain_text(annotations["text"])
        read = [_annotation(each) for each in annotations["annotation"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise RequestError(400, "'data' is not valid: a list 'annotation' of objects with 'text' or 'markup' is expected") from error
    ends = list(accumulate((len(original) for original, _, _ in read), initial=0))
    parts = [(checked, *place, kind) for (_, checked, kind), place in zip(read, pairwise(ends), strict=True)]
    return AnnotatedText("".join(original for original, _, _ in read), parts)


def _annotation(annotation: dict[str, Any]) -> tuple[str, str, PieceKind]:
    """What the client's document has, what is checked in its place, and its kind."""
    text, markup, replacement = annotation.get("text"), annotation.get("markup"), annotation.get("interpretAs")
    if isinstance(text, str) and markup is None:
        return text, text, "text"
    if isinstance(markup, str) and isinstance(replacement, str | None) and text is None:
        return markup, replacement or "", "markup"
    raise ValueError


_AROUND = 40
_WORD_AFTER = re.compile(r"\S+")
_WORD_BEFORE = re.compile(r"\S+\Z")


@dataclass(frozen=True)
class Kind:
    """A kind of errors: LanguageTool's names of the rule and of its category, and a description."""

    rule: str
    category: str
    category_name: str
    issue: str
    description: str


_CATEGORIES = {
    "SPELL": ("TYPOS", "Possible Typo", "misspelling"),
    "ORTH": ("CASING", "Capitalization", "typographical"),
    "PUNCT": ("PUNCTUATION", "Punctuation", "typographical"),
}
_GRAMMAR = ("GRAMMAR", "Grammar", "grammar")


def widened(source: str, edit: Edit) -> Edit:
    """An edit that replaces at least one character: an insertion is widened over the next word, else the previous one."""
    if edit.start < edit.end:
        return edit
    if after := _WORD_AFTER.match(source, edit.end):
        return edit._replace(end=after.end(), source=after.group(), text=edit.text + after.group())
    if before := _WORD_BEFORE.search(source[: edit.start]):
        return edit._replace(start=before.start(), source=before.group(), text=before.group() + edit.text)
    start, end = max(0, edit.start - 1), min(len(source), edit.end + 1)
    text = source[start : edit.start] + edit.text + source[edit.end : end]
    return edit._replace(start=start, end=end, source=source[start:end], text=text)


def without_last_stop(source: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits without a stop that is added to the end of a text of one sentence: a heading, or a sentence that is being written.

    LanguageTool, too, reports a missing stop only at the end of paragraphs of several sentences.
    """
    return with_own_marks(edits, source) if edits and len(split_sentences(source).texts) < 2 else list(edits)


def without_overlaps(source: str, edits: Sequence[Edit]) -> list[Edit]:
    """The edits, each at least a character wide; an edit that then overlaps the one before it is left out."""
    kept: list[Edit] = []
    for edit in edits:
        wide = edit if edit.start < edit.end else widened(source, edit)
        if kept and wide.start < kept[-1].end:
            continue
        kept.append(wide)
    return kept


def kind_of(edit: Edit) -> Kind:
    """The kind of error that an edit corrects: a rule for each type of error."""
    category = edit.type.partition(":")[2]
    spaces = category == "ORTH" and edit.source.casefold() != edit.text.casefold()
    kind = _CATEGORIES["PUNCT"] if spaces else _CATEGORIES.get(category, _GRAMMAR)
    return Kind(f"SPECDEC_{edit.type.replace(':', '_')}", *kind, description(edit.type))


def match_of(source: str, edit: Edit, span: tuple[int, int]) -> dict[str, Any]:
    """The match for an edit of `source` (offsets in code points); `span` is its place in the client's text, in UTF-16 units."""
    kind = kind_of(edit)
    message = explanation(edit)
    return {
        "message": message[0].upper() + message[1:],
        "shortMessage": kind.description,
        "offset": span[0],
        "length": span[1] - span[0],
        "replacements": [{"value": edit.text}],
        "context": _context(source, edit),
        "sentence": _sentence(source, edit),
        "type": {"typeName": "Other"},
        "rule": {
            "id": kind.rule,
            "description": kind.description,
            "issueType": kind.issue,
            "category": {"id": kind.category, "name": kind.category_name},
        },
        "ignoreForIncompleteSentence": False,
        "contextForSureMatch": 0,
    }


def _context(source: str, edit: Edit) -> dict[str, Any]:
    start, end = max(0, edit.start - _AROUND), min(len(source), edit.end + _AROUND)
    left = ("..." if start else "") + source[start : edit.start]
    text = left + source[edit.start : end] + ("..." if end < len(source) else "")
    units = Utf16(text)
    offset = units.offset(len(left))
    return {"text": text, "offset": offset, "length": units.offset(len(left) + edit.end - edit.start) - offset}


def _sentence(source: str, edit: Edit) -> str:
    """The sentence in which an edit begins."""
    segments = split_sentences(source)
    end = 0
    for gap, text in zip(segments.gaps, segments.texts, strict=False):
        end += len(gap) + len(text)
        if edit.start < end:
            return text
    return segments.texts[-1] if segments.texts else source
