"""Lines of text to translated lines."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from specdec_cli.decoding.engine import Engine
from specdec_cli.decoding.lines import DecodedLine, LineDecoder, Warn
from specdec_cli.text.tokenizer import Tokenizer


@dataclass(frozen=True)
class Translation:
    """A translated line: tokens and rounds are summed over its sentences, and so is the log probability `score`.

    `hypotheses` are the n best lines with their log probabilities; `sentences` the ids of each sentence;
    `decoding` what decoded it ("" for a blank line).
    """

    text: str
    tokens: int = 0
    rounds: int = 0
    score: float | None = None
    hypotheses: tuple[tuple[str, float], ...] = ()
    sentences: tuple[tuple[int, ...], ...] = ()
    decoding: str = ""


class Translator:
    """Translates windows of lines; `warn` hears of sentences that are too long for the model and had to be cut."""

    def __init__(self, engine: Engine, tokenizer: Tokenizer, *, split: bool = True, warn: Warn | None = None) -> None:
        self.engine, self.tokenizer = engine, tokenizer
        self._lines = LineDecoder(engine, tokenizer, split=split, warn=warn)

    def translate(self, lines: Sequence[str]) -> Iterator[Translation]:
        """A translation for each line, in order, each as soon as it and those before it are done; blank lines stay as they are."""
        return map(self._translation, self._lines.decode(lines))

    def _translation(self, line: DecodedLine) -> Translation:
        if not line.parts:
            return Translation(line.source)
        return Translation(
            text=line.segments.join([self.tokenizer.decode(part.ids) for part in line.parts]),
            tokens=line.tokens,
            rounds=line.rounds,
            score=line.score,
            hypotheses=self._hypotheses(line),
            sentences=tuple(tuple(part.ids) for part in line.parts),
            decoding=line.decoding,
        )

    def _hypotheses(self, line: DecodedLine) -> tuple[tuple[str, float], ...]:
        """The n-th best line joins the n-th best of each sentence, or its last where it has fewer."""
        best = []
        for rank in range(max(len(part.alternatives) for part in line.parts)):
            chosen = [part.alternatives[min(rank, len(part.alternatives) - 1)] for part in line.parts]
            text = line.segments.join([self.tokenizer.decode(a.ids) for a in chosen])
            best.append((text, sum(a.log_probability for a in chosen)))
        return tuple(best)
