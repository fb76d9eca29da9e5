"""Ways to decode a text: as it is, with placeholders in the place of protected spans, with other characters, in small letters, in parts."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from specdec_cli.text.checks import holds, repeats_itself, shortened_names
from specdec_cli.text.locale.languages import is_function_word
from specdec_cli.text.locale.matching import lost_long_numbers, without_double_marks
from specdec_cli.text.locale.quantities import Languages, with_written, written_in
from specdec_cli.text.protect.characters import (
    DOTS,
    DOUBLE_QUOTES,
    ELLIPSIS,
    Lacks,
    known_signs,
    lacking_spans,
    plain_characters,
    with_fixed_spaces,
)
from specdec_cli.text.protect.spans import protected_spans, split_at
from specdec_cli.text.protect.stand_ins import FOR_LOST, FOR_SPANS, NAME_AFTER, NAME_BEFORE, name_pattern, names_for, united, with_names
from specdec_cli.text.segment.sentences import Segments
from specdec_cli.text.shape import in_small_letters, is_in_capitals, quoted_forms, with_own_quotes, with_small_function_word

_CODE = re.compile(r"[`<%{$']")
"""The beginning of spans that disturb a translation more than placeholders do: code, tags and format arguments."""
_MAX_SPANS = 6
"""The largest number of spans in a text for which placeholders are tried."""
_EDGE = re.compile(r"^[\s,;:.!?)\]\"'\u2019\u201d-]+|[\s(\[\"'\u2018\u201c]+$")
_EMPTY_PAIR = re.compile(r"<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]*)?>\W*</\1>")
_WORD = re.compile(r"[^\W\d_]{2,}")
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
        between the tags of a pair, and words besides function words outside of the spans, where the source has some.
        """
        lost = len(_EMPTY_PAIR.findall(output)) > len(_EMPTY_PAIR.findall(self.source))
        kept, there = self.source.casefold(), output.casefold()
        lost = lost or any(there.count(word.casefold()) < kept.count(word.casefold()) for word in self.words)
        lost = lost or (_has_content(self.source, self.spans) and not _has_content(output, self.spans))
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
        does not end with one, and a function word at its beginning gets a small letter if that text has one. If the
        result does not have each span as often as the source, the source is returned.
        """
        pairs = zip(self.segments.texts, outputs, strict=True)
        kept = [with_small_function_word(output if text[-1] in _END else output.rstrip(_END) or output, text) for text, output in pairs]
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


def _has_content(text: str, spans: Sequence[str]) -> bool:
    """Whether `text` has words outside of `spans` that are no function words."""
    for span in spans:
        text = text.replace(span, " ")
    return any(not is_function_word(word) for word in _WORD.findall(text))


def _is_written_differently(character: str) -> bool:
    return character.isalpha() or character.isdecimal() or character.isspace() or character in ".,"


@dataclass(frozen=True)
class PlainAttempt(Attempt):
    """Makes the `attempt` for the `source` in plain characters; `plain` writes a text in them."""

    attempt: Attempt
    source: str
    plain: Callable[[str], str]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt, with a no-break space after each number that has one in the source, and with the source's
        kind of ellipsis.
        """
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        if ELLIPSIS in self.source and DOTS not in self.source:
            output = output.replace(DOTS, ELLIPSIS)
        return with_fixed_spaces(self.source, output)

    def draft(self, text: str) -> str | None:
        """Return `text` in plain characters, as a draft for the attempt."""
        return self.attempt.draft(self.plain(text))


@dataclass(frozen=True)
class WatchedAttempt(Attempt):
    """Makes the `attempt` for the text `source`. It fails if its output lacks long numbers, prices, times or letters of names; these are
    added to `lost`. `languages` are those of source and output.
    """

    attempt: Attempt
    source: str
    languages: Languages
    lost: set[str]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt; None if it fails."""
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        output = without_double_marks(output)
        found = {*lost_long_numbers(self.source, output, self.languages), *shortened_names(self.source, output, self.languages[1])}
        self.lost.update(found)
        return None if found else output

    def draft(self, text: str) -> str | None:
        """Return what the attempt does."""
        return self.attempt.draft(text)


@dataclass(frozen=True)
class CapitalsAttempt(Attempt):
    """Makes the `attempt` for a text in capitals, which the model reads in small letters. `spans` are the protected spans of the text."""

    attempt: Attempt
    spans: tuple[str, ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt, with capitals outside the spans; None if the attempt fails."""
        output = self.attempt.restore(outputs)
        if output is None:
            return None
        spans = "|".join(map(re.escape, sorted(self.spans, key=len, reverse=True)))
        parts = re.split(f"({spans})", output) if spans else [output]
        return "".join(part if place % 2 else part.upper() for place, part in enumerate(parts))

    def draft(self, text: str) -> str | None:  # noqa: ARG002
        """Return None. An earlier translation is in capitals too, and the model writes small letters here."""
        return None


@dataclass(frozen=True)
class QuotesAttempt(Attempt):
    """Makes the `attempt` for a text that has other quotation marks than the `source`. It fails if the output, in `language`,
    lacks some, or words beside them.
    """

    attempt: Attempt
    source: str
    language: str

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output of the attempt; None if it fails."""
        output = self.attempt.restore(outputs)
        return None if output is None else with_own_quotes(output, self.source, self.language)

    def draft(self, text: str) -> str | None:
        """Return what the attempt does."""
        return self.attempt.draft(text)


@dataclass(frozen=True)
class StandInAttempt(Attempt):
    """Makes the `attempt` for a text in which known characters stand for others.

    `originals` maps each known character to those in the `source` that are written as it, in order, itself included. `spans` are the
    protected ones of the source.
    """

    attempt: Attempt
    originals: dict[str, str]
    source: str
    spans: tuple[str, ...]

    def restore(self, outputs: Sequence[str]) -> str | None:
        """Return the output with the original characters, in order; None if it has more or fewer of the known ones, or if a
        protected span is changed.
        """
        output = self.attempt.restore(outputs)
        if output is None or any(output.count(known) != len(found) for known, found in self.originals.items()):
            return None
        found = {known: iter(characters) for known, characters in self.originals.items()}
        restored = "".join(next(found[character]) if character in found else character for character in output)
        return restored if holds(restored, self.source, self.spans) else None

    def draft(self, text: str) -> str | None:
        """Return `text` with the known characters, as a draft for the `attempt`."""
        known = {each: sign for sign, originals in self.originals.items() for each in originals}
        return self.attempt.draft("".join(known.get(character, character) for character in text))


def attempts_with(lacks: Lacks, text: str, *, latin: bool = False, languages: Languages = ("", "")) -> Iterator[Attempt]:
    """Yield ways to decode `text`, to be tried until one has an output, with a model whose vocabulary `lacks` some characters.

    Spaces, invisible characters and ligatures become plain characters (see `plain_characters`). Currency signs, brackets and quotation
    marks are replaced by "$", "(", ")" and '"' for the model, and written back in its output, except for quotation marks. Other signs,
    and Latin letters, that are lacking are protected spans with their words (see `attempts`), and so are the former if the output does
    not have as many of them. Stops, dashes and quotation marks are not protected. Long numbers and names that an output lacks become
    protected spans, numbers written as in the second of the `languages`; if that fails too, the output may lack them. A text in capitals
    is decoded in small letters. One with quotations is decoded with other quotation marks if the output does not have all of them.
    """
    if is_in_capitals(text, languages[0]):
        spans = tuple(text[start:end] for start, end in protected_spans(text, latin=latin))
        ways = _ways(lacks, in_small_letters(text), latin=latin, languages=languages)
        yield from (CapitalsAttempt(each.segments, each, spans) for each in ways)
        return
    forms = quoted_forms(text, languages[1])
    if len(forms) > 1 and not protected_spans(text, latin=latin):
        for form in forms:
            ways = _ways(lacks, form, latin=latin, languages=languages)
            yield from (QuotesAttempt(each.segments, each, text, languages[1]) for each in ways)
    yield from _ways(lacks, text, latin=latin, languages=languages)


def _ways(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Attempt]:
    lost = set[str]()
    yield from (
        WatchedAttempt(each.segments, each, text, languages, lost)
        for each in _in_plain_characters(lacks, text, latin=latin, languages=languages)
    )
    if not lost:
        return
    written, spans = with_written(plain_characters(text, lacks), lost, *languages)
    also = sorted([*spans, *lacking_spans(written, [character for character in set(written) if lacks(character)])])
    ways = attempts(written, latin=latin, also=also, unchanged=False, placeholders=FOR_LOST)
    yield from (WatchedAttempt(each.segments, each, text, languages, lost) for each in ways if not isinstance(each, SplitAttempt))
    yield from _in_plain_characters(lacks, text, latin=latin, languages=languages)


def _in_plain_characters(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Attempt]:
    plain = plain_characters(text, lacks)
    if plain != text:
        ways = _attempts(lacks, plain, latin=latin, languages=languages)
        yield from (PlainAttempt(each.segments, each, text, partial(plain_characters, lacks=lacks)) for each in ways)
    else:
        yield from _attempts(lacks, text, latin=latin, languages=languages)


def _attempts(lacks: Lacks, text: str, *, latin: bool, languages: Languages) -> Iterator[Attempt]:
    protected = protected_spans(text, latin=latin)
    parts = split_at(text, protected)
    lacking = "".join(sorted(character for character in set("".join(parts[::2])) if lacks(character)))
    spans = lacking_spans(text, lacking)
    known = known_signs(text, lacking, lacks)
    if known:
        parts[::2] = ["".join(known.get(character, character) for character in part) for part in parts[::2]]
        shown = "".join(parts)
        pairs = list(zip(text, shown, strict=True))
        written_back = {sign for character, sign in known.items() if character not in DOUBLE_QUOTES}
        written_back |= set("()") if written_back & set("()") else set()  # none is added in the output either
        originals = {sign: "".join(old for old, new in pairs if new == sign) for sign in written_back}
        rest = lacking_spans(shown, [character for character in lacking if character not in known])
        kept = tuple(text[start:end] for start, end in protected)
        yield from (StandInAttempt(each.segments, each, originals, text, kept) for each in attempts(shown, latin=latin, also=rest))
    # Amounts with signs that are lacking, too, are written as in the target language.
    written, moved = written_in(text, spans, languages)
    yield from attempts(written, latin=latin, also=moved, unchanged=not known)
