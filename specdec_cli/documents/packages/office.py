"""Documents of Word (.docx): the paragraphs of text, headers, footers, notes and comments. Presentations of PowerPoint (.pptx): those of
slides, notes, charts and diagrams.

The XML of each part is changed only where it is text; python-docx would write every part anew.
"""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from specdec_cli.documents.document import Source
from specdec_cli.documents.packages.archive import PackageDocument, in_order, read_parts
from specdec_cli.documents.segments import STAND_IN, Change, Segment, is_decoded
from specdec_cli.documents.xml_events import XmlEvent, end_of, escape_xml, read_xml, start_tag, unescaped, with_attribute
from specdec_cli.errors import InputError
from specdec_cli.language_codes import short_code
from specdec_cli.text.edits import Edit, apply_edits
from specdec_cli.text.view import Part, view_of

_TEXT_PARTS = {
    "docx": re.compile(r"word/(?:document|header\d*|footer\d*|footnotes|endnotes|comments)\.xml"),
    "pptx": re.compile(r"ppt/(?:slides/slide|notesSlides/notesSlide|diagrams/(?:data|drawing)|charts/chart)\d+\.xml"),
}
"""The parts with text in a file of each format."""
_MAIN_PARTS = {"docx": ("a Word document", "word/document.xml"), "pptx": ("a presentation of PowerPoint", "ppt/presentation.xml")}


def read_word(source: Source) -> PackageDocument:
    """Parse a document of Word (see `_read_office`)."""
    return _read_office(source, "docx")


def read_powerpoint(source: Source) -> PackageDocument:
    """Parse a presentation of PowerPoint (see `_read_office`)."""
    return _read_office(source, "pptx")


def _read_office(source: Source, format: str) -> PackageDocument:
    """Parse a document of Word ("docx") or a presentation of PowerPoint ("pptx"), with a segment for each paragraph, or for each line of
    one.

    Raises InputError for a file that is none, is damaged, or is too large after decompression.
    """
    kind, main = _MAIN_PARTS[format]
    chosen = _TEXT_PARTS[format]
    match = read_parts(source.data, source.name, lambda name: name == main or chosen.fullmatch(name) is not None)
    if main not in match:
        raise InputError(f"{source.name}: not {kind}; it has no {main}")
    texts = sorted(filter(chosen.fullmatch, match), key=in_order) if format == "pptx" else list(filter(chosen.fullmatch, match))
    parts = {name: OfficePart(match[name], f"{source.name}, {name}", source.language) for name in texts}
    return PackageDocument(source, parts, match)


class OfficePart:
    """A part of an Office document, `data` in XML, with a segment for each paragraph or line. What is marked as text in another language
    than `language` is kept, unless that is most of the part: programs mark what is written with the keyboard of another language, too.
    Raises InputError for XML that is not well-formed; `name` is the part in its message.
    """

    direction = ("", "")

    def __init__(self, data: bytes, name: str, language: str = "") -> None:
        self._data = data
        self._content, self._encoding, events = read_xml(data, name)
        self._paragraphs = tuple(read_paragraphs(self._content, events, language))
        if language:
            whole = tuple(read_paragraphs(self._content, events))
            if 2 * sum(len(each.segment.text) for each in self._paragraphs) < sum(len(each.segment.text) for each in whole):
                self._paragraphs = whole
        self.segments = tuple(paragraph.segment for paragraph in self._paragraphs)

    def translated(self, outputs: Sequence[str]) -> bytes:
        """Return the part with an output in the place of each segment."""
        changes = [
            change
            for paragraph, output in zip(self._paragraphs, outputs, strict=True)
            if output != paragraph.segment.text
            for change in written_runs(self._content, paragraph, output)
        ]
        return apply_edits(self._content, sorted(changes)).encode(self._encoding, "xmlcharrefreplace") if changes else self._data

    def corrected(self, edits: Sequence[Sequence[Edit]]) -> bytes:
        """Return the part with the edits of each segment made."""
        return self.translated([apply_edits(segment.text, each) for segment, each in zip(self.segments, edits, strict=True)])


_HYPHEN = "noBreakHyphen"
_LAST = "endParaRPr"
"""The last element of a paragraph in a presentation: the format of what is typed there."""
_UNSEEN = frozenset(
    [
        "r",
        "t",
        _HYPHEN,
        "p",
        "rPr",
        "pPr",
        "proofErr",
        "bookmarkStart",
        "bookmarkEnd",
        "lastRenderedPageBreak",
        "noProof",
        "softHyphen",
        "commentRangeStart",
        "commentRangeEnd",
        _LAST,
    ]
)
"""Elements that are no content of their own between two texts."""
_LINE_ENDS = frozenset(["br", "cr", "ptab", "tab"])
_BREAKS = _LINE_ENDS | {"drawing", "object", "pict"}
_DELETIONS = ("del", "moveFrom")
"""Elements around text that a tracked change removes."""
_NUMBER = re.compile(r"(?<![\d.,])\d+(?!\d)")
_IGNORED_FORMAT = re.compile(
    r"<w:(?:lang|noProof|rFonts w:hint)\b[^<>]*/>|(?<!\s)\s+xml:space=\"preserve\"|\s(?:lang|altLang|dirty|err|smtClean|noProof)=\"[^\"]*\""
)
"""What does not divide a sentence: the language of words, and what the program notes about their spelling."""
_SUPERSCRIPT = re.compile(r'<w:vertAlign w:val="superscript"|\sbaseline="[1-9]')


@dataclass(frozen=True)
class Run:
    """The text element from `begin` to `finish`, tags included, with its text from `start` to `end`, and its format.

    A non-breaking hyphen, an element without text, has the text "-". `in_field`: it shows what Word computes, such as the number of a page.
    """

    begin: int
    finish: int
    start: int
    end: int
    text: str
    format: str
    in_field: bool = False


@dataclass(frozen=True)
class Paragraph:
    """A segment, and its runs in groups; between two groups is a mark in the segment's text. Line breaks and tabs end a segment, unless
    lower case follows.

    `lead` and `tail` are the white space before and after the text. `end` is where a run can be added after the last group; None if that
    is not at the end of a paragraph of the document.
    """

    segment: Segment
    groups: tuple[tuple[Run, ...], ...]
    lead: str
    tail: str
    end: int | None


@dataclass
class _Open:
    """The content of a paragraph that is being read: its groups of runs, those that begin after what separates words, those that begin
    after a line break or tab, those that begin after text that is kept, and the format and language of its last run. `end` is where a run
    can be added, if that is before the paragraph's end.
    """

    groups: list[list[Run]] = field(default_factory=lambda: [[]])
    breaks: set[int] = field(default_factory=set)
    line_ends: set[int] = field(default_factory=set)
    kept: set[int] = field(default_factory=set)
    format: str = ""
    language: str = ""
    end: int | None = None


def read_paragraphs(content: str, events: Sequence[XmlEvent], language: str = "") -> Iterator[Paragraph]:
    """Yield the paragraphs that have text; one that contains others, as in a text box, is read without them. Text that is marked with
    another language than `language`, if that is known, is kept.
    """
    stack: list[_Open] = []
    formats: dict[int, int] = {}
    deletions = fields = 0
    for index, event in enumerate(events):
        if event.name in _DELETIONS:
            deletions += {"start": 1, "end": -1}.get(event.kind, 0)
        fields = max(fields + _field_change(event), 0)
        if event.kind == "start" and event.name == "p":
            stack.append(_Open())
        elif not stack:
            continue
        elif event.kind == "end" and event.name == "p":
            closed = stack.pop()
            yield from _closed(closed, event.begin if closed.end is None else closed.end)
        elif event.kind == "start" and event.name == _LAST:
            stack[-1].end = event.begin
        elif event.kind == "start" and event.name == "r":
            stack[-1].format = stack[-1].language = ""
        elif event.kind == "start" and event.name == "lang":
            stack[-1].language = event.attributes.get("w:val", "")
        elif event.name == "rPr":
            stack[-1].language = event.attributes.get("lang", stack[-1].language)
            formats[event.depth] = event.begin if event.kind == "start" else formats.get(event.depth, event.begin)
            if event.kind == "end":
                stack[-1].format = _IGNORED_FORMAT.sub("", content[formats[event.depth] : event.finish])
        elif event.kind == "start" and event.name in ("t", _HYPHEN) and not deletions:
            if _is_foreign(stack[-1].language, language):
                _take_other(events, index, stack[-1])
                stack[-1].kept.add(len(stack[-1].groups) - 1)
            else:
                _take_text(content, events, index, stack[-1], in_field=fields > 0)
        elif event.kind in ("start", "end") and event.name not in _UNSEEN:
            _take_other(events, index, stack[-1])


def _is_foreign(marked: str, language: str) -> bool:
    """Whether text that is `marked` with a language is in another one than `language`; "x-none" is none."""
    return language != "" and len(short_code(marked)) > 1 and short_code(marked) != short_code(language)


def written_runs(content: str, paragraph: Paragraph, output: str) -> Iterator[Change]:
    """Yield the changes of a part for the `output` of a paragraph: the first run of each group has its text, and the others have none."""
    texts = STAND_IN.split(output)
    last = len(paragraph.groups) - 1
    texts = [*texts[:last], "".join(texts[last:])]
    texts += [""] * (len(paragraph.groups) - len(texts))
    texts[0] = paragraph.lead + texts[0]
    texts[-1] += paragraph.tail
    *texts, added = _with_computed([*paragraph.groups, ()], [*texts, ""])
    if paragraph.end is None:
        texts[-1] += added
    elif added.strip():
        first = paragraph.groups[0][0]
        prefix = content[first.begin + 1 : first.finish].partition(":")[0]
        text = _with_space(f"<{prefix}:t>", added)
        yield Change(paragraph.end, paragraph.end, f"<{prefix}:r>{text}{escape_xml(added)}</{prefix}:t></{prefix}:r>")
    for group, text in zip(paragraph.groups, texts, strict=True):
        if text == _text(group) or (_is_computed(group) and text.strip().isdecimal()):
            continue
        for number, run in enumerate(group):
            own = text if number == 0 else ""
            yield Change(run.begin, run.finish, _element(content, run, own))


def _with_computed(groups: Sequence[Sequence[Run]], texts: Sequence[str]) -> list[str]:
    """Return `texts` of groups, divided at other places where this is necessary so that each number which Word computes is the text of its
    own group. If one is missing or there more often than in the source, words in its place go beside it. The last group is empty.
    """
    computed = [number for number, group in enumerate(groups) if _is_computed(group)]
    if not computed:
        return list(texts)
    own = [_text(group) for group in groups]
    whole, source = "".join(texts), "".join(own)
    bounds, sources = (list(accumulate(map(len, each), initial=0)) for each in (texts, own))
    before, after = _numbers(source), _numbers(whole)
    spans: dict[int, tuple[int, int]] = {}
    position = 0
    for number in computed:
        old, new = (found.get(own[number].strip(), []) for found in (before, after))
        place = bisect_left(old, (sources[number],))
        is_there = place < len(old) == len(new) and old[place][0] < sources[number + 1]
        if is_there and new[place][0] >= position:
            spans[number] = new[place]
            position = new[place][1]
    ends = accumulate((spans[number - 1][1] if number - 1 in spans else 0 for number in range(len(bounds))), max)
    starts = accumulate((spans[number][0] if number in spans else len(whole) for number in reversed(range(len(bounds)))), min)
    bounds = [min(max(place, end), start) for place, end, start in zip(bounds, ends, [*starts][::-1], strict=True)]
    for number, (start, end) in spans.items():
        bounds[number : number + 2] = start if number else 0, end
    found = [whole[start:end] for start, end in pairwise(bounds)]
    return _with_lost(found, own, [number for number in computed if number not in spans], frozenset(computed))


def _numbers(text: str) -> dict[str, list[tuple[int, int]]]:
    """Begin and end of all places of each number of a text, in order."""
    positions: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for number in _NUMBER.finditer(text):
        positions[number.group()].append(number.span())
    return positions


def _with_lost(texts: Sequence[str], own: Sequence[str], lost: Sequence[int], computed: Set[int]) -> list[str]:
    """Return the `texts` of groups with their `own` number for those that are `lost`; words in its place go beside it, to a group that is
    not `computed`.
    """
    found = list(texts)
    others = [number for number in range(len(texts)) if number not in computed]
    for number in lost:
        place = bisect_left(others, number)
        if others and not found[number].strip().isdecimal():
            beside = others[place - 1] if place else others[0]
            found[beside] = found[beside] + found[number] if place else found[number] + found[beside]
            found[number] = own[number]
    return found


def _field_change(event: XmlEvent) -> int:
    """1 where a field begins, -1 where it ends, else 0."""
    if event.name == "fldChar" and event.kind == "start":
        return {"begin": 1, "end": -1}.get(event.attributes.get("w:fldCharType", ""), 0)
    return {"start": 1, "end": -1}.get(event.kind, 0) if event.name in ("fldSimple", "fld") else 0


def _is_computed(group: Sequence[Run]) -> bool:
    """Whether a group is a number that Word computes, which the model may write differently."""
    return all(run.in_field for run in group) and _text(group).strip().isdecimal()


def _take_text(content: str, events: Sequence[XmlEvent], index: int, paragraph: _Open, *, in_field: bool) -> None:
    """Add the text element that starts at `index`; a new group begins where the format changes."""
    start = events[index].finish
    place = end_of(events, index)
    last = events[place]
    end = last.begin
    texts = (content[each.begin : each.finish] for each in events[index + 1 : place] if each.kind == "text")
    text = "-" if events[index].name == _HYPHEN else "".join(map(_read, texts))  # without comments and instructions
    run = Run(events[index].begin, last.finish, start, end, text, paragraph.format, in_field)
    group = paragraph.groups[-1]
    is_raised = _SUPERSCRIPT.search(run.format) is not None and not any(map(str.isalpha, text))  # a mark of a note, or an exponent
    if group and (is_raised or group[-1].format != run.format):
        paragraph.groups.append([])
    if not is_raised:
        paragraph.groups[-1].append(run)


def _read(raw: str) -> str:
    """Text of XML with characters in the place of references."""
    return apply_edits(raw, [Change(*each) for each in unescaped(raw)])


def _take_other(events: Sequence[XmlEvent], index: int, paragraph: _Open) -> None:
    """Begin a new group for an element that is no text, unless it is a property."""
    breaks = events[index].name in _BREAKS
    if (breaks or paragraph.groups[-1]) and not _in_properties(events, index):
        if paragraph.groups[-1]:
            paragraph.groups.append([])
        if breaks:
            paragraph.breaks.add(len(paragraph.groups) - 1)
        if events[index].name in _LINE_ENDS:
            paragraph.line_ends.add(len(paragraph.groups) - 1)


def _in_properties(events: Sequence[XmlEvent], index: int) -> bool:
    """Whether the part at `index` is inside the properties of a run or paragraph."""
    depth = events[index].depth
    for event in reversed(events[max(0, index - 400) : index]):
        if event.kind == "start" and event.depth < depth:
            if event.name in ("rPr", "pPr", _LAST, "sdtPr", "sectPr"):
                return True
            if event.name in ("p", "r"):
                return False
            depth = event.depth
    return False


def _closed(found: _Open, end: int) -> Iterator[Paragraph]:
    """Yield the paragraphs of the groups between line breaks that are no part of a sentence; the content ends at the offset `end`."""
    groups = [tuple(group) for group in found.groups if group]
    goes_on = _small_letters(groups)
    starts = [number for number in range(1, len(groups)) if number in found.line_ends and not goes_on[number]]
    for first, last in pairwise([0, *starts, len(groups)]):
        signs = {number - first: "n" for number in range(first, last) if number in found.breaks}
        signs |= {number - first: "x" for number in range(first, last) if number in found.kept}
        yield from _paragraph(groups[first:last], signs, end if last == len(groups) else None)


def _small_letters(groups: Sequence[Sequence[Run]]) -> list[bool]:
    """For each group whether a sentence goes on there, after a line break: the first word from there on begins in lower case."""
    flags, is_small = list[bool](), False
    for group in reversed(groups):
        is_small = next((each.islower() for each in _text(group) if each.isalnum()), is_small)
        flags.append(is_small)
    return flags[::-1]


def _text(group: Sequence[Run]) -> str:
    return "".join(run.text for run in group)


def _paragraph(groups: Sequence[tuple[Run, ...]], signs: Mapping[int, str], end: int | None) -> Iterator[Paragraph]:
    """Yield one paragraph made of `groups`, or nothing if they have no text. `signs` maps the number of a group to the placeholder that
    stands before it (see `_marks`).
    """
    parts, end_before = list[Part](), groups[0][0].start if groups else 0
    for mark, group in zip(_marks(groups, signs), groups, strict=True):
        begin, finish = group[0].start, group[-1].end
        parts += [(mark, end_before, begin, "markup"), (_text(group), begin, finish, "text")]
        end_before = finish
    view = view_of(part for part in parts if part[0])
    text = view.text
    if not is_decoded(text):
        return
    lead, tail = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    whole = Segment(text, view.pieces)
    yield Paragraph(whole.part(len(lead), len(text) - len(tail)), tuple(groups), lead, tail, end)


def _marks(groups: Sequence[Sequence[Run]], signs: Mapping[int, str]) -> list[str]:
    """The stand-in before each group of runs: a pair around a field with words, or a group of another format, between two groups of
    the most frequent format; and else a single one: with one of the `signs` n, of what separates words, and x, of text that is kept.
    """
    lengths: dict[str, int] = {}
    for group in groups:
        lengths[group[0].format] = lengths.get(group[0].format, 0) + sum(len(run.text) for run in group)
    usual = max(lengths, key=lambda each: lengths[each], default="")
    is_usual = [group[0].format == usual and (not group[0].in_field or _is_computed(group)) for group in groups]
    marks = [f"<{signs.get(number, 'v')}{number}/>" if number else "" for number in range(len(groups))]
    for number in range(1, len(groups) - 1):
        if is_usual[number - 1] and not is_usual[number] and is_usual[number + 1] and not {number, number + 1} & signs.keys():
            marks[number], marks[number + 1] = f"<g{number}>", f"</g{number}>"
    return marks


def _element(content: str, run: Run, text: str) -> str:
    """The text element of a run with another text."""
    tag = content[run.begin : run.start].replace(_HYPHEN, "t")
    name = re.match(r"<([\w:.-]+)", tag)
    tag = start_tag(_with_space(tag, text))
    return f"{tag}{escape_xml(text)}</{name[1] if name else 'w:t'}>"


def _with_space(tag: str, text: str) -> str:
    """The start tag of a text element with the attribute that `text` needs if there is white space at its ends. In presentations, whose
    prefix is "a", all of it counts, and there is no such attribute.
    """
    if text == text.strip() or "xml:space" in tag or tag.startswith("<a:"):
        return tag
    return with_attribute(tag, 'xml:space="preserve"')
