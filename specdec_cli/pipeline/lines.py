"""Decoding of lines of text: splitting into sentences, encoding, decoding, and joining."""

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from itertools import pairwise
from typing import TypedDict

from specdec_cli.decoding.methods import GIVEN
from specdec_cli.decoding.sentence import Sentence, make_sentence
from specdec_cli.engines.engine import SentenceDecoder
from specdec_cli.memories.found import FoundDraft
from specdec_cli.pipeline.decoded_text import DecodedLine, DecodedText, Trying
from specdec_cli.pipeline.drafts import PROBE, Drafts, first_bound
from specdec_cli.pipeline.tag_placing import Tagged, TagPlacer
from specdec_cli.pipeline.term_placing import TermPlacer
from specdec_cli.pipeline.text_variants import variants_with
from specdec_cli.pipeline.variants import Variant, as_it_is, variants
from specdec_cli.text.apart import with_known_menus
from specdec_cli.text.labels import ENDS_NAME, Labels
from specdec_cli.text.locale.amounts import written_alone
from specdec_cli.text.locale.languages import own_letters
from specdec_cli.text.protect.spans import protected_spans
from specdec_cli.text.segment.code import code_lines
from specdec_cli.text.segment.layout import Passthrough, segment_line, with_parts
from specdec_cli.text.segment.sentences import Count, Segments, segment
from specdec_cli.text.shape import Place, tidied
from specdec_cli.text.tags.markup import distributed, without_tags
from specdec_cli.text.tokenize.tokenizer import Tokenizer
from specdec_cli.text.view import Bare, unchanged


@dataclass(frozen=True)
class WholeSentence:
    """A sentence of a line as it is before it is cut: its text, the offset of its end in the line, and the draft that was found for
    it; if that is `copied`, it becomes the output.
    """

    text: str
    end: int
    draft: FoundDraft | None
    copied: bool


def whole_sentences(
    segments: Segments, found: Iterator[FoundDraft | None], copies: Callable[[str, FoundDraft], bool]
) -> list[WholeSentence]:
    """The texts of `segments` with the next drafts of `found`, of which `copies` says whether they are the output for a text."""
    sentences = []
    for text, start in zip(segments.texts, segments.starts(), strict=True):
        draft = next(found)
        sentences.append(WholeSentence(text, start + len(text), draft, draft is not None and copies(text, draft)))
    return sentences


def without_cuts(sentences: Sequence[WholeSentence]) -> set[str]:
    """The texts of the sentences that need no limit of their length, as they are copied."""
    return {each.text for each in sentences if each.copied} - {each.text for each in sentences if not each.copied}


def give_drafts(sentences: Sequence[WholeSentence], segments: Segments, texts: Sequence[DecodedText]) -> None:
    """Give each of the `texts` of a line, cut as in `segments`, the draft of the sentence that it is, or is a piece of.

    The whole translation is the draft of a piece, too: what belongs to other pieces is not accepted.
    """
    following = iter(sentences)
    sentence = next(following, None)
    for text, start in zip(texts, segments.starts(), strict=True):
        while sentence is not None and sentence.end <= start:
            sentence = next(following, None)
        if sentence is not None:
            text.take_draft(sentence.draft, copied=sentence.copied and sentence.text == text.text)


Warn = Callable[[int, str], None]
Languages = tuple[str, str]
"""Source and target language of a model; "" if unknown."""


class LineOptions(TypedDict, total=False):
    """How lines are decoded. By default, they are split, nothing is reported, and no rule is off.

    - `split`: lines are split into sentences.
    - `raw`: each line is decoded as it is, in pieces if it does not fit, and outputs stay as they are; only a line of a document that has
      tags is decoded with placeholders for these.
    - `without`: the names of rules that are off.
    - `warn` is called with the index of a line with a sentence that does not fit the model, and a message; such a sentence is decoded in
      pieces.
    - `on_tried` is called for each text of which several variants were decoded.
    """

    split: bool
    raw: bool
    without: Collection[str]
    warn: Warn | None
    on_tried: Trying | None


_SPAN = 8
"""The most tokens that a protected span counts for: the model reads a short name in its place."""
_NUMBERS_ALONE = re.compile(r"(?:^|[|\t])[ ]*([#\d][\d.,:/%-]*)[ ]*(?=[|\t]|$)")
"""The cells of a row that are numbers, and so the row is of a table of data."""


@lru_cache(16)
def _numbers_alone(line: str) -> Sequence[str]:
    """The numbers that are cells of a line, which all its texts look up."""
    return tuple(_NUMBERS_ALONE.findall(line))


class LineDecoder:
    """Decodes lines with `engine`; see LineOptions for its options.

    With `languages`, text that is not prose is copied instead of decoded: markup, code, and text in the
    target language. With `place`, sentences are decoded without their pairs of inline tags, which are then placed in the
    outputs (see tag_placing.py), and the output has every other protected span (a URL, say) as often as the source, and
    every sign that the tokenizer lacks (see `variants_with`): a sentence whose output does not is decoded again, with a
    placeholder for the span or without it. The attribute `drafts` finds drafts for sentences, and `terms` brings the terms of a glossary
    into outputs; `labels` are translations of labels, which are not decoded. They may be set before a call of `decode`.
    """

    def __init__(
        self,
        engine: SentenceDecoder,
        tokenizer: Tokenizer,
        *,
        languages: Languages | None = None,
        place: bool = False,
        split: bool = True,
        raw: bool = False,
        without: Collection[str] = (),
        warn: Warn | None = None,
        on_tried: Trying | None = None,
    ) -> None:
        self._engine, self._tokenizer, self._split, self._raw, self._without = engine, tokenizer, split, raw, without
        self._warn, self._on_tried = warn, on_tried
        self.drafts: Drafts | None = None
        self.terms: TermPlacer | None = None
        self.labels: Labels | None = None
        self._passthrough = None if languages is None else Passthrough(*languages, knows=self._is_label)
        self._place, self._tags = place, TagPlacer(engine, tokenizer)
        self._languages = languages if place and languages is not None else ("", "")
        decoding = engine.decoding
        self._longest, self._copies_tidied = decoding.longest_sentence, decoding.tidies_copies
        self._lacks = cache(self._is_lacking)
        self._fitting = engine.longest_source - len(tokenizer.add_special_tokens([]))

    def decode(
        self, lines: Sequence[str], *, separate: bool | Sequence[bool] = False, numbers: Sequence[int] = ()
    ) -> Iterator[DecodedLine]:
        """Yield each line with its decoded texts, in order, as soon as it is available; a blank line has no texts.

        A line that is `separate` may be a fragment, as a heading or a table cell is (see DecodedText); one value is for all lines.
        `numbers` are those of the lines in their file, from which sampling draws (none: those in `lines`).
        """
        encoded: dict[str, list[int]] = {}
        apart = [separate] * len(lines) if isinstance(separate, bool) else separate
        code = code_lines(lines) if self._passthrough is not None else [False] * len(lines)
        plain = [
            None if is_code and not own else without_tags(line) if self._place else unchanged(line)
            for line, own, is_code in zip(lines, apart, code, strict=True)
        ]
        whole = self._with_drafts(self.drafts, plain) if self.drafts is not None else [()] * len(lines)
        pending = deque(
            DecodedLine.copied(line) if text is None else self._prepared(index, text, encoded, own, number, sentences)
            for index, (line, text, own, number, sentences) in enumerate(
                zip(lines, plain, apart, numbers or range(len(lines)), whole, strict=True)
            )
        )
        texts = [text for line in pending for text in line.texts]
        for line in pending:
            self._take_known(line)
        self._complete([text for text in texts if text.copied])
        waiting = [text for text in texts if text.output is None]
        while pending and pending[0].finished:
            yield pending.popleft()
        for portion in self._portions(waiting):
            incomplete = []
            while portion:
                again = []
                for text in self._decoded(portion, encoded):
                    if not text.settle(self._tokenizer.decode):
                        again.append(text)
                        continue
                    if self._on_tried is not None and len(text.tried) > 1:
                        self._on_tried(text.line, text.tried, text.variant)
                    if text.tags or self._lacks_terms(text.text, text.output):
                        text.is_waiting = True
                        incomplete.append(text)
                    while pending and pending[0].finished:
                        yield pending.popleft()
                portion = again
            self._complete(incomplete)
            while pending and pending[0].finished:
                yield pending.popleft()
        yield from pending

    @property
    def _limit(self) -> int:
        """The most tokens of a sentence that is not cut."""
        return min(self._longest, self._fitting) if self._longest and not self._raw else self._fitting

    def segments(self, line: str, count: Count) -> Segments:
        """Split a line into the texts that are decoded and the gaps between them; `count` returns the number of tokens
        of a text. A greeting at the beginning, and a label with a colon (Subject: The house) at the beginning or in a cell, are texts,
        unless there are drafts for whole sentences.
        """
        if not line.strip():
            return Segments((), (line,))
        if self._passthrough is None:
            return segment(line, self._limit, count, split=self._split)
        cut = partial(segment_line, limit=self._limit, count=count, passthrough=self._passthrough, split=self._split)
        segments = cut(line)
        if self.labels is None or self.drafts is not None or not self._split or not segments.texts:
            return segments
        parts = dict[int, list[str | Segments]]()
        for place, text in enumerate(segments.texts):
            end = 0 if place else self.labels.greetings.end(text)
            if end and text[end : end + 1] == " " and text[end:].strip():
                parts[place] = [Segments((text[:end],), ("", " ")), cut(text[end + 1 :])]
            elif not end and (not place or segments.is_apart(place)) and (fields := self.labels.fields(text)):
                inner = (cut(value) if self.labels.greetings.end(value) else self.segments(value, count) for *_, value in fields)
                cuts = ((gap, Segments((name,), ("", colon)), own) for (gap, name, colon, _), own in zip(fields, inner, strict=True))
                parts[place] = [part for field in cuts for part in field]
        return with_parts(segments, parts) if parts else segments

    def _prepared(
        self,
        index: int,
        plain: Bare,
        encoded: dict[str, list[int]],
        separate: bool,
        number: int,
        sentences: Sequence[WholeSentence],
    ) -> DecodedLine:
        longest, uncut = 0, without_cuts(sentences)

        def count(text: str) -> int:
            nonlocal longest
            if text in uncut:
                return 0
            encoded[text] = self._tokenizer.encode(text)
            tokens = len(encoded[text])
            longest = max(longest, tokens)
            return tokens - self._saved(text) if self._place and self._limit < tokens <= self._fitting else tokens

        segments = self.segments(plain.text, count)
        if (segments.continued or self._raw) and longest > self._fitting and self._warn:
            self._warn(index, f"a {'line' if self._raw else 'sentence'} of more than {self._fitting} tokens; cut into pieces")
        tries = (self._variants_of(text, is_segment=separate) for text in segments.texts)
        marked = separate or (segments.has_marks and self._passthrough is not None)
        tags = distributed(plain, segments)
        parts = zip(segments.texts, tries, tags.inner, strict=True)
        fragment = marked or plain.is_enclosed
        sizes = {text: len(encoded[text]) for text in segments.texts if text in encoded}
        goes_on = [False, *(place in segments.continued for place in range(len(segments.texts)))]
        greeted, placed = bool(segments.texts) and self._is_greeting(segments.texts[0]), self._place
        places = [
            Place(fragment, is_continued, placed and not is_later, placed and is_later, greeted and index == 1)
            for index, (is_later, is_continued) in enumerate(pairwise(goes_on))
        ]
        texts = [
            DecodedText(
                text,
                each,
                tokens=sizes.get(text),
                place=None if self._raw else places[place],
                tags=inner,
                languages=self._languages,
                line=index,
                position=(number, place),
            )
            for place, (text, each, inner) in enumerate(parts)
        ]
        give_drafts(sentences, segments, texts)
        return DecodedLine(plain.text, segments, tags.tagged, texts)

    def _saved(self, text: str) -> int:
        """The tokens of a text that do not count, those of its long protected spans, such as code."""
        latin = self._passthrough is not None and self._passthrough.latin
        spans = (text[start:end] for start, end in protected_spans(text, latin=latin))
        return sum(max(len(self._tokenizer.encode(span)) - _SPAN, 0) for span in spans)

    def _variants_of(self, text: str, *, is_segment: bool) -> Iterator[Variant]:
        if self._place:
            return self._variants(text)
        has_tags = self._raw and is_segment and without_tags(text).text != text
        return variants(text) if has_tags else iter([as_it_is(text)])

    def _variants(self, text: str) -> Iterator[Variant]:
        passing = self._passthrough or Passthrough()
        tries = variants_with(self._lacks, text, latin=passing.latin, languages=(passing.source, passing.target), without=self._without)
        if self.labels is None or " > " not in text:
            return tries
        find_label = self.labels.find
        return (each.changed("", lambda output: output._replace(text=with_known_menus(output.text, text, find_label))) for each in tries)

    def _is_lacking(self, character: str) -> bool:
        """Whether the tokenizer lacks a character. The letters of the source language count as there if they are encoded as bytes: models
        read them often.
        """
        if not self._tokenizer.lacks(character):
            return False
        is_own = self._passthrough is not None and character in own_letters(self._passthrough.source)
        return not (is_own and self._tokenizer.has_bytes(character))

    def _with_drafts(self, drafts: Drafts, lines: Sequence[Bare | None]) -> list[list[WholeSentence]]:
        """The sentences of each line, before they are cut, with the drafts that are found for them; none for a line that is copied."""
        segments = [None if line is None else self.segments(line.text, lambda _: 0) for line in lines]
        drafts_of_texts = iter(drafts.finder.find([text for each in segments if each is not None for text in each.texts]))
        return [
            [] if each is None else whole_sentences(each, drafts_of_texts, lambda text, draft: self._copies(drafts, text, draft))
            for each in segments
        ]

    def _copies(self, drafts: Drafts, text: str, found: FoundDraft) -> bool:
        return drafts.copies(found) and not self._lacks_terms(text, found.text)

    def _take_known(self, line: DecodedLine) -> None:
        """Take the translations of labels, and quantities alone as the target language writes them, for texts without a copied draft and
        without a term that these lack.
        """
        for index, text in enumerate(line.texts):
            if text.copied:
                continue
            target = self._label(line, index, text.text)
            if target is None:
                target = written_alone(text.text, self._languages)
            if target is not None and not self._lacks_terms(text.text, target):
                text.take_known(target)

    def _label(self, line: DecodedLine, place: int, text: str) -> str | None:
        """The translation of a text of a line, if it is a label that stands apart, or the greeting before other text. Beside a colon
        it is the name of a field or its value, and in a table of data it may be a state.
        """
        if self.labels is None or not (line.segments.is_apart(place) or (not place and self._is_greeting(text))):
            return None
        before, behind = line.segments.gaps[place : place + 2]
        texts = line.segments.texts
        if place and ENDS_NAME.match(before):
            return self.labels.find_value(texts[place - 1], text)
        if ENDS_NAME.match(behind):
            return self.labels.find_name(text)
        cells = _numbers_alone(line.source)
        return self.labels.find_state(text, (*texts[:place], *texts[place + 1 :], *cells)) or self.labels.find(text)

    def _is_label(self, text: str) -> bool:
        return self.labels is not None and self.labels.find(text) is not None

    def _is_greeting(self, text: str) -> bool:
        return self.labels is not None and self.labels.greetings.end(text) == len(text)

    def _lacks_terms(self, source: str, output: str | None) -> bool:
        return self.terms is not None and output is not None and self.terms.lacks_terms(source, output)

    def _complete(self, texts: Sequence[DecodedText]) -> None:
        """Bring terms into the outputs of those of `texts` that lack some, and place the tags in all outputs."""
        lacking = [text for text in texts if self._lacks_terms(text.text, text.output)]
        if self.terms is not None and lacking:
            self.terms.place(lacking)
        with_spans = [text for text in texts if text.tags and text.tagged is None]
        outputs = self.with_tags([(text, text.output or "") for text in with_spans]) if with_spans else ()
        for text, tagged in zip(with_spans, outputs, strict=True):
            text.tagged = tagged
        for text in texts:
            text.is_waiting = False

    def with_tags(self, outputs: Sequence[tuple[DecodedText, str]]) -> list[str]:
        """The inline tags of each text placed in an output for it."""
        tagged = []
        for text, output in outputs:
            matches = self.terms.glossary.find(text.text) if self.terms is not None and text.tags else ()
            terms = tuple((match.start, match.end, match.term.target) for match in matches)
            tagged.append(Tagged(text.text, output, text.tags, terms))
        return self._tags.place(tagged)

    def _portions(self, texts: list[DecodedText]) -> list[list[DecodedText]]:
        """Texts in portions that are decoded one after the other: those up to the PROBE-th with a draft come first while
        it is not known how many tokens of drafts are accepted.
        """
        drafted = [index for index, text in enumerate(texts) if text.draft is not None]
        if self.drafts is None or self.drafts.gate.knows or len(drafted) <= PROBE:
            return [texts]
        return [texts[: drafted[PROBE]], texts[drafted[PROBE] :]]

    def _sentences(self, texts: Sequence[DecodedText], ids: Sequence[Sequence[int]]) -> Iterator[Sentence]:
        """The sentences of the present variants of `texts`, with the drafts of those that are decoded as they are."""
        for text in texts:
            if self.drafts is not None and text.draft is not None and not self.drafts.gate.admits(text.draft):
                text.draft = None
        targets = {id(text): target for text in texts if (target := text.target_draft) is not None}
        drafts = dict(zip(targets, self._tokenizer.encode_targets(list(targets.values())), strict=True))
        sources = iter(enumerate(ids))
        for text in texts:
            for part, (own, (number, each)) in enumerate(zip(text.variant.segments.texts, sources, strict=False)):
                make = partial(make_sentence, self._tokenizer, self._engine.eos, number, own, each, stream=text.random_stream(part))
                if id(text) not in drafts or text.draft is None:
                    yield make(copied=tidied(own) if self._copies_tidied else None)
                    continue
                draft = self._tokenizer.add_target_tokens(drafts[id(text)], self._engine.eos)
                yield make(draft=draft, first=first_bound(text.draft))

    def _decoded(self, texts: Sequence[DecodedText], encoded: dict[str, list[int]]) -> Iterator[DecodedText]:
        """Decode the present variants of `texts`, and yield each text whose variant is complete.

        `encoded` has the ids of most sentences, from when their tokens were counted.
        """
        yield from (text for text in texts if text.finished)  # nothing but spans remains to be placed
        owners = [text for text in texts for _ in text.variant.segments.texts]
        sources = [source for text in texts for source in text.variant.segments.texts]
        ids = [encoded[source] if source in encoded else self._tokenizer.encode(source) for source in sources]
        for hypothesis in self._engine.decode(list(self._sentences(texts, ids))):
            owner = owners[hypothesis.number]
            owner.parts.append(hypothesis)
            if self.drafts is not None and owner.draft is not None and hypothesis.decoding == GIVEN:
                self.drafts.gate.count(owner.draft, len(hypothesis.ids), len(hypothesis.ids) - hypothesis.rounds)
            if owner.finished:
                yield owner
