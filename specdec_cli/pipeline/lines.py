"""Decoding of lines of text: splitting into sentences, encoding, decoding, and joining."""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from specdec_cli.decoding.sentence import Hypothesis, Sentence
from specdec_cli.pipeline.decoder import SentenceDecoder
from specdec_cli.text.layout import segment_line
from specdec_cli.text.line_ends import without_added_stop
from specdec_cli.text.passthrough import Passthrough
from specdec_cli.text.placeholders import Attempt, attempts
from specdec_cli.text.sentences import Segments, segment
from specdec_cli.text.tokenizer import Tokenizer

Warn = Callable[[int, str], None]
Languages = tuple[str, str]
"""Source and target language of a model; "" if unknown."""


class DecodedText:
    """A part of a line that is decoded (`text`), its current `attempt`, and the hypotheses of that attempt
    (`parts`).

    `ways` are the attempts in the order in which they are tried, of which the last never fails. `output` is None
    until an attempt has succeeded. With `is_fragment`, as for a heading or a table cell, a final punctuation mark is
    removed from the output if `text` ends with a letter or digit (see `without_added_stop`).
    """

    def __init__(self, text: str, ways: Iterator[Attempt], *, is_fragment: bool = False) -> None:
        self.text = text
        self._ways, self._is_fragment = ways, is_fragment
        self.output: str | None = None
        self._next()

    @property
    def finished(self) -> bool:
        """Whether all texts of the current attempt are decoded; `settle` may not have been called, so `output` may
        still be None.
        """
        return len(self.parts) == len(self.attempt.segments.texts)

    def settle(self, decode: Callable[[Sequence[int]], str]) -> bool:
        """Compute `output` from the decoded ids of the current attempt and return True.

        If the attempt fails, for instance because a protected span was lost, start the next attempt and return
        False. `decode` converts ids to text.
        """
        self.parts.sort(key=lambda part: part.number)
        self.output = self._placed([decode(part.ids) for part in self.parts])
        if self.output is None:
            self._next()
        return self.output is not None

    def ranked(self, rank: int, decode: Callable[[Sequence[int]], str]) -> tuple[str, float]:
        """The n-best output of rank `rank` (0: the best), with its log probability; each of the texts of the attempt
        contributes its output of that rank, or its last one if it has fewer.

        If the joined output lacks a protected span, that of rank 0 is returned. `decode` converts ids to text.
        """
        chosen = [part.alternatives[min(rank, len(part.alternatives) - 1)] for part in self.parts]
        output = self._placed([decode(one.ids) for one in chosen])
        if output is None and rank:
            return self.ranked(0, decode)
        return output or "", sum(one.log_probability for one in chosen)

    def _placed(self, outputs: Sequence[str]) -> str | None:
        output = self.attempt.restore(outputs)
        return without_added_stop(output, self.text) if output and self._is_fragment else output

    def _next(self) -> None:
        self.attempt = next(self._ways)
        self.parts: list[Hypothesis] = []


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
        """The name of the decoding that was used: of those of its sentences the first that is not "greedy"; "" for a
        copied line.
        """
        names = [part.decoding for part in self.parts]
        return next((name for name in names if name != "greedy"), names[0] if names else "")

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
        """Whether every text of the line has an output."""
        return all(text.output is not None for text in self.texts)


class LineDecoder:
    """Decodes lines with `engine`; with `split`, lines are split into sentences.

    `warn` is called with the index of a line that is too long for the model, and a message; such a line is decoded
    in pieces. With `languages`, text that is not prose is copied instead of decoded: markup, code, and text in the
    target language. With `place`, the output has every protected span (a URL, say) as often as the source: a
    sentence whose output does not is decoded again, with a placeholder for the span or without it.
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
        self._passthrough = None if languages is None else Passthrough(*languages)
        self._place = place
        self._limit = engine.longest_source - len(tokenizer.add_special_tokens([]))

    def decode(self, lines: Sequence[str]) -> Iterator[DecodedLine]:
        """Yield each line with its decoded texts, in order, as soon as it is available; a blank line has no texts."""
        encoded: dict[str, list[int]] = {}
        pending = deque(self._prepared(index, line, encoded) for index, line in enumerate(lines))
        waiting = [text for line in pending for text in line.texts]
        while waiting:
            again = []
            for text in self._decoded(waiting, encoded):
                if not text.settle(self._tokenizer.decode):
                    again.append(text)
                while pending and pending[0].finished:
                    yield pending.popleft()
            waiting = again
        yield from pending

    def _prepared(self, index: int, line: str, encoded: dict[str, list[int]]) -> DecodedLine:
        def count(text: str) -> int:
            encoded[text] = self._tokenizer.encode(text)
            return len(encoded[text])

        if self._passthrough is None:
            segments = segment(line, self._limit, count, split=self._split)
        else:
            segments = segment_line(line, self._limit, count, self._passthrough, split=self._split)
        if segments.too_long and self._warn:
            self._warn(index, f"longer than the model's {self._limit} tokens; cut into pieces")
        whole = (iter([Attempt(Segments((text,), ("", "")))]) for text in segments.texts)
        latin = self._passthrough is not None and self._passthrough.latin
        ways = (attempts(text, latin=latin) for text in segments.texts) if self._place else whole
        marked = any(gap.strip() for gap in segments.gaps) and self._passthrough is not None
        texts = [DecodedText(text, each, is_fragment=marked) for text, each in zip(segments.texts, ways, strict=True)]
        return DecodedLine(line, segments, texts)

    def _decoded(self, texts: Sequence[DecodedText], encoded: dict[str, list[int]]) -> Iterator[DecodedText]:
        """Decode the attempts of `texts`, and yield each text whose attempt is complete.

        `encoded` has the ids of most sentences, from when their tokens were counted.
        """
        yield from (text for text in texts if text.finished)  # nothing but spans remains to be placed
        owners = [text for text in texts for _ in text.attempt.segments.texts]
        sources = [source for text in texts for source in text.attempt.segments.texts]
        ids = (encoded[source] if source in encoded else self._tokenizer.encode(source) for source in sources)
        sentences = [Sentence(number, self._tokenizer.add_special_tokens(each)) for number, each in enumerate(ids)]
        for hypothesis in self._engine.decode(sentences):
            owner = owners[hypothesis.number]
            owner.parts.append(hypothesis)
            if owner.finished:
                yield owner
