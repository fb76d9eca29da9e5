"""Subtitles (SubRip and WebVTT): numbers, times and settings are kept, and sentences are folded over their cues.

The reader is our own because pysubs2 writes files anew, without what it does not know.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice, takewhile

from specdec_cli.documents.document import Document, Source, TextDocument
from specdec_cli.documents.html import add_escaped, escape_text, unescape
from specdec_cli.documents.reading import decode, marked_encoding
from specdec_cli.documents.segments import Change, Layout, Segment, SegmentBuilder, is_decoded
from specdec_cli.documents.wrapped import ends_sentence
from specdec_cli.errors import InputError
from specdec_cli.language_codes import short_code
from specdec_cli.text.segment.paragraphs import wrap_words
from specdec_cli.text.segment.sentences import split_sentences

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\ufeff?[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[ \t]*(?:[^\n]*)$")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_ATTEMPT = re.compile(r"\ufeff?\s*\d+:[^\n]*-->")
_ANY_TAG = r"<[^<>]*>|\{\\[^{}]*\}"
_BEFORE = re.compile(rf"(?:\s|{_ANY_TAG})*")
_SPEAKER = re.compile(r"[-\u2013\u2014\u266a\u266b\[(>]|[A-Z][A-Z .]{1,20}:")
_CUT_OFF = re.compile(r"[\u266a\u266b\])]$|\w\s?(?:--+|[\u2013\u2014])$")
"""The end of a song, of a sound, and of speech that is cut off: the next cue has another sentence."""
_SOUND = re.compile(
    r"(?P<first>[\[(][^][()]{1,60}[\])])\s+(?=[-\u2013\"\u201c]?[^\W\d_a-z])|(?P<rest>.*[.?!\u2026])\s+(?=[\[(][^][()]{1,60}[\])]$)"
)
"""A sound before a sentence, or the sentences before a sound, in a line: [sighs] I am tired. [laughs]"""
_PAUSE = 2.0
"""The longest pause within a sentence, in seconds."""
_MOST_CUES = 8
"""The largest number of cues that are joined."""
Run = tuple[int, int]
"""Begin and end of the text of a line, as offsets into the document."""


@dataclass(frozen=True)
class Cue:
    """A cue: start and end in seconds, and the lines of its text, without the tags around all of it, of which `tags` are the first."""

    start: float
    end: float
    lines: tuple[Run, ...]
    tags: str = ""


@dataclass(frozen=True)
class Passage:
    """Lines that belong together, each with the number of its cue."""

    lines: tuple[Run, ...]
    cues: tuple[int, ...]


def is_webvtt(content: str) -> bool:
    """Whether a document is WebVTT, and not SubRip."""
    return content[:7].lstrip("\ufeff").startswith("WEBVTT")


def read_cues(content: str, name: str) -> list[Cue]:
    """Return the cues of a document. Raises InputError, naming the line, for a document that has text but no cue, and for a time
    that cannot be read.
    """
    cues: list[Cue] = []
    times: tuple[float, float] | None = None
    lines: list[Run] = []
    webvtt = is_webvtt(content)
    for number, found in enumerate(_LINE.finditer(content), 1):
        begin, text = found.start(), found.group().rstrip("\r\n")
        timing = _TIMING.match(text)
        if timing is None and _ATTEMPT.match(text):
            raise InputError(f"{name}, line {number}: not a time of the form 00:00:01,000 --> 00:00:02,000")
        if timing is not None or not text.strip():
            cues += _cue(content, times, lines[: -1 if timing and _is_number(content, lines) else None])
            lines = []
            times = (_seconds(timing.groups()[:4]), _seconds(timing.groups()[4:])) if timing else times
            times = times if timing or not webvtt else None
        elif times is not None:
            lines.append((begin, begin + len(text)))
    cues += _cue(content, times, lines)
    if not cues and times is None and content.strip() and not webvtt:
        raise InputError(f"{name}, line 1: no cue; a cue has a line of the form 00:00:01,000 --> 00:00:02,000")
    return cues


def passages(content: str, cues: list[Cue]) -> Iterator[Passage]:
    """Yield the lines that are decoded together: those of cues whose sentence goes on in the next cue, and lines of one speaker."""
    lines: list[Run] = []
    numbers: list[int] = []
    for number, cue in enumerate(cues):
        if lines and not _goes_on(content, cues, numbers):
            yield Passage(tuple(lines), tuple(numbers))
            lines, numbers = [], []
        for index, line in enumerate(cue.lines):
            if lines and index and (_speaks(content, line) or _is_cut_off(content, lines[-1], line)):
                yield Passage(tuple(lines), tuple(numbers))
                lines, numbers = [], []
            lines.append(line)
            numbers.append(number)
    if lines:
        yield Passage(tuple(lines), tuple(numbers))


def _goes_on(content: str, cues: list[Cue], numbers: list[int]) -> bool:
    """Whether the sentence at the end of the cue before the next one goes on in it; both have no tags inside."""
    cue, following = cues[numbers[-1]], cues[numbers[-1] + 1]
    begin, end = cue.lines[-1]
    near = cue.tags == following.tags and 0 <= following.start - cue.end <= _PAUSE and len(set(numbers)) < _MOST_CUES
    plain = not any("<" in content[first:last] or "{" in content[first:last] for first, last in (*cue.lines, *following.lines))
    text = unescape(content[begin:end])
    is_over = ends_sentence(text) or _CUT_OFF.search(text) is not None or _is_heading(content, cues, numbers[-1]) or not is_decoded(text)
    return near and plain and not _speaks(content, following.lines[0]) and not is_over


def _is_heading(content: str, cues: Sequence[Cue], first: int) -> bool:
    """Whether a cue is in capitals, and neither it nor one of those in capitals after it ends a sentence."""
    texts = (content[slice(*cue.lines[-1])] for cue in islice(cues, first, first + _MOST_CUES))
    shouted = list(takewhile(str.isupper, texts))
    return bool(shouted) and not any(map(ends_sentence, shouted))


def _is_cut_off(content: str, line: Run, following: Run) -> bool:
    """Whether a line ends with a sound, or with speech that is cut off, and the next line begins with a capital."""
    return _CUT_OFF.search(content[slice(*line)]) is not None and content[following[0]].isupper()


def _speaks(content: str, line: Run) -> bool:
    """Whether a line begins with the mark of a speaker or a song, perhaps behind tags."""
    before = _BEFORE.match(content, *line)
    return _SPEAKER.match(content, before.end() if before else line[0]) is not None


def _cue(content: str, times: tuple[float, float] | None, lines: list[Run]) -> list[Cue]:
    """The cue of these lines, without tags and white space around its text; none without text."""
    if times is None or not lines:
        return []
    begin, end = lines[0][0], lines[-1][1]
    before = _BEFORE.match(content, begin, end)
    first, last = before.end() if before else begin, _text_end(content, begin, end)
    if "<" in content[first:last]:
        first, last = begin, end
    kept = [part for start, stop in lines for part in _parts(content, *_stripped(content, max(start, first), min(stop, last)))]
    return [Cue(*times, tuple(kept), content[begin:first].strip())] if kept else []


def _parts(content: str, begin: int, end: int) -> Iterator[Run]:
    """The parts of a line: its sounds, and the text between them."""
    while found := _SOUND.match(content, begin, end):
        yield begin, begin + len(found["first"] or found["rest"])
        begin = found.end()
    if begin < end:
        yield begin, end


def _stripped(content: str, begin: int, end: int) -> Run:
    """Begin and end of a line without white space around it."""
    text = content[begin:end]
    return begin + len(text) - len(text.lstrip()), begin + len(text.rstrip())


def _text_end(content: str, begin: int, end: int) -> int:
    """The offset after the text between `begin` and `end`, without the white space and tags at its end."""
    while begin < end:
        if content[end - 1].isspace():
            end -= 1
            continue
        opening, inner = {">": ("<", "<>"), "}": ("{", "{}")}.get(content[end - 1], ("", ""))
        start = max((content.rfind(each, begin, end - 1) for each in inner), default=-1)
        if start < 0 or content[start] != opening or (opening == "{" and content[start + 1] != "\\"):
            break
        end = start
    return end


def is_timing(line: str) -> bool:
    """Whether a line of text would be read as the times of a cue."""
    return _ATTEMPT.match(line) is not None


def _is_number(content: str, lines: list[Run]) -> bool:
    return bool(lines) and content[slice(*lines[-1])].strip().isdecimal()


def _seconds(parts: tuple[str | None, ...]) -> float:
    hours, minutes, seconds, fraction = parts
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction}")


_LANGUAGE = re.compile(r"<lang[ \t]+([A-Za-z]{2,3})\b[^<>]*>")
"""The tag of WebVTT before text in a language, which ends with </lang>."""
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_DASH = re.compile(r"[-\u2013\u2014](?=[^\W\d_])")
"""The mark of a speaker without a space after it."""
_LEAST_WIDTH = 32
_PAUSE_BONUS = 0.1
"""How much nearer to the end of a cue a word with a comma counts, as a share of the sentence."""


class Subtitles(TextDocument):
    """Subtitles, with a segment for each sentence, or for a passage in one cue."""

    def __init__(self, source: Source, content: str, encoding: str = "utf-8") -> None:
        cues = [cue for cue in read_cues(content, source.name) if not _is_foreign(_LANGUAGE.search(cue.tags), source.language)]
        self._width = max([_LEAST_WIDTH, *(len(_TAG.sub("", content[slice(*line)])) for cue in cues for line in cue.lines)])
        self._passages: list[tuple[Passage, list[Segment]]] = []
        for passage in passages(content, cues):
            segments = list(_segments(content, passage, source.language))
            if segments:
                self._passages.append((passage, segments))
        super().__init__(source, content, (segment for _, segments in self._passages for segment in segments), encoding)

    def replacements(self, outputs: Sequence[str]) -> list[Change]:
        """Return the changes of the document: for each passage that changes, the new text of its part of each cue."""
        changes: list[Change] = []
        rest = iter(outputs)
        for passage, segments in self._passages:
            outputs_of_passage = [next(rest) for _ in segments]
            if any(output != segment.text for output, segment in zip(outputs_of_passage, segments, strict=True)):
                changes += self._folded(passage, segments, outputs_of_passage)
        return changes

    def _folded(self, passage: Passage, segments: Sequence[Segment], outputs: Sequence[str]) -> Iterator[Change]:
        cues = [[run for run, _ in lines] for _, lines in groupby(zip(passage.lines, passage.cues, strict=True), key=lambda each: each[1])]
        texts: list[list[str]] = [[] for _ in cues]
        for segment, output in zip(segments, outputs, strict=True):
            shares = [_share(segment, lines[0][0], lines[-1][1]) for lines in cues]
            for words, part in zip(texts, split_by_shares(output.split(" "), shares), strict=True):
                words += part
        begin, finish = segments[0].begin, segments[-1].finish
        ending = "\r\n" if "\r\n" in self.content else "\n"
        for lines, words in zip(cues, texts, strict=True):
            written = [segments[0].layout.write(word, lambda start, end: self.content[start:end]) for word in words]
            folded = fold(written, len(lines), self._width)
            if any(map(is_timing, folded)):
                folded = [" ".join(written).replace("-->", "->")]
            yield Change(max(begin, lines[0][0]), min(finish, lines[-1][1]), (ending + self._indentation(lines)).join(folded))

    def _indentation(self, lines: Sequence[Run]) -> str:
        """The white space before the second of the lines of a cue."""
        return self.content[lines[0][1] : lines[1][0]].rpartition("\n")[2] if len(lines) > 1 else ""


def read_subtitles(source: Source) -> Document:
    """Parse an SRT or VTT file: UTF-8, or UTF-16 with a byte order mark.

    Raises InputError, naming the line, for bytes that are not valid in it and for times that cannot be read.
    """
    encoding = marked_encoding(source.data) or "utf-8"
    return Subtitles(source, decode(source.data, source.name, encoding), encoding)


def split_by_shares(words: Sequence[str], shares: Sequence[float]) -> list[list[str]]:
    """Split `words` into parts whose lengths have about the proportions `shares`; parts rather end after punctuation.

    Every part with a share has at least one word, if there are enough.
    """
    total, whole = sum(shares), max(sum(map(len, words)), 1)
    parts, start, reached = [], 0, 0.0
    needed = [number for number, share in enumerate(shares) if share > 0]
    for number, share in enumerate(shares):
        reached += share
        later = sum(other > number for other in needed)
        if share <= 0 or not later:
            end = len(words) if share > 0 else start
        else:
            ends = range(min(start + 1, len(words)), max(min(start + 1, len(words)), len(words) - later) + 1)
            end = min(ends, key=lambda place: _distance(words, place, whole, reached / total))
        parts.append(list(words[start:end]))
        start = end
    return parts


def fold(words: Sequence[str], lines: int, width: int) -> list[str]:
    """Fold `words` into lines of similar length: as many as `lines`, fewer for a short text, and more where one is longer than `width`
    characters. Tags have no length.
    """
    shown = [_TAG.sub("", word) for word in words]
    length = len(" ".join(shown))
    count = max(-(-length // width), lines if 2 * length > width else 1)
    for narrow in (*range(max(length // max(count, 1), 1), width), width):
        groups = list(wrap_words(shown, narrow, 0, 0))
        if len(groups) <= count:
            break
    rest = iter(words)
    return [" ".join(islice(rest, len(group))) for group in groups]


def _is_foreign(tag: re.Match[str] | None, language: str) -> bool:
    """Whether the tag of a language, if there is one, names another one than `language`; False if that is not known."""
    return tag is not None and language != "" and short_code(tag[1]) != short_code(language)


def _segments(content: str, passage: Passage, language: str) -> Iterator[Segment]:
    builder = SegmentBuilder(content)
    add_text = partial(add_escaped, builder, content) if is_webvtt(content) else builder.text
    kept = 0  # the end of text in another language
    for number, (start, end) in enumerate(passage.lines):
        begin = max(start, kept)
        if number and kept <= start:
            builder.gap(passage.lines[number - 1][1], begin)
        elif not number and (dash := _DASH.match(content, begin, end)):
            begin = dash.end()
        for tag in _TAG.finditer(content, begin, end):
            if tag.start() < kept:
                continue
            add_text(begin, tag.start())
            is_foreign = _is_foreign(_LANGUAGE.match(tag.group()), language)
            if is_foreign or tag.group() == "<rt>":
                name, last = "</lang>" if is_foreign else "</rt>", passage.lines[-1][1]
                closing = content.find(name, tag.end())
                begin = kept = closing + len(name) if 0 <= closing < last else last
                (builder.single if is_foreign else builder.void)(tag.start(), kept)
                continue
            add = builder.void if tag.group()[1] in "\\0123456789" else builder.close if tag.group()[1] == "/" else builder.open
            add(*tag.span())
            begin = tag.end()
        add_text(begin, max(begin, end))
    segment = builder.build(Layout(escape=escape_text if is_webvtt(content) else str))
    if segment is None or passage.cues[0] == passage.cues[-1]:
        yield from filter(None, [segment])
        return
    sentences = split_sentences(segment.text)
    start = len(sentences.gaps[0])
    for text, gap in zip(sentences.texts, sentences.gaps[1:], strict=True):
        yield segment.part(start, start + len(text))
        start += len(text) + len(gap)


def _share(segment: Segment, begin: int, finish: int) -> int:
    """The number of characters of a segment that are between two offsets of the document."""
    inside = (min(piece.finish, finish) - max(piece.begin, begin) for piece in segment.pieces if not piece.is_gap)
    return sum(max(each, 0) for each in inside)


def _distance(words: Sequence[str], place: int, whole: int, share: float) -> float:
    last, following = "".join(words[max(place - 1, 0) : place])[-1:], "".join(words[place : place + 1])
    pauses = last != "" and last in ",;:.!?\u2026"
    # A cue that ends with an abbreviation would be read as the end of a sentence.
    preference = -1 if last == "." and (following[:1].islower() or following[:1].isdigit()) else int(pauses)
    return abs(sum(map(len, words[:place])) / whole - share) - _PAUSE_BONUS * preference
