"""Splitting of lines into sentences, and of long sentences into pieces."""
# ruff: noqa: RUF001, RUF002
# The punctuation of several languages is written literally.

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil

from specdec_cli.text.locale.languages import is_abbreviation
from specdec_cli.text.marks import CLOSING, ONLY_OPENING, OPENING, STOPS
from specdec_cli.text.protect.spans import EMOJI, EMOTICON, gaps_outside_spans

_WORD = re.compile(r"\S+")
_ITEM_SIGN = re.compile(r"\b[12abAB][.)]\s")
_ITEM = re.compile(r"(?:^|(?<!\s)\s+)(?:(?P<digits>\d{1,2})(?P<close>[.)])|(?P<letter>[a-zA-Z])(?P<close2>\)))\s+")
_ITEM_TEXT = re.compile(r"(?!(?:and|or|und|oder|to|bis)\b)\b[^\W\d_]{2,}")
"""A word of an item, other than a conjunction: "1) and 2)" are references."""
_CONJUNCTION = re.compile(r"\b(?:and|or|und|oder|to|bis)$")
_PICTURES = re.compile(rf"(?:{EMOJI}|:[a-z0-9_+-]+:)++|{EMOTICON}")
"""Emoji, their short codes and emoticons, which are no part of the sentences beside them. The repetition is possessive, because that in
EMOJI reads the same characters.
"""
_FULL_WIDTH_END = re.compile(rf"[。！？]+[{re.escape(CLOSING)}]*")
_BETWEEN_LINES = r"(?=(?:<x\d*\s?/>|\{br\})[A-ZÄÖÜ])"
_POSSIBLE_END = re.compile(rf"[.!?…][{re.escape(CLOSING)}]*[\s<{{]|[。！？]|[a-zäöüß]{_BETWEEN_LINES}")
_LINE_BREAK = re.compile(
    rf"(?:(?<=[.!?…])[{re.escape(CLOSING)}]*+|(?<=[a-zäöüß]){_BETWEEN_LINES})"
    rf"((?:<\w{{1,16}}\s?/>|\{{\w{{1,16}}\}})+)(?=[{re.escape(OPENING)}]*+\w)"
)
"""Tags and placeholders without spaces between two sentences or lines, where messages have the breaks of their lines."""
# A byte order mark counts as white space before the text.
_LEADING = re.compile(r"^[\s\ufeff]+")
_CLAUSE_GAP = re.compile(rf"(?:(?<=[;:,–—])|(?<=[;:,–—][{re.escape(CLOSING)}]))\s+|(?<=[，、；：])\s*")
_WORD_GAP = re.compile(r"\s+")
_TICK = "`"
"""What begins code, with which a sentence may begin."""
Gap = tuple[int, int]
"""First and last offset of white space between texts."""
Count = Callable[[str], int]


@dataclass(frozen=True)
class Segments:
    """A line as texts to decode and the gaps around them: one gap before each text and one after the last.

    Texts are not empty and are stripped of white space; a gap may be empty. A blank line is one gap and no text.
    `continued` are the indices of the texts whose sentence goes on in the next text, because it was longer than the token limit.
    """

    texts: tuple[str, ...]
    gaps: tuple[str, ...]
    continued: frozenset[int] = frozenset()

    @property
    def has_marks(self) -> bool:
        """Whether a gap has characters other than white space, such as a bullet, or a tab or three spaces, as between table cells."""
        return any(map(str.strip, self.gaps)) or any("\t" in gap or "   " in gap for gap in self.gaps[1:-1])

    def starts(self) -> list[int]:
        """The offset of each text in the line."""
        lengths = (len(gap) + len(text) for gap, text in zip(self.gaps, self.texts, strict=False))
        return [end - len(text) for end, text in zip(accumulate(lengths), self.texts, strict=True)]

    def is_apart(self, place: int) -> bool:
        """Whether the text `place` is no part of running text: more than white space between words is between it and others."""
        between = self.gaps[max(place, 1) : min(place + 2, len(self.texts))]
        return all(gap.strip() or "\t" in gap or "   " in gap for gap in between)

    def join(self, translations: Sequence[str]) -> str:
        """The line with each text replaced by its translation. Raises ValueError if there are not as many
        translations as texts.
        """
        if len(translations) != len(self.texts):
            raise ValueError(f"{len(translations)} translations of {len(self.texts)} texts")
        between = (text + gap for text, gap in zip(translations, self.gaps[1:], strict=True))
        return self.gaps[0] + "".join(between)


def segment(line: str, limit: int, count: Count, *, split: bool = True) -> Segments:
    """Split `line` into sentences (one, the whole line, if not `split`), and sentences of more than `limit` tokens
    into pieces of at most `limit`; only a piece of a single character may exceed it. `count` returns the number of
    tokens of a text.
    """
    sentences = split_sentences(line) if split else whole_line(line)
    texts: list[str] = []
    gaps, continued = [sentences.gaps[0]], set[int]()
    for sentence, gap in zip(sentences.texts, sentences.gaps[1:], strict=True):
        pieces = split_to_limit(sentence, limit, count)
        continued |= {len(texts) + place for place in pieces.continued}
        texts += pieces.texts
        gaps += [*pieces.gaps[1:-1], gap]
    return Segments(tuple(texts), tuple(gaps), frozenset(continued))


def whole_line(line: str) -> Segments:
    """Make Segments of the line as one text, stripped of white space; of no text if the line is blank."""
    return _segments(line, lambda _: ())


def split_sentences(line: str) -> Segments:
    """Split a line in a European language, or with full-width punctuation, into sentences.

    A sentence ends with . ! ? or … (and closing quotes or brackets) if white space follows and then a capital
    letter, a letter of a script without case, a digit, or code, with opening quotes before it or not. A full stop after an
    abbreviation, an initial or a number of one or two digits does not end a sentence, because two sentences in one
    are decoded better than half a sentence. Emoji between two sentences are in the gap. The full-width 。！？ always
    end a sentence. None ends inside a protected span, such as code. The items of an enumeration, as in "1) red 2) green",
    are texts, and their numbers or letters are in the gaps.
    """
    return _segments(line, lambda text: gaps_outside_spans(text, _with_items(text, _sentence_gaps(text))))


def split_to_limit(sentence: str, limit: int, count: Count) -> Segments:
    """Split a text into pieces of at most `limit` tokens: between sentences, else between clauses or words outside protected spans,
    words inside these, or inside a word.

    `count` returns the number of tokens of a text. It is called on each character a constant number of times, in a long word
    a logarithmic number of times. Only a piece of a single character may exceed the limit.
    """
    text = sentence.strip()
    before, after = sentence[: len(sentence) - len(sentence.lstrip())], sentence[len(sentence.rstrip()) :]
    if not text:
        return Segments((), (sentence,))
    if count(text) <= limit:
        return Segments((text,), (before, after))
    if len(split_sentences(text).texts) > 1:
        return segment(sentence, limit, count)
    units = _units(text, (clause_gaps, word_gaps, _all_word_gaps), limit, count)
    pieces = [piece for group in _packed(units, limit) for piece in _fitting(group, limit, count)]
    gaps = (before, *(piece[-1].gap for piece in pieces[:-1]), after)
    return Segments(tuple(_text(piece) for piece in pieces), gaps, frozenset(range(len(pieces) - 1)))


def _segments(line: str, find_gaps: Callable[[str], Iterable[Gap]]) -> Segments:
    """Split `line`, stripped of white space, at the gaps (start, end) that `find_gaps` yields in order."""
    text = _LEADING.sub("", line).rstrip()
    if not text:
        return Segments((), (line,))
    start = line.index(text)
    texts, gaps, position = [], [line[:start]], 0
    for gap_start, gap_end in find_gaps(text):
        texts.append(text[position:gap_start])
        gaps.append(text[gap_start:gap_end])
        position = gap_end
    return Segments((*texts, text[position:]), (*gaps, line[start + len(text) :]))


def sentence_gaps(text: str) -> list[Gap]:
    """The offsets (start, end) of the white space between the sentences of a text, in order; none is inside a protected span."""
    return gaps_outside_spans(text, _sentence_gaps(text))


def clause_gaps(text: str) -> list[Gap]:
    """The same for the white space after commas, colons, semicolons and dashes."""
    return gaps_outside_spans(text, (match.span() for match in _CLAUSE_GAP.finditer(text)))


def word_gaps(text: str) -> list[Gap]:
    """The same for all white space."""
    return gaps_outside_spans(text, _all_word_gaps(text))


def _all_word_gaps(text: str) -> list[Gap]:
    return [match.span() for match in _WORD_GAP.finditer(text)]


def _sentence_gaps(text: str) -> Iterator[Gap]:
    if not _POSSIBLE_END.search(text):
        return
    words = [word for word in _WORD.finditer(text) if not _PICTURES.fullmatch(word.group())]
    for index, word in enumerate(words):
        for end in _FULL_WIDTH_END.finditer(text, word.start(), word.end()):
            if end.end() < word.end():
                yield end.end(), end.end()
        for match in _LINE_BREAK.finditer(text, word.start(), word.end()):
            before = text[word.start() : match.start(1)]
            if before[-1:].isalpha() or _ends_sentence(before, text[match.end() : word.end()]):
                yield match.span(1)
        if index + 1 < len(words) and _ends_sentence(word.group(), words[index + 1].group()):
            yield word.end(), words[index + 1].start()


def _with_items(text: str, gaps: Iterable[Gap]) -> Iterator[Gap]:
    """Yield `gaps` and those around the numbers or letters of enumerations inside the text, in order."""
    items = _items(text)
    for start, end in sorted({*gaps, *items}):
        if (start, end) in items or not any(start <= last and first <= end for first, last in items):
            yield start, end


def _items(text: str) -> list[Gap]:
    """The numbers or letters of the items of an enumeration, with the white space around them.

    They begin with 1 or a, or with 2 or b, as the first may be a mark before the text. Each is one more than that before it, with words
    between them. Two are enough before brackets, but mostly three before stops, as "1." may also be an ordinal number.
    """
    found: list[re.Match[str]] = []
    for item in _ITEM.finditer(text) if _ITEM_SIGN.search(text) else ():
        between = text[found[-1].end() if found else 0 : item.start()]
        if (_order(item) != _order(found[-1]) + 1 if found else _order(item) > 2) or (
            found and (_close(item) != _close(found[0]) or not _ITEM_TEXT.search(between))
        ):
            break
        if _CONJUNCTION.search(between):  # the items are parts of one sentence
            return []
        found.append(item)
    if len(found) < 2 or len(found) < _least_items(found, text) or not _ITEM_TEXT.search(text, found[-1].end()):
        return []
    return [item.span() for item in found if item.start() > 0]


def _order(item: re.Match[str]) -> int:
    return int(item["digits"]) if item["digits"] else ord(item["letter"].lower()) - ord("a") + 1


def _close(item: re.Match[str]) -> str:
    return str(item["close"] or item["close2"])


def _least_items(items: Sequence[re.Match[str]], text: str) -> int:
    """The fewest items that are an enumeration: also two that begin with 2, if sentences end before them."""
    if _close(items[0]) == ")":
        return 2
    follow = _order(items[0]) == 2 and all(text[: item.start()].rstrip()[-1:] in STOPS for item in items)
    return 2 if follow else 3


def _ends_sentence(word: str, following: str) -> bool:
    bare = word.rstrip(CLOSING)
    if bare.endswith(("。", "！", "？")):
        return True
    if not bare.endswith((".", "!", "?", "…")) or not _begins_sentence(following):
        return False
    # Code may be a number, so that `fig.` before it is an abbreviation.
    return not is_abbreviation(bare.lstrip(OPENING), "0" if following.lstrip(OPENING).startswith(_TICK) else following)


def _begins_sentence(word: str) -> bool:
    first = word.lstrip(OPENING)[:1]
    if not first:
        return word[0] in ONLY_OPENING
    return first.isdigit() or first == _TICK or (first.isalpha() and not first.islower())


@dataclass(frozen=True)
class _Unit:
    text: str
    gap: str
    tokens: int


def _units(text: str, kinds: Sequence[Callable[[str], list[Gap]]], limit: int, count: Count, gap: str = "") -> list[_Unit]:
    """The largest units of `text` within `limit` tokens (between the gaps of one of the `kinds`, else halves of words), with their gaps."""
    tokens = count(text)
    if tokens <= limit or len(text) == 1:
        return [_Unit(text, gap, tokens)]
    if not kinds:
        half = len(text) // 2
        return _units(text[:half], (), limit, count) + _units(text[half:], (), limit, count, gap)
    units: list[_Unit] = []
    position = 0
    for start, end in kinds[0](text):
        if end < len(text):
            units += _units(text[position:start], kinds[1:], limit, count, text[start:end])
            position = end
    return units + _units(text[position:], kinds[1:], limit, count, gap)


def _packed(units: Sequence[_Unit], limit: int) -> Iterator[list[_Unit]]:
    """Yield groups of adjacent units of about equal sizes, whose tokens sum to at most `limit`."""
    total = sum(unit.tokens for unit in units)
    size = total / ceil(total / limit)
    group: list[_Unit] = []
    tokens = 0
    for unit in units:
        if group and (tokens + unit.tokens > limit or tokens + unit.tokens / 2 > size):
            yield group
            group, tokens = [], 0
        group.append(unit)
        tokens += unit.tokens
    yield group


def _fitting(group: list[_Unit], limit: int, count: Count) -> Iterator[list[_Unit]]:
    """Yield `group`, or halves of it if it exceeds the limit because its gaps have tokens too."""
    if len(group) == 1 or count(_text(group)) <= limit:
        yield group
        return
    half = len(group) // 2
    yield from _fitting(group[:half], limit, count)
    yield from _fitting(group[half:], limit, count)


def _text(group: Sequence[_Unit]) -> str:
    return "".join(unit.text + unit.gap for unit in group[:-1]) + group[-1].text
