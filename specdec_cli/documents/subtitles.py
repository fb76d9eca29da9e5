"""Subtitles (SubRip and WebVTT): numbers, times and settings are kept, and sentences are folded over their cues.

The reader is our own because pysubs2 writes files anew, without what it does not know.
"""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import groupby, islice

from specdec_cli.documents.builder import SegmentBuilder
from specdec_cli.documents.cues import Passage, Run, is_timing, is_webvtt, passages, read_cues
from specdec_cli.documents.document import Document, Source, TextDocument
from specdec_cli.documents.html_text import add_escaped, escape_text
from specdec_cli.documents.reading import decode, marked_encoding
from specdec_cli.documents.segments import Change, Layout, Segment
from specdec_cli.text.segment.paragraphs import wrap_words
from specdec_cli.text.segment.sentences import split_sentences

_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<\d[\d:.]*>|\{\\[^{}]*\}")
_DASH = re.compile(r"[-\u2013\u2014](?=[^\W\d_])")
"""The mark of a speaker without a space after it."""
_LEAST_WIDTH = 32
_PAUSE_BONUS = 0.1
"""How much nearer to the end of a cue a word with a comma counts, as a share of the sentence."""


class Subtitles(TextDocument):
    """Subtitles, with a segment for each sentence, or for a passage in one cue."""

    def __init__(self, source: Source, content: str, encoding: str = "utf-8") -> None:
        cues = read_cues(content, source.name)
        self._width = max([_LEAST_WIDTH, *(len(_TAG.sub("", content[slice(*line)])) for cue in cues for line in cue.lines)])
        self._passages: list[tuple[Passage, list[Segment]]] = []
        for passage in passages(content, cues):
            found = list(_segments(content, passage))
            if found:
                self._passages.append((passage, found))
        super().__init__(source, content, (segment for _, found in self._passages for segment in found), encoding)

    def replacements(self, outputs: Sequence[str]) -> list[Change]:
        """Return the changes of the document: for each passage that changes, the new text of its part of each cue."""
        made: list[Change] = []
        rest = iter(outputs)
        for passage, segments in self._passages:
            own = [next(rest) for _ in segments]
            if any(output != segment.text for output, segment in zip(own, segments, strict=True)):
                made += self._folded(passage, segments, own)
        return made

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


def _segments(content: str, passage: Passage) -> Iterator[Segment]:
    builder = SegmentBuilder(content)
    add_text = partial(add_escaped, builder, content) if is_webvtt(content) else builder.text
    for number, (begin, end) in enumerate(passage.lines):
        if number:
            builder.gap(passage.lines[number - 1][1], begin)
        elif dash := _DASH.match(content, begin, end):
            begin = dash.end()
        for tag in _TAG.finditer(content, begin, end):
            add_text(begin, tag.start())
            add = builder.void if tag.group()[1] in "\\0123456789" else builder.close if tag.group()[1] == "/" else builder.open
            add(*tag.span())
            begin = tag.end()
        add_text(begin, end)
    found = builder.build(Layout(escape=escape_text if is_webvtt(content) else str))
    if found is None or passage.cues[0] == passage.cues[-1]:
        yield from filter(None, [found])
        return
    sentences = split_sentences(found.text)
    start = len(sentences.gaps[0])
    for text, gap in zip(sentences.texts, sentences.gaps[1:], strict=True):
        yield found.part(start, start + len(text))
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
