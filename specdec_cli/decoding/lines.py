"""Windows of lines through an engine: sentences, subwords, decoding, and lines again."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from specdec_cli.decoding.engine import Engine
from specdec_cli.decoding.loop import Hypothesis, Sentence
from specdec_cli.text.sentences import Segments, segment
from specdec_cli.text.tokenizer import Tokenizer

Warn = Callable[[int, str], None]


@dataclass
class DecodedLine:
    """A line, the sentences it was cut into, and what each of them became (none for a blank line)."""

    source: str
    segments: Segments
    parts: list[Hypothesis] = field(default_factory=list)

    @property
    def decoding(self) -> str:
        """What decoded it: the first of its sentences' decodings that is not greedy; "" for a blank line."""
        names = [part.decoding for part in self.parts]
        return next((name for name in names if name != "greedy"), names[0] if names else "")

    @property
    def tokens(self) -> int:
        """Emitted tokens of all sentences."""
        return sum(len(part.ids) for part in self.parts)

    @property
    def rounds(self) -> int:
        """Verifications of all sentences."""
        return sum(part.rounds for part in self.parts)

    @property
    def score(self) -> float | None:
        """Log probability of all emitted tokens, None where it was not computed."""
        scores = [part.score for part in self.parts if part.score is not None]
        return sum(scores) if scores and len(scores) == len(self.parts) else None


class LineDecoder:
    """Decodes windows of lines; `warn` hears of sentences that are too long for the model and had to be cut."""

    def __init__(self, engine: Engine, tokenizer: Tokenizer, *, split: bool = True, warn: Warn | None = None) -> None:
        self._engine, self._tokenizer, self._split, self._warn = engine, tokenizer, split, warn
        self._limit = engine.verifier.longest_source - len(tokenizer.framed([]))

    def decode(self, lines: Sequence[str]) -> Iterator[DecodedLine]:
        """What became of each line, in order, each as soon as it and those before it are done."""
        encoded: dict[str, list[int]] = {}
        pending = [DecodedLine(line, self._segments(index, line, encoded)) for index, line in enumerate(lines)]
        owner = [line for line in pending for _ in line.segments.texts]
        emitted = 0
        for hypothesis in self._engine.decode(self._sentences(pending, encoded)):
            owner[hypothesis.number].parts.append(hypothesis)
            while emitted < len(pending) and len(pending[emitted].parts) == len(pending[emitted].segments.texts):
                yield _in_order(pending[emitted])
                emitted += 1
        yield from map(_in_order, pending[emitted:])

    def _segments(self, index: int, line: str, encoded: dict[str, list[int]]) -> Segments:
        def count(text: str) -> int:
            encoded[text] = self._tokenizer.encode(text)
            return len(encoded[text])

        segments = segment(line, self._limit, count, split=self._split)
        if segments.too_long and self._warn:
            self._warn(index, f"longer than the model's {self._limit} tokens; cut into pieces")
        return segments

    def _sentences(self, lines: Sequence[DecodedLine], encoded: dict[str, list[int]]) -> list[Sentence]:
        """The sentences of all lines; most were encoded when their tokens were counted."""
        texts = [text for line in lines for text in line.segments.texts]
        ids = (encoded[text] if text in encoded else self._tokenizer.encode(text) for text in texts)
        return [Sentence(number, self._tokenizer.framed(each)) for number, each in enumerate(ids)]


def _in_order(line: DecodedLine) -> DecodedLine:
    line.parts.sort(key=lambda part: part.number)
    return line
