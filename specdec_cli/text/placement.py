"""Ways to put a text with protected spans before a model, and to find the spans in what it says."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.text.protected import keeps_order, protected_spans
from specdec_cli.text.sentences import Segments
from specdec_cli.text.suspicion import repeats_itself

_STAND_INS = (("X", 1), ("%", 1), ("K", 7), ("", 4711))
"""What models copy well, with the number it begins from: X1, X2 and so on; format arguments; codes; numbers."""
_MOST = 6
"""Spans in one text, above which it is cut at once."""
_BEFORE, _AFTER = r"(?<!\w)", r"(?!\w)"
_EDGE = re.compile(r"^[\s,;:.!?)\]\"'\u2019\u201d-]+|[\s(\[\"'\u2018\u201c]+$")
_END = ".!?:;,\u2026"


@dataclass(frozen=True)
class Attempt:
    """Texts that a model reads in the place of one text, and how its outputs become one again."""

    segments: Segments

    def place(self, outputs: Sequence[str]) -> str | None:
        """The output, given one for each text; None if it does not hold every protected span as often as the source."""
        return self.segments.join(outputs)


@dataclass(frozen=True)
class Checked(Attempt):
    """The text as it is, or changed by a subclass; `source` holds `spans`."""

    source: str
    spans: tuple[str, ...]

    def place(self, outputs: Sequence[str]) -> str | None:
        output = self.segments.join(outputs)
        return output if self.accepts(output) else None

    def accepts(self, output: str) -> bool:
        """Whether the spans are in `output` as in the source, and it does not repeat itself."""
        return _holds(output, self.source, self.spans) and not repeats_itself(output, self.source)


@dataclass(frozen=True)
class StoodIn(Checked):
    """The text with a short name in the place of each span; `glued` tells where a span has no space before, and after it."""

    names: tuple[str, ...]
    glued: tuple[tuple[bool, bool], ...]

    def place(self, outputs: Sequence[str]) -> str | None:
        output = self.segments.join(outputs)
        places = []
        for name, (before, after) in zip(self.names, self.glued, strict=True):
            found = [m.span() for m in re.finditer(rf"{' ?' * before}(?<![\\w%]){re.escape(name)}(?!\\w){' ?' * after}", output)]
            if len(found) != 1 or output.count(name) != 1:
                return None
            places.append(found[0])
        ordered = sorted(zip(places, self.spans, strict=True))
        pieces, position = [], 0
        for (start, end), span in ordered:
            pieces += [output[position:start], span]
            position = end
        restored = "".join([*pieces, output[position:]])
        return restored if self.accepts(restored) else None


@dataclass(frozen=True)
class CutApart(Attempt):
    """What stands between the spans, piece by piece; where even so a span occurs twice, the output is the source."""

    source: str
    spans: tuple[str, ...]

    def place(self, outputs: Sequence[str]) -> str | None:
        kept = [
            output if text[-1] in _END else output.rstrip(_END) or output for text, output in zip(self.segments.texts, outputs, strict=True)
        ]
        output = self.segments.join(kept)
        return output if _holds(output, self.source, self.spans) else self.source


def attempts(text: str, *, latin: bool = False) -> Iterator[Attempt]:
    """Ways to put `text` before a model, to be tried in turn; the last one always has an output.

    A text without protected spans has one way. Otherwise the text as it is comes first, then with short names in the
    place of the spans, and at last the pieces between them.
    """
    places = protected_spans(text, latin=latin)
    whole = Segments((text,), ("", ""))
    if not places:
        yield Attempt(whole)
        return
    spans = tuple(text[start:end] for start, end in places)
    yield Checked(whole, text, spans)
    if len(spans) <= _MOST:
        yield from (_standing_in(text, places, spans, stem, first) for stem, first in _STAND_INS if stem + str(first) not in text)
    yield _cut_apart(text, places, spans)


def _standing_in(text: str, places: Sequence[tuple[int, int]], spans: tuple[str, ...], stem: str, first: int) -> Attempt:
    names = tuple(f"{stem}{first + number * (1 if stem else 1112)}" for number in range(len(spans)))
    glued = tuple((text[:start][-1:].isalnum(), text[end : end + 1].isalnum()) for start, end in places)
    pieces, position = [], 0
    for (start, end), name, (before, after) in zip(places, names, glued, strict=True):
        pieces += [text[position:start], " " * before, name, " " * after]
        position = end
    rendered = "".join([*pieces, text[position:]])
    return StoodIn(Segments((rendered,), ("", "")), text, spans, names, glued)


def _cut_apart(text: str, places: Sequence[tuple[int, int]], spans: tuple[str, ...]) -> Attempt:
    texts: list[str] = []
    gaps, position = [""], 0
    for start, end in [*places, (len(text), len(text))]:
        piece = text[position:start]
        if any(map(str.isalpha, piece)):
            left = _EDGE.match(piece)
            inner = piece[left.end() if left else 0 :]
            right = _EDGE.search(inner, 1)
            kept = inner[: right.start()] if right else inner
            gaps[-1] += piece[: len(piece) - len(inner)]
            texts.append(kept)
            gaps.append(inner[len(kept) :])
        else:
            gaps[-1] += piece
        gaps[-1] += text[start:end]
        position = end
    return CutApart(Segments(tuple(texts), tuple(gaps)), text, spans)


def _holds(output: str, source: str, spans: Sequence[str]) -> bool:
    """Whether `output` has each span as often as `source`, and those whose order has a meaning in the same order."""
    if any(_differs(span, source, output) for span in set(spans)):
        return False
    ordered = [span for span in spans if keeps_order(span)]
    if len(ordered) < 2:
        return True
    found = [output[start:end] for start, end in protected_spans(output)]
    return [span for span in found if span in ordered] == ordered


def _differs(span: str, source: str, output: str) -> bool:
    """Whether `span` is in `output` more or less often than in `source`; a longer word or number with it counts, too."""
    whole = re.compile(rf"{_BEFORE * _is_word(span[0])}{re.escape(span)}{_AFTER * _is_word(span[-1])}")
    return output.count(span) != source.count(span) or len(whole.findall(output)) != len(whole.findall(source))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
