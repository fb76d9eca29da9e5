"""A line and its decoded texts."""

from dataclasses import dataclass, field
from typing import Self

from specdec_cli.decoding.methods import COPIED, GIVEN
from specdec_cli.decoding.sentence import Hypothesis
from specdec_cli.pipeline.decoded_text import DecodedText
from specdec_cli.pipeline.drafts import DraftUse
from specdec_cli.text.segment.sentences import Segments


@dataclass
class DecodedLine:
    """A line without its inline tags, its segments (gaps, which are copied, and texts), and the decoded texts; a blank line has none.

    In the gaps of `tagged` are also the tags that are around texts and between them.
    """

    source: str
    segments: Segments
    tagged: Segments
    texts: list[DecodedText] = field(default_factory=list)
    _finished: int = 0

    @classmethod
    def copied(cls, line: str) -> Self:
        """A line of which nothing is decoded."""
        segments = Segments((), (line,))
        return cls(line, segments, segments)

    @property
    def parts(self) -> list[Hypothesis]:
        """The hypotheses of all texts of the line, in order."""
        return [part for text in self.texts for part in text.parts]

    @property
    def decoding(self) -> str:
        """The name of the decoding that was used: of those of its sentences the first that is not "greedy"; COPIED for
        earlier translations, labels and quantities alone, "" for a line that is copied to the output.
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
    def text(self) -> str:
        """The outputs and the gaps between them, with all tags."""
        return self.tagged.join([text.tagged or text.output or "" for text in self.texts])

    @property
    def plain_text(self) -> str:
        """The outputs and the gaps between them, without the tags that were removed from the line."""
        return self.segments.join([text.output or "" for text in self.texts])

    @property
    def finished(self) -> bool:
        """Whether every text of the line has its final output. A text keeps it, so none is looked at again after that."""
        texts = self.texts
        while self._finished < len(texts) and texts[self._finished].output is not None and not texts[self._finished].is_waiting:
            self._finished += 1
        return self._finished == len(texts)
