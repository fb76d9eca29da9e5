"""Variants of a text that are decoded: as it is, with placeholders for protected spans, with other characters, in small letters, in parts.

Each output has problems, with costs. The first variant whose output has none is taken, else the one whose problems cost least.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from specdec_cli.text.checks import has_broken_characters, holds, repeats_itself
from specdec_cli.text.locale.languages import is_function_word
from specdec_cli.text.protect.spans import is_number, kind_of, protected_spans, united
from specdec_cli.text.protect.stand_ins import (
    FOR_SPANS,
    NAME_AFTER,
    NAME_BEFORE,
    NUMBERS,
    StandIn,
    name_pattern,
    placeholder_names,
    read_with,
    with_names,
)
from specdec_cli.text.segment.sentences import Segments
from specdec_cli.text.shape import with_small_function_word

_CODE = re.compile(r"[`<%{$']")
"""The beginning of spans that disturb a translation more than placeholders do: code, tags and format arguments."""
_MAX_SPANS = 6
"""The largest number of spans in a text for which placeholders are tried."""
_OPENING = r"[\s(\[\"'\u2018\u201c]"
_EDGE = re.compile(rf"^[\s,;:.!?)\]\"'\u2019\u201d-]+|(?:(?<!{_OPENING})|(?<=\A{_OPENING})){_OPENING}+$")
_EMPTY_PAIR = re.compile(r"<([A-Za-z][\w:.-]{0,63})(?:\s[^<>]*)?>\W*</\1>")
_WORD = re.compile(r"[^\W\d_]{2,}")
_END = ".!?:;,\u2026"
AS_IT_IS, IN_PARTS = "as it is", "in parts"
COSTS: Mapping[str, int] = {
    "copied": 60,
    "repetition": 40,
    "broken character": 30,
    "quotation marks lost": 25,
    "brackets lost": 25,
    "menus lost": 15,
    "repetition lost": 15,
    "number lost": 20,
    "date or range lost": 20,
    "text lost": 8,
    "no text between tags": 7,
    "word lost": 7,
    IN_PARTS: 6,
    "name shortened": 5,
    "name lost": 7,
    "date or range changed": 3,
}
"""The problems of outputs and their costs."""


class Problem(NamedTuple):
    """What is wrong with an output: its kind, one of COSTS, and the part of the text that it is about."""

    kind: str
    detail: str = ""

    @property
    def cost(self) -> int:
        """How bad it is: an output with a smaller sum of costs is better."""
        return COSTS[self.kind]

    def __str__(self) -> str:
        return " ".join([self.kind, *filter(None, [self.detail]), str(self.cost)])


class Restored(NamedTuple):
    """The output for a text, and its problems."""

    text: str
    problems: tuple[Problem, ...] = ()

    @property
    def cost(self) -> int:
        """The sum of the costs of the problems."""
        return sum(problem.cost for problem in self.problems)

    def with_problems(self, kind: str, details: Iterable[str] = ("",)) -> "Restored":
        """The same output with more problems of a kind."""
        return self._replace(problems=(*self.problems, *(Problem(kind, each) for each in details)))


@dataclass(frozen=True)
class Variant:
    """One way to decode a text: the `segments` are decoded instead of it. `name` says what is special about it.

    `restore` returns the output for the text, given an output for each of the segments; None if it cannot be taken, since a protected span
    is lost, duplicated or out of order. `draft` returns an earlier translation of the text as a draft for the only segment; None if it can
    be no draft.
    """

    name: str
    segments: Segments
    restore: Callable[[Sequence[str]], Restored | None]
    draft: Callable[[str], str | None] = str

    def changed(self, name: str, change: Callable[[Restored], Restored | None], draft: Callable[[str], str | None] = str) -> "Variant":
        """The same variant of a changed text: `change` makes the output for the text before the change of one for it, and `draft` changes
        a draft.
        """

        def restore(outputs: Sequence[str]) -> Restored | None:
            restored = self.restore(outputs)
            return None if restored is None else change(restored)

        def changed_draft(text: str) -> str | None:
            own = draft(text)
            return None if own is None else self.draft(own)

        return Variant(f"{name}, {self.name}" if name else self.name, self.segments, restore, changed_draft)


def as_it_is(text: str) -> Variant:
    """The variant that decodes `text` as it is, without a check."""
    segments = _one(text)
    return Variant(AS_IT_IS, segments, lambda outputs: Restored(segments.join(outputs)))


def _one(text: str) -> Segments:
    return Segments((text,), ("", ""))


def _checked(segments: Segments, source: str, spans: tuple[str, ...], words: tuple[str, ...]) -> Variant:
    """The `source` as it is; each of the `words` must be in the output as often, in small or capital letters."""

    def restore(outputs: Sequence[str]) -> Restored | None:
        return _judged(segments.join(outputs), source, spans, words)

    return Variant(AS_IT_IS, segments, restore)


def _judged(output: str, source: str, spans: tuple[str, ...], words: tuple[str, ...] = ()) -> Restored | None:
    """An `output` with its problems; None if it has a protected span of the source more or less often, or tags and format arguments
    without a number or name in another order.
    """
    if not holds(output, source, spans):
        return None
    problems = []
    if len(_EMPTY_PAIR.findall(output)) > len(_EMPTY_PAIR.findall(source)):
        problems.append(Problem("no text between tags"))
    kept, there = source.casefold(), output.casefold()
    problems += [Problem("word lost", word) for word in words if there.count(word.casefold()) < kept.count(word.casefold())]
    if _loses_text(output, source, spans):
        problems.append(Problem("text lost"))
    if repeats_itself(output, source):
        problems.append(Problem("repetition"))
    if has_broken_characters(output, source):
        problems.append(Problem("broken character"))
    return Restored(output, tuple(problems))


def split_at_spans(text: str, positions: Sequence[tuple[int, int]], spans: tuple[str, ...]) -> Variant:
    """The texts between the `spans`, which are at the `positions` (start, end) of `text`, and are decoded separately.

    Marks at the end of an output (. ! ? : ; , …) are removed if its part does not end with one, and a function word at its beginning gets a
    small letter if the part has one. If the result does not have each of the `spans` as often as the text, this is the output.
    """
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
    segments = Segments(tuple(texts), tuple(gaps))

    def restore(outputs: Sequence[str]) -> Restored:
        pairs = zip(texts, outputs, strict=True)
        kept = [with_small_function_word(output if part[-1] in _END else output.rstrip(_END) or output, part) for part, output in pairs]
        output = segments.join(kept)
        return Restored(output, (Problem(IN_PARTS),)) if holds(output, text, spans) else Restored(text, (Problem("copied"),))

    return Variant(IN_PARTS, segments, restore, lambda _: None)


def variants(
    text: str,
    *,
    latin: bool = False,
    also: Sequence[tuple[int, int]] = (),
    unchanged: bool = True,
    placeholders: Sequence[tuple[str, int]] = FOR_SPANS,
) -> Iterator[Variant]:
    """Yield the variants of `text` that concern its protected spans.

    Without spans, there is only the text itself. With spans, it is tried `unchanged`, unless one is code, a tag or a format argument, then
    with each kind of `placeholders`, first with numbers for format arguments that are numbers, so that their nouns are translated as
    after numbers, and last as separate texts between the spans. `latin`: see `protected_spans`; spans of `also` are protected too,
    overlapping ones as one span, but unchanged text is only checked for their signs and words: numbers may be written differently.
    """
    positions = protected_spans(text, latin=latin)
    checked = [text[start:end] for start, end in positions]
    positions = united([*positions, *also])
    if not positions:
        yield as_it_is(text)
        return
    spans = tuple(text[start:end] for start, end in positions)
    if unchanged and not any(map(_CODE.match, checked)):
        added = [text[start:end] for start, end in also]
        signs = [each for span in added for each in span if not _is_written_differently(each)]
        words = tuple(span for span in added if any(each.isalpha() and not each.isascii() for each in span))
        yield _checked(_one(text), text, (*checked, *signs), words)
    if len(spans) <= _MAX_SPANS:
        kinds = ((stem, first) for stem, first in placeholders if stem + str(first) not in text)
        yield from (_with_names(text, positions, spans, names) for kind in kinds for names in names_for(text, spans, kind))
    yield split_at_spans(text, positions, spans)


_ARGUMENTS = frozenset(("argument", "named_argument", "braces"))
_NOUN = re.compile(r"(?=\w)[^\d_a-z]\w+")


def names_for(text: str, spans: Sequence[str], kind: tuple[str, int]) -> Iterator[tuple[str, ...]]:
    """Placeholders of the `kind` for the `spans`; first, if some spans are numbers, with numbers in the place of these.

    A format argument behind a single word, as in `Page {0}`, is read as a number, as which it follows the noun in the translation too.
    """
    names = placeholder_names(*kind, len(spans))
    numeric = [is_number(span) or _is_behind_noun(text, span) for span in spans]
    if kind[0] and any(numeric) and not any(number in text for number in NUMBERS):
        yield tuple(number if is_number else name for name, number, is_number in zip(names, NUMBERS, numeric, strict=False))
    yield names


def _is_behind_noun(text: str, span: str) -> bool:
    """Whether the text is one word with a capital, and the format argument `span` behind it."""
    kind, word = kind_of(span), text.removesuffix(f" {span}")
    return (
        kind is not None and kind.name in _ARGUMENTS and word != text and _NOUN.fullmatch(word) is not None and not is_function_word(word)
    )


def _with_names(text: str, positions: Sequence[tuple[int, int]], spans: tuple[str, ...], names: tuple[str, ...]) -> Variant:
    """The text with a placeholder, one of `names`, in the place of each protected span.

    A space is inserted beside a placeholder where another span, or a character that must not stand there, is directly beside its span; it
    is removed from the output.
    """
    ends = [0, *(end for _, end in positions)]
    joined = tuple(
        (0 < start == last or NAME_BEFORE.fullmatch(text[:start][-1:]) is not None, NAME_AFTER.fullmatch(text[end : end + 1]) is not None)
        for last, (start, end) in zip(ends, positions, strict=False)
    )

    def stand_in(place: tuple[int, int], name: str, before: bool, after: bool) -> StandIn:
        pattern = f"{' ?' * before}{name_pattern(name)}{' ?' * after}"
        return StandIn(*place, f"{' ' * before}{name}{' ' * after}", pattern, lambda _: text[slice(*place)])

    read = read_with(text, [stand_in(place, name, *each) for place, name, each in zip(positions, names, joined, strict=True)])

    def restore(outputs: Sequence[str]) -> Restored | None:
        output = read.restored(outputs[0]) if all(outputs[0].count(name) == 1 for name in names) else None
        return None if output is None else _judged(output, text, spans)

    return Variant(names[0], _one(read.text), restore, lambda draft: with_names(draft, spans, names))


def _loses_text(output: str, source: str, spans: Sequence[str]) -> bool:
    """Whether `source` has words outside of `spans` that are no function words, and `output` has none, and less than half as many words."""
    outside = [output, source]
    for span in spans:
        outside = [text.replace(span, " ") for text in outside]
    words = [_WORD.findall(text) for text in outside]
    if all(map(is_function_word, words[1])) or not all(map(is_function_word, words[0])):
        return False
    return 2 * len(outside[0].split()) < len(outside[1].split())


def _is_written_differently(character: str) -> bool:
    return character.isalpha() or character.isdecimal() or character.isspace() or character in ".,"
