"""Decoding of lines of text: splitting into sentences, encoding, decoding, and joining."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from specdec_cli.decoding.names import COPIED, GIVEN
from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.pipeline.draft_gate import PROBE
from specdec_cli.pipeline.drafts import Drafts, DraftUse, first_bound
from specdec_cli.pipeline.term_placing import TermPlacer
from specdec_cli.text.lacking import attempts_with
from specdec_cli.text.layout import segment_line
from specdec_cli.text.passthrough import Passthrough
from specdec_cli.text.placeholders import Attempt
from specdec_cli.text.sentences import Count, Segments, segment
from specdec_cli.text.tokenizer import Tokenizer

Warn = Callable[[int, str], None]
Languages = tuple[str, str]
"""Source and target language of a model; "" if unknown."""


@dataclass
class DecodedLine:
    """A line, its segments (gaps, which are copied, and texts), and the decoded texts; a blank line has none."""

    source: str
    segments: Segments
    texts: list[DecodedText] = field(default_factory=list)

    @property
    def parts(self) -> list[Hypothesis]:
        """The hypotheses of all texts of the line, in order."""
        return [part for text in self.texts for part in text.parts]

    @property
    def decoding(self) -> str:
        """The name of the decoding that was used: of those of its sentences the first that is not "greedy"; COPIED for
        earlier translations alone, "" for a line that is copied to the output.
        """
        names = [part.decoding for part in self.parts] or [COPIED for text in self.texts if text.copied]
        return next((name for name in names if name != "greedy"), names[0] if names else "")

    @property
    def accepted(self) -> int:
        """The number of tokens of given drafts that were accepted, summed over all sentences of the line: each round
        adds one token of the verifier to them.
        """
        return sum(len(part.ids) - part.rounds for part in self._drafted)

    @property
    def _drafted(self) -> list[Hypothesis]:
        """The hypotheses that were decoded from given drafts, those that a glossary replaced too."""
        return [part for text in self.texts for part in (*text.parts, *text.replaced) if part.decoding == GIVEN]

    @property
    def draft_use(self) -> DraftUse | None:
        """What became of the drafts that were found for the sentences of the line; None if there were none."""
        found = [text for text in self.texts if text.draft is not None]
        similarities = [text.draft.similarity for text in found if text.draft is not None]
        copied = sum(text.copied for text in found)
        tokens = sum(len(part.ids) for part in self._drafted)
        origin = next((text.draft.origin for text in found if text.draft is not None), None)
        return None if origin is None else DraftUse(origin, tuple(similarities), copied, tokens, self.accepted)

    @property
    def tokens(self) -> int:
        """The number of emitted tokens, summed over all sentences of the line."""
        return sum(len(part.ids) for part in self.parts)

    @property
    def rounds(self) -> int:
        """The number of rounds, summed over all sentences of the line."""
        return sum(part.rounds for part in self.parts)

    @property
    def score(self) -> float | None:
        """The log probability of all emitted tokens of the line; None if it was not computed for every sentence."""
        parts = self.parts
        scores = [part.score for part in parts if part.score is not None]
        return sum(scores) if scores and len(scores) == len(parts) else None

    @property
    def finished(self) -> bool:
        """Whether every text of the line has its final output."""
        return all(text.output is not None and not text.waits_for_terms for text in self.texts)


class LineDecoder:
    """Decodes lines with `engine`; with `split`, lines are split into sentences.

    `warn` is called with the index of a line that is too long for the model, and a message; such a line is decoded
    in pieces. With `languages`, text that is not prose is copied instead of decoded: markup, code, and text in the
    target language. With `place`, the output has every protected span (a URL, say) as often as the source, and every
    sign that the tokenizer lacks (see `attempts_with`): a sentence whose output does not is decoded again, with a
    placeholder for the span or without it. The attribute `drafts` finds drafts for sentences, and `terms` brings the
    terms of a glossary into outputs; they may be set before a call of `decode`.
    """

    def __init__(
        self,
        engine: SentenceDecoder,
        tokenizer: Tokenizer,
        *,
        split: bool = True,
        warn: Warn | None = None,
        languages: Languages | None = None,
        place: bool = False,
    ) -> None:
        self._engine, self._tokenizer, self._split, self._warn = engine, tokenizer, split, warn
        self.drafts: Drafts | None = None
        self.terms: TermPlacer | None = None
        self._passthrough = None if languages is None else Passthrough(*languages)
        self._place = place
        self._limit = engine.longest_source - len(tokenizer.add_special_tokens([]))

    def decode(self, lines: Sequence[str], *, separate: bool = False) -> Iterator[DecodedLine]:
        """Yield each line with its decoded texts, in order, as soon as it is available; a blank line has no texts.

        With `separate`, each line may be a fragment, as a heading or a table cell is (see DecodedText).
        """
        encoded: dict[str, list[int]] = {}
        pending = deque(self._prepared(index, line, encoded, separate) for index, line in enumerate(lines))
        texts = [text for line in pending for text in line.texts]
        if self.drafts is not None:
            self._take_drafts(self.drafts, texts)
        waiting = [text for text in texts if text.output is None]
        while pending and pending[0].finished:
            yield pending.popleft()
        for portion in self._portions(waiting):
            lacking = []
            while portion:
                again = []
                for text in self._decoded(portion, encoded):
                    if not text.settle(self._tokenizer.decode):
                        again.append(text)
                    elif self._lacks_terms(text.text, text.output):
                        text.waits_for_terms = True
                        lacking.append(text)
                    while pending and pending[0].finished:
                        yield pending.popleft()
                portion = again
            self._place_terms(lacking)
            while pending and pending[0].finished:
                yield pending.popleft()
        yield from pending

    def segments(self, line: str, count: Count) -> Segments:
        """Split a line into the texts that are decoded and the gaps between them; `count` returns the number of tokens
        of a text.
        """
        if self._passthrough is None:
            return segment(line, self._limit, count, split=self._split)
        return segment_line(line, self._limit, count, self._passthrough, split=self._split)

    def _prepared(self, index: int, line: str, encoded: dict[str, list[int]], separate: bool) -> DecodedLine:
        def count(text: str) -> int:
            encoded[text] = self._tokenizer.encode(text)
            return len(encoded[text])

        segments = self.segments(line, count)
        if segments.too_long and self._warn:
            self._warn(index, f"longer than the model's {self._limit} tokens; cut into pieces")
        whole = (iter([Attempt(Segments((text,), ("", "")))]) for text in segments.texts)
        latin = self._passthrough is not None and self._passthrough.latin
        ways = (attempts_with(self._tokenizer.lacks, text, latin=latin) for text in segments.texts) if self._place else whole
        marked = separate or (any(gap.strip() for gap in segments.gaps) and self._passthrough is not None)
        texts = [DecodedText(text, each, is_fragment=marked) for text, each in zip(segments.texts, ways, strict=True)]
        return DecodedLine(line, segments, texts)

    def _take_drafts(self, drafts: Drafts, texts: Sequence[DecodedText]) -> None:
        for text, found in zip(texts, drafts.finder.find([text.text for text in texts]), strict=True):
            copies = found is not None and drafts.copies(found) and not self._lacks_terms(text.text, found.text)
            text.take_draft(found, copied=copies)

    def _lacks_terms(self, source: str, output: str | None) -> bool:
        return self.terms is not None and output is not None and self.terms.lacks_terms(source, output)

    def _place_terms(self, texts: Sequence[DecodedText]) -> None:
        if self.terms is not None and texts:
            self.terms.place(texts)
        for text in texts:
            text.waits_for_terms = False

    def _portions(self, texts: list[DecodedText]) -> list[list[DecodedText]]:
        """Texts in portions that are decoded one after the other: those up to the PROBE-th with a draft come first while
        it is not known how many tokens of drafts are accepted.
        """
        places = [place for place, text in enumerate(texts) if text.draft is not None]
        if self.drafts is None or self.drafts.gate.knows or len(places) <= PROBE:
            return [texts]
        return [texts[: places[PROBE]], texts[places[PROBE] :]]

    def _sentences(self, texts: Sequence[DecodedText], ids: Sequence[Sequence[int]]) -> Iterator[Sentence]:
        """The sentences of the present attempts of `texts`, with the drafts of those that are decoded as they are."""
        for text in texts:
            if self.drafts is not None and text.draft is not None and not self.drafts.gate.admits(text.draft):
                text.draft = None
        drafted = [text for text in texts if text.is_whole and text.draft is not None]
        encoded = self._tokenizer.encode_targets([text.draft.text for text in drafted if text.draft is not None])
        drafts = dict(zip(map(id, drafted), encoded, strict=True))
        sources = iter(enumerate(ids))
        for text in texts:
            for number, each in islice(sources, len(text.attempt.segments.texts)):
                source = self._tokenizer.add_special_tokens(each)
                if id(text) not in drafts or text.draft is None:
                    yield Sentence(number, source)
                    continue
                draft = self._tokenizer.add_target_tokens(drafts[id(text)], self._engine.eos)
                yield Sentence(number, source, draft, first_bound(text.draft))

    def _decoded(self, texts: Sequence[DecodedText], encoded: dict[str, list[int]]) -> Iterator[DecodedText]:
        """Decode the attempts of `texts`, and yield each text whose attempt is complete.

        `encoded` has the ids of most sentences, from when their tokens were counted.
        """
        yield from (text for text in texts if text.finished)  # nothing but spans remains to be placed
        owners = [text for text in texts for _ in text.attempt.segments.texts]
        sources = [source for text in texts for source in text.attempt.segments.texts]
        ids = [encoded[source] if source in encoded else self._tokenizer.encode(source) for source in sources]
        for hypothesis in self._engine.decode(list(self._sentences(texts, ids))):
            owner = owners[hypothesis.number]
            owner.parts.append(hypothesis)
            if self.drafts is not None and owner.draft is not None and hypothesis.decoding == GIVEN:
                self.drafts.gate.count(owner.draft, len(hypothesis.ids), len(hypothesis.ids) - hypothesis.rounds)
            if owner.finished:
                yield owner
