"""Model inputs for texts with protected spans such as URLs, and restoration of the spans in the outputs."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from specdec_cli.text.output_checks import repeats_itself
from specdec_cli.text.placeholder_names import FOR_SPANS, NAME_AFTER, NAME_BEFORE, name_pattern, names_for
from specdec_cli.text.protected import keeps_order, protected_spans
from specdec_cli.text.sentences import Segments
from specdec_cli.text.span_names import united, with_names

_CODE = re.compile(r"[`<%{$']")
"""The beginning of spans that disturb a translation more than placeholders do: code, tags and format arguments."""
_MAX_SPANS = 6
"""The largest number of spans in a text for which placeholders are tried."""
_BEFORE, _AFTER = r"(?<!\w)", r"(?!\w)"
_EDGE = re.compile(r"^[\s,;:.!?)\]\"'\u2019\u201d-]+|[\s(\[\"'\u2018\u201c]+$")
_EMPTY_PAIR = re.compile(r"<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]*)?>\W*</\1>")
_END = ".!?:;,\u2026"


@dataclass(frozen=True)
class Attempt:
    """The texts that are decoded for one text (one or several), and the computation of its output from their
    outputs.
    """

    segments: Segments

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output for the text of this attempt, given an output for each of its segments; None if the
        attempt has failed.

        Here the outputs are joined, and an attempt never fails. Subclasses fail if a protected span is lost or
        duplicated.
        """
        return self.segments.join(outputs)

    def draft(self, text: str) -> str | None:
        """Return an earlier translation `text` as a draft for the only text of this attempt; None if it can be no draft."""
        return text


@dataclass(frozen=True)
class CheckedAttempt(Attempt):
    """Decodes the text unchanged, and accepts the output if it has the protected `spans` of the text `source`, in
    order of their positions (see `accepts`), and each of the `words` as often, in small or capital letters.
    """

    source: str
    spans: tuple[str, ...]
    words: tuple[str, ...] = field(default=(), kw_only=True)

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output; None if `accepts` rejects it."""
        output = self.segments.join(outputs)
        return output if self.accepts(output) else None

    def accepts(self, output: str) -> bool:
        """Whether `output` has each protected span as often as the source, tags and format arguments without a
        number or name in the same order, no repetition that the source does not have (see `repeats_itself`), and text
        between the tags of a pair where the source has some.
        """
        lost = len(_EMPTY_PAIR.findall(output)) > len(_EMPTY_PAIR.findall(self.source))
        kept, there = self.source.casefold(), output.casefold()
        lost = lost or any(there.count(word.casefold()) < kept.count(word.casefold()) for word in self.words)
        return not lost and holds(output, self.source, self.spans) and not repeats_itself(output, self.source)


@dataclass(frozen=True)
class PlaceholderAttempt(CheckedAttempt):
    """Decodes the text with a placeholder, one of `names`, in the place of each protected span.

    `joined` has a pair of booleans for each span: whether another span, or a character that must not stand before a placeholder, is
    directly before it, and whether a character that must not stand after one is directly after it. There a space is inserted before
    decoding, and removed afterwards.
    """

    names: tuple[str, ...]
    joined: tuple[tuple[bool, bool], ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output with each placeholder replaced by its span; None if a placeholder does not occur exactly
        once, or if `accepts` rejects the result.
        """
        output = self.segments.join(outputs)
        positions = []
        for name, (before, after) in zip(self.names, self.joined, strict=True):
            found = [m.span() for m in re.finditer(f"{' ?' * before}{name_pattern(name)}{' ?' * after}", output)]
            if len(found) != 1 or output.count(name) != 1:
                return None
            positions.append(found[0])
        ordered = sorted(zip(positions, self.spans, strict=True))
        pieces, position = [], 0
        for (start, end), span in ordered:
            pieces += [output[position:start], span]
            position = end
        restored = "".join([*pieces, output[position:]])
        return restored if self.accepts(restored) else None

    def draft(self, text: str) -> str | None:
        """Return `text` with the placeholders in the place of its protected spans: those for equal spans of the source, and the
        others in order. None if it has fewer or more spans.
        """
        return with_names(text, self.spans, self.names)


@dataclass(frozen=True)
class SplitAttempt(Attempt):
    """Decodes the texts between the protected `spans` separately. If an output also contains a span, which is then
    there more often than in the text `source`, `source` is the output.
    """

    source: str
    spans: tuple[str, ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the outputs with the protected spans between them; it is never None.

        Marks at the end of an output (. ! ? : ; , …) are removed if the text between the spans that it belongs to
        does not end with one. If the result does not have each span as often as the source, the source is returned.
        """
        kept = [
            output if text[-1] in _END else output.rstrip(_END) or output for text, output in zip(self.segments.texts, outputs, strict=True)
        ]
        output = self.segments.join(kept)
        return output if holds(output, self.source, self.spans) else self.source

    def draft(self, text: str) -> str | None:  # noqa: ARG002
        """Return None: the parts of a translation are not known."""
        return None


def attempts(
    text: str,
    *,
    latin: bool = False,
    also: Sequence[tuple[int, int]] = (),
    unchanged: bool = True,
    placeholders: Sequence[tuple[str, int]] = FOR_SPANS,
) -> Iterator[Attempt]:
    """Yield ways to decode `text`, to be tried until one has an output; the last one always has.

    Without protected spans, the text is decoded unchanged. With spans, it is tried `unchanged`, unless one is code, a tag or a format
    argument, then with each kind of `placeholders`, first with numbers for format arguments that are numbers, so that their nouns are
    translated as after numbers, and last as separate texts between the spans. `latin`: see
    `protected_spans`; spans of `also` are protected too, overlapping ones as one span, but unchanged text is only checked for
    their signs and words: numbers may be written differently.
    """
    positions = protected_spans(text, latin=latin)
    checked = [text[start:end] for start, end in positions]
    positions = united([*positions, *also])
    whole = Segments((text,), ("", ""))
    if not positions:
        yield Attempt(whole)
        return
    spans = tuple(text[start:end] for start, end in positions)
    if unchanged and not any(map(_CODE.match, checked)):
        added = [text[start:end] for start, end in also]
        signs = [each for span in added for each in span if not _is_written_differently(each)]
        words = tuple(span for span in added if any(each.isalpha() and not each.isascii() for each in span))
        yield CheckedAttempt(whole, text, (*checked, *signs), words=words)
    if len(spans) <= _MAX_SPANS:
        kinds = ((stem, first) for stem, first in placeholders if stem + str(first) not in text)
        yield from (_with_names(text, positions, spans, names) for kind in kinds for names in names_for(text, spans, kind))
    yield split_at_spans(text, positions, spans)


def count_kept(source: str, output: str) -> tuple[int, int]:
    """The number of protected spans of `source`, and of those which `output` has exactly as often (see `protected_spans`)."""
    spans = [source[start:end] for start, end in protected_spans(source)]
    return len(spans), sum(not _differs(span, source, output) for span in spans)


def _with_names(text: str, positions: Sequence[tuple[int, int]], spans: tuple[str, ...], names: tuple[str, ...]) -> Attempt:
    ends = [0, *(end for _, end in positions)]
    joined = tuple(
        (0 < start == last or NAME_BEFORE.fullmatch(text[:start][-1:]) is not None, NAME_AFTER.fullmatch(text[end : end + 1]) is not None)
        for last, (start, end) in zip(ends, positions, strict=False)
    )
    pieces, position = [], 0
    for (start, end), name, (before, after) in zip(positions, names, joined, strict=True):
        pieces += [text[position:start], " " * before, name, " " * after]
        position = end
    rendered = "".join([*pieces, text[position:]])
    return PlaceholderAttempt(Segments((rendered,), ("", "")), text, spans, names, joined)


def split_at_spans(text: str, positions: Sequence[tuple[int, int]], spans: tuple[str, ...]) -> Attempt:
    """Decode the texts between the `spans`, which are at the `positions` (start, end) of `text`, separately."""
    texts: list[str] = []
    gaps, position = [""], 0
    for start, end in [*positions, (len(text), len(text))]:
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
    return SplitAttempt(Segments(tuple(texts), tuple(gaps)), text, spans)


def holds(output: str, source: str, spans: Sequence[str]) -> bool:
    """Whether `output` has each span as often as `source`, and the spans whose order matters in the same order."""
    if any(_differs(span, source, output) for span in set(spans)):
        return False
    ordered = [span for span in spans if keeps_order(span)]
    if len(ordered) < 2:
        return True
    found = [output[start:end] for start, end in protected_spans(output)]
    return [span for span in found if span in ordered] == ordered


def _differs(span: str, source: str, output: str) -> bool:
    """Whether the number of occurrences of `span` differs, counted as whole words or also within longer words."""
    whole = re.compile(rf"{_BEFORE * _is_word(span[0])}{re.escape(span)}{_AFTER * _is_word(span[-1])}")
    return output.count(span) != source.count(span) or len(whole.findall(output)) != len(whole.findall(source))


def _is_written_differently(character: str) -> bool:
    return character.isalpha() or character.isdecimal() or character.isspace() or character in ".,"


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
