"""The cues of subtitle files (SubRip and WebVTT), and the runs of cues that hold one sentence or more."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from specdec_cli.documents.html_events import unescape
from specdec_cli.documents.wrapped import ends_sentence
from specdec_cli.errors import InputError

_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})[.,](\d{1,3})"
_TIMING = re.compile(rf"\ufeff?[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[ \t]*(?:[^\n]*)$")
_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_ATTEMPT = re.compile(r"\ufeff?\s*\d+:[^\n]*-->")
_TAG = r"<[^<>]*>|\{\\[^{}]*\}"
_BEFORE = re.compile(rf"(?:\s|{_TAG})*")
_SPEAKER = re.compile(r"[-\u2013\u2014\u266a\u266b\[(>]|[A-Z][A-Z .]{1,20}:")
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
        for place, line in enumerate(cue.lines):
            if lines and place and _SPEAKER.match(content, line[0]):
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
    speaks = _SPEAKER.match(content, following.lines[0][0])
    return near and plain and not speaks and not ends_sentence(unescape(content[begin:end])) and content[end - 1] not in "\u266a\u266b])"


def _cue(content: str, times: tuple[float, float] | None, lines: list[Run]) -> list[Cue]:
    """The cue of these lines, without tags and white space around its text; none without text."""
    if times is None or not lines:
        return []
    begin, end = lines[0][0], lines[-1][1]
    before = _BEFORE.match(content, begin, end)
    first, last = before.end() if before else begin, _text_end(content, begin, end)
    if "<" in content[first:last]:
        first, last = begin, end
    kept = [_stripped(content, max(start, first), min(stop, last)) for start, stop in lines]
    kept = [run for run in kept if run[0] < run[1]]
    return [Cue(*times, tuple(kept), content[begin:first].strip())] if kept else []


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
