"""Segmentation of a line into texts for the model, and gaps between them: markers, cell separators, code, other languages, and the syntax
of messages with a form for each number or choice, as ICU and Java write them.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from specdec_cli.language_codes import short_code
from specdec_cli.text.locale.amounts import written_alone
from specdec_cli.text.locale.dates import find_dates
from specdec_cli.text.locale.languages import is_foreign, is_in_language, is_latin, is_told_apart
from specdec_cli.text.protect.spans import CODE, EMOJI, EMOTICON, gaps_outside_spans, protected_spans, without_protected
from specdec_cli.text.quotations import unquoted
from specdec_cli.text.segment.code import is_code
from specdec_cli.text.segment.sentences import Count, Segments, segment

_MESSAGE = re.compile(r"\{\s*[\w.]+\s*,\s*(?:plural|select|selectordinal)\s*,(?:\s*offset:\d+)?")
_NAME_OF_FORM = re.compile(r"\s*(?:=\d+|[\w-]+)\s*\{")
_END_OF_MESSAGE = re.compile(r"\s*\}")
_CHOICE = re.compile(r"\{\s*\w+\s*,\s*choice\s*,")
_LIMIT = re.compile(r"\|?\s*-?(?:\d+(?:\.\d+)?|\u221e)\s*[#<\u2264]\s*")
_IN_CHOICE = re.compile(r"\{[^{}]*\}|[|}]")
"""A value in a form, the end of a form, or that of all."""
_VALUE_IN_BRACES = re.compile(r"\{\{[^{}]*\}\}|\{[^{}]*\}")
_BRACE = re.compile(r"'[{}][^{}']*[{}]?'|[{}]")
"""Braces, and those between quotation marks, which are text."""


class FormReader:
    """Finds the syntax of messages with forms in the parts of a text, which are read one after the other."""

    def __init__(self) -> None:
        self._depth = 0

    def syntax(self, part: str) -> Iterator[tuple[int, int]]:
        """Yield begin and end of each piece of `part` that is syntax around the texts of forms."""
        position = 0
        while match := _BRACE.search(part, position):
            start, position = match.span()
            head = _MESSAGE.match(part, start)
            if choice := _choice(part, start):
                yield from choice
                position = choice[-1][1]
                continue
            if head:
                self._depth += 1
                position = self._form(part, head.end())
            elif match.group()[0] == "'":
                continue
            elif match.group() == "{":
                value = _VALUE_IN_BRACES.match(part, start)
                position = value.end() if value else position
                continue
            elif not self._depth:
                continue
            else:
                position = self._form(part, position)
            yield start, position

    def _form(self, part: str, position: int) -> int:
        """The offset after the name of the form that begins at `position`, or after the end of the message if there is none."""
        form = _NAME_OF_FORM.match(part, position)
        if form:
            return form.end()
        self._depth -= 1
        end = _END_OF_MESSAGE.match(part, position)
        return end.end() if end else position


def _choice(part: str, start: int) -> list[tuple[int, int]]:
    """The pieces of the syntax of forms for numbers from limits on, as in {0,choice,0#no files|1#one file}; none if there is no such."""
    head = _CHOICE.match(part, start)
    limit = _LIMIT.match(part, head.end()) if head else None
    pieces = [(start, limit.end())] if limit else []
    for each in _IN_CHOICE.finditer(part, limit.end()) if limit else ():
        if each.group() == "}":
            return [*pieces, each.span()]
        if each.group() == "|" and (limit := _LIMIT.match(part, each.start())):
            pieces.append(limit.span())
    return []


_CLOCK = r"\d{2}:\d{2}:\d{2}(?:[.,]\d+)?"
_DATE = rf"\d{{4}}[-/]\d{{2}}[-/]\d{{2}}[T ]\d{{2}}:\d{{2}}(?::\d{{2}}(?:[.,]\d+)?)?(?:Z|[+-]\d{{2}}:?\d{{2}})?|{_CLOCK}"
_STAMP = (
    rf"(?:\[?(?:{_DATE})\]?:?|\[[A-Z][a-z]{{2}} [A-Z][a-z]{{2}} +\d{{1,2}} {_CLOCK}(?: \d{{4}})?\]|[IWEF]\d{{4}} {_CLOCK} +\d+"
    r"|\[ *\d+\.\d{6}\])"
)
"""The times of logs of libraries, of Apache, of glog, and of Linux."""
_LEVEL = r"(?:TRACE|DEBUG|INFO|NOTICE|WARN|WARNING|ERROR|FATAL|CRITICAL|SEVERE)"
_IN_BRACKETS = r"\[[^][]{1,60}\]:?"
_LOGGER = r"[A-Za-z_$][\w$-]*+(?:[./][\w$-]++)*+"
"""The name of what has written a line of a log, such as app.server. Parts and what is between them have no common character, so that a
name can be read in one manner alone; so in `_DOTTED` and `_KEY`.
"""
_DOTTED = r"[a-z](?=[\w$]*[./$][\w$-])\w*+(?:\$[\w$-]*+)?+(?:[./][\w$-]++)*+"
"""A name of two or more parts."""
_LOG_FIELD = "|".join(
    (
        rf"{_IN_BRACKETS}\s+",
        rf"\[?{_LEVEL}\]?:?\s+",
        r"[+-]\d{4}\s+|\d+\s+---\s+|\d+#\d+:\s+|#\d+\s+",
        r"[\w.-]+:\d+\]\s+",  # file and line
        rf"{_LOGGER}(?:\[\d+\])?(?:\s+[-:]\s+|:\s+)",
        r"[-:|]\s+",
    )
)
_LOG = "|".join(
    (
        rf"{_STAMP}\s+(?:{_LOG_FIELD})*+",
        rf"{_LEVEL}:{_LOGGER}:\s*",
        rf"{_LEVEL}\s+(?:{_IN_BRACKETS}\s+(?:{_LOG_FIELD})*+|{_DOTTED}\s+(?=[A-Z])|root\s+)",
        rf"{_IN_BRACKETS}\s+{_LEVEL}:?\s+(?:{_LOG_FIELD})*+",
        rf"\[{_LEVEL}\]:?\s+(?:{_IN_BRACKETS}\s+)*",
    )
)
"""The beginning of a line of a log: time, level, thread, and the name of what has written it, before the message."""
_PERSON = r"(?:\+\d[\d ()-]{5,20}|[^\W\d_a-z][\w.'\u2019-]*(?: [^\W\d_a-z][\w.'\u2019-]*){0,2}): "
_CHAT = rf"\d{{1,2}}[/.]\d{{1,2}}[/.]\d{{2,4}},? \d{{1,2}}:\d\d(?::\d\d)?(?:[ \u202f]?[AaPp]\.?[Mm]\.?)? [-\u2013] (?:{_PERSON})?"
"""The start of a line in an exported chat: date, time, and the name of the sender."""
_KEY = r"(?:[A-Za-z](?=\w*(?:_\w|\.))\w*+(?:\.\w++)*+|[a-z]+[A-Z]\w*+)(?::\s+|\s*=\s*)(?=\S)"
"""A key that is no word, before its value."""
_DATA = re.compile(
    r"\s*(?:\"[^\"]*\"\s*:\s*(?:-?\d[\d.]*|true|false|null|[\[{])|\[(?:[\w-]*[^\W_][._][\w.-]+|[a-z]+[A-Z]\w*)\]"
    r"|[\w.-]+=\S+(?:\s+[\w.-]+=\S+)+)\s*+(?:,\s*+)?"
)
"""A line of data without text: a value of JSON, the head of a section, pairs of keys and values."""
_HEAD = re.compile(
    "|".join(
        (
            r"[\s\ufeff]+",
            r">+(?=[\s\w])",  # a quotation
            r"(?:\.{3}|\u2026)\s*(?=\w)",  # the rest of a sentence
            r"\*{1,3}(?=[A-Z][^*]*$)",  # a mark that another text refers to
            r"[-*+\u2022\u2023\u25e6\u25aa\u00b7\u2013\u2014]\s+(?:\[[ xX]\]\s+)?",  # an item of a list
            r"(?:\(\d{1,2}\)|\d{1,3}[.)])\s+|\d{1,2}(?:\.\d{1,2})+\.?\s+(?=[A-Z])|\(?(?:[A-Za-z]|[ivx]{2,5})\)\s+",  # a number
            r"\.\. [a-z]+::(?:\s+|$)|:[A-Za-z][\w-]*(?: [\w.*-]+){0,3}:\s+",  # a directive or field of reStructuredText
            r"(?:#{1,6}|#[:.,|~]|={1,6}|\*{2,6})\s+",  # a heading, a comment
            r"(?://+!?|/\*+|%+|;+|--|<!--|\.\.)\s+|(?:\"{3}|'{3})(?=\w)",  # a comment
            r"\|\s*|!\s+(?=[^\s!][^!]*\s!!\s)",  # a row of a table, in a wiki one of headings
            rf"{_LOG}|{_CHAT}|{_KEY}",
            r"\[(?:[A-Z]+|(?=[\s.:,-]*\d)[\d\s.:,-]++)\]:?\s+",  # a mark of a log
            r"[A-Z][a-z]{2}\s+\d{1,2} \d{2}:\d{2}:\d{2}\s+\S+\s+[\w./-]+(?:\[\d+\])?:\s+",
            r"[^\s:]{1,1000}:\d+(?::\d+)?:\s+(?:(?:fatal )?(?:error|warning|note):\s+)?",  # what a compiler says
            r"\\item(?:\[[^][]*\])?\s+|\{\\[^{}]*\}",
            rf"(?:{EMOJI}|{EMOTICON}(?=\s))\s*|[<\u00ab\u00bb\u2039\u203a]{{1,2}} (?!.*[>\u00ab\u00bb\u2039\u203a]$)",  # also other arrows
        )
    )
)
_TAG = re.compile(r"<([A-Za-z][\w:.-]*|\d{1,2})(?:\s[^<>]*)?/?>\s*")
_TAIL = re.compile(
    rf"(?:</?(?:[A-Za-z][\w:.-]*(?:\s[^<>]*)?|\d{{1,2}})/?>|\s(?:\||\*+/|-->|\\|[#=]+|[>\u00bb\u203a]{{1,2}}|\*)|(?<=\w)\s?(?:--|[\u2013\u2014])|{EMOJI}|{EMOTICON})$"
)
_MAX_MARK_LENGTH = 256
"""The largest number of characters in a mark at the end of a line."""
# Opening marks, each with the mark that must close it at the end of the line.
_PAIRS = tuple(
    (re.compile(opening), re.compile(closing))
    for opening, closing in (
        (r"(?:msgid(?:_plural)?|msgctxt|msgstr(?:\[\d+\])?)\s+\"", r"(?:\\n)?\"$"),
        (r"\"[^\"]+\"\s*:\s*\"", r"\"\s*,?$"),
        (r"(?<=[=:] )\"(?=[^\"]+\"[,;]?$)|(?<==)\"(?=[^\"]+\"[,;]?$)|(?<!\S)\"(?=[^\"]+\",$)", r"\"[,;]?$"),
        (r"(?:(?<=[=:] )|(?<==)|(?<!\S)[\w.-]+=)'(?=[^']+'$)", r"'$"),
        (r"(?:[\w.]+=[^\s\"=]+\s+)+[\w.]+=\"(?=[^\"]*\s)", r"\"(?:\s+[\w.]+=[^\s\"=]*)*$"),
        (r"\"", r"\\n\"$"),
        (r"[\w.-]+\s*=\s*\"(?=[^\"\s]*\s[^\"]*\"\s*[,;]?$)", r"\"\s*[,;]?$"),
        (r"[\w.-]+\s*=\s*(?=[^\s\"'=(){}]+\s[^=(){};]+$)", r"$"),
        (r"\\(?:(?:sub)*section|chapter|paragraph|caption|title)\*?\{(?=[^{}]*\}$)", r"\}$"),
        (r"\*{1,3}(?=[^*\s][^*]*\*{1,3}:?$)", r"(?<!\s)\*{1,3}:?$"),  # a whole line in bold type, in brackets and the like
        (r"~~(?=[^~]+~~$)", r"~~$"),
        (r"_{1,2}(?=[A-Z][^_]*_{1,2}$)", r"_{1,2}$"),
        (r"\[(?=[^\W\d_][^][]{0,80}\]$)", r"\]$"),
        (r"\((?=\w[^().!?]{1,30}\)$)", r"\)$"),
        (r"(?<=\"{3})", r"\"{3}$"),
        (r"(?<='{3})", r"'{3}$"),
    )
)


_DAY, _LONGEST_DATE = re.compile(r"\d{1,2}\.\s+"), 40
"""A number that begins a line, which may be the day of a date, and the most characters of such a date."""


class Marked(NamedTuple):
    """A line in three parts: markers and white space before the text, the text, and markers and white space after it."""

    head: str
    body: str
    tail: str


def split_marks(line: str, language: str = "") -> Marked:
    """Split `line` into the markers before its text, the text, and the markers after it.

    Markers are bullets, heading, quotation and comment signs, log stamps, tags, keys and the like. The text is
    stripped of white space, and may be empty; the markers include this white space, so the three parts joined are
    `line`. In a `language` whose dates begin with a number and a stop (3. Oktober), these are text.
    """
    start = _head_end(line, language)
    end = _tail_start(line, start)
    for opening, closing in _PAIRS:
        opened = opening.match(line, start, end)
        if opened and (closed := closing.search(line, opened.end(), end)):
            start, end = opened.end(), closed.start()
            break
    body = line[start:end]
    start += len(body) - len(body.lstrip())
    end = max(start, end - len(body) + len(body.rstrip()))
    return Marked(line[:start], line[start:end], line[end:])


def _head_end(line: str, language: str) -> int:
    position = 0
    while position < len(line):
        mark = _HEAD.match(line, position) or _opening_tag(line, position)
        if mark is None or (language and _DAY.fullmatch(mark.group()) and _begins_with_date(line[position:], language)):
            break
        position = mark.end()
    return position


def _begins_with_date(text: str, language: str) -> bool:
    return any(date.start == 0 and date.day for date in find_dates(text[:_LONGEST_DATE], language))


def _tail_start(line: str, start: int) -> int:
    end = len(line)
    while end > start:
        window = line[max(start, end - _MAX_MARK_LENGTH) : end]
        kept = window.rstrip()
        mark = _TAIL.search(kept)
        if mark is None:
            return end if kept == window else end - len(window) + len(kept)
        end -= len(window) - mark.start()
    return end


def _opening_tag(line: str, position: int) -> re.Match[str] | None:
    """The tag at `position`, if it encloses all of the text after it or none of it."""
    tag = _TAG.match(line, position)
    if tag is None:
        return None
    rest, closing = line[tag.end() :], f"</{tag[1]}>"
    closes = rest.count(closing) - rest.count(f"<{tag[1]}>") - rest.count(f"<{tag[1]} ")
    return tag if closes == 0 or (closes == 1 and closing in rest[_tail_start(rest, 0) :]) else None


_LATIN_LETTER = re.compile(r"[A-Za-z\u00aa-\u024f\u1e00-\u1eff]")


@dataclass(frozen=True)
class Passthrough:
    """Decides which texts are copied unchanged, for a model from language `source` to `target` ("": unknown).

    A text without letters, or with a single Latin one, is copied; protected spans such as URLs do not count. If both languages use the
    Latin alphabet, a text without Latin letters is copied. In translation, a text that is already in the target language is copied. In
    correction (`source` equals `target`), a text in another detectable language is copied. So is a line or
    cell that a library, if it is installed, tells to be in another language than `source`. A price or the like alone is not copied if the
    target language writes it in another way.
    """

    source: str = ""
    target: str = ""
    knows: Callable[[str], bool] = lambda _: False
    """Whether a text is known to be in the source language, as labels are."""

    @property
    def latin(self) -> bool:
        """Whether both languages are known to use the Latin alphabet."""
        return is_latin(self.source) and is_latin(self.target)

    @property
    def translates(self) -> bool:
        """Whether the languages differ."""
        return short_code(self.source) != short_code(self.target)

    def writes(self, text: str) -> bool:
        """Whether `text` is a quantity alone that the target language writes in another way (see `written_alone`)."""
        return written_alone(text, (self.source, self.target)) not in (None, text)

    def are_told_apart(self, texts: Sequence[str]) -> bool:
        """Whether a library tells all sentences of a line or cell to be in another language than `source`, also without their
        quotations. One sentence among others is in their language more often than the library is right.
        """
        parts = {part for text in texts for part in (text, unquoted(text))}
        told = (not self.knows(part) and is_told_apart(without_protected(part), self.source, self.target) for part in parts)
        return bool(texts) and all(told)

    def matches(self, text: str) -> bool:
        """Whether `text` must be copied unchanged."""
        if self.writes(text):
            return False
        words = without_protected(text)
        letters = filter(str.isalpha, words)
        first, second = next(letters, ""), next(letters, "")
        if not first or (not second and _LATIN_LETTER.match(first)):
            return True
        if self.latin and not _LATIN_LETTER.search(words):
            return True
        return is_in_language(words, self.target, self.source) if self.translates else is_foreign(words, self.source)


_TABS = re.compile(r"(?<! )[ ]*\t+[ ]*")
_PIPES = re.compile(r"(?<!\s)\s*(?:(?<!\\)\|+|\[\*\])\s*|(?<=\S)\s+!!\s+")
_TWO_CELLS = re.compile(r"[A-Z\u00c0-\u00de\d][^|]{0,80} \| [A-Z\u00c0-\u00de\d][^|]{0,80}")
"""Two cells with a pipe between them, both with a capital or digit at the beginning; `this | that` is text."""
_COLUMNS = re.compile(r"(?<=\S) {3,}(?=\S)")
# A row of values separated by commas or semicolons without spaces, and a value that is quoted or a number.
_FIELD = r"(?:\"[^\"]*\"|[^\",;\s][^\",;]*|)"
_ROW = re.compile(rf"{_FIELD}(?:,{_FIELD}){{2,}}|{_FIELD}(?:;{_FIELD}){{2,}}|(?:\"[^\"]*\"|[\w.-]+)[,;]\"[^\"]*\"")
# A comma between digits is part of a number, as in "It costs 3,50." and "1,299,300 people"; a value has another separator before it.
_VALUE = re.compile(
    r"(?:^(?!\d{1,3}(?:,\d{3})+\b)|(?<!\d)[,;])(?:\"[^\"]*\"|(?!\d{3}(?:[,;]|$))[.:/-]*\d[\d.:/-]*(?: ?[^\W\d_]{1,3}| ?%)?)(?=[,;]|$)"
)

_CODE = re.compile(CODE)
_BREAKS = ("\\n", "\\r", "\\t")
_QUANTITY = re.compile(r"[\W\d_]*(?:(?<=\d)[^\W\d_]{1,3}|(?<=\d )[^\W\d_]{1,3})?[\W\d_]*")
"""A value without words: a number, perhaps with its unit."""


def segment_line(line: str, limit: int, count: Count, passthrough: Passthrough, *, split: bool = True) -> Segments:
    """Split `line` into sentences like `segment`, but make text that must not change part of the gaps.

    That is markers at either end such as bullets and comment signs (see `split_marks`), the syntax of messages with forms, program code,
    and sentences that `passthrough` matches. The cells of a table row (separated by tabs, pipes, commas between quoted values, or, in
    translation, three spaces or more) are split one by one. `limit` and `count` are as in `segment`.
    """
    if syntax := _syntax_outside_code(line):
        return _forms(line, syntax, lambda text: segment_line(text, limit, count, passthrough, split=split))
    if passthrough.writes(alone := line.strip()):
        before, after = line.split(alone)
        return Segments((alone,), (before, after))
    marked = split_marks(line, passthrough.source)
    in_table = "|" in marked.head + marked.tail or marked.head.startswith("!")
    cells = list(_cells(marked.body, in_table=in_table, columns=passthrough.translates))
    if _DATA.fullmatch(line):
        return Segments((), (line,))
    is_copied = any(is_code(text) or passthrough.matches(text) for text in {line, marked.body})
    if is_copied and (sum(map(str.isalpha, marked.body)) > 1 or all(passthrough.matches(text) for text, is_cell in cells if is_cell)):
        return Segments((), (line,))
    if len(cells) > 1:
        parts = [segment_line(text, limit, count, passthrough, split=split) if is_cell else text for text, is_cell in cells]
    elif breaks := _escaped_breaks(marked.body):
        parts = [_forms(marked.body, breaks, lambda text: segment_line(text, limit, count, passthrough, split=split))]
    else:
        segments = segment(marked.body, limit, count, split=split)
        if passthrough.are_told_apart(segments.texts):
            return Segments((), (line,))
        is_whole = segments.texts == (marked.body,)
        copied = {index: [text] for index, text in enumerate(segments.texts) if not is_whole and passthrough.matches(text)}
        parts = [with_parts(segments, copied) if copied else segments]
    return concatenate([marked.head, *parts, marked.tail])


def _escaped_breaks(text: str) -> list[tuple[int, int]]:
    """Begin and end of each escape of a line break or tab that is between words, as in string literals: "Sure?\\nYes"."""
    if "\\" not in text:
        return []
    return [(start, end) for start, end in protected_spans(text) if text[start:end] in _BREAKS]


def _syntax_outside_code(line: str) -> list[tuple[int, int]]:
    """Begin and end of each piece of the syntax of messages with forms; none if some is in code, which shows it."""
    syntax = list(FormReader().syntax(line))
    codes = [code.span() for code in _CODE.finditer(line)] if syntax else []
    return [] if any(begin < start < end for begin, end in codes for start, _ in syntax) else syntax


def _forms(line: str, syntax: list[tuple[int, int]], segments: Callable[[str], Segments]) -> Segments:
    """Split a message with forms into segments: the text of each form is cut by `segments`; its syntax goes into the gaps and is copied."""
    parts, position = list[str | Segments](), 0
    for start, end in syntax:
        parts += [segments(line[position:start]), line[start:end]]
        position = end
    return concatenate([*parts, segments(line[position:])])


def concatenate(parts: Iterable[str | Segments]) -> Segments:
    """Join segments, in order, into one; a string becomes part of the gap at its position."""
    texts: list[str] = []
    gaps, continued = [""], set[int]()
    for part in parts:
        if isinstance(part, str):
            gaps[-1] += part
            continue
        continued |= {len(texts) + place for place in part.continued}
        texts += part.texts
        gaps[-1] += part.gaps[0]
        gaps += part.gaps[1:]
    return Segments(tuple(texts), tuple(gaps), frozenset(continued))


def with_parts(segments: Segments, parts: Mapping[int, Iterable[str | Segments]]) -> Segments:
    """`segments` with several parts in the place of some of its texts, by their indices."""
    found: list[str | Segments] = [segments.gaps[0]]
    for index, (text, gap) in enumerate(zip(segments.texts, segments.gaps[1:], strict=True)):
        continued = frozenset({0} if index in segments.continued else ())
        found += [*parts[index], gap] if index in parts else [Segments((text,), ("", gap), continued)]
    return concatenate(found)


def _cells(text: str, *, in_table: bool, columns: bool) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a table row, each with whether it is a cell; a text that is not a row is one cell. With `columns`, runs of
    spaces separate cells, too.
    """
    if not in_table and "\t" not in text and _ROW.fullmatch(text) and _VALUE.search(text):
        yield from _values(text)
        return
    separator = _TABS if "\t" in text else _PIPES
    gaps = _gaps(separator, text)
    if separator is _PIPES and len(gaps) < 2 and not in_table and not (columns and _TWO_CELLS.fullmatch(text)):
        gaps = _gaps(_COLUMNS, text) if columns else []
    position = 0
    for start, end in gaps:
        yield text[position:start], True
        yield text[start:end], False
        position = end
    yield text[position:], True


def _gaps(separator: re.Pattern[str], text: str) -> list[tuple[int, int]]:
    return gaps_outside_spans(text, (match.span() for match in separator.finditer(text)))


def _values(row: str) -> Iterator[tuple[str, bool]]:
    """Yield the values of a row as cells; quotes and separators are not cells, and neither are numbers: a comma in one would separate."""
    for token in re.findall(r"\"[^\"]*\"|[^\",;]+|[,;]", row):
        if token[0] == '"':
            yield from (('"', False), (token[1:-1], True), ('"', False))
        else:
            yield (
                token,
                token not in (",", ";") and ("," not in row or not _QUANTITY.fullmatch(token)),
            )  # the comma of "3,50" would separate
