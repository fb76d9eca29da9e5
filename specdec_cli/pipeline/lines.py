"""Windows of lines through an engine: sentences, subwords, decoding, and lines again."""

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
"""Source and target language of a model, "" where they are not known."""


class DecodedText:
    """A text of a line, the attempt at it that counts, and what became of each text of the attempt.

    An output ends with no punctuation that a fragment (a heading, say, or a cell) does not end with.
    """

    def __init__(self, text: str, ways: Iterator[Attempt], *, is_fragment: bool = False) -> None:
        self.text = text
        self._ways, self._is_fragment = ways, is_fragment
        self.output: str | None = None
        self._next()

    @property
    def finished(self) -> bool:
        """Whether all texts of the attempt have been decoded."""
        return len(self.parts) == len(self.attempt.segments.texts)

    def settle(self, decode: Callable[[Sequence[int]], str]) -> bool:
        """Whether the attempt has an output; the next one takes its place otherwise."""
        self.parts.sort(key=lambda part: part.number)
        self.output = self._placed([decode(part.ids) for part in self.parts])
        if self.output is None:
            self._next()
        return self.output is not None

    def ranked(self, rank: int, decode: Callable[[Sequence[int]], str]) -> tuple[str, float]:
        """The n-th best output with its log probability, or the last of which there are fewer; the best where protected spans are lost."""
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
    """A line, what of it was copied and cut into texts, and what each text became (none for a blank line)."""

    source: str
    segments: Segments
    texts: list[DecodedText] = field(default_factory=list)

    @property
    def parts(self) -> list[Hypothesis]:
        """The hypotheses of all texts, in order."""
        return [part for text in self.texts for part in text.parts]

    @property
    def decoding(self) -> str:
        """What decoded it: the first of its sentences' decodings that is not greedy; "" for a line that was copied."""
        names = [part.decoding for part in self.parts]
        return next((name for name in names if name != "greedy"), names[0] if names else "")

    @property
    def tokens(self) -> int:
        """Emitted tokens of all sentences."""
        return sum(len(part.ids) for part in self.parts)

    @property
    def rounds(self) -> int:
        """Verifications of all sentences; drafting passes where the drafter decodes alone."""
        return sum(part.rounds for part in self.parts)

    @property
    def score(self) -> float | None:
        """Log probability of all emitted tokens, None where it was not computed."""
        parts = self.parts
        scores = [part.score for part in parts if part.score is not None]
        return sum(scores) if scores and len(scores) == len(parts) else None

    @property
    def finished(self) -> bool:
        """Whether every text has an output."""
        return all(text.output is not None for text in self.texts)


class LineDecoder:
    """Decodes windows of lines; `warn` hears of sentences that are too long for the model and had to be cut.

    With `languages`, what is not prose is kept from the model: marks, code, text that is in the target language already.
    With `place`, every protected span is in the output as often as in the source: sentences where the model
    loses one are decoded again, with something in its place or cut around it.
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
        """What became of each line, in order, each as soon as it and those before it are done."""
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
        """Those whose attempt is decoded, as soon as they are; most sentences were encoded when their tokens were counted."""
        yield from (text for text in texts if text.finished)  # spans alone are left of it
        owners = [text for text in texts for _ in text.attempt.segments.texts]
        sources = [source for text in texts for source in text.attempt.segments.texts]
        ids = (encoded[source] if source in encoded else self._tokenizer.encode(source) for source in sources)
        sentences = [Sentence(number, self._tokenizer.add_special_tokens(each)) for number, each in enumerate(ids)]
        for hypothesis in self._engine.decode(sentences):
            owner = owners[hypothesis.number]
            owner.parts.append(hypothesis)
            if owner.finished:
                yield owner
