"""Lines of text through a bundle: sentences, subwords, decoding, and back to lines."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from specdec_cli.decoding.engine import Engine
from specdec_cli.decoding.loop import Hypothesis, Sentence
from specdec_cli.text.sentences import Segments, segment
from specdec_cli.text.subwords import Subwords


@dataclass(frozen=True)
class Translation:
    """A translated line: tokens and rounds are summed over its sentences, and so is the log probability `score`.

    `hypotheses` are the n best lines with their log probabilities; `sentences` the ids of each sentence.
    """

    text: str
    tokens: int = 0
    rounds: int = 0
    score: float | None = None
    hypotheses: tuple[tuple[str, float], ...] = ()
    sentences: tuple[tuple[int, ...], ...] = ()


@dataclass
class _Pending:
    """A line whose sentences are being decoded: the first sentence's number, and what has come back."""

    segments: Segments
    first: int
    done: dict[int, Hypothesis] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.segments.texts)


class Translator:
    """Translates windows of lines; `warn` hears of sentences that are too long for the model and had to be cut."""

    def __init__(self, engine: Engine, tokenizer: Subwords, *, split: bool = True, warn: Callable[[int, str], None] | None = None) -> None:
        self.engine, self.tokenizer, self._split, self._warn = engine, tokenizer, split, warn
        self._eos = engine.verifier.model.config.eos
        self._limit = engine.verifier.longest_source - 1

    def translate(self, lines: Sequence[str]) -> Iterator[Translation]:
        """A translation for each line, in order, each as soon as it and those before it are done; blank lines stay as they are."""
        pending, sentences = self._prepare(lines)
        owner = [line for line in pending for _ in line.segments.texts]
        emitted = 0
        for hypothesis in self.engine.decode(sentences):
            owner[hypothesis.number].done[hypothesis.number] = hypothesis
            while emitted < len(pending) and pending[emitted].complete:
                yield self._finish(lines[emitted], pending[emitted])
                emitted += 1
        for line, text in zip(pending[emitted:], lines[emitted:], strict=True):
            yield self._finish(text, line)

    def _prepare(self, lines: Sequence[str]) -> tuple[list[_Pending], list[Sentence]]:
        pending: list[_Pending] = []
        texts: list[str] = []
        for index, line in enumerate(lines):
            segments = segment(line, self._limit, lambda text: len(self.tokenizer.encode(text)), split=self._split)
            if segments.too_long and self._warn:
                self._warn(index, f"longer than the model's {self._limit} tokens; cut into pieces")
            pending.append(_Pending(segments, len(texts)))
            texts += segments.texts
        encoded = self.tokenizer.encode_batch(texts) if texts else []
        return pending, [Sentence(number, [*ids, self._eos]) for number, ids in enumerate(encoded)]

    def _finish(self, source: str, line: _Pending) -> Translation:
        if not line.segments.texts:
            return Translation(source)
        parts = [line.done[number] for number in sorted(line.done)]
        scores = [part.score for part in parts]
        return Translation(
            text=line.segments.join([self.tokenizer.decode(part.ids) for part in parts]),
            tokens=sum(len(part.ids) for part in parts),
            rounds=sum(part.rounds for part in parts),
            score=None if None in scores else sum(score for score in scores if score is not None),
            hypotheses=self._hypotheses(line.segments, parts),
            sentences=tuple(tuple(part.ids) for part in parts),
        )

    def _hypotheses(self, segments: Segments, parts: Sequence[Hypothesis]) -> tuple[tuple[str, float], ...]:
        """The n-th best line joins the n-th best of each sentence, or its last where it has fewer."""
        best = []
        for rank in range(max(len(part.alternatives) for part in parts)):
            chosen = [part.alternatives[min(rank, len(part.alternatives) - 1)] for part in parts]
            text = segments.join([self.tokenizer.decode(a.ids) for a in chosen])
            best.append((text, sum(a.log_probability for a in chosen)))
        return tuple(best)
